"""Mondrian: partition rows of integer codes into equivalence classes, in place.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006; strict,
multi-dimensional. The classes depend on the set of rows only, never on their order: which
dimension is cut, and where, follows from counts of codes, and every tie has its rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, is_cached
from policy_engine.kernels.constraint import Constraint

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier, as the partitioner sees it.

    `codes` (rows,) holds 0 .. m-1 in the order of the values; `position` (m,) places every
    code on the axis, from 0 to 1. Where `has_missing`, code 0 stands for the missing value.
    """

    codes: Codes
    position: NDArray[np.float64]
    has_missing: bool = False


@dataclass(frozen=True)
class Classes:
    """The equivalence classes: class c is the rows `order[starts[c]:starts[c + 1]]`.

    `order` (rows,) is a permutation of the row numbers and `starts` (classes + 1,) ends with
    the number of rows. Classes stand in the order of the cuts; rows within one do not.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def partition(
    axes: list[Axis],
    sensitive: list[Codes],
    constraint: Constraint,
    on_settled: Callable[[int], object] = int,
) -> Classes:
    """Cut the rows into classes that each satisfy the constraint, as small as cuts allow.

    A node is cut on the dimension with the widest normalised range, at the boundary between
    two values nearest the median that leaves both sides valid; where that dimension has no
    such boundary, on the next. Rows with a missing value are first cut from those with one,
    wherever both sides are valid.

    `sensitive` holds (rows,) codes, -1 for missing, which counts as no value. `on_settled`
    is told now and then how many rows have found their class. The table as a whole must
    satisfy the constraint; the caller checks it, since only he can say what is wrong.
    """
    table, scratch = _prepare(axes, sensitive, constraint)
    state = _State.whole_table(len(table.rows), constraint.size)
    step = max(len(table.rows) // 50, 20_000)
    while state.counters[_OPEN] > 0:
        _cut_nodes(table, scratch, state.nodes, state.starts, state.counters, step)
        on_settled(int(state.counters[_SETTLED]))
    return Classes(
        order=table.rows[:, -1].astype(np.int64),
        starts=np.append(state.starts[: state.counters[_LEAVES]], len(table.rows)),
    )


def needs_compiling() -> bool:
    """Tell whether the next partition has to wait for the compiler (some seconds)."""
    return not _cut_nodes.signatures and not is_cached(_cut_nodes)


_OPEN, _LEAVES, _SETTLED = 0, 1, 2


@dataclass(frozen=True)
class _State:
    """Open nodes (start, end) as a stack, the starts of the leaves, and counters."""

    nodes: NDArray[np.int64]
    starts: NDArray[np.int64]
    counters: NDArray[np.int64]

    @classmethod
    def whole_table(cls, rows: int, k: int) -> "_State":
        nodes = np.zeros((rows // k + 2, 2), dtype=np.int64)
        nodes[0] = 0, rows
        starts = np.zeros(rows // k + 1, dtype=np.int64)
        return cls(nodes, starts, np.array([1, 0, 0], dtype=np.int64))


def _prepare(
    axes: list[Axis], sensitive: list[Codes], constraint: Constraint
) -> "tuple[_Table, _Scratch]":
    domains = [len(axis.position) for axis in axes]
    values = max((int(codes.max(initial=0)) + 1 for codes in sensitive), default=1)
    table = _Table(
        rows=_row_major([axis.codes for axis in axes], sensitive),
        position=np.concatenate([axis.position for axis in axes]),
        offsets=np.cumsum([0, *domains]),
        has_missing=np.array([axis.has_missing for axis in axes]),
        watched=len(sensitive) if constraint.distinct > 1 else 0,
        size=constraint.size,
        distinct=constraint.distinct,
    )
    scratch = _Scratch(
        low=np.zeros(len(axes), dtype=np.int32),
        high=np.zeros(len(axes), dtype=np.int32),
        tried=np.zeros(len(axes), dtype=np.bool_),
        histogram=np.zeros(max(domains), dtype=np.int64),
        seen=np.zeros((2, values), dtype=np.int64),
        stamp=np.zeros(1, dtype=np.int64),
    )
    return table, scratch


def _row_major(quasi: list[Codes], sensitive: list[Codes]) -> Codes:
    """Lay out each row's codes side by side, its number last: nodes then fit the cache."""
    count = len(quasi[0])
    rows = np.empty((count, len(quasi) + len(sensitive) + 1), dtype=np.int32)
    for column, codes in enumerate([*quasi, *sensitive]):
        rows[:, column] = codes
    rows[:, -1] = np.arange(count, dtype=np.int32)
    return rows


