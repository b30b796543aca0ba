import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.match_counts import match_counts

# francdat of sdcMicro (Franconi and Polettini, 2004), keys 1 to 4: fk is 2 2 2 1 1 1 1 2.
FRANCDAT = [
    [1, 2, 5, 1],
    [1, 2, 1, 1],
    [1, 2, 1, 1],
    [3, 3, 1, 5],
    [4, 3, 1, 4],
    [4, 3, 1, 1],
    [6, 2, 1, 5],
    [1, 2, 5, 1],
]


def counted(codes, missing, counts=None):
    codes = np.array(codes, np.int32)
    counts = np.ones(len(codes), np.int64) if counts is None else np.array(counts)
    return match_counts(codes, counts, missing).tolist()


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_the_frequencies_of_francdat(missing):
    assert counted(FRANCDAT, missing) == [2, 2, 2, 1, 1, 1, 1, 2]


def test_a_missing_value_is_a_value_of_its_own_or_matches_any():
    codes = [[1, 1], [1, -1], [1, 2], [-1, 2]]
    assert counted(codes, "category") == [1, 1, 1, 1]
    # The second matches all four; the first and the third do not match each other.
    assert counted(codes, "wildcard") == [2, 4, 3, 3]


def test_equal_tuples_and_their_rows_are_added_up():
    codes = [[1, -1], [1, -1], [-1, -1]]
    assert counted(codes, "category", [2, 3, 7]) == [5, 5, 7]
    assert counted(codes, "wildcard", [2, 3, 7]) == [12, 12, 12]


def test_no_tuple_matches_nothing():
    nothing = np.zeros((0, 3), np.int32)
    assert match_counts(nothing, np.zeros(0, np.int64), "category").tolist() == []
    assert match_counts(nothing, np.zeros(0, np.int64), "wildcard").tolist() == []


def matches(one, other):
    return all(a == b or -1 in (a, b) for a, b in zip(one, other, strict=True))


@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3, st.integers(1, 4)), min_size=1, max_size=20))
def test_counts_are_those_of_all_pairs(rows):
    codes, counts = [row[:3] for row in rows], [row[3] for row in rows]
    pairs = list(zip(codes, counts, strict=True))
    equal = [sum(n for other, n in pairs if one == other) for one in codes]
    similar = [sum(n for other, n in pairs if matches(one, other)) for one in codes]
    assert counted(codes, "category", counts) == equal
    assert counted(codes, "wildcard", counts) == similar
