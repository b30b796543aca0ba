"""Persons who were never in the original, put to those who were."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.absent import seemingly_found, with_others
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.errors import DataError

ORIGINAL = pa.table({"age": [20, 30], "city": ["Bern", "Oslo"]})


def test_others_are_behind_those_of_the_original():
    others = pa.table({"city": ["Rome"], "age": pa.array(["40"])})
    both = with_others(ORIGINAL, others, ["age"], "others.csv")
    assert both.to_pydict() == {"age": [20, 30, 40]}


def test_all_that_others_lack_is_told_at_once():
    others = pa.table({"age": ["old"]})
    with pytest.raises(DataError, match=r"(?s)C005 others.csv.*C009 The values of 'age'"):
        with_others(ORIGINAL, others, ["age", "city"], "others.csv")


def test_a_link_looks_right_that_is_as_near_as_19_of_20_right_ones():
    # Right links at the distances 1 to 20, and three persons who are not there.
    distances = np.array([*range(1, 21), 5.0, 19.0, 20.0])
    linked = np.array([1.0] * 20 + [0.0] * 3)
    files = TwoFiles((), np.array([*range(20), -1, -1, -1]), 20, absent=3)
    found = seemingly_found(files, linked, lambda _, persons: distances[persons])
    assert found.value == pytest.approx(2 / 3)
    assert seemingly_found(files, linked * 0, lambda _, persons: distances[persons]) is None
