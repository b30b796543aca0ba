"""How much a cut of a node tells of its targets: counts and sums of every code, and gains of cuts.

Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984, sections 4.5 and 8.4.
The gain of a cut is by how much it reduces the sum of the squared differences of the targets from
their mean. Of a column without an order, the codes are put in the order of their mean target: for
one target, the best of all ways to divide them is then behind one of them.

The counts of parts of the rows add up to those of a node (`count_codes`), whichever rows are in
which part. `best_gain` chooses a cut from them; the kernel (`guided_tree`) fills the same arrays
and scores them by the same code, so both choose the same cut.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import INTERVAL, KIND, OFFSET, Axes
from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.descent import Cut
from policy_engine.kernels.layout import CodedTable
from policy_engine.kernels.side_counts import SideCounts, valid_sides

Ints = NDArray[np.int64]

MOST_TARGET = 1 << 30
"""The greatest size of a target, so that the sum over 2**32 rows has 63 bits."""
TIMES = 0
"""The column of `Ranking.counts` with the number of rows; those behind it are sums of targets."""
NOTHING: Any = np.int64(-1)


class Ranking(NamedTuple):
    """The codes of a node: how often each occurs, and the targets of its rows.

    `counts` (codes, 1 + targets) has, at OFFSET + c, the number of rows with code c of a dimension
    and the sums of their targets. The first `kinds[dimension]` entries of `turns` from OFFSET on
    are the codes that occur, in the order in which they are ranked. `means` (codes,) are what they
    are ranked by; `gains` (widest,) are those of the cuts behind each turn of one dimension, and
    `fits` whether both sides hold; `sums` (3, targets) are working memory.
    """

    counts: Ints
    turns: Ints
    kinds: Ints
    means: NDArray[np.float64]
    gains: NDArray[np.float64]
    fits: NDArray[np.bool_]
    sums: Ints


def ranking(axes: Axes, targets: int) -> Ranking:
    """Return the ranking of no rows."""
    codes = len(axes.places)
    widest = int(np.diff(axes.facts[:, OFFSET]).max(initial=0)) + 1
    return Ranking(
        counts=np.zeros((codes, 1 + targets), np.int64),
        turns=np.zeros(codes, np.int64),
        kinds=np.zeros(len(axes.facts) - 1, np.int64),
        means=np.zeros(codes, np.float64),
        gains=np.zeros(widest, np.float64),
        fits=np.zeros(widest, np.bool_),
        sums=np.zeros((3, targets), np.int64),
    )


def orders_of(axes: Axes, dim: int, targets: int) -> int:
    """Return in how many orders the codes of a dimension are ranked: one for each target where they
    have no order of their own."""
    return int(count_orders(axes, dim, targets))


@compiled
def count_orders(axes, dim, targets):  # type: ignore[no-untyped-def]
    """As `orders_of`, for compiled code."""
    return 1 if axes.facts[dim, KIND] == INTERVAL else targets


@compiled
def add_rows(axes, ranks, rows, start, end, first):  # type: ignore[no-untyped-def]
    """Add the rows start .. end - 1, whose targets are in the columns from `first`."""
    counts, turns, kinds, facts = ranks.counts, ranks.turns, ranks.kinds, axes.facts
    for row in range(start, end):
        for dim in range(len(kinds)):
            offset = facts[dim, OFFSET]
            at = offset + rows[row, dim]
            if counts[at, TIMES] == 0:
                turns[offset + kinds[dim]] = rows[row, dim]
                kinds[dim] += 1
            counts[at, TIMES] += 1
            for target in range(1, counts.shape[1]):
                counts[at, target] += rows[row, first + target - 1]


@compiled
def forget_rows(axes, ranks):  # type: ignore[no-untyped-def]
    """Forget all rows."""
    # By the codes that occurred: clearing all of them would cost more than small nodes do.
    for dim in range(len(ranks.kinds)):
        offset = axes.facts[dim, OFFSET]
        for turn in range(ranks.kinds[dim]):
            at = offset + ranks.turns[offset + turn]
            for entry in range(ranks.counts.shape[1]):
                ranks.counts[at, entry] = 0
        ranks.kinds[dim] = 0


@compiled
def rank_codes(axes, ranks, dim, order):  # type: ignore[no-untyped-def]
    """Put the codes of a dimension in turns: by their values, or by their mean of a target."""
    # By value they are found in one pass over their range, where that is short.
    offset, kinds, turns, means = (
        axes.facts[dim, OFFSET],
        ranks.kinds[dim],
        ranks.turns,
        ranks.means,
    )
    if axes.facts[dim, KIND] == INTERVAL:
        low = high = turns[offset]
        for turn in range(kinds):
            code = turns[offset + turn]
            means[offset + code] = 0.0
            low, high = min(low, code), max(high, code)
        if high - low < _FEW * kinds:
            turn = 0
            for code in range(low, high + 1):
                if ranks.counts[offset + code, TIMES] > 0:
                    turns[offset + turn] = code
                    turn += 1
            return
    else:
        for turn in range(kinds):
            at = offset + turns[offset + turn]
            means[at] = ranks.counts[at, 1 + order] / ranks.counts[at, TIMES]
    _sort_turns(turns, means, offset, kinds)


_FEW = 4


@compiled
def _sort_turns(turns, means, offset, kinds):  # type: ignore[no-untyped-def]
    """Sort codes by their means, those with equal means by value (Shell's sort)."""
    gap = 1
    while gap < kinds // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for last in range(gap, kinds):
            code, place = turns[offset + last], last
            mean = means[offset + code]
            while place >= gap:
                other = turns[offset + place - gap]
                before = means[offset + other]
                if before < mean or (before == mean and other < code):
                    break
                turns[offset + place] = other
                place -= gap
            turns[offset + place] = code
        gap //= 3


@compiled
def score_turns(axes, ranks, dim, size):  # type: ignore[no-untyped-def]
    """Set the gain of a cut behind each turn but the last; 0 where a side has too few rows.

    Gains depend on counts and sums alone, which are exact: the order of rows does not matter.
    """
    # A sum less its share of the whole is computed in whole numbers, and so is exactly 0 where a
    # cut tells nothing; only then it becomes a float.
    offset, kinds = axes.facts[dim, OFFSET], ranks.kinds[dim]
    counts, turns, sums = ranks.counts, ranks.turns, ranks.sums
    targets, rows = counts.shape[1] - 1, np.int64(0)
    for target in range(targets):
        sums[0, target] = sums[1, target] = 0
    for turn in range(kinds):
        at = offset + turns[offset + turn]
        rows += counts[at, TIMES]
        for target in range(targets):
            sums[1, target] += counts[at, 1 + target]
    for target in range(targets):
        mean = sums[1, target] // rows
        sums[2, target] = sums[1, target] - mean * rows
        sums[1, target] = mean
    left = np.int64(0)
    for turn in range(kinds - 1):
        at = offset + turns[offset + turn]
        left += counts[at, TIMES]
        gain = 0.0
        for target in range(targets):
            sums[0, target] += counts[at, 1 + target]
            rest = sums[2, target] * left
            share = rest // rows
            ahead = sums[0, target] - sums[1, target] * left - share
            deviation = float(ahead) - float(rest - share * rows) / float(rows)
            gain += deviation * deviation
        is_large = left >= size and rows - left >= size
        ranks.gains[turn] = gain * float(rows) / (float(left) * float(rows - left)) * is_large


class CutRank(NamedTuple):
    """A cut behind a turn of one of the orders of a dimension, and what it gains."""

    dim: int
    order: int
    turn: int
    gain: float


def count_codes(axes: Axes, rows: NDArray[np.int32], targets: NDArray[np.integer[Any]]) -> Ints:
    """Return the number of rows with every code, and the sums of their targets.

    (codes, 1 + targets), of rows of codes, (rows, dimensions or more), and `targets` (rows,
    targets). Those of the parts of a node add up to those of the node.
    """
    dims, codes = len(axes.facts) - 1, len(axes.places)
    counts = np.zeros((codes, 1 + targets.shape[1]), dtype=np.int64)
    for dim in range(dims):
        np.add.at(counts[:, TIMES], axes.facts[dim, OFFSET] + rows[:, dim], 1)
        for target in range(targets.shape[1]):
            at = axes.facts[dim, OFFSET] + rows[:, dim]
            np.add.at(counts[:, 1 + target], at, targets[:, target].astype(np.int64))
    return counts


def restore(axes: Axes, ranks: Ranking, counts: Ints) -> None:
    """Make the counts of a node, from `count_codes`, those of a ranking."""
    ranks.counts[:] = counts
    for dim in range(len(ranks.kinds)):
        first, last = axes.facts[dim : dim + 2, OFFSET]
        codes = np.flatnonzero(counts[first:last, TIMES])
        ranks.kinds[dim] = len(codes)
        ranks.turns[first : first + len(codes)] = codes


def turns_of(axes: Axes, ranks: Ranking, dim: int, order: int) -> Ints:
    """Return the codes of a dimension in one of its orders, which are the turns of `SideCounts`."""
    rank_codes(axes, ranks, dim, order)
    first = axes.facts[dim, OFFSET]
    turns: Ints = ranks.turns[first : first + ranks.kinds[dim]].copy()
    return turns


def best_gain(
    table: CodedTable,
    ranks: Ranking,
    sides: Mapping[tuple[int, int], SideCounts] | None = None,
) -> CutRank | None:
    """Return the valid cut of a node that gains most, None where none gains anything.

    Of equal gains, the first dimension, order and turn. `ranks` holds the node (`restore`); `sides`
    has by dimension and order the counts on both sides of every turn of `turns_of`; without it
    every row is a person of its own, and every side counts as diverse.
    """
    best = None
    for dim in range(len(ranks.kinds)):
        for order in range(orders_of(table.axes, dim, ranks.counts.shape[1] - 1)):
            gains = _gains(table, ranks, dim, order)
            if sides is not None and len(gains) and gains.max() > (best.gain if best else 0.0):
                one, other = valid_sides(table, sides[dim, order])
                gains = np.where(one[:-1] & other[1:], gains, 0.0)
            if len(gains) and gains.max() > (best.gain if best else 0.0):
                turn = int(gains.argmax())  # the first of several
                best = CutRank(dim, order, turn, float(gains[turn]))
    return best


def _gains(table: CodedTable, ranks: Ranking, dim: int, order: int) -> NDArray[np.float64]:
    rank_codes(table.axes, ranks, dim, order)
    score_turns(table.axes, ranks, dim, table.size)
    return ranks.gains[: max(int(ranks.kinds[dim]) - 1, 0)].copy()


def cut_behind(axes: Axes, ranks: Ranking, best: CutRank) -> Cut:
    """Return a cut as the codes that go to the left side."""
    turns = turns_of(axes, ranks, best.dim, best.order)
    low = int(turns.min())
    goes_left = np.zeros(int(turns.max()) - low + 1, dtype=np.bool_)
    goes_left[turns[: best.turn + 1] - low] = True
    return Cut(best.dim, low, goes_left)
