from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import classes, random_words

from policy_engine.kernels.microaggregation import information_loss, microaggregate_column


def aggregated(values, k, words=None):
    values = np.array(values, dtype=np.float64)
    return microaggregate_column(values, k, random_words(len(values)) if words is None else words)


def least_loss(values, k):
    """The least sum of squares of all ways to divide the sorted values, by trying them."""
    values = [Fraction(value) for value in sorted(values)]

    @cache
    def best(end):
        if end == 0:
            return 0
        losses = [best(start) + squares(values[start:end]) for start in range(end - k + 1)]
        return min(losses, default=float("inf"))

    return best(len(values))


def squares(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def test_classes_are_not_all_of_k_rows_where_that_loses_less():
    # MDAV would divide the five rows that belong together.
    assert aggregated([11, 1, 12, 2, 13, 3, 12, 12], 3).tolist() == [1, 0, 1, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5])
def test_fewer_than_2k_rows_are_one_class(rows):
    assert aggregated([1, 50, 100, 2, 9][:rows], 3).tolist() == [0] * rows


def test_equal_values_are_divided_by_their_words():
    words = np.array([4, 2, 3, 1], dtype=np.uint64)
    assert aggregated([7, 7, 7, 7], 2, words).tolist() == [1, 0, 1, 0]


def test_the_largest_numbers_lose_nothing_when_they_are_alike():
    found = aggregated([1e308, -1e308, 1e308, -1e308], 2)
    assert classes(found) == [{1, 3}, {0, 2}]


COLUMNS = st.lists(st.integers(-9, 9) | st.integers(-9_999, 9_999), min_size=1, max_size=14)


@given(COLUMNS, st.integers(1, 4))
def test_no_other_classes_lose_less(values, k):
    groups = aggregated(values, k)
    if len(values) >= k:
        assert min(np.bincount(groups)) >= k
    assert max(np.bincount(groups)) < 2 * k
    found = sum(squares([Fraction(values[row]) for row in one]) for one in classes(groups))
    least = least_loss(values, k) if len(values) >= k else squares([Fraction(v) for v in values])
    assert float(found) == pytest.approx(float(least), rel=1e-12)
    total = squares([Fraction(value) for value in values])
    loss = information_loss(np.array(values, dtype=np.float64)[:, None], groups)
    assert loss == pytest.approx(float(100 * found / total) if total else 0, abs=1e-9)


@given(COLUMNS, st.integers(1, 4), st.data())
def test_no_order_of_rows_matters(values, k, data):
    order, words = data.draw(st.permutations(range(len(values)))), random_words(len(values))
    again = aggregated(np.array(values)[order], k, words[order])
    assert again.tolist() == aggregated(values, k, words)[order].tolist()
