"""Which rows somebody chose, where a unit has several."""

import pandas as pd
import polars as pl
import pytest

from policy_engine import PolicyEngineError
from policy_engine.audits.outputs.microdata import Microdata

# Person 0 has three visits, two of them alike in all columns; nobody says whose the last is.
VISITS = {
    "person": ["0", "0", "0", "1", None],
    "days": [3, 3, 5, 3, 9],
    "ward": ["a", "a", "b", "a", "c"],
}


def whole(library=pd):
    return Microdata.of(library.DataFrame(VISITS), "person")


def test_rows_are_those_of_their_labels():
    frame = pd.DataFrame(VISITS)
    part = Microdata.of(frame, "person").part(frame[frame.days != 3])
    assert part.numbers.tolist() == [2, -1]
    assert whole().owners.tolist() == [0, 0, 0, 1, 2]


def test_rows_with_new_labels_or_without_any_are_those_of_their_contents():
    chosen = pd.DataFrame(VISITS).iloc[[3, 2, 1]].reset_index(drop=True)
    assert whole().part(chosen).numbers.tolist() == [3, 2, 0]
    assert whole(pl).part(pl.from_pandas(chosen)).numbers.tolist() == [3, 2, 0]


@pytest.mark.parametrize(
    "rows",
    [
        {"person": ["0"]},
        {"person": ["0", "1"], "days": [4, 3]},
        {"person": ["1", "1"], "days": [3, 3]},
    ],
)
def test_rows_that_nothing_tells_apart_or_that_the_data_does_not_have_are_refused(rows):
    with pytest.raises(PolicyEngineError, match="K025"):
        whole(pl).part(pl.DataFrame(rows))


def test_columns_that_tell_rows_apart_are_enough_and_others_may_be_added():
    part = pl.DataFrame({"person": ["0", "0"], "days": [5, 3], "more": [1, 2]})
    with pytest.raises(PolicyEngineError, match="K025"):
        whole(pl).part(part.with_columns(days=pl.lit(4)))
    assert whole(pl).part(part).numbers.tolist() == [2, 0]


def test_a_row_that_is_there_twice_is_refused_where_each_unit_has_one():
    frame = pd.DataFrame({"person": [0, 1], "pay": [2, 3]})
    with pytest.raises(PolicyEngineError, match="K025"):
        Microdata.of(frame, "person").part(frame.iloc[[0, 0]])
