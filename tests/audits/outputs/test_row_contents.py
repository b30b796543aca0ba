"""Rows that are handed in: those that their labels say, or others."""

import numpy as np
import pandas as pd
import pytest

from policy_engine.audits.outputs.microdata import Microdata
from policy_engine.errors import PolicyEngineError

FRAME = pd.DataFrame({"age": [30, 41, 52, 63], "pay": [9.0, np.nan, 7.0, 5.0], "sex": list("mffm")})
DATA = Microdata.of(FRAME)
MADE = FRAME.assign(pay=FRAME.pay * 2)


@pytest.mark.parametrize(
    "frame", [FRAME, FRAME[1:], FRAME[::-1], FRAME[["pay"]], FRAME.assign(new=1)[:2]]
)
def test_rows_of_the_data_are_those_of_their_labels(frame):
    assert DATA.part(frame).units.tolist() == frame.index.tolist()


@pytest.mark.parametrize(
    "frame",
    [FRAME[1:].reset_index(drop=True), FRAME[::-1].reset_index(drop=True), MADE, MADE[["pay"]][1:]],
)
def test_a_frame_with_the_labels_of_other_rows_is_refused(frame):
    with pytest.raises(PolicyEngineError, match="K025"):
        DATA.part(frame)


@pytest.mark.parametrize(
    "source",
    [
        FRAME.age[1:].reset_index(drop=True),
        (FRAME.age[1:] > 40).reset_index(drop=True),
        FRAME.age[::-1].reset_index(drop=True),
        MADE.pay[1:],
        FRAME[["age", "sex"]][1:].reset_index(drop=True),
    ],
)
def test_a_series_with_the_labels_of_other_rows_is_refused(source):
    with pytest.raises(PolicyEngineError, match="K025"):
        DATA.located(source)


@pytest.mark.parametrize(
    "source",
    [
        FRAME.age,
        FRAME.age[:2],
        FRAME.age[[2, 3]] > 40,
        MADE.pay,
        FRAME.age > 40,
        FRAME[["sex"]][2:],
    ],
)
def test_a_series_of_the_data_or_made_of_it_is_that_of_its_labels(source):
    assert DATA.located(source).tolist() == source.index.tolist()
