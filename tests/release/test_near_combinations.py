"""Combinations of keys that are chosen where all of them would be too many."""

import numpy as np
import pytest

from policy_engine.release.near_combinations import OpenCells, can_be_numbered, near_combinations

SIZES = (2, 3, 4)
"""How many patterns of tables there are, and values of two keys."""


def near(rows, values, *, are_others=False, secret=()):
    some = np.array(values, np.int64).reshape(-1, 1)
    secrets = np.array(secret, np.int64).reshape(-1, 1)
    cells = OpenCells((1,), some, are_others, secrets, np.array([True, False]))
    found = near_combinations(np.array(rows, np.int64), [cells], SIZES)
    return {tuple(one) for one in found.tolist()}


def test_what_rows_have_is_there_and_so_are_other_open_cells():
    found = near([(0, 0, 3), (0, 2, 1), (0, 0, 3)], values=[0, 1])
    # From the open cell 0 to the open cell 1, and out of the table; nobody moves to or from cell 2.
    assert found == {(0, 0, 3), (0, 2, 1), (0, 1, 3), (1, 0, 3)}


def test_cells_can_be_open_that_are_not_listed():
    assert (0, 2, 3) in near([(0, 0, 3)], values=[1], are_others=True)
    assert (0, 1, 3) not in near([(0, 0, 3)], values=[1], are_others=True)


def test_rows_outside_of_a_table_are_not_moved():
    assert near([(1, 0, 3)], values=[0, 1], secret=[1]) == {(1, 0, 3)}


@pytest.mark.parametrize(("sizes", "can_be"), [([2**31, 2**30], True), ([2**40, 2**40], False)])
def test_combinations_are_numbered_as_far_as_numbers_go(sizes, can_be):
    assert can_be_numbered(sizes) is can_be