class _Table(NamedTuple):
    """The rows being partitioned and what a cut has to know of them."""

    rows: Codes
    position: NDArray[np.float64]
    offsets: NDArray[np.int64]
    has_missing: NDArray[np.bool_]
    watched: int
    size: int
    distinct: int


class _Scratch(NamedTuple):
    """Working memory, allocated once per call."""

    low: Codes
    high: Codes
    tried: NDArray[np.bool_]
    histogram: NDArray[np.int64]
    seen: NDArray[np.int64]
    stamp: NDArray[np.int64]


_NO_CUT = (-1, -1)


@compiled
def _cut_nodes(table, scratch, nodes, starts, counters, step):  # type: ignore[no-untyped-def]
    """Settle open nodes, depth first, until some `step` more rows have their class."""
    goal = counters[_SETTLED] + step
    while counters[_OPEN] > 0 and counters[_SETTLED] < goal:
        counters[_OPEN] -= 1
        start, end = nodes[counters[_OPEN], 0], nodes[counters[_OPEN], 1]
        dim, code = _choose_cut(table, scratch, start, end)
        if dim < 0:
            starts[counters[_LEAVES]] = start
            counters[_LEAVES] += 1
            counters[_SETTLED] += end - start
        else:
            middle = _split(table.rows, start, end, dim, code)
            _push(nodes, counters, middle, end)
            _push(nodes, counters, start, middle)


@compiled
def _push(nodes, counters, start, end):  # type: ignore[no-untyped-def]
    nodes[counters[_OPEN], 0] = start
    nodes[counters[_OPEN], 1] = end
    counters[_OPEN] += 1


