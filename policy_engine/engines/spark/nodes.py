"""The first cuts, chosen by what the cluster tells of open nodes, until tasks can hold them."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from policy_engine.engines.spark.coding import PERSON, CodedRows
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.values import Task, gathered
from policy_engine.kernels import briefs
from policy_engine.kernels.boundaries import THROUGH_TIES
from policy_engine.kernels.briefs import Brief, BriefSide, CutChoice
from policy_engine.kernels.descent import Cuts, Descent, descend
from policy_engine.kernels.layout import CodedTable, Scratch, scratch
from policy_engine.kernels.sides import Sides, count_sides, merge, valid_sides

Ints = NDArray[np.int64]
Parts = Mapping[int, NDArray[np.int32]]


@dataclass
class RowNodes:
    """The nodes of a table of codes: the cuts made, and the rows of every node that stays.

    Cuts are between `parts` of codes, by column, where there are too many to be told apart.
    """

    parts: Parts = field(default_factory=dict)
    cuts: Cuts = field(default_factory=Cuts)
    rows: dict[int, int] = field(default_factory=dict)


def first_cuts(
    ask: "Ask",
    table: CodedTable,
    whole: BriefSide,
    limit: int,
    on_settled: Callable[[int], object] = int,
    parts: Parts | None = None,
) -> RowNodes:
    """Cut nodes of more than `limit` rows, for as long as their cuts can be told from afar.

    `table` holds all that there is to know but the rows, which are asked about; `whole` is
    their number and their extents. Whatever its size, a node that stays is cut on, if it can
    be, where its rows are. `parts` are those of the codes that `table` is about.
    """
    found, opened = RowNodes(parts or {}), {0: whole}
    while opened:
        far = {node: side for node, side in opened.items() if _is_far(table, side.rows, limit)}
        chosen = _choices(ask, found.cuts.descent(), table, far)
        found.rows |= {node: side.rows for node, side in opened.items() if node not in chosen}
        opened = {
            number: side
            for node, choice in chosen.items()
            for number, side in zip(found.cuts.cut(node, choice.cut), choice[1:], strict=True)
        }
        on_settled(sum(found.rows.values()))
    return found


def _is_far(table: CodedTable, rows: int, limit: int) -> bool:
    if table.is_relaxed and rows <= max(THROUGH_TIES * table.size, table.large):
        return False
    return rows > limit and rows >= 2 * table.size and briefs.can_summarise(table.axes)


def _choices(
    ask: "Ask", descent: Descent, table: CodedTable, opened: Mapping[int, BriefSide]
) -> dict[int, CutChoice]:
    """Return the best valid cuts of nodes; a node without one is left out.

    As in the kernel, the best of all is looked at first, and others only where its sides are
    not enough persons, or not diverse.
    """
    covered = ask(Cover(table, opened), descent, opened)
    chosen = {node: choice for node, (choice, _) in covered.items() if choice is not None}
    if _is_plain(table):
        return chosen
    good = ask(Check(table, chosen), descent, chosen)
    doubtful = {
        node: side
        for node, side in opened.items()
        if not _is_first_by_rows(table, side) or (node in good and not good[node])
    }
    chosen = {node: choice for node, choice in chosen.items() if good[node]}
    if table.is_relaxed and table.score == 0:
        return chosen  # the next are cuts through ties
    turns = {node: covered[node][1] for node in doubtful}
    found = ask(Boundaries(table, doubtful, turns), descent, doubtful)
    return chosen | {node: choice for node, choice in found.items() if choice is not None}


def _is_plain(table: CodedTable) -> bool:
    """Tell whether a side is valid as soon as it has k rows."""
    return table.person == 0 and not len(table.watched.bounds)


def _is_first_by_rows(table: CodedTable, side: BriefSide) -> bool:
    """Tell whether the kernel looks first at the best cut by the number of rows alone."""
    by_loss = table.score == 0 and (table.person == 0 or side.rows >= table.large)
    return by_loss or _is_plain(table)


@dataclass(frozen=True)
class Question(ABC):
    """What is asked of the rows of every node: of parts of them, and then of the parts."""

    table: CodedTable

    @cached_property
    def work(self) -> Scratch:
        """Working memory, made once in every task."""
        return scratch(self.table, 0)

    @abstractmethod
    def reply(self, node: int, rows: CodedRows) -> Any:
        """Return what some of the rows of a node tell."""

    @abstractmethod
    def answer(self, node: int, replies: list[Any]) -> Any:
        """Return what follows from all replies about a node."""


Ask = Callable[[Question, Descent, Mapping[int, Any]], dict[int, Any]]
"""Return the answer to a question about every one of the nodes, given the cuts so far."""


def asking(frame: DataFrame, codes: list[str], parts: Parts) -> Ask:
    """Return what asks the rows of a frame, which holds columns of `codes`, and the persons if
    there are any: one job for all nodes together."""
    rows = frame.select(*codes, *([PERSON] * (PERSON in frame.columns)))

    def ask(question: Question, descent: Descent, nodes: Mapping[int, Any]) -> dict[int, Any]:
        if not nodes:
            return {}
        told = rows.mapInArrow(_replying(question, descent, sorted(nodes), codes, parts), _TOLD)
        answers = told.groupBy("node").applyInArrow(_answering(question), _TOLD).toArrow()
        pairs = zip(*(column.to_pylist() for column in answers.columns), strict=True)
        # What comes back was made by tasks of our own.
        return {node: pickle.loads(answer) for node, answer in pairs}  # noqa: S301

    return ask


_TOLD = "node bigint, told binary"


def _replying(
    question: Question, descent: Descent, nodes: list[int], codes: list[str], parts: Parts
) -> Task:
    """Return a task that tells of the nodes among its rows."""

    @carrying
    def reply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gathered(batches))
        if not tables:
            return
        rows = CodedRows.of(pa.concat_tables(tables), codes).in_parts(parts)
        leaf = descend(descent, rows.codes)
        asked = set(nodes)
        found = [
            (node, question.reply(node, rows.taken(mine)))
            for node, mine in of_nodes(leaf)
            if node in asked
        ]
        yield _told(found)

    return reply


def of_nodes(leaf: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield every node that occurs, and its rows as they stand."""
    order = np.argsort(leaf, kind="stable")
    nodes, starts = np.unique(leaf[order], return_index=True)
    yield from zip(nodes.tolist(), np.split(order, starts[1:]), strict=True)


