from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.rank_swapping import (
    largest_rank_move,
    least_rank_move,
    most_ranks,
    rank_swap,
)
from policy_engine.kernels.ranking import sort_rows

VARIANTS = ("plain", "buckets", "distribution")
SHARES = st.floats(0, 1, exclude_min=True, exclude_max=True)


def words_of(rows, seed=1):
    return np.random.default_rng(seed).integers(0, 2**64, rows, dtype=np.uint64)


def swapped(values, share, variant="plain"):
    values = np.array(values)
    return values[rank_swap(values, words_of(len(values)), share, variant)].tolist()


def test_within_one_rank_each_two_neighbours_swap():
    assert swapped([30, 10, 40, 20], 0.25) == [40, 20, 30, 10]


def test_of_an_odd_number_the_last_that_is_free_keeps_its_value():
    assert swapped([3, 1, 5, 2, 4], 0.2) == [4, 2, 5, 1, 3]


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_rows_swap_and_one_keeps_its_value(variant):
    assert swapped(["b", "a"], 0.5, variant) == ["a", "b"]
    assert swapped([7], 0.9, variant) == [7]
    assert swapped([], 0.9, variant) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_window_of_less_than_a_rank_moves_nothing(variant):
    assert swapped([3, 1, 2], 0.3, variant) == [3, 1, 2]
    assert most_ranks(3, 0.3, variant) == 0


@pytest.mark.parametrize("share", [0, 1, 5, -0.1, float("nan")])
def test_a_percentage_is_not_a_share(share):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        rank_swap(np.arange(9), words_of(9), share)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        most_ranks(9, share)


def test_bounds_are_those_of_the_windows():
    assert [most_ranks(1_000, 0.0519, variant) for variant in VARIANTS] == [51, 999, 153]
    assert most_ranks(10, 0.5, "distribution") == 9


def shares_of_partners(rows, share, variant, draws=4_000):
    """How often the lowest value is swapped with each rank; six deviations are 0.05 at the most."""
    values = np.arange(rows)
    partners = [rank_swap(values, words_of(rows, seed), share, variant)[0] for seed in range(draws)]
    return np.bincount(partners, minlength=rows) / draws


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("variant", "share", "expected"),
    [
        ("plain", 0.4, [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]),
        # Five buckets: 1/2, 1/4 ... 1/32 of 31/32, the first of which has one other rank.
        ("buckets", 0.2, [0, 16, 4, 4, 2, 2, 1, 1, 0.5, 0.5]),
        # exp(-((j - 1) / 1)**2 / 2), up to three times two ranks.
        ("distribution", 0.2, [0, 1, 0.6065, 0.1353, 0.0111, 0.0003, 0, 0, 0, 0]),
    ],
)
def test_partners_of_the_lowest_rank_have_the_probabilities_of_the_variant(
    variant, share, expected
):
    found = shares_of_partners(10, share, variant)
    assert found == pytest.approx(np.array(expected) / sum(expected), abs=0.05)
    assert not found[np.array(expected) == 0].any()


def test_the_order_of_equal_values_tells_nothing_of_their_moves():
    # Their ranks follow their words, from which the moves are drawn too.
    words = words_of(10_000)
    positions = rank_swap(np.zeros(10_000), words, 0.1)
    ranks = np.argsort(np.argsort(words))
    moves = ranks[positions] - ranks
    ahead = (moves > 0) & (ranks < 9_000)
    assert abs(np.corrcoef(words[ahead], moves[ahead])[0, 1]) < 0.05


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("share", "least"), [(0.01, 0.495), (0.05, 0.475), (0.15, 0.405)])
def test_correlations_are_kept_as_well_as_measured(share, least):
    # recipes/masking.md: .497, .478 and .411 of 1,000,000 rows.
    rows = 1_000_000
    one, other = np.random.default_rng(1).normal(size=(2, rows))
    other -= one * (one @ other) / (one @ one)
    other = 0.5 * one / one.std() + 0.75**0.5 * other / other.std()
    masked = [
        column[rank_swap(column, words_of(rows, seed), share)]
        for seed, column in enumerate((one, other))
    ]
    assert np.corrcoef(one, other)[0, 1] == pytest.approx(0.5, abs=1e-5)
    assert np.corrcoef(*masked)[0, 1] >= least


