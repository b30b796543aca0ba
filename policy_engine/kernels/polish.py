"""Move rows between neighbouring classes wherever that lowers the loss.

Cuts are greedy and never undone: a row may be nearer to a class on the other side of one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import ACTIVE, Axis
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.constraint import UNITS, count, forget, is_diverse
from policy_engine.kernels.extent import EVERY, Extent, extent, sweep
from policy_engine.kernels.layout import CodedTable, Cutting, SensitiveRows, prepare
from policy_engine.kernels.mondrian import Partition, never

_REACH = 8  # classes to either side: in the order of the cuts, neighbours were cut apart last
_PASSES = 4
_BLOCK_SIZE = 500  # classes, between two looks at the clock
_UP = np.int64(1)
_MOST_TIMES_K = 8  # larger classes could not be cut: they are heaps of equal rows


def polish(
    axes: list[Axis],
    people: SensitiveRows,
    constraint: ClassConstraint,
    cutting: Cutting,
    classes: Partition,
    is_over: Callable[[], bool] = never,
) -> Partition:
    """Return classes that lose no more, each still within the constraint.

    A row moves to the nearby class with which its own loses least in total, if that is less than
    before; in a strict partition, all rows with its quasi-identifiers move with it. The rows of
    `classes` must be in an order that follows from their content, equal ones together: then so
    does the result. Once it `is_over`, the classes so far are returned.
    """
    # Linked lists of rows: a row moves without those behind it moving too.
    table = prepare(axes, people, constraint, cutting)
    starts, sizes = classes.starts, np.diff(classes.starts)
    after = np.full(len(classes.order), -1, dtype=np.int64)
    after[classes.order[:-1]] = classes.order[1:]
    after[classes.order[starts[1:] - 1]] = -1
    most = _MOST_TIMES_K * constraint.size + int(sizes.min())
    listed = np.zeros((len(axes), 4), dtype=np.int64)
    listed[:, ACTIVE] = np.arange(len(axes))
    work = _Work(
        after=after,
        first=classes.order[starts[:-1]].copy(),
        sizes=sizes,
        losses=np.zeros(len(sizes), np.int64),
        buffers=np.zeros((3, int(max(most, sizes.max())) + 1), np.int64),
        prices=np.zeros(most, np.int64),
        listed=listed,
        extent=extent(table.axes),
    )
    return _to_partition(work, _polish_all(table, work, is_over))


def _polish_all(table: CodedTable, work: "_Work", is_over: Callable[[], bool]) -> int:
    """Go through all classes until nothing moves; return how many remained when it was over."""
    # Every move lowers the total, an integer: it ends by itself, and _PASSES bounds the time.
    count = len(work.sizes)
    for _ in range(_PASSES):
        _price(table, work)
        moved = 0
        for first in range(0, count, _BLOCK_SIZE):
            if is_over():
                return count - first
            moved += _pass(table, work, first, min(first + _BLOCK_SIZE, count))
        if moved == 0:
            break
    return 0


def _to_partition(work: "_Work", unpolished: int) -> Partition:
    # One row of every class at a time: as many steps as the largest class has rows.
    starts = np.concatenate([[0], np.cumsum(work.sizes)])
    order = np.empty(starts[-1], dtype=np.int64)
    rows, places = work.first, starts[:-1]
    while len(rows):
        order[places] = rows
        rows, places = work.after[rows], places + 1
        rows, places = rows[rows >= 0], places[rows >= 0]
    return Partition(order, starts, unpolished)


OWN, REST, JOINED = range(3)


class _Work(NamedTuple):
    """The classes as linked rows, and working memory.

    `after` (rows,) is the next row of the same class, -1 behind the last; `first` (classes,)
    its first row; `sizes` and `losses` (classes,) its rows and what they lose together.
    `buffers` (3, most rows + 1) hold gathered rows; `listed` names every dimension.
    """

    after: NDArray[np.int64]
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    losses: NDArray[np.int64]
    buffers: NDArray[np.int64]
    prices: NDArray[np.int64]
    listed: NDArray[np.int64]
    extent: Extent


@compiled
def _price(table, work):  # type: ignore[no-untyped-def]
    """Set the loss of every class."""
    for own in range(len(work.sizes)):
        if work.sizes[own] <= len(work.prices):
            work.losses[own] = _loss(table, work, OWN, _gather(work, own, OWN))


@compiled
def _pass(table, work, first, last):  # type: ignore[no-untyped-def]
    """Go through classes first .. last - 1; return how many groups of rows were moved."""
    sizes, most, moved = work.sizes, len(work.prices), 0
    for own in range(first, last):
        if sizes[own] > most or sizes[own] <= table.size:
            continue
        total, start = _gather(work, own, OWN), 0
        while start < total and total > table.size:
            end = start + 1
            while not table.is_relaxed and end < total and _are_equal(table, work, start, end):
                end += 1
            other = _best_home(table, work, own, start, end)
            if other < 0:
                start = end
                continue
            _move(work, own, other, start, end)
            work.losses[other] = _loss(table, work, REST, _gather(work, other, REST))
            total = _gather(work, own, OWN)
            work.losses[own] = _loss(table, work, OWN, total)
            moved += 1
    return moved


@compiled
def _gather(work, own, which):  # type: ignore[no-untyped-def]
    """List the rows of a class in a buffer; return how many there are."""
    row, total = work.first[own], 0
    while row >= 0:
        work.buffers[which, total] = row
        total += 1
        row = work.after[row]
    return total


@compiled
def _are_equal(table, work, start, end):  # type: ignore[no-untyped-def]
    one, other = work.buffers[OWN, start], work.buffers[OWN, end]
    for dim in range(len(work.listed)):  # noqa: SIM110 (compiled)
        if table.rows[one, dim] != table.rows[other, dim]:
            return False
    return True


@compiled
def _loss(table, work, which, total):  # type: ignore[no-untyped-def]
    """Return what the gathered rows lose together, times their number."""
    # The price of a class is that of its cell: only the last of the swept prices is of use.
    order, dims = work.buffers[which], len(work.listed)
    axes, extent, prices = table.axes, work.extent, work.prices
    sweep(axes, extent, table.rows, order, total, _UP, work.listed, dims, EVERY, prices)
    return work.prices[total - 1] * total


@compiled
def _best_home(table, work, own, start, end):  # type: ignore[no-untyped-def]
    """Return the nearby class in which rows start .. end - 1 cost least, -1 for their own."""
    # What the own class gains is known before any other is looked at; mostly it is nothing.
    sizes, losses, group = work.sizes, work.losses, end - start
    rest = sizes[own] - group
    if rest < table.size:
        return -1
    for place in range(rest):
        work.buffers[REST, place] = work.buffers[OWN, place if place < start else place + group]
    gain = losses[own] - _loss(table, work, REST, rest)
    if gain <= 0 or not _is_valid(table, work, REST, rest):
        return -1
    best, best_gain = -1, 0
    for other in range(max(0, own - _REACH), min(len(sizes), own + _REACH + 1)):
        if other == own or sizes[other] + group > len(work.prices):
            continue
        total = _gather(work, other, JOINED)
        for place in range(start, end):
            work.buffers[JOINED, total + place - start] = work.buffers[OWN, place]
        both = gain + losses[other] - _loss(table, work, JOINED, total + group)
        # The first of equals, and bounds only for what would win: they cost more than the price.
        if both > best_gain and _is_valid(table, work, JOINED, total + group):
            best, best_gain = other, both
    return best


@compiled
def _is_valid(table, work, which, total):  # type: ignore[no-untyped-def]
    columns = len(table.watched.bounds)
    if table.person == 0 and columns == 0:
        return total >= table.size
    forget(table.watched, table.tally)
    watched, tally, order = table.watched, table.tally, work.buffers[which]
    count(watched, tally, table.rows, order, 0, total, table.sensitive, table.person)
    units = table.tally.state[columns, UNITS]
    return units >= table.size and is_diverse(table.watched, table.tally)


@compiled
def _move(work, own, other, start, end):  # type: ignore[no-untyped-def]
    """Move the rows start .. end - 1 of the class gathered last to the head of the other."""
    head, tail = work.buffers[OWN, start], work.buffers[OWN, end - 1]
    if start == 0:
        work.first[own] = work.after[tail]
    else:
        work.after[work.buffers[OWN, start - 1]] = work.after[tail]
    work.after[tail] = work.first[other]
    work.first[other] = head
    work.sizes[own] -= end - start
    work.sizes[other] += end - start
