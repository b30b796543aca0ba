"""Every node whole in one task: its classes, its cells, its rows in an order of their own."""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from policy_engine.engines.anonymizing import cell_array
from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.contents import content_order, row_marks
from policy_engine.engines.encoding import Encoded
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.ranges import Ranges
from policy_engine.engines.identifiers import redacted
from policy_engine.engines.spark.coding import PERSON, CodedRows, Coding
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.nodes import RowNodes, of_nodes
from policy_engine.engines.spark.values import Task, gathered
from policy_engine.kernels.axis import Axis, Interval
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.descent import descend
from policy_engine.kernels.layout import Cutting, People
from policy_engine.kernels.mondrian import Partition, partition

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Classing:
    """How the rows of a node become classes, and those rows of the output.

    `axes` are those of the whole table, without rows, and `quasi` what becomes of their columns;
    those of too many values have an axis and codes in each task of their own. `overall` counts
    the sensitive values of the whole table. `columns` are the output's, of which `redact` hold
    nothing of the input.
    """

    coding: Coding
    quasi: Mapping[str, Generalizer]
    axes: list[Axis]
    overall: tuple[Ints, ...]
    constraint: ClassConstraint
    cutting: Cutting
    columns: tuple[str, ...]
    redact: tuple[str, ...]

    def classed(self, coded: DataFrame, nodes: RowNodes, tasks: int) -> DataFrame:
        """Return the output of rows coded, in so many tasks of about the same size.

        Where persons are told apart, a column `PERSON` more tells whose row it is.
        """
        placing = _placing(self.coding.codes, nodes, shared_out(nodes, tasks))
        placed = coded.mapInArrow(placing, StructType([*coded.schema.fields, *_PLACE]))
        moved = placed.repartitionById(tasks, "task").drop("task")
        return moved.mapInArrow(_classing(self), self._schema(coded))

    def _schema(self, coded: DataFrame) -> StructType:
        fields = []
        for name in self.columns:
            kept = name in self.coding.kept
            kind = coded.schema[f"kept{self.coding.kept.index(name)}"].dataType if kept else None
            fields.append(StructField(name, kind or StringType()))
        return StructType(fields + [StructField(PERSON, StringType())] * bool(self.coding.person))


_PLACE = [StructField("node", LongType()), StructField("task", IntegerType())]


def shared_out(nodes: RowNodes, tasks: int) -> Ints:
    """Return the task of every node, (nodes,): the largest first, each to the least laden."""
    task_of = np.zeros(len(nodes.cuts), dtype=np.int64)
    laden = [(0, task) for task in range(tasks)]
    for node, rows in sorted(nodes.rows.items(), key=lambda item: (-item[1], item[0])):
        load, task_of[node] = laden[0]
        heapq.heapreplace(laden, (load + rows, int(task_of[node])))
    return task_of


def _placing(codes: list[str], nodes: RowNodes, task_of: Ints) -> Task:
    """Return a task that tells of each row its node, and the task that takes it."""
    descent, parts = nodes.cuts.descent(), nodes.parts

    @carrying
    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            leaf = descend(descent, CodedRows.of(table, codes).in_parts(parts).codes)
            columns = [*table.columns, from_numpy(leaf), from_numpy(task_of[leaf].astype(np.int32))]
            names = [*table.column_names, "node", "task"]
            yield from pa.table(columns, names=names).combine_chunks().to_batches()

    return place


def _classing(asked: Classing) -> Task:
    """Return a task that forms the classes of its nodes."""

    @carrying
    def form(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gathered(batches))
        if tables:
            yield from _Task.of(asked, pa.concat_tables(tables)).output().to_batches()

    return form


