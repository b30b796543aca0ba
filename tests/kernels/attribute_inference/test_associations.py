"""Columns that tell of another, by tables of bins."""

import numpy as np
import pytest

from policy_engine.kernels.attribute_inference import (
    category_bins,
    grown_sets,
    information,
    number_bins,
    telling_pairs,
)

ROWS = np.arange(800)
ONE, TWO, THREE = (ROWS >> place & 1 for place in range(3))


def test_numbers_are_in_bins_of_equal_frequency():
    assert number_bins(np.array([5.0, 1, 2, 4, 3, 6]), 3).tolist() == [2, 0, 0, 1, 1, 2]
    assert number_bins(np.array([0.0, 0, 0, 9]), 2).tolist() == [0, 0, 0, 1]


def test_the_rarer_categories_are_in_one_bin():
    assert category_bins(np.array(list("aabbbcd")), 3).tolist() == [1, 1, 0, 0, 0, 2, 2]


def test_what_tells_all_of_a_coin_tells_its_entropy():
    assert information([ONE], ONE) == pytest.approx(np.log(2), abs=0.005)


def test_rows_of_their_own_tell_nothing():
    assert information([ROWS], ONE) == 0


def test_what_is_independent_tells_nothing():
    random = np.random.default_rng(1)
    for bins in (2, 50, 500):
        assert information([random.integers(0, bins, 800)], ONE) <= 0


def test_pairs_that_tell_together_add_to_what_each_tells():
    noise = np.random.default_rng(1).integers(0, 2, 800)
    told, added = telling_pairs([ONE, noise, TWO], ONE ^ TWO, most=1)
    assert (told, added) == ([(0, 2)], [(0, 2)])


def test_a_pair_adds_nothing_to_what_one_of_it_tells():
    told, added = telling_pairs([ONE, TWO], ONE, most=2)
    assert told == [(0, 1)]
    assert added == []


def test_sets_grow_while_a_column_tells_more():
    columns = [ONE, ONE, TWO, THREE]
    assert grown_sets(columns, ONE + 2 * TWO + 4 * THREE, (0, 2), most=5) == [(0, 2, 3)]
    assert grown_sets(columns, ONE + 2 * TWO + 4 * THREE, (0,), most=2) == [(0, 2)]
