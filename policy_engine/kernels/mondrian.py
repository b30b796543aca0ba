"""Mondrian: partition rows of integer codes into equivalence classes.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006; strict or
relaxed, multi-dimensional. The classes depend on the set of rows only, never on their order:
what is cut, and where, follows from counts of codes, and every tie has its rule.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.compiled import compiled, inlined, is_cached
from policy_engine.kernels.constraint import fresh
from policy_engine.kernels.cuts import choose_cut
from policy_engine.kernels.layout import CodedTable, Cutting, People, Scratch, prepare, scratch


@dataclass(frozen=True)
class Partition:
    """The equivalence classes: class c is the rows `order[starts[c]:starts[c + 1]]`.

    `order` (rows,) is a permutation of the row numbers and `starts` (classes + 1,) ends with
    the number of rows. Classes stand in the order of the cuts; rows within one do not. Of them,
    `open` were not looked at to the end, and could perhaps be cut, or polished, further.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    open: int = 0


def never() -> bool:
    """Return that a search is not over yet."""
    return False


def partition(
    axes: list[Axis],
    people: People,
    constraint: ClassConstraint,
    cutting: Cutting,
    on_settled: Callable[[int], object] = int,
    workers: int = 0,
    is_over: Callable[[], bool] = never,
) -> Partition:
    """Cut the rows into classes that each satisfy the constraint, as small as cuts allow.

    A relaxed partition takes equal rows in the order given: the caller gives them in an order
    that follows from their content. `on_settled` is told now and then how many rows have found
    their class. The table as a whole must satisfy the constraint; the caller checks it, since
    only he can say what is wrong. Large tables are cut in parts by so many `workers`, without a
    number one for each processor. Once it `is_over`, which is asked now and then, the parts that
    there are, each of which satisfies the constraint, are left as they are; until then, the
    largest are cut first.
    """
    table = prepare(axes, people, constraint, cutting)
    rows, workers = len(table.rows), workers or os.cpu_count() or 1
    is_shared = rows > _WORTH_SHARING
    floor = rows // (8 * max(workers, 2)) if is_shared else 0
    told = 0

    def settle(more: int) -> None:
        nonlocal told
        told += more
        on_settled(told)

    watch = _Watch(is_over, settle)
    parts = _cut(table, 0, rows, floor, watch)
    if is_shared:
        is_open = parts[:, OPEN] == 1
        cut, silent = [parts[~is_open]], _Watch(is_over)
        with ThreadPoolExecutor(workers) as pool:
            edges = parts[is_open, :OPEN].tolist()
            for found in pool.map(lambda edge: _cut(table, edge[0], edge[1], 0, silent), edges):
                cut.append(found)
                settle(int((found[:, END] - found[:, START]).sum()))
        parts = _ascending(cut)
    on_settled(rows)
    starts = np.append(parts[:, START], rows)
    return Partition(table.rows[:, -1].astype(np.int64), starts, int(parts[:, OPEN].sum()))


_WORTH_SHARING = 50_000
_BUDGET = 300_000_000
"""About so many values are looked at, a good part of a second, between two looks at the clock."""
START, END, OPEN = range(3)


@dataclass(frozen=True)
class _Watch:
    """Whether the time is over, and who is told how many more rows have found their class."""

    is_over: Callable[[], bool]
    settle: Callable[[int], object] = int


def _cut(table: CodedTable, start: int, end: int, floor: int, watch: _Watch) -> NDArray[np.int64]:
    """Cut the node of rows start .. end - 1 until none has more than `floor` rows and a valid cut.

    Return what is left, (parts, 3), ascending: where each starts and ends, and whether it is OPEN,
    as nobody has looked whether it has a cut. Where the time is limited, large nodes come first.
    """
    table = table._replace(tally=fresh(table.tally))
    work, open_, settled = scratch(table, end - start), [(start, end)], [_NOTHING]
    for least in _floors(end - start, floor, is_limited=watch.is_over is not never):
        small = [node for node in open_ if node[END] - node[START] <= least]
        left = [np.array([[*node, 1] for node in small], dtype=np.int64).reshape(-1, 3)]
        for node in open_:
            if node[END] - node[START] > least:
                found = _cut_one(table, work, node, least, watch)
                left.append(found[found[:, OPEN] == 1])
                settled.append(found[found[:, OPEN] == 0])
        waiting = np.concatenate(left)
        open_ = [(first, last) for first, last, _ in waiting.tolist()]
    return _ascending([waiting, *settled])


