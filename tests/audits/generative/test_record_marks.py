"""Marks of records are equal for equal records of one class alone."""

import numpy as np
import pytest

from policy_engine.audits.generative.material import RecordSet
from policy_engine.audits.generative.record_marks import record_marks


def marks(values, labels=None):
    return record_marks(RecordSet("r", np.array(values), labels)).tolist()


@pytest.mark.parametrize("columns", [1, 100])
def test_marks_are_those_of_values(columns):
    rows = [[0.0] * columns, [-0.0] * columns, [np.nan] * columns, [-np.nan] * columns]
    first, second, third, fourth = marks(rows)
    assert first == second
    assert third == fourth != first
    assert len({*marks([[1.0] * columns, [1.0 + 2**-52] * columns])}) == 2


def test_a_class_is_a_part_of_a_record():
    assert len({*marks([[1.0], [1.0]], np.array([0, 1]))}) == 2
