import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import random_words, tables

from policy_engine.kernels.microaggregation import (
    information_loss,
    lost_share,
    scale,
    within_class_moments,
)


def loss(values, groups):
    return information_loss(np.array(values, dtype=np.float64), np.array(groups))


def test_the_loss_is_that_worked_out_by_hand():
    # About their means 1 and 11, the rows of a class are 1 away, and 5 or 7 from the mean of all:
    # 4 of 4 * 26. The other column loses all of its variance.
    assert loss([[0, 0], [2, 1], [10, 1], [12, 0]], [0, 0, 1, 1]) == pytest.approx(
        (100 * 4 / 104 + 100) / 2
    )


def test_one_class_loses_all_and_classes_of_equal_rows_lose_nothing():
    assert loss([[0.1], [0.7], [0.3]], [0, 0, 0]) == pytest.approx(100, abs=1e-9)
    assert loss([[0.1], [0.7], [0.1]], [1, 0, 1]) == 0


def test_constant_columns_do_not_count():
    assert loss([[5, 0], [5, 1]], [0, 0]) == pytest.approx(100, abs=1e-9)
    assert loss([[5], [5]], [0, 0]) == 0
    assert information_loss(np.zeros((0, 2)), np.zeros(0, np.int64)) == 0


@given(tables(), st.data())
def test_neither_the_order_of_rows_nor_parts_of_whole_classes_change_a_bit(table, data):
    values = table.values
    groups = data.draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)))
    groups = np.array(groups)
    order = data.draw(st.permutations(range(len(values))))
    whole = information_loss(values, groups)
    assert information_loss(values[order], groups[order]) == whole
    assert 0 <= whole <= 100


def test_parts_in_which_classes_are_whole_are_added():
    values = np.random.default_rng(0).normal(size=(60, 2))
    groups = (random_words(60) >> np.uint64(40)).astype(np.int64) // 7
    table, is_first = scale(values), groups < 4
    first = within_class_moments(values[is_first], groups[is_first], table)
    second = within_class_moments(values[~is_first], groups[~is_first], table)
    assert lost_share(first + second, table) == pytest.approx(information_loss(values, groups))
