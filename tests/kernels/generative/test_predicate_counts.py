"""Rows that satisfy predicates, counted."""

import numpy as np
import pytest

from policy_engine.kernels.generative.predicate_counts import (
    ABOVE,
    AT_LEAST,
    AT_MOST,
    BELOW,
    EQUAL,
    NOT_EQUAL,
    Predicates,
    count_rows,
)

ROWS = np.array([[1.0, 0], [2, 0], [2, 1], [np.nan, 1], [3, -1]])


def predicates(*parts):
    """Return predicates on the columns 0, 1, ... by operator and value of each."""
    operators, values = ([[pair[at] for pair in one] for one in parts] for at in (0, 1))
    columns = np.tile(np.arange(len(parts[0])), (len(parts), 1))
    return Predicates(columns, np.array(operators), np.array(values, dtype=float))


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        (EQUAL, 2, 2),
        (EQUAL, np.nan, 1),
        (NOT_EQUAL, 2, 3),
        (NOT_EQUAL, np.nan, 4),
        (AT_MOST, 2, 3),
        (AT_LEAST, 2, 3),
        (BELOW, 2, 1),
        (ABOVE, 2, 1),
        (AT_MOST, np.nan, 0),
    ],
)
def test_rows_by_one_comparison(operator, value, expected):
    assert count_rows(ROWS, predicates([(operator, value)]), most=9).tolist() == [expected]


def test_all_comparisons_of_a_predicate_must_hold():
    both = predicates([(AT_LEAST, 2), (EQUAL, 1)], [(AT_LEAST, 2), (EQUAL, 2)])
    assert count_rows(ROWS, both).tolist() == [1, 0]


def test_counting_stops_at_the_most():
    assert count_rows(ROWS, predicates([(AT_LEAST, 0)])).tolist() == [2]


def test_predicates_are_chosen_by_place():
    three = predicates([(EQUAL, 1)], [(EQUAL, 2)], [(EQUAL, 3)])
    assert three[np.array([2, 0])].values.tolist() == [[3], [1]]
    assert len(three[:2]) == 2
