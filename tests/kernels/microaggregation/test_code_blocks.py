import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.microaggregation import Attribute, choose_cut, place
from policy_engine.kernels.microaggregation.code_blocks import cut_codes


def numbers(counts, values=None):
    given_values = np.arange(len(counts)) if values is None else values
    return place(Attribute(np.array(counts), np.array(given_values, dtype=np.float64)))


def texts(counts):
    return place(Attribute(np.array(counts)))


def chosen(counts, placements, least=1):
    return choose_cut([np.array(one) for one in counts], placements, least)


def test_numbers_are_cut_in_the_middle_of_their_range():
    # The middle of 0 to 100 is 50: 0, 1 and 2 are below it.
    assert chosen([[1] * 4], [numbers([1] * 4, [0, 1, 2, 100])]) == (0, 3)


def test_texts_are_cut_in_the_middle_of_the_rows():
    assert chosen([[6, 1, 3, 2]], [texts([6, 1, 3, 2])]) == (0, 1)


def test_the_widest_column_is_cut():
    counts = [[5, 5], [5, 5]]
    wide = place(Attribute(np.array([5, 5]), np.array([0.0, 1]), weight=9))
    assert chosen(counts, [numbers([5, 5]), wide]) == (1, 1)
    assert chosen(counts, [numbers([5, 5])] * 2) == (0, 1)


def test_a_twentieth_of_the_rows_is_on_either_side_where_a_column_allows_it():
    far, even = numbers([99, 1], [0, 1e6]), place(Attribute(np.array([50, 50]), weight=0.01))
    assert chosen([[99, 1], [50, 50]], [far, even]) == (1, 1)
    assert chosen([[99, 1]], [far]) == (0, 1)


@pytest.mark.parametrize(("least", "cut"), [(1, (0, 1)), (2, None)])
def test_a_part_is_left_whole_where_a_side_would_be_too_small(least, cut):
    assert chosen([[1, 9]], [numbers([1, 9])], least) == cut


def test_equal_rows_stay_together_however_many_they_are():
    tree = cut_codes(np.zeros((9, 1), np.int32), [numbers([9])], 2, 4)
    assert [len(rows) for rows in tree.rows] == [9]


CODES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=60)


@given(CODES)
def test_every_part_is_that_of_the_whole_table(rows):
    codes = np.array(rows, np.int32)
    placements = [numbers(np.bincount(codes[:, 0])), texts(np.bincount(codes[:, 1]))]
    tree = cut_codes(codes, placements, 2, 8)
    assert sorted(np.concatenate(tree.rows).tolist()) == list(range(len(rows)))
    assert all(len(block) >= min(2, len(rows)) for block in tree.rows)
    # A task that has one of the two first parts cuts it as the table was cut.
    counts = [np.bincount(column) for column in codes.T]
    cut = choose_cut(counts, placements, 2) if len(rows) > 8 else None
    if cut is not None:
        left = np.flatnonzero(codes[:, cut.column] < cut.least)
        again = cut_codes(codes[left], placements, 2, 8)
        parts = [left[block].tolist() for block in again.rows]
        assert parts == [block.tolist() for block in tree.rows[: len(parts)]]
