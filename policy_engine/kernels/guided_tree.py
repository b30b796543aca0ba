"""A tree that forms classes in which what a model says varies as little as possible.

The accuracy-guided anonymisation of Goldsteen, Ezov, Shmelkin, Moffie, Farkash: Anonymizing machine
learning models, 2021, Algorithm 1, with these differences: cuts divide the values of a column
without an order into any two sets; every bound is held by both sides of every cut, and not by
pruning; and the tree is always fitted on the rows that it divides.

A node is cut where the reduction of the sum of squares of its targets is greatest (`gains`), of
equal ones in the first dimension, at the first code. Where no valid one of these cuts reduces it,
as in nodes whose rows have equal targets, it is cut where the least is lost, as Mondrian does:
scikit-learn's trees stop there and leave huge classes where a model is sure. As Mondrian's, the
classes depend on the set of rows only, never on their order.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import InternalError
from policy_engine.kernels.axis import LEAST, OFFSET, Axis
from policy_engine.kernels.boundaries import NONE, is_valid, tally_rows
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.compiled import compiled, inlined, is_cached
from policy_engine.kernels.constraint import UNITS, forget, is_diverse
from policy_engine.kernels.cuts import choose_cut, split_rows
from policy_engine.kernels.gains import (
    MOST_TARGET,
    NOTHING,
    TIMES,
    Ranking,
    add_rows,
    count_orders,
    forget_rows,
    rank_codes,
    ranking,
    score_turns,
)
from policy_engine.kernels.layout import (
    TIMES as MARK,
)
from policy_engine.kernels.layout import (
    CodedTable,
    Cutting,
    Scratch,
    SensitiveRows,
    prepare,
    scratch,
)
from policy_engine.kernels.mondrian import (
    END,
    LEAVES,
    NODES,
    OPEN,
    START,
    Cutter,
    Partition,
    cut_table,
    never,
    reorder_rows,
)


class GuidedMemory(NamedTuple):
    """Working memory: that of Mondrian, the ranking of the node that is being cut, and the first
    column of targets."""

    scratch: Scratch
    ranks: Ranking
    stack: NDArray[np.int64]
    first: int


def guided_partition(
    axes: list[Axis],
    people: SensitiveRows,
    constraint: ClassConstraint,
    targets: NDArray[np.integer[Any]],
    on_settled: Callable[[int], object] = int,
    workers: int = 0,
    is_over: Callable[[], bool] = never,
) -> Partition:
    """Cut the rows into classes that each satisfy the constraint, guided by whole-number targets.

    `targets` (rows, targets) are at most `MOST_TARGET` in size. The other arguments, and the
    classes, are as `mondrian.partition` has them.
    """
    table = guided_table(axes, people, constraint, targets)
    cutter = Cutter(_cut_guided, lambda rows: guided_memory(table, targets.shape[1], rows))
    return cut_table(table, cutter, on_settled, workers, is_over)


def guided_table(
    axes: list[Axis],
    people: SensitiveRows,
    constraint: ClassConstraint,
    targets: NDArray[np.integer[Any]],
) -> CodedTable:
    """Return the table to be partitioned: the targets of a row come before its number."""
    if np.abs(targets).max(initial=0) > MOST_TARGET:
        raise InternalError.of("X001", f"A target is greater than {MOST_TARGET}.")
    table = prepare(axes, people, constraint, Cutting("loss"))
    columns = [table.rows[:, :-1], targets.astype(np.int32), table.rows[:, -1:]]
    return table._replace(rows=np.ascontiguousarray(np.concatenate(columns, axis=1)))


def guided_memory(table: CodedTable, targets: int, rows: int) -> GuidedMemory:
    """Return working memory for nodes of at most that many rows."""
    work, first = scratch(table, rows), table.rows.shape[1] - 1 - targets
    return GuidedMemory(work, ranking(table.axes, targets), work.stack, first)


def needs_compiling() -> bool:
    """Return whether the next partition has to wait for the compiler (some seconds)."""
    return not _cut_guided.signatures and not is_cached(_cut_guided)


@compiled
def _cut_guided(table, memory, floor, leaves, counts, budget):  # type: ignore[no-untyped-def]
    """Cut nodes as `mondrian._cut_nodes` does."""
    stack, open_nodes, leaf = memory.stack, counts[NODES], counts[LEAVES]
    dims = len(memory.ranks.kinds)
    while open_nodes > 0 and budget > 0:
        open_nodes -= 1
        start, end = stack[open_nodes, 0], stack[open_nodes, 1]
        is_small, left = end - start <= floor, 0
        if not is_small:
            left = choose_guided(table, memory, start, end)
            budget -= (end - start) * dims * dims
        if left > 0:
            reorder_rows(table.rows, memory.scratch, start, end)
            stack[open_nodes, 0], stack[open_nodes, 1] = start + left, end
            stack[open_nodes + 1, 0], stack[open_nodes + 1, 1] = start, start + left
            open_nodes += 2
        else:
            leaves[leaf, START], leaves[leaf, END], leaves[leaf, OPEN] = start, end, is_small
            leaf += 1
    counts[NODES], counts[LEAVES] = open_nodes, leaf


@compiled
def choose_guided(table, memory, start, end):  # type: ignore[no-untyped-def]
    """Return how many rows of `scratch.best` go to the left side of the cut, 0 for no cut."""
    if end - start < 2 * table.size:
        return NONE
    add_rows(table.axes, memory.ranks, table.rows, start, end, memory.first)
    left = _cut_by_gain(table, memory, start, end)
    forget_rows(table.axes, memory.ranks)
    return left if left > 0 else choose_cut(table, memory.scratch, start, end)


@compiled
def _cut_by_gain(table, memory, start, end):  # type: ignore[no-untyped-def]
    """Set `scratch.best` by the valid cut that gains most; return how many rows are left of it."""
    # What sides hold costs a pass over the rows: mostly the best cut of all is valid.
    axes, ranks = table.axes, memory.ranks
    best, best_dim, best_order, best_turn = 0.0, NOTHING, NOTHING, NOTHING
    for dim in range(len(ranks.kinds)):
        for order in range(count_orders(axes, dim, ranks.counts.shape[1] - 1)):
            if ranks.kinds[dim] > 1:
                rank_codes(axes, ranks, dim, order)
                score_turns(axes, ranks, dim, table.size)
                for turn in range(ranks.kinds[dim] - 1):
                    if ranks.gains[turn] > best:
                        best, best_dim = ranks.gains[turn], np.int64(dim)
                        best_order, best_turn = np.int64(order), np.int64(turn)
    if best_dim < 0:
        return NONE
    left = _split_behind(table, memory, start, end, best_dim, best_order, best_turn)
    if is_valid(table, memory.scratch.best, left, end - start):
        return left
    return _cut_by_valid_gain(table, memory, start, end)


@compiled
def _cut_by_valid_gain(table, memory, start, end):  # type: ignore[no-untyped-def]
    """As `_cut_by_gain`, where the cut that gains most is not valid."""
    axes, ranks = table.axes, memory.ranks
    best, best_dim, best_order, best_turn = 0.0, NOTHING, NOTHING, NOTHING
    for dim in range(len(ranks.kinds)):
        for order in range(count_orders(axes, dim, ranks.counts.shape[1] - 1)):
            if ranks.kinds[dim] > 1:
                rank_codes(axes, ranks, dim, order)
                score_turns(axes, ranks, dim, table.size)
                if _could_gain(ranks, dim, best):
                    _sort_rows(table, memory, start, end, dim)
                    _check_sides(table, memory, end - start, dim, best)
                    for turn in range(ranks.kinds[dim] - 1):
                        if ranks.fits[turn] and ranks.gains[turn] > best:
                            best, best_dim = ranks.gains[turn], np.int64(dim)
                            best_order, best_turn = np.int64(order), np.int64(turn)
    if best_dim < 0:
        return NONE
    return _split_behind(table, memory, start, end, best_dim, best_order, best_turn)


@inlined
def _could_gain(ranks, dim, best):  # type: ignore[no-untyped-def]
    is_greater = False
    for turn in range(ranks.kinds[dim] - 1):
        is_greater |= ranks.gains[turn] > best
    return is_greater


@compiled
def _split_behind(table, memory, start, end, dim, order, last):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows left of a cut behind a turn, then those right of it."""
    ranks, offset = memory.ranks, table.axes.facts[dim, OFFSET]
    rank_codes(table.axes, ranks, dim, order)
    for turn in range(ranks.kinds[dim]):
        memory.scratch.codes[ranks.turns[offset + turn], MARK] = turn <= last
    memory.scratch.node[dim, LEAST] = 0
    return split_rows(table, memory.scratch, start, end, dim)


