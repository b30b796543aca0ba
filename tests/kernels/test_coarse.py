import numpy as np
import pytest
from drawn import axes_of, interval, ints, members, tree
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.coarse import coarsen, lowest_above, neighbour_parts


def counts_of(axis):
    return np.bincount(axis.codes, minlength=int(axis.codes.max()) + 1)


def test_parts_hold_neighbours_of_about_as_many_rows_each():
    axis = interval([0, 1, 2, 3, 4, 5, 6, 7])
    assert neighbour_parts(axis, counts_of(axis), 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_value_that_many_rows_have_is_a_part_of_its_own():
    axis = interval([0, 1, 1, 1, 1, 1, 1, 2])
    assert neighbour_parts(axis, counts_of(axis), 2).tolist() == [0, 1, 1]
    assert neighbour_parts(axis, np.array([2, 9, 2]), 2).tolist() == [0, 1, 1]


def test_the_missing_value_is_a_part_of_its_own():
    axis = interval([0, 1, 2, 3, 4], has_missing=True)
    assert neighbour_parts(axis, counts_of(axis), 3).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("axis", [members(range(9)), interval([0, 1, 2])])
def test_values_of_sets_and_few_values_stay_apart(axis):
    parts = neighbour_parts(axis, counts_of(axis), 4)
    assert parts.tolist() == list(range(len(counts_of(axis))))


def test_a_part_of_a_line_stands_where_its_first_value_does():
    axis = interval([0, 1, 2, 3], [0.0, 0.1, 0.6, 1.0])
    assert coarsen(axis, ints([0, 0, 1, 1])).shape.position.tolist() == [0.0, 0.6]


def test_a_part_of_a_taxonomy_stands_at_the_lowest_node_above_its_values():
    # root 0 over 1 and 2; 1 over the leaves 3 and 4, 2 over 5 and 6
    axis = tree([0, 1, 2, 3], [-1, 0, 0, 1, 1, 2, 2], [3, 4, 5, 6], [1, 0.5, 0.5, 0, 0, 0, 0])
    assert coarsen(axis, ints([0, 0, 1, 1])).shape.leaf.tolist() == [1, 2]
    assert coarsen(axis, ints([0, 1, 1, 2])).shape.leaf.tolist() == [3, 0, 6]


def test_lowest_above_climbs_whatever_the_numbers_of_the_nodes():
    parent = ints([3, 3, 1, -1, 1])  # 3 over 0 and 1; 1 over 2 and 4
    assert lowest_above(parent, ints([2, 2, 0, 4]), ints([4, 0, 0, 1])).tolist() == [1, 3, 0, 1]


@settings(max_examples=examples(50), deadline=None)
@given(axes_of(30, 25), st.integers(2, 10))
def test_parts_are_in_order_and_no_more_than_asked_for(axis, most):
    counts = np.maximum(np.bincount(axis.codes, minlength=26), 1)
    parts = neighbour_parts(axis, counts, most)
    assert (np.diff(parts) >= 0).all()
    assert (np.diff(parts) <= 1).all()
    is_set = type(axis.shape).__name__ == "Members"
    assert is_set or parts.max() < most
