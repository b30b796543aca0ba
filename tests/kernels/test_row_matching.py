from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.row_matching import count_strange, match_rows


def words(numbers):
    """Return two words for each number, (rows, 2)."""
    numbers = np.array(numbers, dtype=np.uint64).reshape(-1)
    return np.stack([numbers % np.uint64(3), numbers], axis=1)


@given(st.sets(st.integers(0, 50)).flatmap(lambda s: st.tuples(*[st.permutations(sorted(s))] * 2)))
def test_each_row_finds_itself_in_any_order(orders):
    one, other = orders
    found = match_rows(words(one), words(other))
    assert [other[place] for place in found] == one


def test_rows_that_are_left_out_have_none():
    assert match_rows(words([5, 7, 6]), words([6, 5])).tolist() == [1, -1, 0]


def test_rows_that_are_not_told_apart_are_not_matched():
    assert match_rows(words([5, 5, 6]), words([6])) is None
    assert match_rows(words([5, 6]), words([6, 6])) is None


def test_a_row_that_is_none_of_the_others_is_not_matched():
    assert match_rows(words([5, 6]), words([5, 7])) is None


WORDS = np.random.default_rng(5).integers(0, 2**64, (6, 2), dtype=np.uint64)
WORDS[:3, 0] = 7  # as rare as it is, two words may share a half
NUMBERS = st.lists(st.integers(0, 5), max_size=12)


@given(NUMBERS, NUMBERS)
def test_strange_rows_are_those_that_the_other_table_has_not_so_often(rows, others):
    strange = Counter(others) - Counter(rows)
    assert count_strange(WORDS[rows], WORDS[others]) == strange.total()