@compiled
def _choose_cut(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Return the dimension to cut and the last code of the left side, or _NO_CUT."""
    if end - start < 2 * table.size:
        return _NO_CUT
    _measure_extent(table.rows, start, end, scratch.low, scratch.high)
    for dim in range(len(scratch.low)):
        if table.has_missing[dim] and scratch.low[dim] == 0 and scratch.high[dim] > 0:
            if _is_valid(table, scratch, start, end, dim, 0):
                return dim, 0
    for dim in range(len(scratch.low)):
        scratch.tried[dim] = scratch.low[dim] == scratch.high[dim]
    while True:
        dim = _widest(table, scratch)
        if dim < 0:
            return _NO_CUT
        scratch.tried[dim] = True
        code = _nearest_median(table, scratch, start, end, dim)
        if code >= 0 and not _is_diverse(table, scratch, start, end, dim, code):
            code = _nearest_diverse(table, scratch, start, end, dim)
        if code >= 0:
            return dim, code


@compiled
def _measure_extent(rows, start, end, low, high):  # type: ignore[no-untyped-def]
    """Set `low` and `high` to the least and greatest code of the node, per dimension."""
    for dim in range(len(low)):
        low[dim] = high[dim] = rows[start, dim]
    for row in range(start + 1, end):
        for dim in range(len(low)):
            low[dim] = min(low[dim], rows[row, dim])
            high[dim] = max(high[dim], rows[row, dim])


@compiled
def _widest(table, scratch):  # type: ignore[no-untyped-def]
    """Return the untried dimension with the widest normalised range, the first of equals."""
    best, best_width = -1, -1.0
    for dim in range(len(scratch.low)):
        if not scratch.tried[dim]:
            base = table.offsets[dim]
            top, bottom = base + scratch.high[dim], base + scratch.low[dim]
            width = table.position[top] - table.position[bottom]
            if width > best_width:
                best, best_width = dim, width
    return best


@compiled
def _is_valid(table, scratch, start, end, dim, code):  # type: ignore[no-untyped-def]
    """Tell whether cutting after `code` leaves both sides large and diverse enough."""
    left = 0
    for row in range(start, end):
        left += table.rows[row, dim] <= code
    if left < table.size or end - start - left < table.size:
        return False
    return _is_diverse(table, scratch, start, end, dim, code)


@compiled
def _nearest_median(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Return the last code left of the boundary nearest the median, -1 where a side is small.

    If the nearest boundary leaves a side with too few rows, all others do. Of two equally
    near, the lower is taken.
    """
    low = scratch.low[dim]
    values = scratch.high[dim] - low + 1
    if values <= 8 * (end - start):
        for value in range(values):
            scratch.histogram[value] = 0
        for row in range(start, end):
            scratch.histogram[table.rows[row, dim] - low] += 1
        left, value = _nearest_in_counts(scratch.histogram, end - start)
        cut = low + value
    else:
        order = _sorted_rows(table.rows, start, end, dim)
        left = _nearest_in_sorted(table.rows, order, dim)
        cut = table.rows[order[left - 1], dim]
    return cut if min(left, end - start - left) >= table.size else -1


@compiled
def _nearest_in_counts(counts, total):  # type: ignore[no-untyped-def]
    """Return (rows left of the boundary nearest the median, last value left of it)."""
    before = upto = 0
    last = value = -1
    while 2 * upto < total:
        before, last = upto, value
        value += 1
        while counts[value] == 0:
            value += 1
        upto += counts[value]
    if upto == total or (before > 0 and total - 2 * before <= 2 * upto - total):
        return before, last
    return upto, value


@compiled
def _nearest_in_sorted(rows, order, dim):  # type: ignore[no-untyped-def]
    """Return how many rows lie left of the boundary nearest the median."""
    total = len(order)
    before = upto = (total - 1) // 2
    median = rows[order[before], dim]
    while before > 0 and rows[order[before - 1], dim] == median:
        before -= 1
    while upto < total and rows[order[upto], dim] == median:
        upto += 1
    if upto == total or (before > 0 and total - 2 * before <= 2 * upto - total):
        return before
    return upto


@compiled
def _sorted_rows(rows, start, end, dim):  # type: ignore[no-untyped-def]
    """Return the rows of the node in the order of their codes: Shell's sort.

    (numpy's sort would serve, but takes the compiler five seconds.)
    """
    order = np.arange(start, end)
    gap = 1
    while gap < len(order) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for last in range(gap, len(order)):
            row, place = order[last], last
            while place >= gap and rows[order[place - gap], dim] > rows[row, dim]:
                order[place] = order[place - gap]
                place -= gap
            order[place] = row
        gap //= 3
    return order


@compiled
def _is_diverse(table, scratch, start, end, dim, code):  # type: ignore[no-untyped-def]
    """Tell whether both sides of a cut hold enough distinct values of every sensitive column."""
    for watched in range(table.watched):
        column = len(scratch.low) + watched
        scratch.stamp[0] += 1
        left = right = 0
        for row in range(start, end):
            side = int(table.rows[row, dim] > code)
            if _is_new(scratch, side, table.rows[row, column]):
                left += 1 - side
                right += side
                if left >= table.distinct and right >= table.distinct:
                    break
        if left < table.distinct or right < table.distinct:
            return False
    return True


@compiled
def _is_new(scratch, side, value):  # type: ignore[no-untyped-def]
    """Tell whether a value is met on a side for the first time since the last stamp."""
    if value < 0 or scratch.seen[side, value] == scratch.stamp[0]:
        return False
    scratch.seen[side, value] = scratch.stamp[0]
    return True


@compiled
def _nearest_diverse(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Return the last code left of the valid boundary nearest the median, -1 without one.

    The values on the left can only grow as the boundary moves right, and those on the right
    only as it moves left: the valid boundaries are an interval of codes.
    """
    order = _sorted_rows(table.rows, start, end, dim)
    least, most = scratch.low[dim], scratch.high[dim]
    for watched in range(table.watched):
        column = len(scratch.low) + watched
        least = max(least, _code_where_diverse(table, scratch, order, 1, dim, column))
        most = min(most, _code_where_diverse(table, scratch, order, -1, dim, column))
    best, best_distance = -1, end - start
    for left in range(table.size, end - start - table.size + 1):
        code = table.rows[order[left - 1], dim]
        if least <= code < min(most, table.rows[order[left], dim]):
            distance = abs(2 * left - (end - start))
            if distance < best_distance:
                best, best_distance = code, distance
    return best


@compiled
def _code_where_diverse(table, scratch, order, step, dim, column):  # type: ignore[no-untyped-def]
    """Return the code with which the rows become diverse, walking up (1) or down (-1)."""
    scratch.stamp[0] += 1
    place = 0 if step > 0 else len(order) - 1
    found = int(_is_new(scratch, 0, table.rows[order[place], column]))
    for _ in range(len(order) - 1):
        if found >= table.distinct:
            break
        place += step
        found += _is_new(scratch, 0, table.rows[order[place], column])
    return table.rows[order[place], dim]


@compiled
def _split(rows, start, end, dim, code):  # type: ignore[no-untyped-def]
    """Move the rows up to `code` before the others; return where the others begin."""
    left, right = start, end - 1
    while True:
        while left <= right and rows[left, dim] <= code:
            left += 1
        while left <= right and rows[right, dim] > code:
            right -= 1
        if left >= right:
            return left
        for column in range(rows.shape[1]):
            rows[left, column], rows[right, column] = rows[right, column], rows[left, column]
