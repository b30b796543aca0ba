"""Intervals around masked values, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.interval_disclosure import (
    deviation_interval_disclosure,
    pairs_within_ranks,
    rank_interval_disclosure,
)


def test_record_is_disclosed_if_all_its_values_are_near():
    # The masked columns have the variances 4 and 1, so that intervals are 1 and .5 wide.
    masked = np.array([[0.0, 0], [2, 1], [4, 2]])
    original = np.array([[1.0, 0.5], [2, 1.6], [5.1, 2]])
    found = deviation_interval_disclosure(original, masked, 0.5)
    assert found.tolist() == [True, False, False]


def test_value_is_disclosed_within_ranks_of_the_masked_one():
    masked = np.array([[10.0], [20], [30], [40]])
    original = np.array([[20.0], [40], [31], [40]])
    assert rank_interval_disclosure(original, masked, [0.25, 0.5, 0]).tolist() == [
        [0.75],
        [1],
        [0.25],
    ]


def test_equal_masked_values_have_one_interval():
    masked = np.array([[1.0], [1], [1], [9]])
    assert rank_interval_disclosure(np.full((4, 1), 1.0), masked, [0]).tolist() == [[0.75]]


TABLES = arrays(np.float64, (6, 2), elements=st.integers(-3, 3).map(float))


@given(TABLES, TABLES, st.permutations(range(6)))
def test_order_of_the_records_changes_nothing(original, masked, order):
    for measure, at in ((rank_interval_disclosure, [0.2]), (deviation_interval_disclosure, 0.3)):
        moved = measure(original[order], masked[order], at)
        there = measure(original, masked, at)
        assert moved == pytest.approx(there if len(there) == 1 else there[order])


@given(TABLES)
def test_untouched_values_are_disclosed(table):
    assert rank_interval_disclosure(table, table, [0]).tolist() == [[1, 1]]
    assert deviation_interval_disclosure(table, table, 0.05).all()


@given(TABLES, TABLES, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_intervals_of_ranks_have_what_lies_between_their_ends(original, masked, share):
    values, released = original[:, 0], masked[:, 0]
    ordered, reach = sorted(released), int(share * 6)
    low = [ordered[max(ordered.index(one) - reach, 0)] for one in released]
    last = [5 - ordered[::-1].index(one) + reach for one in released]
    high = [ordered[min(one, 5)] for one in last]
    own = ((low <= values) & (values <= high)).mean()
    every = sum((a <= values).sum() - (b < values).sum() for a, b in zip(low, high, strict=True))
    assert rank_interval_disclosure(original, masked, [share])[0, 0] == own
    assert pairs_within_ranks(values, released, [share]) == [every]
