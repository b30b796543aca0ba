"""What the rows of a rank-swapped column show of how it was swapped: which pairs, and how near."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.draw_tails import UNLIKELY, lack_of_shares_tail

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SwappedPairs:
    """Of a swapped column, how many rows `stayed` that share their value with no other, how many
    `single` rows have none to be exchanged with, and by what `shares` of the ranks that they could
    take values moved at most, added up over `steps` pairs."""

    stayed: int
    single: int
    shares: float
    steps: int


def swapped_pairs(before: Ints, after: Ints, window: int) -> SwappedPairs:
    """Return what rows show, `before` and `after` (rows,) being the ranks of their values from 0 on
    without gaps, equal for equal values; values move by at most `window` ranks.

    `rank_swap` exchanges the values of the ranks i and j, where j is drawn from the free ones above
    i. So the number of free ranks up to j, as a share of all free ones within the window, is
    uniform, whatever was drawn before. Where rows share a value, nobody knows which rank was whose:
    the share is then the largest that it can have been.
    """
    values = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    there, back = before * values + after, after * values + before
    times = np.bincount(before, minlength=values)
    stayed = int(((before == after) & (times[before] == 1)).sum())
    pairs, counts = np.unique(there, return_counts=True)
    others, other_counts = np.unique(back, return_counts=True)
    # Every exchange is seen from both of its rows.
    both = np.concatenate([pairs, others])
    signed = np.concatenate([counts, -other_counts])
    _, places = np.unique(both, return_inverse=True)
    single = int(np.abs(np.bincount(places, weights=signed)).sum()) // 2
    lower, upper = np.divmod(pairs, max(values, 1))
    tree = np.zeros(values + 1, dtype=np.int64)
    shares = _shares(lower, upper, counts, times, np.cumsum(times), tree, window)
    return SwappedPairs(stayed, single, float(shares), len(before) // 2)


def unlikely_pairs(tally: Mapping[str, Any]) -> str:
    """Return of a tally, whose `pairs` have the counts of `swapped_pairs`, and which has their
    `shares`, what is impossible or less likely than 1e-13, empty where nothing is.

    Of an odd number of rows, one is not swapped; no `shares` are judged of 0 steps.
    """
    stayed, single, steps = tally["pairs"].tolist()
    if stayed > 1:
        return f"{stayed:,} rows whose value no other has keep it, where at most one does"
    if single:
        return f"{single:,} rows exchange their values with no other row, where all do so in pairs"
    shares = float(tally["shares"][0])
    if lack_of_shares_tail(steps / 2 - shares, steps) > UNLIKELY:
        return ""
    sentence = f"{steps:,} pairs are exchanged over {shares / steps:.3g} of the ranks that are free"
    return f"{sentence}, where a half or more is expected"


@compiled
def _shares(
    lower: Ints, upper: Ints, counts: Ints, times: Ints, ends: Ints, tree: Ints, window: int
) -> float:
    """Return the sum of the largest shares of free ranks that pairs of values, in order, can have
    moved by.

    `counts` rows have each pair, `times` rows each value, whose ranks are below its `ends`; the
    binary indexed `tree` is one of zeros.
    """
    for value in range(len(times)):
        _add(tree, value, times[value])
    total, place = 0.0, 0
    for value in range(len(times)):
        start = place
        while place < len(lower) and lower[place] == value:
            place += 1
        # Free before any of these rows draws: those of this value, and of others above.
        own = _sum(tree, value + 1)
        for pair in range(start, place):
            if upper[pair] > value:
                _add(tree, upper[pair], -counts[pair])
        _add(tree, value, -own)
        # The values that are wholly within the window of the first of these rows.
        last = np.searchsorted(ends, ends[value] - times[value] + window + 1, side="right")
        free_left = _sum(tree, max(last, value + 1)) + 1
        taken = 0
        for pair in range(start, place):
            if upper[pair] == value:
                total += (counts[pair] // 2) * min(1.0, max(own - 1, 0) / free_left)
            elif upper[pair] > value:
                taken += counts[pair]
                # Those free at the start: what is left, and what these pairs have taken.
                reached = _sum(tree, upper[pair] + 1) + own - 1 + taken
                total += counts[pair] * min(1.0, reached / free_left)
    return total


@compiled
def _add(tree: Ints, place: int, number: int) -> None:
    """Add a number in one place of a binary indexed tree (Fenwick, 1994)."""
    place += 1
    while place < len(tree):
        tree[place] += number
        place += place & -place


@compiled
def _sum(tree: Ints, end: int) -> Any:
    """Return the sum of the first numbers of a binary indexed tree."""
    total = 0
    while end > 0:
        total += tree[end]
        end -= end & -end
    return total
