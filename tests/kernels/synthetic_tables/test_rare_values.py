"""Values that noise hides are merged, and scores of pairs change by one with a row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.synthetic_tables.rare_values import (
    distance_from_independence,
    merged_counts,
    merged_values,
)


def test_values_below_three_deviations_are_one_class():
    assert merged_values(np.array([50.0, 2.0, 30.0, -4.0]), 10).tolist() == [0, 2, 1, 2]
    assert merged_values(np.array([50.0, 2.0, 30.0]), 10).tolist() == [0, 1, 2]
    assert merged_values(np.array([1.0, 2.0]), 10).tolist() == [0, 1]


def test_counts_of_merged_values_are_added():
    counts = np.array([[1, 2, 3], [4, 5, 6]])
    merged = merged_counts(counts, [np.array([0, 1]), np.array([1, 0, 1])])
    assert merged.tolist() == [[2, 4], [5, 10]]
    assert merged_counts(counts[0], [np.array([0, 1, 1])]).tolist() == [1, 5]


def test_a_distance_is_the_sum_of_those_of_counts():
    assert distance_from_independence(np.array([[3, 0]]), np.array([[1.4, 2.6]])) == 2 + 3


@given(
    arrays(np.int64, (2, 3), elements=st.integers(0, 100)),
    arrays(np.float64, (2, 3), elements=st.floats(-1e6, 1e30)),
    st.integers(0, 5),
)
def test_a_row_more_changes_a_distance_by_one(counts, expected, place):
    more = counts.copy()
    more.ravel()[place] += 1
    change = distance_from_independence(more, expected) - distance_from_independence(
        counts, expected
    )
    assert abs(change) == 1
