"""Rank swapping: every value is swapped with one of a similar rank.

Moore: Controlled data-swapping techniques for masking public use microdata sets, U.S. Bureau of the
Census 1996; Nin, Herranz, Torra: Rethinking rank swapping to decrease disclosure risk, Data and
Knowledge Engineering 64(1), 2008.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.elementary import exponential
from policy_engine.kernels.ranking import sort_rows

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Variant = Literal["plain", "buckets", "distribution"]


def rank_swap(values: NDArray[Any], words: Words, share: float, variant: Variant = "plain") -> Ints:
    """Return for each row the row whose value it gets, (rows,); pairs of rows swap theirs.

    Rows are ranked by `values` (rows,), of any type with an order, and where those are equal by
    `words` (rows,), random bits of each row. From the lowest rank i up, each value not swapped yet
    is swapped with one of a rank j above it, not swapped yet either. With w = floor(share * rows),
    that rank is drawn in the variant

    - `plain` from i + 1 .. i + w, with equal probabilities.
    - `buckets` from the bucket of rank i or from one d buckets above it, with a probability
      proportional to 2**-d, and within the bucket with equal probabilities. Buckets have w ranks or
      a little fewer. A value can move by any number of ranks; by more than d w it moves with a
      probability of about 2**-d.
    - `distribution` from i + 1 .. i + 3 w, with the density of N(w / 2, w / 2) at j - i. The end is
      five deviations from the mean; beyond are fewer than one in a million.

    No value moves by more ranks than `most_ranks`, and all but one are swapped at least, unless w
    is 0. Raises ValueError for a share that is not above 0 and below 1.
    """
    rows, window = sort_rows(values, words), _window(len(values), share)
    positions = np.empty_like(rows)
    positions[rows] = rows[_partners(words[rows], window, variant)] if window else rows
    return positions


def most_ranks(rows: int, share: float, variant: Variant = "plain") -> int:
    """Return by how many ranks a value can be moved at most, of so many rows: `rank_swap`."""
    window = _window(rows, share)
    reach = {"plain": window, "buckets": rows if window else 0, "distribution": _REACH * window}
    return min(reach[variant], max(rows - 1, 0))


def _window(rows: int, share: float) -> int:
    if not 0 < share < 1:
        raise ValueError(f"The share of ranks is above 0 and below 1. Given: {share!r}.")
    return int(share * rows)


def _partners(words: Words, window: int, variant: Variant) -> Ints:
    """Return for each rank the rank with which it is swapped, or itself, (rows,)."""
    partner, free, place_of = (np.arange(len(words)) for _ in range(3))
    if variant == "buckets":
        count = -(-len(words) // window)
        starts = -(-np.arange(count + 1) * len(words) // count)
        _swap_buckets(words, starts, starts[1:].copy(), partner, free, place_of)
    elif variant == "distribution":
        _swap_ahead(words, _REACH * window, window / 2, partner, free, place_of)
    else:
        _swap_ahead(words, window, 0.0, partner, free, place_of)
    return partner


def largest_rank_move(before: NDArray[Any], after: NDArray[Any]) -> int:
    """Return the number of ranks by which the values of rows must have moved, at the most.

    `before` and `after` (rows,) are what the same rows hold. Equal values share the ranks that they
    take up together: of all ways to rank them, this is the one with the smallest largest move.
    Raises ValueError where not every value is there as often after as before.
    """
    first, second, values = _numbered(before, after)
    # Rows with one value in common move the least if they are ranked by the other value, since
    # their moves then do not cross. So rows with both in common all move equally far.
    pairs, counts = np.unique(first * values + second, return_counts=True)
    order = np.argsort(pairs % values * values + pairs // values)
    start, end = np.cumsum(counts) - counts, np.empty_like(counts)
    end[order] = np.cumsum(counts[order]) - counts[order]
    return int(np.abs(end - start).max(initial=0))


def least_rank_move(before: Ints, after: Ints, times: Ints) -> int:
    """Return the number of ranks by which some values of a column must have moved, at the least.

    `before` and `after` (rows,) are the numbers, in the order of values, of what some rows hold;
    `times` (values,) how many rows of the whole column have each before. Without ties, it is how
    far the furthest of these rows has moved.
    """
    ends = np.cumsum(times)
    starts = ends - times
    up, down = (starts[y] - ends[x] + 1 for x, y in ((before, after), (after, before)))
    return max(int(up.max(initial=0)), int(down.max(initial=0)))


def _numbered(before: NDArray[Any], after: NDArray[Any]) -> tuple[Ints, Ints, int]:
    """Return the numbers of both columns' values, in order, and how many distinct values are."""
    values, first, counts = np.unique(before, return_inverse=True, return_counts=True)
    others, second, other_counts = np.unique(after, return_inverse=True, return_counts=True)
    if not (np.array_equal(values, others) and np.array_equal(counts, other_counts)):
        raise ValueError("Swapping does not change how often a value occurs.")
    return first, second, max(len(values), 1)


