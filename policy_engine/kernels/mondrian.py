"""Mondrian: partition rows of integer codes into equivalence classes.

LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006; strict or
relaxed, multi-dimensional. The classes depend on the set of rows only, never on their order:
what is cut, and where, follows from counts of codes, and every tie has its rule.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import Constraint
from policy_engine.kernels.compiled import compiled, inlined, is_cached
from policy_engine.kernels.constraint import fresh
from policy_engine.kernels.cuts import choose_cut
from policy_engine.kernels.layout import Cutting, People, Table, prepare, scratch


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
    people: People,
    constraint: Constraint,
    cutting: Cutting,
    on_settled: Callable[[int], object] = int,
    workers: int = 0,
) -> Classes:
    """Cut the rows into classes that each satisfy the constraint, as small as cuts allow.

    A relaxed partition takes equal rows in the order given: the caller gives them in an order
    that follows from their content. `on_settled` is told now and then how many rows have found
    their class. The table as a whole must satisfy the constraint; the caller checks it, since
    only he can say what is wrong. Large tables are cut in parts by so many `workers`, without a
    number one for each processor.
    """
    table = prepare(axes, people, constraint, cutting)
    rows, workers = len(table.rows), workers or os.cpu_count() or 1
    is_shared = rows > _WORTH_SHARING
    floor = rows // (8 * max(workers, 2)) if is_shared else 0
    parts = _cut(table, 0, rows, floor=floor)
    starts, settled = [parts], rows
    if is_shared:
        starts, settled = [], 0
        with ThreadPoolExecutor(workers) as pool:
            edges = zip(parts.tolist(), [*parts[1:].tolist(), rows], strict=True)
            for part, end in pool.map(lambda edge: (_cut(table, *edge, floor=0), edge[1]), edges):
                starts.append(part)
                settled = end
                on_settled(settled)
    on_settled(settled)
    return Classes(table.rows[:, -1].astype(np.int64), np.concatenate([*starts, [rows]]))


_WORTH_SHARING = 50_000


def _cut(table: Table, start: int, end: int, *, floor: int) -> NDArray[np.int64]:
    """Cut the node of rows start .. end - 1 until none has more than `floor` rows and a valid
    cut; return where the leaves start."""
    table = table._replace(tally=fresh(table.tally))
    leaves = np.zeros((end - start) // table.size + 1, dtype=np.int64)
    found = _cut_nodes(table, scratch(table, end - start), start, end, floor, leaves)
    return leaves[:found]


def needs_compiling() -> bool:
    """Tell whether the next partition has to wait for the compiler (some seconds)."""
    return not _cut_nodes.signatures and not is_cached(_cut_nodes)


@compiled
def _cut_nodes(table, scratch, start, end, floor, leaves):  # type: ignore[no-untyped-def]
    """Cut a node, depth first; set where its leaves start and return how many there are."""
    stack, open_nodes, found = scratch.stack, 1, 0
    stack[0, 0], stack[0, 1] = start, end
    while open_nodes > 0:
        open_nodes -= 1
        start, end = stack[open_nodes, 0], stack[open_nodes, 1]
        left = choose_cut(table, scratch, start, end) if end - start > floor else 0
        if left > 0:
            if table.is_relaxed:
                _as_they_stand(scratch, start, end, left)
            _reorder(table.rows, scratch, start, end)
            stack[open_nodes, 0], stack[open_nodes, 1] = start + left, end
            stack[open_nodes + 1, 0], stack[open_nodes + 1, 1] = start, start + left
            open_nodes += 2
        else:
            leaves[found] = start
            found += 1
    return found


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
