"""The cut of a node whose rows lie apart: every place tells of its rows in brief.

Briefs of parts of a node make up that of the node, in any order; the cut chosen by them is
the one that `cuts` chooses with all rows at hand.
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
from policy_engine.kernels.sides import Sides, fits
from policy_engine.kernels.summary import Summary, price_codes, summarise, summary

Ints = NDArray[np.int64]


class Brief(NamedTuple):
    """What the rows of a node cover, for each code that occurs.

    `at` (codes,) are the codes, ascending, each with the OFFSET of its dimension; the others
    are what a `Summary` holds of them. Dimensions in which the node has one code are left out.
    """

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


def is_told(axes: Axes) -> bool:
    """Tell whether nodes can be told in brief; briefs of too many values would not be short."""
    return len(summary(axes).times) > 0


def brief(table: CodedTable, scratch: Scratch, rows: NDArray[np.int32], extents: Ints) -> Brief:
    """Return what rows of a node, (rows, columns), cover; `extents` are those of the node."""
    scratch.node[:, :2] = extents
    summarise(table.axes, scratch.summary, rows, 0, len(rows), scratch.node)
    met = scratch.summary.times > 0
    inside = np.zeros_like(met)
    for dim in active(extents):
        low, high = table.axes.facts[dim, OFFSET] + extents[dim]
        inside[low : high + 1] = True
    at = np.flatnonzero(met & inside)
    found = scratch.summary
    return Brief(at, found.times[at], found.extents[at], found.present[at])


def merged(briefs: list[Brief]) -> Brief:
    """Return the brief of a node, given those of its parts."""
    at, times, extents, present = map(np.concatenate, zip(*briefs, strict=True))
    order = np.argsort(at, kind="stable")
    at = at[order]
    starts = np.flatnonzero(np.append(True, at[1:] != at[:-1]))[: len(at)]
    if not len(at):
        return Brief(at, times, extents, present)
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
    found: Brief,
    extents: Ints,
    total: int,
    sides: Mapping[int, Sides] | None = None,
) -> CutChoice | None:
    """Return the best valid cut of a node of `total` rows, None where there is none between values.

    `sides` holds by dimension what its boundaries leave on both sides, in turns as
    `turns_of` gives them; without it every row is a person of its own, and all sides are taken
    to be diverse. Of a relaxed table only large nodes may be asked for.
    """
    _restore(scratch.summary, found)
    scratch.node[:, :2] = extents
    node = _Node(table, scratch, found, extents, total, sides)
    if table.score > 0:
        return node.by_width()
    best: tuple[int, int, int, int, int] | None = None
    for dim in active(extents):
        boundary = node.best_boundary(dim)
        if boundary and (best is None or boundary[0] < best[0]):
            best = (*boundary, dim)
    return None if best is None else node.chosen(best[4], best[3])


def _restore(whole: Summary, found: Brief) -> None:
    whole.times[:] = 0
    whole.times[found.at], whole.extents[found.at] = found.times, found.extents
    whole.present[found.at] = found.present


def active(extents: Ints) -> list[int]:
    """Return the dimensions in which a node has several codes."""
    return np.flatnonzero(extents[:, LEAST] < extents[:, GREATEST]).tolist()


def codes_of(table: CodedTable, found: Brief, dim: int) -> tuple[Ints, Ints]:
    """Return the codes of a dimension that occur, ascending, and how often each does."""
    first, last = table.axes.facts[dim : dim + 2, OFFSET]
    start, end = np.searchsorted(found.at, [first, last])
    return found.at[start:end] - first, found.times[start:end]


def turns_of(table: CodedTable, found: Brief, dim: int) -> Ints:
    """Return the codes that occur in a dimension, in the order of its cuts."""
    codes, times = codes_of(table, found, dim)
    if table.axes.facts[dim, KIND] == MEMBERS and table.score == 0:
        return codes[np.argsort(-times, kind="stable")]
    return codes


class _Node(NamedTuple):
    table: CodedTable
    scratch: Scratch
    found: Brief
    extents: Ints
    total: int
    sides: Mapping[int, Sides] | None

    def by_width(self) -> CutChoice | None:
        """Part missing values first, then cut the widest dimension that has a valid boundary."""
        facts, dims = self.table.axes.facts, active(self.extents)
        for dim in dims:
            parts = facts[dim, HAS_MISSING] and not facts[dim, IS_WILDCARD]
            if parts and self.extents[dim, LEAST] == 0 and self._valid(dim)[0]:
                return self.chosen(dim, 0)
        for dim in sorted(dims, key=lambda dim: (-self._width(dim), dim)):
            boundary = self.best_boundary(dim)
            if boundary:
                return self.chosen(dim, boundary[3])
            if self.table.is_relaxed:
                return None  # its ties come next
        return None

    def best_boundary(self, dim: int) -> tuple[int, int, int, int] | None:
        """Return the score of the best valid boundary, its balance, rows left, and last turn."""
        valid = self._valid(dim)
        [turns] = np.nonzero(valid)
        if not len(turns):
            return None
        left = np.cumsum(self._times(dim))[:-1]
        balance = np.abs(2 * left - self.total)
        score = self._losses(dim, left) if self.table.score == 0 else balance
        best = turns[np.lexsort((left[turns], balance[turns], score[turns]))[0]]
        return int(score[best]), int(balance[best]), int(left[best]), int(best)

    def chosen(self, dim: int, last: int) -> CutChoice:
        """Return the cut behind a turn."""
        turns, low = turns_of(self.table, self.found, dim), int(self.extents[dim, LEAST])
        goes_left = np.zeros(int(self.extents[dim, GREATEST]) - low + 1, dtype=np.bool_)
        goes_left[turns[: last + 1] - low] = True
        sides = [self._side(dim, turns[: last + 1]), self._side(dim, turns[last + 1 :])]
        return CutChoice(Cut(dim, low, goes_left), *sides)

    def _side(self, dim: int, codes: Ints) -> BriefSide:
        """Return how many rows have these codes, and their extents in every dimension."""
        places = np.searchsorted(self.found.at, np.sort(codes) + self.table.axes.facts[dim, OFFSET])
        extents = self.extents.copy()
        for other in active(self.extents):
            if other == dim:
                extents[dim] = codes.min(), codes.max()
            else:
                extents[other] = self._covered(other, places)
        return BriefSide(int(self.found.times[places].sum()), extents)

    def _covered(self, other: int, places: Ints) -> tuple[int, int]:
        """Return the least and greatest code in another dimension of the rows of some codes."""
        axes, word = self.table.axes, self.scratch.summary.word
        present = np.bitwise_or.reduce(
            self.found.present[places, word[other] : word[other + 1]], axis=0
        )
        if axes.facts[other, KIND] == MEMBERS:
            bits = np.flatnonzero(np.unpackbits(present.view(np.uint8), bitorder="little"))
            return int(bits[0]), int(bits[-1])
        low, high = self.found.extents[places, other, 0], self.found.extents[places, other, 1]
        if present[0]:
            return 0, max(int(high.max()), 0)
        return int(low[low >= 0].min()), int(high.max())

    def _times(self, dim: int) -> Ints:
        codes, times = codes_of(self.table, self.found, dim)
        turns = turns_of(self.table, self.found, dim)
        return times[np.searchsorted(codes, turns)]

    def _valid(self, dim: int) -> NDArray[np.bool_]:
        """Tell which boundaries leave enough on both sides, diverse enough, (turns - 1,)."""
        size, left = self.table.size, np.cumsum(self._times(dim))[:-1]
        valid: NDArray[np.bool_] = (left >= size) & (self.total - left >= size)
        if self.table.keeps_apart:
            valid &= self._apart(dim)
        if self.sides is None:
            return valid
        one, other = fits(self.table, self.sides[dim])
        return valid & one[:-1] & other[1:]

    def _apart(self, dim: int) -> NDArray[np.bool_]:
        """Tell which boundaries leave no cell that both sides can have, (turns - 1,)."""
        axes, (low, high) = self.table.axes, self.extents[dim]
        pairs = pairwise(turns_of(self.table, self.found, dim))
        return np.array([are_apart(axes, dim, low, last, first, high) for last, first in pairs])

    def _losses(self, dim: int, left: Ints) -> Ints:
        """Return what both sides of every boundary lose, and the rows that they leave over."""
        table, size = self.table, self.table.size
        turns = turns_of(table, self.found, dim)
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
        _, times = codes_of(self.table, self.found, dim)
        return float(_entropy(times, self.total, facts[dim + 1, OFFSET] - base, facts[dim, FULL]))


@compiled
def _entropy(times, total, values, full):  # type: ignore[no-untyped-def]
    """Return a normalised entropy to the last bit as a node with its rows at hand has it."""
    entropy = 0.0
    for turn in range(len(times)):
        share = times[turn] / total
        entropy -= share * np.log(share)
    return entropy / np.log(values) * full