@compiled
def _swap_ahead(
    words: Words, reach: int, spread: float, partner: Ints, free: Ints, place_of: Ints
) -> None:
    """Swap each rank with a free one at most `reach` above it, drawn as `_draw_place` does."""
    # The free ranks within reach are `free[:end]`, in any order, and `place_of` says where among
    # them each is. So a draw costs the same however many ranks are taken.
    end = entered = 0
    for rank in range(len(words)):
        while entered < len(words) and entered <= rank + reach:
            free[end], place_of[entered] = entered, end
            end, entered = end + 1, entered + 1
        if partner[rank] == rank:
            end = _take(free, place_of, rank, end)
            if end > 0:
                other = free[_draw_place(words[rank], free, end, rank, spread)]
                end = _take(free, place_of, other, end)
                partner[rank], partner[other] = other, rank


@compiled
def _take(free: Ints, place_of: Ints, rank: int, end: int) -> Any:
    """Take a rank off the free ones, the last of which then has its place; return their end."""
    last, place = free[end - 1], place_of[rank]
    free[place], place_of[last] = last, place
    return end - 1


@compiled
def _draw_place(word: int, free: Ints, end: int, rank: int, spread: float) -> Any:
    """Return the place of a free rank: any with equal probability, or if there is a spread, with
    the density of N(spread, spread) at its distance.
    """
    # Drawn evenly, then kept with a probability (von Neumann). There is always a place to keep;
    # the number of draws is bounded for the sake of a list of nothing but unlikely ones.
    place = np.int64(0)
    for _ in range(_DRAWS):
        word += _STEP
        bits = _mixed(word)
        place = _draw_below(end, bits)
        if spread == 0.0:
            break
        deviation = (free[place] - rank - spread) / spread
        if np.float64(bits & _LOW_HALF) * 2.0**-32 < exponential(-0.5 * deviation * deviation):
            break
    return place


@compiled
def _swap_buckets(
    words: Words, starts: Ints, ends: Ints, partner: Ints, free: Ints, place_of: Ints
) -> None:
    """Swap each rank with a free one of its own bucket or one above."""
    # The free ranks of a bucket are `free[starts[bucket]:ends[bucket]]`.
    for rank in range(len(words)):
        if partner[rank] == rank:
            own = rank * len(ends) // len(words)
            ends[own] = _take(free, place_of, rank, ends[own])
            word, bucket = _draw_bucket(words[rank], own, starts, ends)
            if bucket < len(ends):
                start = starts[bucket]
                other = free[start + _draw_below(ends[bucket] - start, _mixed(word))]
                ends[bucket] = _take(free, place_of, other, ends[bucket])
                partner[rank], partner[other] = other, rank


@compiled
def _draw_bucket(word: int, own: int, starts: Ints, ends: Ints) -> Any:
    """Return the next word, and a bucket that has free ranks; none has if it is past the last."""
    for _ in range(_DRAWS):
        bucket, bits = own, _mixed(word)
        word += _STEP
        while bucket < len(ends) and bits & _BIT == 0:
            bucket, bits = bucket + 1, bits >> _BIT
        if bucket < len(ends) and starts[bucket] < ends[bucket]:
            return word, bucket
    # Those nearby are used up.
    bucket = own
    while bucket < len(ends) and starts[bucket] == ends[bucket]:
        bucket += 1
    return word, bucket


@compiled
def _draw_below(number: int, bits: int) -> Any:
    """Return a whole number below another, which is below 2**32, from the upper half of a word."""
    return np.int64((bits >> _HALF) * np.uint64(number) >> _HALF)


@compiled
def _mixed(word: int) -> Any:
    """Return the bits of a word mixed (Steele, Lea, Flood: SplitMix, OOPSLA 2014)."""
    # Words of neighbours among equal values are themselves in order.
    word = (word ^ (word >> _SHIFTS[0])) * _FACTORS[0]
    word = (word ^ (word >> _SHIFTS[1])) * _FACTORS[1]
    return word ^ (word >> _SHIFTS[2])


_REACH = 3
"""In the variant `distribution`, of so many windows."""
_DRAWS = 1_000
_BIT: Any = np.uint64(1)
_HALF: Any = np.uint64(32)
_LOW_HALF: Any = np.uint64(2**32 - 1)
_STEP: Any = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS: Any = (np.uint64(30), np.uint64(27), np.uint64(31))
_FACTORS: Any = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
