"""The cut of a node whose rows are on several machines, chosen from summaries of its parts.

The briefs of the parts of a node merge, in any order, into the brief of the node; the cut chosen
from it is the one that `cuts` chooses with all rows at hand.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import (
    FULL,
    GREATEST,
    HAS_MISSING,
    IS_WILDCARD,
    KIND,
    LEAST,
    MEMBERS,
    OFFSET,
    POSITION,
    Axes,
    are_apart,
)
from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.descent import Cut
from policy_engine.kernels.layout import TURN, CodedTable, Scratch
from policy_engine.kernels.side_counts import SideCounts, valid_sides
from policy_engine.kernels.summary import Summary, price_codes, summarise, summary

Ints = NDArray[np.int64]


class Brief(NamedTuple):
    """What the rows of a node cover, for each code that occurs.

    `at` (codes,) are the codes, ascending, each with the OFFSET of its dimension; the other arrays
    are those of a `Summary`, for these codes. Dimensions in which the node has one code are left
    out.
    """

    # A `Summary` of the codes that occur, and no more, because it travels from task to task.

    at: Ints
    times: Ints
    extents: NDArray[np.int32]
    present: NDArray[np.uint64]


class BriefSide(NamedTuple):
    """One side of a cut: its number of rows, and its extents, (dimensions, 2)."""

    rows: int
    extents: Ints


class CutChoice(NamedTuple):
    """A cut, and the sides that it makes."""

    cut: Cut
    left: BriefSide
    right: BriefSide


def can_summarise(axes: Axes) -> bool:
    """Return whether nodes can be summarised: not if briefs of so many values would be large."""
    return len(summary(axes).times) > 0


def make_brief(
    table: CodedTable, scratch: Scratch, rows: NDArray[np.int32], extents: Ints
) -> Brief:
    """Return the brief of rows of a node, (rows, columns); `extents` are those of the node."""
    # The extents of the node, not of these rows: all parts must leave out the same dimensions.
    scratch.node[:, :2] = extents
    summarise(table.axes, scratch.summary, rows, 0, len(rows), scratch.node)
    occurs = scratch.summary.times > 0
    is_inside = np.zeros_like(occurs)
    for dim in active(extents):
        low, high = table.axes.facts[dim, OFFSET] + extents[dim]
        is_inside[low : high + 1] = True
    codes = np.flatnonzero(occurs & is_inside)
    summary = scratch.summary
    return Brief(codes, summary.times[codes], summary.extents[codes], summary.present[codes])


def merge(briefs: list[Brief]) -> Brief:
    """Return the brief of a node, given those of its parts."""
    at, times, extents, present = map(np.concatenate, zip(*briefs, strict=True))
    order = np.argsort(at, kind="stable")
    at = at[order]
    starts = np.flatnonzero(np.append(True, at[1:] != at[:-1]))[: len(at)]
    if not len(at):
        return Brief(at, times, extents, present)
    # An extent of -1 says that no row of this part has the code: it must not become the least.
    unmet = np.iinfo(np.int32).max
    low, high = extents[order, :, 0], extents[order, :, 1]
    low = np.minimum.reduceat(np.where(low < 0, unmet, low), starts)
    high = np.maximum.reduceat(high, starts)
    return Brief(
        at[starts],
        np.add.reduceat(times[order], starts),
        np.stack([np.where(high < 0, -1, low), high], axis=2).astype(np.int32),
        np.bitwise_or.reduceat(present[order], starts),
    )


def choose(
    table: CodedTable,
    scratch: Scratch,
    brief: Brief,
    extents: Ints,
    total: int,
    sides: Mapping[int, SideCounts] | None = None,
) -> CutChoice | None:
    """Return the best valid cut of a node of `total` rows, None where there is none between values.

    `sides` holds by dimension the counts on both sides of its boundaries, in the turns of
    `cut_order`; without it every row is a person of its own, and every side counts as diverse.
    In a relaxed table, only for large nodes: small ones may be cut through ties, which a brief
    does not show.
    """
    _restore(scratch.summary, brief)
    scratch.node[:, :2] = extents
    node = _Node(table, scratch, brief, extents, total, sides)
    if table.score > 0:
        return node.widest_cut()
    best: tuple[int, int, int, int, int] | None = None
    for dim in active(extents):
        boundary = node.best_boundary(dim)
        if boundary and (best is None or boundary[0] < best[0]):
            best = (*boundary, dim)
    return None if best is None else node.cut_behind(best[4], best[3])


def _restore(whole: Summary, brief: Brief) -> None:
    whole.times[:] = 0
    whole.times[brief.at], whole.extents[brief.at] = brief.times, brief.extents
    whole.present[brief.at] = brief.present


def active(extents: Ints) -> list[int]:
    """Return the dimensions in which a node has several codes."""
    return np.flatnonzero(extents[:, LEAST] < extents[:, GREATEST]).tolist()


def occurring_codes(table: CodedTable, brief: Brief, dim: int) -> tuple[Ints, Ints]:
    """Return the codes of a dimension that occur, ascending, and how often each does."""
    first, last = table.axes.facts[dim : dim + 2, OFFSET]
    start, end = np.searchsorted(brief.at, [first, last])
    return brief.at[start:end] - first, brief.times[start:end]


def cut_order(table: CodedTable, brief: Brief, dim: int) -> Ints:
    """Return the codes that occur in a dimension, in the order of its cuts."""
    codes, times = occurring_codes(table, brief, dim)
    if table.axes.facts[dim, KIND] == MEMBERS and table.score == 0:
        return codes[np.argsort(-times, kind="stable")]
    return codes


class _Node(NamedTuple):
    table: CodedTable
    scratch: Scratch
    brief: Brief
    extents: Ints
    total: int
    sides: Mapping[int, SideCounts] | None

    def widest_cut(self) -> CutChoice | None:
        """Split off missing values first, then cut the widest dimension with a valid boundary."""
        facts, dims = self.table.axes.facts, active(self.extents)
        for dim in dims:
            parts = facts[dim, HAS_MISSING] and not facts[dim, IS_WILDCARD]
            if parts and self.extents[dim, LEAST] == 0 and self._valid_boundaries(dim)[0]:
                return self.cut_behind(dim, 0)
        for dim in sorted(dims, key=lambda dim: (-self._width(dim), dim)):
            boundary = self.best_boundary(dim)
            if boundary:
                return self.cut_behind(dim, boundary[3])
            if self.table.is_relaxed:
                return None  # next come cuts through its ties, which need the rows
        return None

    def best_boundary(self, dim: int) -> tuple[int, int, int, int] | None:
        """Return score, imbalance, rows on the left and last turn of the best valid boundary."""
        valid = self._valid_boundaries(dim)
        [turns] = np.nonzero(valid)
        if not len(turns):
            return None
        left = np.cumsum(self._times(dim))[:-1]
        balance = np.abs(2 * left - self.total)
        score = self._losses(dim, left) if self.table.score == 0 else balance
        best = turns[np.lexsort((left[turns], balance[turns], score[turns]))[0]]
        return int(score[best]), int(balance[best]), int(left[best]), int(best)

    def cut_behind(self, dim: int, last: int) -> CutChoice:
        """Return the cut behind a turn."""
        # The extents of both sides come with it, so that the next cut needs no pass to find them.
        turns, low = cut_order(self.table, self.brief, dim), int(self.extents[dim, LEAST])
        goes_left = np.zeros(int(self.extents[dim, GREATEST]) - low + 1, dtype=np.bool_)
        goes_left[turns[: last + 1] - low] = True
        sides = [self._side(dim, turns[: last + 1]), self._side(dim, turns[last + 1 :])]
        return CutChoice(Cut(dim, low, goes_left), *sides)

    def _side(self, dim: int, codes: Ints) -> BriefSide:
        """Return how many rows have these codes, and their extents in every dimension."""
        places = np.searchsorted(self.brief.at, np.sort(codes) + self.table.axes.facts[dim, OFFSET])
        extents = self.extents.copy()
        for other in active(self.extents):
            if other == dim:
                extents[dim] = codes.min(), codes.max()
            else:
                extents[other] = self._covered(other, places)
        return BriefSide(int(self.brief.times[places].sum()), extents)

    def _covered(self, other: int, places: Ints) -> tuple[int, int]:
        """Return the least and greatest code in another dimension of the rows of some codes."""
        axes, word = self.table.axes, self.scratch.summary.word
        present = np.bitwise_or.reduce(
            self.brief.present[places, word[other] : word[other + 1]], axis=0
        )
        if axes.facts[other, KIND] == MEMBERS:
            bits = np.flatnonzero(np.unpackbits(present.view(np.uint8), bitorder="little"))
            return int(bits[0]), int(bits[-1])
        low, high = self.brief.extents[places, other, 0], self.brief.extents[places, other, 1]
        if present[0]:
            return 0, max(int(high.max()), 0)
        return int(low[low >= 0].min()), int(high.max())

    def _times(self, dim: int) -> Ints:
        codes, times = occurring_codes(self.table, self.brief, dim)
        turns = cut_order(self.table, self.brief, dim)
        return times[np.searchsorted(codes, turns)]

    def _valid_boundaries(self, dim: int) -> NDArray[np.bool_]:
        """Return which boundaries have two sides that are large and diverse, (turns - 1,)."""
        size, left = self.table.size, np.cumsum(self._times(dim))[:-1]
        is_valid: NDArray[np.bool_] = (left >= size) & (self.total - left >= size)
        if self.table.keeps_apart:
            is_valid &= self._apart(dim)
        if self.sides is None:
            return is_valid
        one, other = valid_sides(self.table, self.sides[dim])
        return is_valid & one[:-1] & other[1:]

    def _apart(self, dim: int) -> NDArray[np.bool_]:
        """Return which boundaries leave no cell that both sides can have, (turns - 1,)."""
        axes, (low, high) = self.table.axes, self.extents[dim]
        pairs = pairwise(cut_order(self.table, self.brief, dim))
        return np.array([are_apart(axes, dim, low, last, first, high) for last, first in pairs])

    def _losses(self, dim: int, left: Ints) -> Ints:
        """Return the loss of both sides of every boundary, as `boundaries.weighted_loss`."""
        table, size = self.table, self.table.size
        turns = cut_order(table, self.brief, dim)
        self.scratch.codes[: len(turns), TURN] = turns - self.extents[dim, LEAST]
        for side in range(2):
            price_codes(
                *(table.axes, self.scratch.summary, self.scratch.extent.state, self.scratch.node),
                *(dim, self.scratch.codes, len(turns), side),
            )
        prices = self.scratch.summary.prices[:, : len(turns)]
        one, other = prices[0, :-1], prices[1, :-1][::-1]
        units, rest, whole = left, self.total - left, np.int64(self.total)
        if self.sides is not None:
            units, rest = self.sides[dim].units_left[:-1], self.sides[dim].units_right[1:]
            whole = self.sides[dim].units_left[-1]
        over = units // size + rest // size < whole // size
        extra = table.left_over * size * (one + other) // 10
        return np.asarray(left * one + (self.total - left) * other + np.where(over, extra, 0))

    def _width(self, dim: int) -> float:
        """Return the normalised range, or the normalised entropy, of a dimension in the node."""
        facts, places = self.table.axes.facts, self.table.axes.places
        base = facts[dim, OFFSET]
        if self.table.score == 1:
            low, high = base + self.extents[dim]
            return float(places[high, POSITION] - places[low, POSITION])
        _, times = occurring_codes(self.table, self.brief, dim)
        return float(_entropy(times, self.total, facts[dim + 1, OFFSET] - base, facts[dim, FULL]))


@compiled
def _entropy(times, total, values, full):  # type: ignore[no-untyped-def]
    """Return the normalised entropy of the codes of a node."""
    # Compiled, and in the order of turns, as `cuts` computes it: numpy's sums round differently,
    # and the choice between two dimensions must not depend on where the rows are.
    entropy = 0.0
    for turn in range(len(times)):
        share = times[turn] / total
        entropy -= share * np.log(share)
    return entropy / np.log(values) * full