NUMBERS = st.lists(st.integers(-3, 3) | st.integers(-(10**6), 10**6), max_size=40).map(
    lambda numbers: np.array(numbers, dtype=np.int64)
)


@given(NUMBERS, SHARES, st.sampled_from(VARIANTS), st.integers(0, 10**6))
def test_values_are_swapped_in_pairs_and_no_further_than_the_bound(values, share, variant, seed):
    words = words_of(len(values), seed)
    positions, rows = rank_swap(values, words, share, variant), np.arange(len(values))
    assert positions[positions].tolist() == rows.tolist()
    bound = most_ranks(len(values), share, variant)
    assert (positions == rows).sum() == (len(values) % 2 if bound else len(values))
    ranks = np.argsort(sort_rows(values, words))
    assert np.abs(ranks[positions] - ranks).max(initial=0) <= bound
    assert largest_rank_move(values, values[positions]) <= bound


@given(NUMBERS, SHARES, st.sampled_from(VARIANTS), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(values, share, variant, random):
    order = np.array(random.sample(range(len(values)), len(values)), dtype=np.int64)
    words = words_of(len(values))
    before = rank_swap(values, words, share, variant)
    after = rank_swap(values[order], words[order], share, variant)
    assert order[after].tolist() == before[order].tolist()


@pytest.mark.parametrize(
    ("before", "after", "most"),
    [
        ("abcd", "bacd", 1),
        ("abcd", "dbca", 3),
        ("abcd", "abcd", 0),
        # The last a and the first b are neighbours.
        ("aaabbb", "aabbab", 1),
        # Both of two swap with both of two: not by less than two ranks.
        ("aabb", "bbaa", 2),
        ("aaaa", "aaaa", 0),
        ("", "", 0),
    ],
)
def test_the_largest_move_is_that_of_the_nearest_ranks_of_equal_values(before, after, most):
    assert largest_rank_move(np.array(list(before)), np.array(list(after))) == most


@pytest.mark.parametrize("after", ["aab", "abb", "abd", "ab"])
def test_values_that_are_not_the_same_ones_were_not_swapped(after):
    with pytest.raises(ValueError, match="how often"):
        largest_rank_move(np.array(list("abc")), np.array(list(after)))


@pytest.mark.parametrize(
    ("before", "after", "least"),
    [([0], [3], 4), ([0, 1], [1, 0], 1), ([1, 2], [2, 2], 1), ([], [], 0)],
)
def test_some_rows_have_moved_at_least_between_the_ranks_of_their_values(before, after, least):
    # The ranks are 0; 1 and 2; 3; 4.
    before, after = (np.array(one, dtype=np.int64) for one in (before, after))
    assert least_rank_move(before, after, np.array([1, 2, 1, 1])) == least


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_the_least_move_is_no_further_than_the_largest_one(values, random):
    before = np.array(values)
    after = np.array(random.sample(values, len(values)))
    least = least_rank_move(before, after, np.bincount(before))
    largest = largest_rank_move(before, after)
    assert least <= largest
    assert least == largest or len({*values}) < len(values)


def rankings(values):
    """Yield every way to rank values, of which equal ones may have any order."""
    for order in permutations(range(len(values))):
        if all(values[a] <= values[b] for a, b in pairwise(order)):
            yield np.argsort(order)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=5), st.data())
def test_the_largest_move_is_the_least_of_all_rankings(before, data):
    after = data.draw(st.permutations(before))
    ways = list(rankings(after))
    least = min(np.abs(a - b).max() for a in rankings(before) for b in ways)
    assert largest_rank_move(np.array(before), np.array(after)) == least
