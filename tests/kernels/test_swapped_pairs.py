import numpy as np
import pytest

from policy_engine.kernels.rank_swapping import rank_swap
from policy_engine.kernels.swapped_pairs import swapped_pairs, unlikely_pairs


def swapped(values, seed, share=0.2, variant="plain"):
    words = np.random.default_rng(seed).integers(0, 2**64, len(values), dtype=np.uint64)
    return values[rank_swap(values, words, share, variant)]


def told(before, after, window):
    pairs = swapped_pairs(before, after, window)
    counts = np.array([pairs.stayed, pairs.single, pairs.steps])
    return unlikely_pairs({"pairs": counts, "shares": np.array([pairs.shares])})


def test_pairs_are_counted_by_hand():
    # The ranks 0 and 2 are exchanged, then 1 and 3; 4 stays. Within the window of 2, the first had
    # both of two free ranks up to 2, the second 3 alone.
    found = swapped_pairs(np.arange(5), np.array([2, 3, 0, 1, 4]), 2)
    assert (found.stayed, found.single, found.steps, found.shares) == (1, 0, 2, 2.0)


def test_near_pairs_have_small_shares():
    # 0 is exchanged with 1, the first of four free ranks; 2 with 3, of which there are two left.
    found = swapped_pairs(np.arange(5), np.array([1, 0, 3, 2, 4]), 4)
    assert found.shares == 0.25 + 0.5


def test_ranks_within_one_value_may_have_been_any():
    found = swapped_pairs(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 3)
    assert (found.stayed, found.single, found.steps) == (0, 0, 2)
    assert found.shares == 2.0


def test_a_value_that_is_given_to_no_row_in_exchange_is_counted():
    assert swapped_pairs(np.arange(3), np.array([1, 2, 0]), 2).single == 3


def test_shares_without_ties_are_uniform():
    shares = [swapped_pairs(np.arange(400), swapped(np.arange(400), s), 80) for s in range(40)]
    mean = sum(one.shares for one in shares) / sum(one.steps for one in shares)
    assert mean == pytest.approx(0.5, abs=0.02)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("values", [3, 20, 300])
@pytest.mark.parametrize("rows", [4, 7, 50, 301])
def test_swapped_columns_are_never_unlikely(rows, values):
    for seed in range(25):
        before = np.random.default_rng(seed).integers(0, values, rows)
        _, before = np.unique(before, return_inverse=True)
        for variant in ("plain", "buckets", "distribution"):
            after = swapped(before, seed, 0.3, variant)
            found = swapped_pairs(before, after, int(0.3 * rows))
            assert found.stayed <= rows % 2
            assert found.single == 0
            if variant == "plain":
                assert told(before, after, int(0.3 * rows)) == ""
                assert found.shares >= 0.3 * found.steps or rows < 50


def test_ties_never_make_shares_smaller():
    for seed in range(20):
        random = np.random.default_rng(seed)
        ranks = np.arange(120)
        after = swapped(ranks, seed)
        blocks = np.sort(random.integers(0, 60, 120))
        _, blocks = np.unique(blocks, return_inverse=True)
        exact = swapped_pairs(ranks, after, 24)
        assert swapped_pairs(blocks, blocks[after], 24).shares >= exact.shares - 1e-9


def exchange_two(values):
    return np.array([1, 0, *values[2:]])


def exchange_neighbours(values):
    return values.reshape(-1, 2)[:, ::-1].ravel()


def turn(values):
    return np.roll(values, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (exchange_two, "298 rows whose value no other has keep it, where at most one does"),
        (exchange_neighbours, "150 pairs are exchanged over 0.0"),
        (turn, "300 rows exchange their values with no other row, where all do so in pairs"),
    ],
)
def test_rows_that_are_hardly_swapped_are_told(change, message):
    before = np.arange(300)
    assert told(before, change(before), 90).startswith(message)