_NOTHING = np.zeros((0, 3), np.int64)


def _ascending(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    whole = np.concatenate(parts)
    return whole[np.argsort(whole[:, START])]


_SMALL = 2_000


def _floors(rows: int, floor: int, *, is_limited: bool) -> Iterator[int]:
    """Yield to which size nodes are cut, one after the other."""
    while is_limited and rows // 4 > max(floor, _SMALL):
        rows //= 4
        yield rows
    yield floor


def _cut_one(
    table: CodedTable, work: Scratch, node: tuple[int, int], floor: int, watch: _Watch
) -> NDArray[np.int64]:
    """Cut one node, depth first, and return its parts as `_cut` does, in no order."""
    leaves = np.zeros(((node[END] - node[START]) // table.size + 1, 3), dtype=np.int64)
    counts = np.array([1, 0])
    work.stack[0] = node
    while counts[_NODES] and not watch.is_over():
        before = counts[_LEAVES]
        _cut_nodes(table, work, floor, leaves, counts, _BUDGET)
        new = leaves[before : counts[_LEAVES]]
        watch.settle(int(((new[:, END] - new[:, START]) * (1 - new[:, OPEN])).sum()))
    waiting = np.column_stack([work.stack[: counts[_NODES]], np.ones(counts[_NODES], np.int64)])
    return np.concatenate([leaves[: counts[_LEAVES]], waiting])


_NODES, _LEAVES = range(2)


def needs_compiling() -> bool:
    """Tell whether the next partition has to wait for the compiler (some seconds)."""
    return not _cut_nodes.signatures and not is_cached(_cut_nodes)


@compiled
def _cut_nodes(table, scratch, floor, leaves, counts, budget):  # type: ignore[no-untyped-def]
    """Cut the nodes on the stack, depth first, until there are none or the budget is spent.

    Sets the leaves found, and of both how many there are.
    """
    stack, open_nodes, found = scratch.stack, counts[_NODES], counts[_LEAVES]
    dims = len(scratch.node)
    while open_nodes > 0 and budget > 0:
        open_nodes -= 1
        start, end = stack[open_nodes, 0], stack[open_nodes, 1]
        is_small, left = end - start <= floor, 0
        if not is_small:
            left = choose_cut(table, scratch, start, end)
            budget -= (end - start) * dims * dims
        if left > 0:
            if table.is_relaxed:
                _as_they_stand(scratch, start, end, left)
            _reorder(table.rows, scratch, start, end)
            stack[open_nodes, 0], stack[open_nodes, 1] = start + left, end
            stack[open_nodes + 1, 0], stack[open_nodes + 1, 1] = start, start + left
            open_nodes += 2
        else:
            leaves[found, START], leaves[found, END], leaves[found, OPEN] = start, end, is_small
            found += 1
    counts[_NODES], counts[_LEAVES] = open_nodes, found


@inlined
def _as_they_stand(scratch, start, end, left):  # type: ignore[no-untyped-def]
    """Put the rows of each side of a cut in the order in which they stood.

    Which of equal rows go to which side then follows from their first order alone, not from
    the cuts that led here.
    """
    best, is_left = scratch.best, scratch.right
    for place in range(end - start):
        is_left[best[place] - start] = place < left
    first, last = 0, left
    for row in range(start, end):
        if is_left[row - start]:
            best[first] = row
            first += 1
        else:
            best[last] = row
            last += 1


@inlined
def _reorder(rows, scratch, start, end):  # type: ignore[no-untyped-def]
    for place in range(end - start):
        for column in range(rows.shape[1]):
            scratch.moved[place, column] = rows[scratch.best[place], column]
    for place in range(end - start):
        for column in range(rows.shape[1]):
            rows[start + place, column] = scratch.moved[place, column]