@dataclass(frozen=True)
class _Task:
    """The rows of a task: side by side in codes, and the columns that stay as they are."""

    asked: Classing
    rows: CodedRows
    node: Ints
    wide: Mapping[str, Encoded]
    kept: Mapping[str, pa.Array]
    person: pa.Array | None

    @classmethod
    def of(cls, asked: Classing, table: pa.Table) -> "_Task":
        coding = asked.coding
        kept = {
            name: unchunk(table.column(f"kept{place}")) for place, name in enumerate(coding.kept)
        }
        node = to_numpy(unchunk(table.column("node")))
        person = unchunk(table.column(PERSON)) if coding.person else None
        rows, wide = CodedRows.of(table, coding.codes), {}
        for place, (name, one) in enumerate(coding.wide.items()):
            wide[name] = one.encoded(name, unchunk(table.column(f"wide{place}")))
            rows.codes[:, list(coding.quasi).index(name)] = wide[name].codes
        return cls(asked, rows, node, wide, kept, person)

    def output(self) -> pa.Table:
        classes = self._classes()
        rows, made = from_numpy(classes.order), []
        for name in self.asked.columns:
            if name in self.asked.coding.quasi:
                cell = cell_array(classes, *self._generalizer(name).cells(classes))
                made.append(cell.cast(pa.string()))
            elif name in self.asked.redact:
                made.append(redacted(len(rows)).cast(pa.string()))
            else:
                made.append(self.kept[name].take(rows))
        if self.person is not None:
            made.append(self.person.take(rows))
        names = [*self.asked.columns, *([PERSON] * (self.person is not None))]
        return pa.table(made, names=names).combine_chunks()

    def _generalizer(self, name: str) -> Generalizer:
        if name in self.wide:
            return Ranges(self.wide[name])
        one, place = self.asked.quasi[name], list(self.asked.coding.quasi).index(name)
        return replace(one, column=replace(one.column, codes=self.rows.codes[:, place], times=None))

    def _classes(self) -> Partition:
        """Return the classes of all nodes; rows of a class stand in the order of what is kept."""
        ranks = [_ranks(column) for column in self.kept.values()]
        orders, sizes = [], [np.zeros(1, np.int64)]
        for _, rows in of_nodes(self.node):
            given = self._by_content(rows, ranks) if self.asked.cutting.is_relaxed else rows
            classes = self._partition(self.rows.taken(given))
            orders.append(given[classes.order])
            sizes.append(np.diff(classes.starts))
        order, starts = np.concatenate(orders), np.cumsum(np.concatenate(sizes))
        leaf = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        sort = np.lexsort((*(rank[order] for rank in reversed(ranks)), leaf))
        return Partition(order[sort], starts)

    def _axes(self) -> list[Axis]:
        """Return the axes, those of columns of too many values as they are among these rows."""
        named = zip(self.asked.coding.quasi, self.asked.axes, strict=True)
        return [
            replace(
                axis,
                shape=Interval(self.wide[name].position),
                has_missing=self.wide[name].has_missing,
            )
            if name in self.wide
            else axis
            for name, axis in named
        ]

    def _by_content(self, rows: Ints, ranks: list[Ints]) -> Ints:
        quasi = [self.rows.codes[rows, place] for place in range(len(self.asked.axes))]
        texts = [*self.kept.values(), *([] if self.person is None else [self.person])]
        told = [column.take(from_numpy(rows)) for column in texts]
        kept = [rank[rows] for rank in ranks]
        kept += [] if self.rows.persons is None else [self.rows.persons[rows]]
        return rows[content_order(quasi, row_marks(told, len(rows)), kept)]

    def _partition(self, rows: CodedRows) -> Partition:
        asked, dims = self.asked, len(self.asked.axes)
        axes = [replace(axis, codes=rows.codes[:, dim]) for dim, axis in enumerate(self._axes())]
        sensitive = tuple(rows.codes[:, place] for place in range(dims, rows.codes.shape[1]))
        persons = None
        if rows.persons is not None:
            persons = np.unique(rows.persons, return_inverse=True)[1].astype(np.int32)
        people = People(sensitive, persons, asked.overall)
        return partition(axes, people, asked.constraint, asked.cutting, workers=1)


def _ranks(column: pa.Array) -> Ints:
    """Return the rank of every row's value, which follows from the values alone."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64)
    met = column.dictionary_encode()
    values = met.dictionary
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    ranks = to_numpy(pc.rank(values)).astype(np.int64)
    return np.asarray(np.append(ranks, 0)[to_numpy(met.indices, missing=len(ranks))])
