"""Which rows are left out, told apart by bins: at most so many, those that gain most per row first.

A row is in one bin by what it gains in its class, and in two for each line, by how far from either
end of it the row is. Whoever counts the rows of bins can say which bins are left out, without any
of the rows: each bin goes with all its rows or stays with all of them, so that neither the order of
rows nor how they are divided decides anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import UNIT, Axis, Interval
from policy_engine.kernels.outlying_rows import ClassHulls

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_STEPS = 64
"""How many bins there are from a gain, or a distance, to its double."""
_OCTAVES = 24
_CUT = 16
"""Tails end after so many bins, or a multiple of that."""
TAIL_BINS = _STEPS * _OCTAVES + 1
"""The number of bins by the distance from an end; the last has everything that is far from it."""


class LineEnd(NamedTuple):
    """One end of a line: the greatest or the least value of a dimension."""

    dim: int
    is_high: bool


class LineTail(NamedTuple):
    """The rows near one end of a line: those in its first `bins` bins."""

    side: LineEnd
    bins: int


@dataclass(frozen=True)
class BinCounts:
    """How many rows there are in each bin of gains, and in each bin from the ends of lines,
    (TAIL_BINS,)."""

    gains: Mapping[int, int] = field(default_factory=dict)
    tails: Mapping[LineEnd, Ints] = field(default_factory=dict)

    @classmethod
    def of_tail(cls, side: LineEnd, place: int, rows: int) -> "BinCounts":
        """Return that so many rows are in one bin from an end."""
        tail = np.zeros(TAIL_BINS, dtype=np.int64)
        tail[place] = rows
        return cls(tails={side: tail})

    def __add__(self, other: "BinCounts") -> "BinCounts":
        gains = {
            one: self.gains.get(one, 0) + other.gains.get(one, 0)
            for one in {*self.gains, *other.gains}
        }
        none = np.zeros(TAIL_BINS, dtype=np.int64)
        tails = {
            side: self.tails.get(side, none) + other.tails.get(side, none)
            for side in {*self.tails, *other.tails}
        }
        return BinCounts(gains, tails)


@dataclass(frozen=True)
class ChosenBins:
    """What is left out: the rows of some bins of gains, and of some tails; at most `rows` rows."""

    gains: tuple[int, ...] = ()
    tails: tuple[LineTail, ...] = ()
    rows: int = 0

    def holds(self, bins: NDArray[np.int32], places: Floats, ends: Floats) -> NDArray[np.bool_]:
        """Return which rows are left out, (rows,), given their bins of gains and their `places`
        (rows, dimensions) between `ends` (dimensions, 2)."""
        chosen = np.isin(bins, np.array(self.gains, dtype=np.int32))
        for (dim, is_high), count in self.tails:
            chosen |= tail_bins(places[:, dim], ends[dim], is_high=is_high) < count
        return chosen


def gain_bins(gain: Ints) -> NDArray[np.int32]:
    """Return the bin of each gain, 0 for none: equal gains are in one bin, greater ones never in a
    lower bin. There are 64 bins from any gain to its double."""
    fraction, exponent = np.frexp(gain.astype(np.float64))
    bins = exponent * _STEPS + ((fraction - 0.5) * (2 * _STEPS)).astype(np.int64)
    return np.where(gain > 0, bins, 0).astype(np.int32)


def tail_bins(places: Floats, ends: Floats, *, is_high: bool) -> NDArray[np.int32]:
    """Return the bin of each place on a line, (rows,), from one of its ends: the n-th bin ends
    where the rest of the line is 2 ** (-n / 64) of it, or nearly. Missing values are in the last.
    """
    least, most = ends
    if not most > least:
        return np.full(len(places), TAIL_BINS - 1, dtype=np.int32)
    rest = (places - least if is_high else most - places) / (most - least)
    fraction, exponent = np.frexp(np.clip(rest, 0.0, 1.0))
    bins = ((1.0 - fraction) * (2 * _STEPS)).astype(np.int64) - exponent * _STEPS
    is_inside = (places >= 0) & (rest > 0)
    return np.where(is_inside, np.clip(bins, 0, TAIL_BINS - 1), TAIL_BINS - 1).astype(np.int32)


def count_rows(
    axes: Sequence[Axis], bins: NDArray[np.int32], places: Floats, ends: Floats
) -> BinCounts:
    """Return how many rows are in each bin, given their bins of gains and their places."""
    numbers, times = np.unique(bins, return_counts=True)
    sides = [
        LineEnd(dim, is_high)
        for dim, axis in enumerate(axes)
        for is_high in (False, True)
        if isinstance(axis.shape, Interval)
    ]
    tails = {
        side: np.bincount(
            tail_bins(places[:, side.dim], ends[side.dim], is_high=side.is_high),
            minlength=TAIL_BINS,
        )
        for side in sides
    }
    return BinCounts(dict(zip(numbers.tolist(), times.tolist(), strict=True)), tails)


def possible_tails(counts: BinCounts, limit: int) -> tuple[LineTail, ...]:
    """Return the tails of at most `limit` rows that could be left out: of each end, one for every
    quarter of an octave of the line that holds a further row."""
    tails = []
    for side, rows_by_bin in counts.tails.items():
        rows = np.cumsum(rows_by_bin)[_CUT - 1 : TAIL_BINS - 1 : _CUT]
        is_further = np.append(rows[:1] > 0, np.diff(rows) > 0)
        cuts = np.flatnonzero(is_further & (rows <= limit))
        tails += [LineTail(side, (int(one) + 1) * _CUT) for one in cuts]
    return tuple(tails)


def rest_of_line(tail: LineTail, span: Floats) -> Floats:
    """Return what is left of a span (2,) without a tail."""
    least, most = span
    octave, step = divmod(tail.bins, _STEPS)
    length = np.ldexp(1.0 - step / (2 * _STEPS), -octave) * (most - least)
    return np.array([least, least + length] if tail.side.is_high else [most - length, most])


def tail_losses(
    hulls: ClassHulls, axes: Sequence[Axis], ends: Floats, tails: Sequence[LineTail]
) -> dict[LineTail, int]:
    """Return the price of the cells of all rows in the dimension of each tail, on what is left of
    its line."""
    losses = {}
    for one in tails:
        dim = one.side.dim
        losses[one] = hulls.line_loss(dim, axes[dim], rest_of_line(one, ends[dim]))
    return losses


def choose(
    counts: BinCounts,
    axes: Sequence[Axis],
    losses: Sequence[int],
    tails: Mapping[LineTail, int],
    limit: int,
) -> ChosenBins:
    """Return what to leave out, at most `limit` rows: tails, by what they are expected to gain per
    row, and then the bins of the greatest gains that there is room for.

    `losses` are the prices of the cells of all rows by dimension, as from `line_losses`, and
    `tails` what those of their dimension would be without each tail, on the rest of the line.
    """
    chosen, left = [], limit
    for _, tail, rows in _best_tails(counts, axes, losses, tails):
        if rows <= left:
            chosen.append(tail)
            left -= rows
    gains = []
    for one in sorted(counts.gains, reverse=True):
        if one > 0 and counts.gains[one] <= left:
            gains.append(one)
            left -= counts.gains[one]
    return ChosenBins(tuple(gains), tuple(chosen), limit - left)


def _best_tails(
    counts: BinCounts, axes: Sequence[Axis], losses: Sequence[int], tails: Mapping[LineTail, int]
) -> list[tuple[float, LineTail, int]]:
    """Return the tail of each end that gains most, if one gains anything, with what it loses per
    row, negative, and its rows: the best per row first."""
    full = sum(round(axis.weight * UNIT) for axis in axes)
    best: dict[LineEnd, tuple[float, LineTail, int]] = {}
    for tail, stretched in tails.items():
        rows = int(counts.tails[tail.side][: tail.bins].sum())
        gain = _shared(losses[tail.side.dim], stretched, len(axes)) - float(rows * full)
        if gain > max(0.0, best[tail.side][0] if tail.side in best else 0.0):
            best[tail.side] = (gain, tail, rows)
    return sorted((-gain / rows, tail, rows) for gain, tail, rows in best.values())


def _shared(loss: int, stretched: int, dims: int) -> float:
    """Return what is expected to be gained if cells are cut anew that cost r times as much in one
    dimension as before, since its line is shorter.

    All dimensions can share that: those of classes with as many rows would each cost
    r ** (1 / dims) times as much.
    """
    ratio = max(stretched / max(loss, 1), 1.0)
    return float(loss * max(dims - 1 + ratio - dims * ratio ** (1 / dims), 0.0))
