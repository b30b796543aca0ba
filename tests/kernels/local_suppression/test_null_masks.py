from unittest.mock import patch

import numpy as np

from policy_engine.kernels.local_suppression import null_masks
from policy_engine.kernels.local_suppression.null_masks import cut_in_pieces, lattice


def pieces(codes, counts, singles=0):
    return cut_in_pieces(np.array(codes, np.int32), np.array(counts), singles)


def test_pieces_are_in_the_order_of_their_codes_and_large_tuples_spare_single_rows():
    found = pieces([[1, 0], [0, 5], [0, -1]], [4, 9, 1], singles=2)
    assert found.tuple_of.tolist() == [2, 1, 1, 1, 0, 0]
    assert found.rows.tolist() == [1, 7, 1, 1, 3, 1]
    assert found.missing.tolist() == [1, 0, 0, 0, 0, 0]


def test_masks_are_in_the_order_of_their_cost_and_the_last_columns_first():
    table = pieces([[0, 0, 0]], [1])
    assert lattice(table, np.array([1, 1, 1])).masks.tolist() == [0, 1, 2, 4, 3, 5, 6, 7]
    dear = lattice(table, np.array([1, 1, 5]))
    assert dear.masks.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert dear.cost.tolist() == [0, 1, 1, 2, 5, 6, 6, 7]


def test_groups_are_equal_where_pieces_are_under_a_mask():
    found = lattice(pieces([[0, 0], [0, 1], [1, 1]], [1, 1, 1]), np.array([1, 1]))
    assert found.group.tolist() == [[0, 1, 2], [3, 3, 4], [5, 6, 6], [7, 7, 7]]
    assert found.groups == 8


def test_few_masks_are_those_of_the_last_columns_and_what_is_missing_already():
    table = pieces([[0, 0, 0, 0], [-1, 0, 0, 0]], [1, 1])
    with patch.object(null_masks, "_MOST_MASKS", 7):
        found = lattice(table, np.ones(4, np.int64))
    assert sorted(found.masks.tolist()) == [0b0000, 0b0001, 0b0011, 0b0111, 0b1111]
    with patch.object(null_masks, "_MOST_MASKS", 10):
        found = lattice(table, np.ones(4, np.int64))
    assert {0b1000, 0b1001, 0b1011} < set(found.masks.tolist())
    assert len(found.masks) <= 10
