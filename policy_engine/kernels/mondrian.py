"""Mondrian: partition rows of integer codes into equivalence classes.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006; strict or
relaxed, multi-dimensional. The classes depend on the set of rows only, never on their order:
what is cut, and where, follows from counts of codes, and every tie has its rule.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.compiled import compiled, inlined, is_cached
from policy_engine.kernels.constraint import fresh
from policy_engine.kernels.cuts import choose_cut
from policy_engine.kernels.layout import (
    CodedTable,
    Cutting,
    SensitiveRows,
    prepare,
    scratch,
)


@dataclass(frozen=True)
class Partition:
    """The equivalence classes: class c is the rows `order[starts[c]:starts[c + 1]]`.

    `order` (rows,) is a permutation of the row numbers and `starts` (classes + 1,) ends with
    the number of rows. Classes are in the order of the cuts; rows within one are in no order. When
    the time was over, `open` of them could perhaps be cut, or polished, further.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    open: int = 0


def never() -> bool:
    """Return that a search is not over: the `is_over` of a search without a time limit."""
    return False


def partition(
    axes: list[Axis],
    people: SensitiveRows,
    constraint: ClassConstraint,
    cutting: Cutting,
    on_settled: Callable[[int], object] = int,
    workers: int = 0,
    is_over: Callable[[], bool] = never,
    edges: NDArray[np.int64] | None = None,
) -> Partition:
    """Cut the rows into classes that each satisfy the constraint, as small as cuts allow.

    With `edges`, (strata + 1,), each stratum, the rows from one to the next, is cut by itself, and
    each has to satisfy the constraint.

    A relaxed partition takes equal rows in the order given: callers give them in an order that
    follows from their content. `on_settled` is called now and then with the number of rows in
    finished classes. The table as a whole must satisfy the constraint; the caller checks it and
    can say what is wrong. Large tables are cut in parts by `workers` threads, one for each
    processor if 0. Once it `is_over`, which is called now and then, the parts that there are
    become classes: each satisfies the constraint. Until then the largest are cut first.
    """
    table = prepare(axes, people, constraint, cutting)
    cutter = Cutter(_cut_nodes, lambda rows: scratch(table, rows))
    return cut_table(table, cutter, on_settled, workers, is_over, edges)


@dataclass(frozen=True)
class Cutter:
    """How nodes are cut: the compiled kernel, called as `_cut_nodes` is, and the `memory` in which
    it works on so many rows, which has a `stack` of nodes."""

    kernel: Callable[..., object]
    memory: Callable[[int], Any]


def cut_table(
    table: CodedTable,
    cutter: Cutter,
    on_settled: Callable[[int], object] = int,
    workers: int = 0,
    is_over: Callable[[], bool] = never,
    edges: NDArray[np.int64] | None = None,
) -> Partition:
    """Cut the rows of a table into classes, as `partition` does, by any kernel.

    The table's rows are put in the order of the classes.
    """
    # Threads, not processes: compiled kernels release the interpreter's lock, and the rows stay
    # where they are. Every thread works on rows of its own, so the cuts do not depend on them.
    rows, workers = len(table.rows), workers or os.cpu_count() or 1
    is_shared = rows > _WORTH_SHARING and edges is None
    ends = [0, rows] if edges is None else edges.tolist()
    # Several parts for each worker: some take much longer than others, and all should end together.
    floor = rows // (8 * max(workers, 2)) if is_shared else 0
    settled = 0

    def settle(more: int) -> None:
        nonlocal settled
        settled += more
        on_settled(settled)

    watch = _Watch(is_over, settle)
    parts = _cut(table, cutter, [*pairwise(ends)], floor, watch)
    if is_shared:
        is_open = parts[:, OPEN] == 1
        cut, silent = [parts[~is_open]], _Watch(is_over)
        with ThreadPoolExecutor(workers) as pool:
            open_ends = parts[is_open, :OPEN].tolist()
            for leaves in pool.map(lambda edge: _cut(table, cutter, [edge], 0, silent), open_ends):
                cut.append(leaves)
                settle(int((leaves[:, END] - leaves[:, START]).sum()))
        parts = _ascending(cut)
    on_settled(rows)
    starts = np.append(parts[:, START], rows)
    return Partition(table.rows[:, -1].astype(np.int64), starts, int(parts[:, OPEN].sum()))


_WORTH_SHARING = 50_000
_BUDGET = 300_000_000
"""The clock is read after about so many values, which take a good part of a second."""
START, END, OPEN = range(3)


@dataclass(frozen=True)
class _Watch:
    """Whether the time is over, and what is called with the number of rows just finished."""

    is_over: Callable[[], bool]
    settle: Callable[[int], object] = int