def _answering(question: Question) -> Callable[[pa.Table], pa.Table]:
    """Return a task that makes one answer of all replies about a node."""

    def answer(told: pa.Table) -> pa.Table:
        node = told.column("node")[0].as_py()
        replies = [pickle.loads(one) for one in told.column("told").to_pylist()]  # noqa: S301
        return pa.Table.from_batches([_told([(node, question.answer(node, replies))])])

    return answer


def _told(found: list[tuple[int, Any]]) -> pa.RecordBatch:
    nodes = pa.array([node for node, _ in found], pa.int64())
    told = pa.array([pickle.dumps(what) for _, what in found], pa.binary())
    return pa.record_batch([nodes, told], names=["node", "told"])


@dataclass(frozen=True)
class Cover(Question):
    """What a node covers, and its best cut by the number of rows; and the turns of every
    dimension, where more may be asked."""

    opened: Mapping[int, BriefSide]

    def reply(self, node: int, rows: CodedRows) -> Brief:
        """Return the brief of some of the rows."""
        return briefs.make_brief(self.table, self.work, rows.codes, self.opened[node].extents)

    def answer(self, node: int, replies: list[Brief]) -> tuple[CutChoice | None, dict[int, Ints]]:
        """Return the best cut, None where there is none or others are looked at first."""
        found, side = briefs.merge(replies), self.opened[node]
        turns = {} if _is_plain(self.table) else _turns(self.table, found, side)
        if not _is_first_by_rows(self.table, side):
            return None, turns
        return briefs.choose(self.table, self.work, found, side.extents, side.rows), turns


def _turns(table: CodedTable, found: Brief, side: BriefSide) -> dict[int, Ints]:
    """Return the codes of every dimension that has several, in the order of its cuts."""
    return {dim: briefs.cut_order(table, found, dim) for dim in briefs.active(side.extents)}


@dataclass(frozen=True)
class Check(Question):
    """Whether both sides of a cut keep every bound."""

    chosen: Mapping[int, CutChoice]

    def reply(self, node: int, rows: CodedRows) -> Sides:
        """Return who is on the two sides."""
        cut = self.chosen[node].cut
        turn = (~cut.goes_left)[rows.codes[:, cut.dim] - cut.low].astype(np.int64)
        return count_sides(self.table, turn, 2, rows.codes[:, self.table.sensitive :], rows.persons)

    def answer(self, _node: int, replies: list[Sides]) -> bool:
        """Tell whether both are enough and diverse."""
        left, right = valid_sides(self.table, merge(replies))
        return bool(left[0] and right[1])


@dataclass(frozen=True)
class Boundaries(Question):
    """What all boundaries of a node leave on both sides, and the best that keeps every bound."""

    opened: Mapping[int, BriefSide]
    turns: Mapping[int, Mapping[int, Ints]]

    def reply(self, node: int, rows: CodedRows) -> tuple[Brief, dict[int, Sides]]:
        """Return the brief of some of the rows, and who comes in which turn of each dimension."""
        extents = self.opened[node].extents
        found = briefs.make_brief(self.table, self.work, rows.codes, extents)
        return found, {dim: self._sides(node, dim, rows) for dim in self.turns[node]}

    def _sides(self, node: int, dim: int, rows: CodedRows) -> Sides:
        turns, low = self.turns[node][dim], self.opened[node].extents[dim, 0]
        turn_of = np.zeros(turns.max() - low + 1, dtype=np.int64)
        turn_of[turns - low] = np.arange(len(turns))
        turn, values = turn_of[rows.codes[:, dim] - low], rows.codes[:, self.table.sensitive :]
        return count_sides(self.table, turn, len(turns), values, rows.persons)

    def answer(self, node: int, replies: list[tuple[Brief, dict[int, Sides]]]) -> CutChoice | None:
        """Return the best cut that keeps every bound."""
        found, side = briefs.merge([brief for brief, _ in replies]), self.opened[node]
        by_dim = {dim: merge([told[dim] for _, told in replies]) for dim in self.turns[node]}
        return briefs.choose(self.table, self.work, found, side.extents, side.rows, by_dim)
