"""The first cuts, chosen by the driver from figures of the cluster, until nodes fit into tasks."""

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
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.targets import TARGET
from policy_engine.engines.spark.values import Task, gather_tables
from policy_engine.kernels import briefs
from policy_engine.kernels.boundaries import THROUGH_TIES
from policy_engine.kernels.briefs import Brief, BriefSide, CutChoice
from policy_engine.kernels.descent import Cut, Cuts, Descent, descend
from policy_engine.kernels.layout import CodedTable, Scratch, scratch
from policy_engine.kernels.side_counts import SideCounts, count_sides, merge, valid_sides

Ints = NDArray[np.int64]
Parts = Mapping[int, NDArray[np.int32]]


@dataclass
class RowNodes:
    """The nodes of a coded table: the cuts so far, and the number of rows of every final node.

    Columns with too many codes are cut between `parts` of their codes.
    """

    parts: Parts = field(default_factory=dict)
    cuts: Cuts = field(default_factory=Cuts)
    rows: dict[int, int] = field(default_factory=dict)


def first_cuts(
    ask: "Ask",
    table: CodedTable,
    root: BriefSide,
    limit: int,
    on_settled: Callable[[int], object] = int,
    parts: Parts | None = None,
) -> RowNodes:
    """Cut nodes of more than `limit` rows, as long as summaries of their rows suffice to cut them.

    `table` holds everything but the rows, which `ask` summarises; `root` is their number and their
    extents. The final nodes, whatever their size, are cut further in the tasks that hold their
    rows. `parts` are those of the codes of `table`.
    """
    nodes, open_nodes = RowNodes(parts or {}), {0: root}
    while open_nodes:
        large_nodes = {
            node: side for node, side in open_nodes.items() if _is_far(table, side.rows, limit)
        }
        choices = best_cuts(ask, nodes.cuts.descent(), table, large_nodes)
        nodes.rows |= {node: side.rows for node, side in open_nodes.items() if node not in choices}
        open_nodes = {
            number: side
            for node, choice in choices.items()
            for number, side in zip(nodes.cuts.cut(node, choice.cut), choice[1:], strict=True)
        }
        on_settled(sum(nodes.rows.values()))
    return nodes


def _is_far(table: CodedTable, rows: int, limit: int) -> bool:
    if table.is_relaxed and rows <= max(THROUGH_TIES * table.size, table.large):
        return False
    return rows > limit and rows >= 2 * table.size and briefs.can_summarise(table.axes)


def best_cuts(
    ask: "Ask", descent: Descent, table: CodedTable, open_nodes: Mapping[int, BriefSide]
) -> dict[int, CutChoice]:
    """Return the best valid cuts of nodes, without the nodes that have none.

    As in the kernel, the best cut is checked first, and others only where a side of it has too few
    persons or is not diverse.
    """
    covers = ask(Cover(table, open_nodes), descent, open_nodes)
    choices = {node: choice for node, (choice, _) in covers.items() if choice is not None}
    if is_plain(table):
        return choices
    cuts = {node: choice.cut for node, choice in choices.items()}
    is_valid = ask(Check(table, cuts), descent, choices)
    doubtful_nodes = {
        node: side
        for node, side in open_nodes.items()
        if not _is_first_by_rows(table, side) or (node in is_valid and not is_valid[node])
    }
    choices = {node: choice for node, choice in choices.items() if is_valid[node]}
    if table.is_relaxed and table.score == 0:
        return choices  # what follows would cut through ties
    turns = {node: covers[node][1] for node in doubtful_nodes}
    other_choices = ask(Boundaries(table, doubtful_nodes, turns), descent, doubtful_nodes)
    return choices | {node: choice for node, choice in other_choices.items() if choice is not None}


def is_plain(table: CodedTable) -> bool:
    """Tell whether every side with k rows is valid."""
    return table.person == 0 and not len(table.watched.bounds)


def _is_first_by_rows(table: CodedTable, side: BriefSide) -> bool:
    """Tell whether the kernel first checks the best cut by the number of rows alone."""
    by_loss = table.score == 0 and (table.person == 0 or side.rows >= table.large)
    return by_loss or is_plain(table)


class Question(ABC):
    """A question about the rows of nodes: a reply from each part of a node, and one answer."""

    @abstractmethod
    def reply(self, node: int, rows: CodedRows) -> Any:
        """Return the reply of some of the rows of a node."""

    @abstractmethod
    def answer(self, node: int, replies: list[Any]) -> Any:
        """Return the answer that follows from all replies about a node."""


Ask = Callable[[Question, Descent, Mapping[int, Any]], dict[int, Any]]
"""Returns the answers to a question by node, given the cuts so far."""


def make_ask(frame: DataFrame, codes: list[str], parts: Parts) -> Ask:
    """Return a function that asks the rows of a frame, in one job for all nodes.

    The frame holds columns of `codes`, the persons if they are counted, and targets.
    """
    targets = [name for name in frame.columns if name.startswith(TARGET)]
    rows = frame.select(*codes, *([PERSON] * (PERSON in frame.columns)), *targets)

    def ask(question: Question, descent: Descent, nodes: Mapping[int, Any]) -> dict[int, Any]:
        if not nodes:
            return {}
        replies = rows.mapInArrow(
            _reply_task(question, descent, sorted(nodes), codes, parts), _REPLY_SCHEMA
        )
        answers = (
            replies.groupBy("node").applyInArrow(_answer_task(question), _REPLY_SCHEMA).toArrow()
        )
        pairs = zip(*(column.to_pylist() for column in answers.columns), strict=True)
        # Unpickling is safe: our own tasks pickled the answers.
        return {node: pickle.loads(answer) for node, answer in pairs}  # noqa: S301

    return ask