def _cut(
    table: CodedTable,
    cutter: Cutter,
    whole: Sequence[Sequence[int]],
    floor: int,
    watch: _Watch,
) -> NDArray[np.int64]:
    """Cut nodes of some rows, from the first to that behind the last, until no part has more than
    `floor` rows and a valid cut.

    Return the parts, (parts, 3), ascending: where each starts and ends, and whether it is OPEN:
    not yet searched for a cut.
    """
    # The tally and the scratch memory are this call's own: other threads cut the same table.
    table = table._replace(tally=fresh(table.tally))
    open_, settled = [(start, end) for start, end in whole], [_NOTHING]
    most = max(end - start for start, end in open_)
    work = cutter.memory(most)
    cut_nodes = cutter.kernel
    for least in _floors(most, floor, is_limited=watch.is_over is not never):
        small = [node for node in open_ if node[END] - node[START] <= least]
        unfinished = [np.array([[*node, 1] for node in small], dtype=np.int64).reshape(-1, 3)]
        for node in open_:
            if node[END] - node[START] > least:
                parts = _cut_one(table, cut_nodes, work, node, least, watch)
                unfinished.append(parts[parts[:, OPEN] == 1])
                settled.append(parts[parts[:, OPEN] == 0])
        waiting = np.concatenate(unfinished)
        open_ = [(first, last) for first, last, _ in waiting.tolist()]
    return _ascending([waiting, *settled])


_NOTHING = np.zeros((0, 3), np.int64)


def _ascending(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    # By their rows, so that the classes do not come in the order in which threads finished.
    rows = np.concatenate(parts)
    return rows[np.argsort(rows[:, START])]


_SMALL = 2_000


def _floors(rows: int, floor: int, *, is_limited: bool) -> Iterator[int]:
    """Yield the sizes down to which nodes are cut, one after the other."""
    # With a time limit breadth comes before depth: when it is over no class is far larger than the
    # others. Without one, depth first is faster: a node's rows are still in the cache.
    while is_limited and rows // 4 > max(floor, _SMALL):
        rows //= 4
        yield rows
    yield floor


def _cut_one(
    table: CodedTable,
    cut_nodes: Callable[..., object],
    work: Any,
    node: tuple[int, int],
    floor: int,
    watch: _Watch,
) -> NDArray[np.int64]:
    """Cut one node, depth first, and return its parts as `_cut` does, in no order."""
    # Every leaf has at least `size` rows, which bounds their number, and that of the open nodes.
    leaves = np.zeros(((node[END] - node[START]) // table.size + 1, 3), dtype=np.int64)
    counts = np.array([1, 0])
    work.stack[0] = node
    while counts[NODES] and not watch.is_over():
        before = counts[LEAVES]
        cut_nodes(table, work, floor, leaves, counts, _BUDGET)
        new = leaves[before : counts[LEAVES]]
        watch.settle(int(((new[:, END] - new[:, START]) * (1 - new[:, OPEN])).sum()))
    waiting = np.column_stack([work.stack[: counts[NODES]], np.ones(counts[NODES], np.int64)])
    return np.concatenate([leaves[: counts[LEAVES]], waiting])


NODES, LEAVES = range(2)


def needs_compiling() -> bool:
    """Return whether the next partition has to wait for the compiler (some seconds)."""
    return not _cut_nodes.signatures and not is_cached(_cut_nodes)


@compiled
def _cut_nodes(table, scratch, floor, leaves, counts, budget):  # type: ignore[no-untyped-def]
    """Cut the nodes on the stack, depth first, until there are none or the budget is spent.

    Sets the leaves, and in `counts` the numbers of open nodes and of leaves.
    """
    # A stack instead of recursion, which could not stop to look at the clock and then go on.
    stack, open_nodes, leaf = scratch.stack, counts[NODES], counts[LEAVES]
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
                _restore_order(scratch, start, end, left)
            reorder_rows(table.rows, scratch, start, end)
            stack[open_nodes, 0], stack[open_nodes, 1] = start + left, end
            stack[open_nodes + 1, 0], stack[open_nodes + 1, 1] = start, start + left
            open_nodes += 2
        else:
            leaves[leaf, START], leaves[leaf, END], leaves[leaf, OPEN] = start, end, is_small
            leaf += 1
    counts[NODES], counts[LEAVES] = open_nodes, leaf


@inlined
def _restore_order(scratch, start, end, left):  # type: ignore[no-untyped-def]
    """Put the rows of each side of a cut in the order that they had before the cut."""
    # Which of equal rows go to which side then follows from their first order alone, not from the
    # dimensions of the cuts that led here.
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
def reorder_rows(rows, scratch, start, end):  # type: ignore[no-untyped-def]
    """Put the rows of a node in the order of `scratch.best`."""
    # The rows themselves move, not indices to them: each node then reads consecutive memory.
    for place in range(end - start):
        for column in range(rows.shape[1]):
            scratch.moved[place, column] = rows[scratch.best[place], column]
    for place in range(end - start):
        for column in range(rows.shape[1]):
            rows[start + place, column] = scratch.moved[place, column]
