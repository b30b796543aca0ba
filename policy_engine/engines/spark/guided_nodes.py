"""The first cuts of accuracy-guided classes, chosen from exact counts and sums of all codes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.nodes import (
    Ask,
    Check,
    Parts,
    Question,
    RowNodes,
    TableQuestion,
    best_cuts,
    is_plain,
)
from policy_engine.errors import InternalError
from policy_engine.kernels.axis import OFFSET
from policy_engine.kernels.briefs import BriefSide, CutChoice
from policy_engine.kernels.descent import Cut
from policy_engine.kernels.gains import (
    TIMES,
    Ranking,
    add_rows,
    best_gain,
    cut_behind,
    forget_rows,
    orders_of,
    ranking,
    turns_of,
)
from policy_engine.kernels.layout import CodedTable
from policy_engine.kernels.side_counts import SideCounts, count_sides, merge

Ints = NDArray[np.int64]


class FarTable(NamedTuple):
    """A table without its rows, which have so many `targets`.

    Where nothing is gained, cuts are those that lose least: `coarse` is the table that they are
    chosen on, whose codes are `parts` in columns with too many.
    """

    table: CodedTable
    targets: int
    coarse: CodedTable
    parts: Parts


class GuidedNodes(NamedTuple):
    """The nodes of a table, and whether some cuts were between parts of codes."""

    nodes: RowNodes
    is_coarse: bool


def first_guided_cuts(
    ask: Ask,
    far: FarTable,
    rows: int,
    limit: int,
    on_settled: Callable[[int], object] = int,
) -> GuidedNodes:
    """Cut nodes of more than `limit` rows, as the kernel cuts them with all rows at hand.

    The final nodes, whatever their size, are cut further in the tasks that hold their rows.
    """
    nodes, open_nodes, is_coarse = RowNodes(), {0: rows}, False
    limit = max(limit, 2 * far.table.size - 1)
    while open_nodes:
        large = {node: size for node, size in open_nodes.items() if size > limit}
        level = _Level(ask, far, nodes, large)
        sides = level.cuts()
        is_coarse |= level.is_coarse
        nodes.rows |= {node: size for node, size in open_nodes.items() if node not in sides}
        open_nodes = {
            number: size
            for node, one in sides.items()
            for number, size in zip(nodes.cuts.cut(node, one.cut), one.rows, strict=True)
        }
        on_settled(sum(nodes.rows.values()))
    return GuidedNodes(nodes, is_coarse)


class _SizedCut(NamedTuple):
    """Where a node is cut, and how many rows are on the two sides."""

    cut: Cut
    rows: tuple[int, int]


@dataclass
class _Level:
    """The open nodes that are to be cut, by their rows; and whether the cuts were coarse."""

    ask: Ask
    far: FarTable
    nodes: RowNodes
    large: Mapping[int, int]
    is_coarse: bool = False

    def cuts(self) -> dict[int, _SizedCut]:
        """Return the best valid cuts, without the nodes that have none.

        As in the kernel, the cut that gains most is checked first, and others only where a side of
        it has too few persons or is not diverse.
        """
        descent, table = self.nodes.cuts.descent(), self.far.table
        best = self.ask(_Gains(table, self.far.targets), descent, self.large)
        gains = {node: one.best for node, one in best.items() if one.best is not None}
        if not is_plain(table):
            cuts = {node: one.cut for node, one in gains.items()}
            is_valid = self.ask(Check(table, cuts), descent, cuts)
            counts = {node: best[node].counts for node in cuts if not is_valid[node]}
            others = self.ask(_GainsOfSides(table, self.far.targets, counts), descent, counts)
            gains = {node: one for node, one in gains.items() if is_valid[node]}
            gains |= {node: one for node, one in others.items() if one is not None}
        rest = {node: one for node, one in best.items() if node not in gains}
        return gains | self._least_losses({node: one.extents for node, one in rest.items()})

    def _least_losses(self, extents: Mapping[int, Ints]) -> dict[int, _SizedCut]:
        """Return the valid cuts that lose least of nodes where none gains anything."""
        parts = self.far.parts
        sides = {
            node: BriefSide(self.large[node], _in_parts(one, parts))
            for node, one in extents.items()
        }
        if not sides:
            return {}
        ask = _ask_of_parts(self.ask, parts)
        choices = best_cuts(ask, self.nodes.cuts.descent(), self.far.coarse, sides)
        self.is_coarse = bool(parts and choices)
        return {node: _of_codes(choice, parts) for node, choice in choices.items()}


def _in_parts(extents: Ints, parts: Parts) -> Ints:
    extents = extents.copy()
    for dim, part in parts.items():
        extents[dim] = part[extents[dim]]
    return extents


def _of_codes(choice: CutChoice, parts: Parts) -> _SizedCut:
    """Return a cut between parts as one between codes."""
    cut, rows = choice.cut, (choice.left.rows, choice.right.rows)
    if cut.dim in parts:
        part, last = parts[cut.dim], cut.low + len(cut.goes_left)
        start, end = np.searchsorted(part, [cut.low, last]).tolist()
        cut = Cut(cut.dim, start, cut.goes_left[part[start:end] - cut.low])
    return _SizedCut(cut, rows)


def _ask_of_parts(ask: Ask, parts: Parts) -> Ask:
    return lambda question, descent, nodes: ask(_OfParts(question, parts), descent, nodes)


@dataclass(frozen=True)
class _OfParts(Question):
    """A question about rows whose codes are replaced by their parts."""

    question: Question
    parts: Parts

    def reply(self, node: int, rows: CodedRows) -> object:
        """Return the reply of some of the rows of a node."""
        return self.question.reply(node, rows.replace_by_parts(self.parts))

    def answer(self, node: int, replies: list[object]) -> object:
        """Return the answer that follows from all replies about a node."""
        return self.question.answer(node, replies)


class _CodeCounts(NamedTuple):
    """The codes that occur, each with the OFFSET of its dimension, ascending, (codes,), and for
    each the number of rows and the sums of their targets, (codes, 1 + targets)."""

    # Of the codes that occur alone: it travels from task to task.

    at: Ints
    counts: Ints


class _NodeGain(NamedTuple):
    """The cut of a node that gains most, its extents, (dimensions, 2), and its counts."""

    best: _SizedCut | None
    extents: Ints
    counts: _CodeCounts


@dataclass(frozen=True)
class _GainQuestion(TableQuestion):
    """A question about the counts and sums of codes."""

    targets: int

    @cached_property
    def ranks(self) -> Ranking:
        """Working memory, allocated once in every task."""
        return ranking(self.table.axes, self.targets)

    def best_of(
        self, counts: _CodeCounts, sides: Mapping[tuple[int, int], SideCounts] | None = None
    ) -> _SizedCut | None:
        """Return the cut that gains most, None where none gains anything, as `best_gain` does."""
        _restore(self.table, self.ranks, counts)
        best = best_gain(self.table, self.ranks, sides)
        cut = None
        if best is not None:
            behind = cut_behind(self.table.axes, self.ranks, best)
            first = self.table.axes.facts[best.dim, OFFSET]
            codes = behind.low + np.flatnonzero(behind.goes_left)
            left = int(self.ranks.counts[first + codes, TIMES].sum())
            total = int(self.ranks.counts[_codes_of(self.table, best.dim), TIMES].sum())
            cut = _SizedCut(behind, (left, total - left))
        forget_rows(self.table.axes, self.ranks)
        return cut


def _codes_of(table: CodedTable, dim: int) -> slice:
    return slice(*table.axes.facts[dim : dim + 2, OFFSET].tolist())


def _restore(table: CodedTable, ranks: Ranking, counts: _CodeCounts) -> None:
    """Make counts those of a ranking without rows."""
    ranks.counts[counts.at] = counts.counts
    facts = table.axes.facts[:, OFFSET]
    edges = np.searchsorted(counts.at, facts)
    for dim, first in enumerate(facts[:-1].tolist()):
        codes = counts.at[edges[dim] : edges[dim + 1]] - first
        ranks.kinds[dim] = len(codes)
        ranks.turns[first : first + len(codes)] = codes


class _Gains(_GainQuestion):
    """The cut of a node that gains most, by the number of rows."""

    def reply(self, _node: int, rows: CodedRows) -> _CodeCounts:
        """Return the counts of some of the rows."""
        if rows.targets is None:
            raise InternalError.of("X001", "The rows have no targets.")
        dims, ranks, axes = self.table.sensitive, self.ranks, self.table.axes
        columns = np.ascontiguousarray(
            np.concatenate([rows.codes[:, :dims], rows.targets], axis=1), dtype=np.int32
        )
        add_rows(axes, ranks, columns, 0, len(columns), dims)
        firsts = axes.facts[:-1, OFFSET].tolist()
        kinds = zip(firsts, ranks.kinds.tolist(), strict=True)
        at = np.concatenate(
            [first + np.sort(ranks.turns[first : first + kind]) for first, kind in kinds]
        )
        counts = ranks.counts[at]
        forget_rows(axes, ranks)
        return _CodeCounts(at, counts)

    def answer(self, _node: int, replies: list[_CodeCounts]) -> _NodeGain:
        """Return the cut and what else is told of the node."""
        at, place = np.unique(np.concatenate([one.at for one in replies]), return_inverse=True)
        counts = np.zeros((len(at), 1 + self.targets), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([one.counts for one in replies]))
        merged = _CodeCounts(at, counts)
        facts = self.table.axes.facts[:, OFFSET]
        edges = np.searchsorted(at, facts)
        extents = np.column_stack([at[edges[:-1]], at[edges[1:] - 1]]) - facts[:-1, None]
        unused = _CodeCounts(at[:0], counts[:0])
        return _NodeGain(self.best_of(merged), extents, unused if is_plain(self.table) else merged)


@dataclass(frozen=True)
class _GainsOfSides(_GainQuestion):
    """The cut of a node that gains most of those that satisfy every bound, given its counts."""

    counts: Mapping[int, _CodeCounts]

    def reply(self, node: int, rows: CodedRows) -> dict[tuple[int, int], SideCounts]:
        """Return the persons and values in each turn of each order of each dimension."""
        _restore(self.table, self.ranks, self.counts[node])
        sides = {
            (dim, order): self._sides(dim, order, rows)
            for dim in np.flatnonzero(self.ranks.kinds > 1).tolist()
            for order in range(orders_of(self.table.axes, dim, self.targets))
        }
        forget_rows(self.table.axes, self.ranks)
        return sides

    def _sides(self, dim: int, order: int, rows: CodedRows) -> SideCounts:
        turns = turns_of(self.table.axes, self.ranks, dim, order)
        turn_of = np.zeros(turns.max() + 1, dtype=np.int64)
        turn_of[turns] = np.arange(len(turns))
        turn, values = turn_of[rows.codes[:, dim]], rows.codes[:, self.table.sensitive :]
        return count_sides(self.table, turn, len(turns), values, rows.persons)

    def answer(
        self, node: int, replies: list[dict[tuple[int, int], SideCounts]]
    ) -> _SizedCut | None:
        """Return the cut, None where there is none."""
        keys = replies[0]
        sides = {key: merge([one[key] for one in replies]) for key in keys}
        return self.best_of(self.counts[node], sides)