_REPLY_SCHEMA = "node bigint, reply binary"


def _reply_task(
    question: Question, descent: Descent, nodes: list[int], codes: list[str], parts: Parts
) -> Task:
    """Return a task that replies for each node among its rows."""

    @carry_errors
    def reply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gather_tables(batches))
        if not tables:
            return
        rows = CodedRows.of(pa.concat_tables(tables), codes).replace_by_parts(parts)
        leaf = descend(descent, rows.codes)
        open_nodes = set(nodes)
        replies = [
            (node, question.reply(node, rows.select_rows(node_rows)))
            for node, node_rows in group_by_node(leaf)
            if node in open_nodes
        ]
        yield _pickle_replies(replies)

    return reply


def group_by_node(leaf: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield every node that occurs, and its rows in their order."""
    order = np.argsort(leaf, kind="stable")
    nodes, starts = np.unique(leaf[order], return_index=True)
    yield from zip(nodes.tolist(), np.split(order, starts[1:]), strict=True)


def _answer_task(question: Question) -> Callable[[pa.Table], pa.Table]:
    """Return a task that turns all replies about a node into its answer."""

    def answer(reply_table: pa.Table) -> pa.Table:
        node = reply_table.column("node")[0].as_py()
        replies = [pickle.loads(reply) for reply in reply_table.column("reply").to_pylist()]  # noqa: S301
        return pa.Table.from_batches([_pickle_replies([(node, question.answer(node, replies))])])

    return answer


def _pickle_replies(replies: list[tuple[int, Any]]) -> pa.RecordBatch:
    nodes = pa.array([node for node, _ in replies], pa.int64())
    pickled = pa.array([pickle.dumps(reply) for _, reply in replies], pa.binary())
    return pa.record_batch([nodes, pickled], names=["node", "reply"])


@dataclass(frozen=True)
class TableQuestion(Question):
    """A question whose answer is that of the partitioner on a table."""

    table: CodedTable

    @cached_property
    def work(self) -> Scratch:
        """Working memory, allocated once in every task."""
        return scratch(self.table, 0)


@dataclass(frozen=True)
class Cover(TableQuestion):
    """The best cut of a node by the number of rows; and the order of the codes of every dimension,
    in case `Boundaries` is asked next."""

    opened: Mapping[int, BriefSide]

    def reply(self, node: int, rows: CodedRows) -> Brief:
        """Return the brief of some of the rows."""
        return briefs.make_brief(self.table, self.work, rows.codes, self.opened[node].extents)

    def answer(self, node: int, replies: list[Brief]) -> tuple[CutChoice | None, dict[int, Ints]]:
        """Return the best cut and the orders; None where there is none or others come first."""
        brief, side = briefs.merge(replies), self.opened[node]
        turns = {} if is_plain(self.table) else _turns(self.table, brief, side)
        if not _is_first_by_rows(self.table, side):
            return None, turns
        return briefs.choose(self.table, self.work, brief, side.extents, side.rows), turns


def _turns(table: CodedTable, brief: Brief, side: BriefSide) -> dict[int, Ints]:
    """Return the codes of every dimension that can be cut, in the order of its cuts."""
    return {dim: briefs.cut_order(table, brief, dim) for dim in briefs.active(side.extents)}


@dataclass(frozen=True)
class Check(TableQuestion):
    """Whether both sides of a cut satisfy every bound."""

    chosen: Mapping[int, Cut]

    def reply(self, node: int, rows: CodedRows) -> SideCounts:
        """Return the persons and values on the two sides."""
        cut = self.chosen[node]
        turn = (~cut.goes_left)[rows.codes[:, cut.dim] - cut.low].astype(np.int64)
        return count_sides(self.table, turn, 2, rows.codes[:, self.table.sensitive :], rows.persons)

    def answer(self, _node: int, replies: list[SideCounts]) -> bool:
        """Tell whether both sides are large and diverse enough."""
        left, right = valid_sides(self.table, merge(replies))
        return bool(left[0] and right[1])


@dataclass(frozen=True)
class Boundaries(TableQuestion):
    """The sides of all boundaries of a node, and the best cut that satisfies every bound."""

    opened: Mapping[int, BriefSide]
    turns: Mapping[int, Mapping[int, Ints]]

    def reply(self, node: int, rows: CodedRows) -> tuple[Brief, dict[int, SideCounts]]:
        """Return the brief of some of the rows, and the persons and values at each code of each
        dimension."""
        extents = self.opened[node].extents
        brief = briefs.make_brief(self.table, self.work, rows.codes, extents)
        return brief, {dim: self._sides(node, dim, rows) for dim in self.turns[node]}

    def _sides(self, node: int, dim: int, rows: CodedRows) -> SideCounts:
        turns, low = self.turns[node][dim], self.opened[node].extents[dim, 0]
        turn_of = np.zeros(turns.max() - low + 1, dtype=np.int64)
        turn_of[turns - low] = np.arange(len(turns))
        turn, values = turn_of[rows.codes[:, dim] - low], rows.codes[:, self.table.sensitive :]
        return count_sides(self.table, turn, len(turns), values, rows.persons)

    def answer(
        self, node: int, replies: list[tuple[Brief, dict[int, SideCounts]]]
    ) -> CutChoice | None:
        """Return the best cut that satisfies every bound, None where there is none."""
        brief, side = briefs.merge([part for part, _ in replies]), self.opened[node]
        by_dim = {dim: merge([sides[dim] for _, sides in replies]) for dim in self.turns[node]}
        return briefs.choose(self.table, self.work, brief, side.extents, side.rows, by_dim)
