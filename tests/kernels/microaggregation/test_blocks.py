import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import random_words, tables

from policy_engine.kernels.microaggregation import (
    BlockCut,
    cut_blocks,
    default_block_size,
    find_blocks,
)


def rows_of(blocks):
    return [rows.tolist() for rows in blocks.rows]


def test_the_widest_column_is_cut_in_the_middle_of_its_range():
    points = np.array([[0, 0], [2, 1], [0, 2], [1, 3], [3, 9], [0, 10]], dtype=np.float64)
    found = cut_blocks(points, random_words(6), 1, 4)
    assert rows_of(found) == [[0, 1, 2, 3], [4, 5]]
    assert found.cuts == (BlockCut(1, (9.0,)), None, None)


def test_a_cut_is_at_the_multiple_of_k_nearest_to_the_middle():
    points = np.array([0, 1, 2, 3, 4, 5, 6, 7, 90, 100], dtype=np.float64)[:, None]
    assert rows_of(cut_blocks(points, random_words(10), 3, 7)) == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]


def test_a_cut_leaves_a_twentieth_of_the_rows_on_either_side():
    points = np.append(np.arange(99.0), 1e6)[:, None]
    assert len(cut_blocks(points, random_words(100), 1, 99).rows[1]) == 5
    assert len(cut_blocks(-points, random_words(100), 1, 99).rows[0]) == 5


def test_equal_values_are_cut_by_the_next_column_then_the_first_then_the_word():
    points = np.array([[0, 0, 0]] * 3 + [[-1, 9, 1], [0, 9, 0], [0, 9, 0]], dtype=np.float64)
    words = np.array([1, 2, 3, 0, 5, 4], dtype=np.uint64)
    # Four rows go to the left. In column 1, the last three are equal.
    found = cut_blocks(points, words, 2, 5)
    assert rows_of(found) == [[0, 1, 2, 5], [3, 4]]
    assert found.cuts[0] == BlockCut(1, (9.0, 0.0, 0.0, 5))


def test_rows_equal_in_all_columns_are_halved_by_their_words():
    points, words = np.ones((4, 2)), np.array([3, 1, 0, 2], dtype=np.uint64)
    found = cut_blocks(points, words, 1, 2)
    assert rows_of(found) == [[1, 2], [0, 3]]
    assert found.cuts[0] == BlockCut(0, (1.0, 1.0, 2))


def test_words_above_the_largest_signed_integer_are_compared_exactly():
    words = np.array([2**64 - 1, 2**64 - 2, 2**63, 0], dtype=np.uint64)
    found = cut_blocks(np.zeros((4, 1)), words, 1, 3)
    assert found.cuts[0] == BlockCut(0, (0.0, 2**64 - 2))
    assert find_blocks(found.cuts, np.zeros((4, 1)), words).tolist() == [1, 1, 0, 0]


def test_rows_that_nothing_tells_apart_are_cut_too():
    found = cut_blocks(np.zeros((9, 1)), np.zeros(9, np.uint64), 2, 4)
    assert [len(rows) for rows in found.rows] == [4, 2, 3]


def test_a_block_that_could_not_be_cut_is_refused():
    with pytest.raises(ValueError, match="Blocks of 5 rows are too small for classes of 3 rows"):
        cut_blocks(np.zeros((9, 1)), random_words(9), 3, 5)


def test_large_tables_have_blocks_of_500_k_rows_and_small_ones_are_one_block():
    assert default_block_size(10**6, 5) == default_block_size(10**9, 5) == 2_500
    assert default_block_size(1_080, 3) > 1_080
    assert default_block_size(0, 3) > 0


@given(tables(), st.integers(2, 9))
def test_blocks_hold_all_rows_once_and_a_multiple_of_k_each_but_the_last(table, times):
    values, words, k = table
    found = cut_blocks(values, words, k, times * k)
    assert sorted(row for rows in found.rows for row in rows) == list(range(len(values)))
    sizes = [len(rows) for rows in found.rows]
    assert max(sizes) <= times * k
    assert len(sizes) == 1 or min(sizes) >= k
    assert [size % k for size in sizes] == [0] * (len(sizes) - 1) + [len(values) % k]


@given(tables(), st.integers(2, 9), st.data())
def test_no_order_of_rows_matters(table, times, data):
    values, words, k = table
    order = data.draw(st.permutations(range(len(values))))
    found = cut_blocks(values, words, k, times * k)
    again = cut_blocks(values[order], words[order], k, times * k)
    assert again.cuts == found.cuts
    assert [sorted(np.array(order)[rows].tolist()) for rows in again.rows] == rows_of(found)


@given(tables(), st.integers(2, 9), st.data())
def test_a_row_finds_its_block_without_the_other_rows(table, times, data):
    values, words, k = table
    found = cut_blocks(values, words, k, times * k)
    some = np.array(data.draw(st.lists(st.integers(0, len(values) - 1))), dtype=np.int64)
    blocks = find_blocks(found.cuts, values[some], words[some])
    assert all(row in found.rows[block] for row, block in zip(some, blocks, strict=True))