@compiled
def _sort_rows(table, memory, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `scratch.order` to the node's rows in the turns of their codes."""
    ranks, codes, order = memory.ranks, memory.scratch.codes, memory.scratch.order
    offset, before = table.axes.facts[dim, OFFSET], NONE
    for turn in range(ranks.kinds[dim]):
        code = ranks.turns[offset + turn]
        codes[code, MARK] = before
        before += ranks.counts[offset + code, TIMES]
    for row in range(start, end):
        code = table.rows[row, dim]
        order[codes[code, MARK]] = row
        codes[code, MARK] += 1


@compiled
def _check_sides(table, memory, total, dim, best):  # type: ignore[no-untyped-def]
    """Set for every cut that gains more than `best` whether both of its sides hold."""
    ranks, order = memory.ranks, memory.scratch.order
    offset, kinds = table.axes.facts[dim, OFFSET], ranks.kinds[dim]
    forget(table.watched, table.tally)
    at = NONE
    for turn in range(kinds - 1):
        rows = ranks.counts[offset + ranks.turns[offset + turn], TIMES]
        tally_rows(table, order, at, at + rows)
        at += rows
        ranks.fits[turn] = ranks.gains[turn] > best and _holds(table)
    forget(table.watched, table.tally)
    at = total
    for place in range(1, kinds):
        turn = kinds - place
        rows = ranks.counts[offset + ranks.turns[offset + turn], TIMES]
        tally_rows(table, order, at - rows, at)
        at -= rows
        ranks.fits[turn - 1] = ranks.fits[turn - 1] and _holds(table)
    forget(table.watched, table.tally)


@compiled
def _holds(table):  # type: ignore[no-untyped-def]
    """Return whether the rows that were tallied are of enough persons, and diverse."""
    units = table.tally.state[len(table.watched.bounds), UNITS]
    return units >= table.size and is_diverse(table.watched, table.tally)
