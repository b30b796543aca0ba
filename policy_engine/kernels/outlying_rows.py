"""The rows whose removal would shrink the cells of their classes most, and what classes cost.

In a class, rows that lie apart in one dimension decide how wide the cells of all others are: those
at an end of its range, those with the rarest values of its set, those that force a higher node of a
tree. The gain of removing them is the loss of the class before, less that of the rows that stay,
less that of the removed rows, which have lost everything. Everything follows from counts of
values in whole classes, so the order of rows never matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import UNIT, Axis, Interval, Members, Tree

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MISSING = -1.0
"""The place of a missing value."""


def places(axis: Axis) -> Floats:
    """Return where each row is in a dimension, (rows,): its position from 0 to 1 on a line, its
    code in a set or a tree, `MISSING` for a missing value."""
    codes, shape = axis.codes, axis.shape
    place = shape.position[codes] if isinstance(shape, Interval) else codes.astype(np.float64)
    return np.where(codes == 0, MISSING, place) if axis.has_missing else place


def spans(axes: Sequence[Axis], rows: Floats) -> Floats:
    """Return the least and the greatest place of some rows in every dimension, (dimensions, 2).

    `rows` (rows, dimensions) are their places. Where all are missing, the span is from 0 to 0.
    """
    ends = np.zeros((len(axes), 2))
    for dim in range(len(axes)):
        present = rows[rows[:, dim] >= 0, dim]
        ends[dim] = (present.min(), present.max()) if len(present) else (0.0, 0.0)
    return ends


@dataclass(frozen=True)
class ClassHulls:
    """What is needed to price the cells of classes as shares of any span.

    `rows` (classes,) counts their rows. `fixed` (classes,) is the price of those cells of a class
    that depends on no span; `low` and `high` (classes, dimensions) are the ends of the others,
    `MISSING` where there is none.
    """

    rows: Ints
    fixed: Ints
    low: Floats
    high: Floats

    def loss(self, axes: Sequence[Axis], ends: Floats) -> int:
        """Return the total price of the cells of all rows, where those on lines cost their share of
        the spans `ends` (dimensions, 2), all that they can cost at most."""
        return self.fixed_loss() + sum(self.line_losses(axes, ends))

    def fixed_loss(self) -> int:
        """Return the part of it that depends on no span."""
        return sum((self.fixed * self.rows).tolist())

    def line_losses(self, axes: Sequence[Axis], ends: Floats) -> tuple[int, ...]:
        """Return that price by dimension, 0 for what is not on a line."""
        return tuple(
            self.line_loss(dim, axis, ends[dim]) if isinstance(axis.shape, Interval) else 0
            for dim, axis in enumerate(axes)
        )

    def line_loss(self, dim: int, axis: Axis, span: Floats) -> int:
        """Return that price in one dimension, on a span from its least to its greatest place."""
        low, high = self.low[:, dim], self.high[:, dim]
        width = np.where(low >= 0, _line_price(axis, span, low, high), 0)
        return sum((width * self.rows).tolist())


class ClassJudgement(NamedTuple):
    """What classes cost, and how much each row would gain if it were removed: (rows,) prices, per
    removed row, 0 where nothing is gained."""

    hulls: ClassHulls
    gain: Ints


def full_price(axes: Sequence[Axis]) -> int:
    """Return the price of a row that lost everything."""
    return sum(map(_full, axes))


def judge(
    axes: Sequence[Axis], ends: Floats, rows: Floats, order: Ints, starts: Ints
) -> ClassJudgement:
    """Return what classes cost, and the gain of each row in the set of rows of its class that gains
    most per row if it is removed.

    `rows` (rows, dimensions) are places, `ends` (dimensions, 2) the spans that cells are a share
    of. Class c is the rows `order[starts[c]:starts[c + 1]]`. Rows of a class that are at one place
    are removed together, or not at all.
    """
    sizes = np.diff(starts)
    class_of = np.empty(len(order), dtype=np.int64)
    class_of[order] = np.repeat(np.arange(len(sizes)), sizes)
    runs = [_Runs.of(axis, class_of, sizes, rows[:, dim]) for dim, axis in enumerate(axes)]
    pairs = [*enumerate(zip(axes, runs, strict=True))]
    prices = [one.price(axis, ends[dim]) for dim, (axis, one) in pairs]
    total: Ints = np.stack(prices).sum(0)
    spare = full_price(axes) - total
    gain, best = np.zeros(len(order), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    for dim, (axis, one) in pairs:
        removal = one.removal(axis, ends[dim], prices[dim], spare)
        is_better = removal.gain > best
        best = np.where(is_better, removal.gain, best)
        chosen = is_better[class_of[one.order]]
        removed = np.where(removal.is_removed, removal.gain[one.class_of], 0)[one.run_of]
        gain[one.order[chosen]] = removed[chosen]
    shrinks = [
        one.shrinks(axis, ends[dim], prices[dim])[np.argsort(one.order)]
        for dim, (axis, one) in pairs
    ]
    single = (sizes - 1)[class_of] * np.stack(shrinks).sum(0) - spare[class_of]
    most = np.maximum.reduceat(single[order], starts[:-1])
    is_better = (most > best)[class_of]
    gain = np.where(is_better, np.where(single == most[class_of], single, 0), gain)
    return ClassJudgement(_hulls(axes, runs, prices, sizes), gain)


class _Removal(NamedTuple):
    """The best set of rows to remove of every class in one dimension: what it gains per row,
    (classes,), 0 where nothing is gained, and whether a run is removed, (runs,)."""

    gain: Ints
    is_removed: NDArray[np.bool_]


@dataclass(frozen=True)
class _Runs:
    """The rows of classes that are at one place of a dimension, from the lowest place to the
    highest, or in a set from the rarest to the most frequent.

    `order` (rows,) are all rows in that order, and `run_of` (rows,) their runs. `class_of`,
    `place`, `rows` and `before` (runs,) are the class and the place of a run, the number of its
    rows and of those of its class before it; `first` (classes,) is the first run of every class,
    and `sizes` their rows. A run is `free` (runs,) if it is a missing value that matches any.
    """

    order: Ints
    run_of: Ints
    class_of: Ints
    place: Floats
    rows: Ints
    before: Ints
    first: Ints
    sizes: Ints
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, axis: Axis, class_of: Ints, sizes: Ints, place: Floats) -> "_Runs":
        order = np.lexsort((place, class_of))
        classes, sorted_places = class_of[order], place[order]
        is_new = np.append(
            True, np.diff(classes).astype(bool) | np.diff(sorted_places).astype(bool)
        )
        start = np.flatnonzero(is_new)
        rows, run_class = np.diff(np.append(start, len(order))), classes[start]
        run_place, run_of = sorted_places[start], np.cumsum(is_new) - 1
        free = (run_place < 0) & axis.is_wildcard
        if isinstance(axis.shape, Members):
            turn = np.lexsort((run_place, rows, free, run_class))
            rank = np.empty(len(turn), dtype=np.int64)
            rank[turn] = np.arange(len(turn))
            run_of, run_place = rank[run_of], run_place[turn]
            rows, free = rows[turn], free[turn]
        first = np.searchsorted(run_class, np.arange(len(sizes)))
        passed = np.cumsum(rows) - rows
        before = passed - passed[first][run_class]
        return cls(order, run_of, run_class, run_place, rows, before, first, sizes, free)

    @property
    def last(self) -> Ints:
        """The last run of every class, (classes,)."""
        return np.append(self.first[1:], len(self.place)) - 1

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether a class has missing values that do not match any, (classes,), on a line or in a
        tree."""
        return (self.place[self.first] < 0) & ~self.free[self.first]

    def ends(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest place of every class, (classes,) each."""
        lowest = self.first + ((self.place[self.first] < 0) & (self.first < self.last))
        return self.place[lowest], self.place[self.last]

    def members(self) -> Ints:
        """Return the number of members of the set of every class, (classes,)."""
        return np.add.reduceat((~self.free).astype(np.int64), self.first)

    def price(self, axis: Axis, ends: Floats) -> Ints:
        """Return the price of the cell of every class, (classes,)."""
        if isinstance(axis.shape, Members):
            return _set_price(axis, self.members())
        low, high = self.ends()
        price = np.where(self.has_missing, _full(axis), _price(axis, ends, low, high))
        return np.where(high < 0, 0, price)

    def removal(self, axis: Axis, ends: Floats, price: Ints, spare: Ints) -> _Removal:
        """Return the best set of rows to remove of every class: all runs before one of them, or
        all after it.

        `price` (classes,) is that of its cell, `spare` (classes,) what a row loses if it is
        removed.
        """
        run = np.arange(len(self.place))
        fewer = self._gains(
            self.before - self._kept_before(), self._price_from(axis, ends), price, spare
        )
        fewer = np.where(self.free, 0, fewer)
        if isinstance(axis.shape, Members):
            best, at = self._best(fewer)
            return _Removal(best, (run < at[self.class_of]) & (best > 0)[self.class_of])
        after = self.sizes[self.class_of] - self.before - self.rows
        until = self._gains(after, self._price_until(axis, ends), price, spare)
        (best_from, at_from), (best_until, at_until) = self._best(fewer), self._best(until)
        is_from = (best_from >= best_until)[self.class_of]
        removed = np.where(
            is_from, (run < at_from[self.class_of]) & ~self.free, run > at_until[self.class_of]
        )
        best = np.maximum(best_from, best_until)
        return _Removal(best, removed & (best > 0)[self.class_of])

    def shrinks(self, axis: Axis, ends: Floats, price: Ints) -> Ints:
        """Return by how much the price of the cell of a class falls if one of its rows is removed
        alone, (rows,) in the order of the runs."""
        run = np.arange(len(self.place))
        lowest = self.first + (self.free[self.first] & (self.first < self.last))
        is_first, is_last = run == lowest[self.class_of], run == self.last[self.class_of]
        less = price[self.class_of]
        if isinstance(axis.shape, Members):
            without = _set_price(axis, self.members() - 1)[self.class_of]
            less = np.where(self.free, 0, less - without)
        else:
            from_next = np.append(self._price_from(axis, ends)[1:], 0)
            until_previous = np.append(0, self._price_until(axis, ends)[:-1])
            least = np.where(is_first, from_next, np.where(is_last, until_previous, less))
            less = np.where(is_first & is_last | self.free, 0, less - least)
        return np.where(self.rows == 1, less, 0)[self.run_of]

    def _kept_before(self) -> Ints:
        """Return how many rows before a run are not removed with the others, (runs,)."""
        free_rows = np.add.reduceat(np.where(self.free, self.rows, 0), self.first)
        is_behind = self.free[self.first][self.class_of]
        return np.where(is_behind & ~self.free, free_rows[self.class_of], 0)

    def _price_from(self, axis: Axis, ends: Floats) -> Ints:
        """Return the price of a cell without the runs before each, (runs,)."""
        if isinstance(axis.shape, Members):
            left = self.members()[self.class_of] - (
                np.arange(len(self.place)) - self.first[self.class_of]
            )
            return _set_price(axis, left)
        _, high = self.ends()
        price = _price(axis, ends, self.place, high[self.class_of])
        has_all = self.has_missing[self.class_of]
        return np.where(self.place < 0, np.where(has_all, _full(axis), price), price)

    def _price_until(self, axis: Axis, ends: Floats) -> Ints:
        """Return the price of a cell without the runs after each, (runs,)."""
        low, _ = self.ends()
        price = _price(axis, ends, low[self.class_of], self.place)
        price = np.where(self.has_missing[self.class_of], _full(axis), price)
        return np.where(self.place < 0, 0, price)

    def _gains(self, removed: Ints, after: Ints, price: Ints, spare: Ints) -> Ints:
        """Return what removing so many rows of each run's class gains per row, (runs,)."""
        kept = self.sizes[self.class_of] - removed
        gain = kept * (price[self.class_of] - after) - removed * spare[self.class_of]
        return np.where((removed > 0) & (gain > 0), gain // np.maximum(removed, 1), 0)

    def _best(self, gain: Ints) -> tuple[Ints, Ints]:
        """Return the greatest gain of every class, and the first run that has it, (classes,)."""
        best = np.maximum.reduceat(gain, self.first)
        run = np.where(gain == best[self.class_of], np.arange(len(gain)), len(gain))
        return best, np.minimum.reduceat(run, self.first)


def _hulls(
    axes: Sequence[Axis], runs: Sequence[_Runs], prices: Sequence[Ints], sizes: Ints
) -> ClassHulls:
    fixed = np.zeros(len(sizes), dtype=np.int64)
    low = np.full((len(sizes), len(axes)), MISSING)
    high = low.copy()
    for dim, (axis, one) in enumerate(zip(axes, runs, strict=True)):
        if not isinstance(axis.shape, Interval):
            fixed += prices[dim]
            continue
        ends, hides_all = one.ends(), one.has_missing & (one.ends()[1] >= 0)
        fixed += np.where(hides_all, _full(axis), 0)
        low[:, dim], high[:, dim] = (np.where(hides_all, MISSING, end) for end in ends)
    return ClassHulls(sizes, fixed, low, high)


def _full(axis: Axis) -> int:
    return round(axis.weight * UNIT)


def _set_price(axis: Axis, members: Ints) -> Ints:
    share = _full(axis) // max(axis.size, 1)
    return np.where(members > 1, members * share, 0)


def _price(axis: Axis, ends: Floats, low: Floats, high: Floats) -> Ints:
    """Return the price of the cells from one place to another, (cells,), on a line or in a tree;
    anything where a place is missing."""
    if isinstance(axis.shape, Tree):
        return _node_price(axis.shape, _full(axis), low, high)
    return _line_price(axis, ends, low, high)


def _line_price(axis: Axis, ends: Floats, low: Floats, high: Floats) -> Ints:
    least, most = ends
    width = np.maximum(high - low, 0.0)
    share = np.minimum(width / (most - least), 1.0) if most > least else (width > 0).astype(float)
    return np.round(share * _full(axis)).astype(np.int64)


def _node_price(tree: Tree, full: int, low: Floats, high: Floats) -> Ints:
    """Return the price of the lowest nodes above pairs of codes."""
    node = tree.leaf[np.maximum(low, 0).astype(np.int64)].astype(np.int64)
    last, target = _last_codes(tree), np.maximum(high, 0)
    apart = np.flatnonzero(last[node] < target)
    while len(apart):
        node[apart] = tree.parent[node[apart]]
        apart = apart[last[node[apart]] < target[apart]]
    price: Ints = np.round(tree.loss[node] * full).astype(np.int64)
    return price


def _last_codes(tree: Tree) -> Ints:
    """Return the last code below every node, (nodes,), -1 where there is none."""
    last = np.full(len(tree.parent), -1, dtype=np.int64)
    nodes, codes = tree.leaf.astype(np.int64), np.arange(len(tree.leaf))
    while len(nodes):
        np.maximum.at(last, nodes, codes)
        nodes = tree.parent[nodes].astype(np.int64)
        codes, nodes = codes[nodes >= 0], nodes[nodes >= 0]
    return last
