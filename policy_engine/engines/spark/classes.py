"""Form the classes and the cells of every node in one task, and order its rows."""

import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import (
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from policy_engine.engines.arrays import cell_array, from_numpy, to_numpy, unchunk
from policy_engine.engines.class_evidence import Replaced, cells_mark, see_replaced
from policy_engine.engines.contents import array_marks, content_order, row_marks
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.ranges import Ranges
from policy_engine.engines.generalizations.representatives import Means
from policy_engine.engines.identifiers import redacted_column
from policy_engine.engines.microaggregating import Cells as TaskCells
from policy_engine.engines.microaggregating import NearFormation, partition_of
from policy_engine.engines.origins import WORD
from policy_engine.engines.spark.coding import CARRIED, PERSON, CodedRows, Coding
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.guided_rows import (
    GuidedFormation,
    sensitive_rows,
    target_marks,
)
from policy_engine.engines.spark.near_parts import personal_rows
from policy_engine.engines.spark.nodes import RowNodes, group_by_node
from policy_engine.engines.spark.permuted_rows import RowPermutation
from policy_engine.engines.spark.suppressing import HASH
from policy_engine.engines.spark.values import Task, gather_tables
from policy_engine.errors import InternalError
from policy_engine.kernels.axis import Axis, Interval
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.descent import descend
from policy_engine.kernels.layout import Cutting
from policy_engine.kernels.mondrian import Partition, partition
from policy_engine.plan.joint import EARLIER, is_joint

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassFormation:
    """How the rows of a node become classes, and classes become rows of the output.

    `axes` are those of the whole table, without rows, and `quasi` the generalisations of their
    columns; a column with too many values has its own axis and codes in each task. `overall` counts
    the sensitive values of the whole table. `columns` are those of the output; the `redact` ones
    hold nothing but a mark. With `near`, classes are formed by microaggregation, and those of a
    `whole` table are merged further where only classes with equal cells, as one, break a bound.
    With `guided`, they are cut by targets. With a `permutation`, rows get values of their class.
    """

    coding: Coding
    quasi: Mapping[str, Generalizer]
    axes: list[Axis]
    overall: tuple[Ints, ...]
    constraint: ClassConstraint
    cutting: Cutting
    columns: tuple[str, ...]
    redact: tuple[str, ...]
    near: NearFormation | None = None
    is_whole: bool = False
    guided: GuidedFormation | None = None
    permutation: RowPermutation | None = None

    def output_frame(self, coded: DataFrame, nodes: RowNodes, tasks: int) -> DataFrame:
        """Return the output of coded rows, formed in `tasks` tasks of about equal size.

        Where persons are counted, one more column `PERSON` identifies them.
        """
        return self.frame_of_tasks(self.moved(coded, nodes, tasks), coded)

    def moved(self, coded: DataFrame, nodes: RowNodes, tasks: int) -> DataFrame:
        """Return coded rows moved to `tasks` tasks of about equal size, with their `node`; those of
        an intersection of earlier classes are a node, where there are any."""
        if EARLIER in self.coding.sensitive:
            place = [*self.coding.sensitive].index(EARLIER)
            node = F.col(f"sensitive{place}").cast("long")
            placed = coded.withColumn("node", node).withColumn("task", F.pmod(node, F.lit(tasks)))
            return placed.repartitionById(tasks, F.col("task").cast("int")).drop("task")
        placing = _placement_task(self.coding.codes, nodes, assign_tasks(nodes, tasks))
        placed_frame = coded.mapInArrow(placing, StructType([*coded.schema.fields, *_PLACE]))
        return placed_frame.repartitionById(tasks, "task").drop("task")

    def frame_of_tasks(self, moved: DataFrame, coded: DataFrame) -> DataFrame:
        """Return the output of coded rows that were moved to tasks, with their `node`."""
        return moved.mapInArrow(_class_task(self), self._schema(coded))

    def _schema(self, coded: DataFrame) -> StructType:
        fields = []
        for name in self.columns:
            is_kept = name in self.coding.kept
            kind = coded.schema[f"kept{self.coding.kept.index(name)}"].dataType if is_kept else None
            fields.append(StructField(name, kind or StringType()))
        fields += [StructField(PERSON, StringType())] * bool(self.coding.person)
        fields += [StructField(WORD, LongType())] * (WORD in self.coding.kept)
        fields += [StructField(MARK, LongType())] * (self.guided is not None)
        if self.permutation is not None:
            names, kinds = self.coding.kept, coded.schema
            before = {name: kinds[f"kept{place}"].dataType for place, name in enumerate(names)}
            fields += self.permutation.fields(before)
        fields += [StructField(name, _PEAK) for name in self.peaks]
        return StructType(fields + [StructField(SEEN, StringType())] * (self.near is not None))

    @property
    def peaks(self) -> dict[str, str]:
        """The columns of means, by the columns that hold the greatest value of every class, and
        its sum."""
        means = [name for name, one in self.quasi.items() if isinstance(one, Means)]
        pairs = enumerate(means if self.near else [])
        return {peak_column(place, part): name for place, name in pairs for part in ("most", "sum")}


_PEAK = DecimalType(38, 0)
MARK = "policy_engine__mark"
"""The column with a number of the targets of each row, by which classes were cut."""
SEEN = "policy_engine__seen"
"""The column that has, in one row of each task, what its cells replace."""


def peak_column(place: int, part: str) -> str:
    """Return the name of the column for the greatest values, or the sums, of a column of means."""
    return f"policy_engine__{part}{place}"


_PLACE = [StructField("node", LongType()), StructField("task", IntegerType())]


def read_seen(texts: Sequence[str], names: Sequence[str]) -> tuple[int, dict[str, Replaced]]:
    """Return the mark of the cells of all tasks, and what those of each column replace."""
    mark, replaced = 0, dict.fromkeys(names, Replaced(0, 0, 0))
    for text in texts:
        part, columns = json.loads(text)
        mark = (mark + part) % 2**64
        for name, one in zip(names, columns, strict=True):
            replaced[name] = replaced[name].merge(Replaced(**one))
    return mark, replaced


def assign_tasks(nodes: RowNodes, tasks: int) -> Ints:
    """Return the task of every node, (nodes,): largest first, to the task with the fewest rows."""
    task_of = np.zeros(len(nodes.cuts), dtype=np.int64)
    laden = [(0, task) for task in range(tasks)]
    for node, rows in sorted(nodes.rows.items(), key=lambda item: (-item[1], item[0])):
        load, task_of[node] = laden[0]
        heapq.heapreplace(laden, (load + rows, int(task_of[node])))
    return task_of


def _placement_task(codes: list[str], nodes: RowNodes, task_of: Ints) -> Task:
    """Return a task that adds to each row its node, and the task of the node."""
    descent, parts = nodes.cuts.descent(), nodes.parts

    @carry_errors
    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            leaf = descend(descent, CodedRows.of(table, codes).replace_by_parts(parts).codes)
            columns = [*table.columns, from_numpy(leaf), from_numpy(task_of[leaf].astype(np.int32))]
            names = [*table.column_names, "node", "task"]
            yield from pa.table(columns, names=names).combine_chunks().to_batches()

    return place


def _class_task(formation: ClassFormation) -> Task:
    """Return a task that forms the classes of its nodes."""

    @carry_errors
    def form(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gather_tables(batches))
        if tables:
            yield from TaskRows.of(formation, pa.concat_tables(tables)).output().to_batches()

    return form


@dataclass(frozen=True)
class TaskRows:
    """The rows of a task: their codes, and the columns that stay unchanged.

    `carried` columns are not of the output. Random `words` (rows,) order the rows with equal
    quasi-identifiers, where classes are near.
    """

    formation: ClassFormation
    rows: CodedRows
    node: Ints
    wide: Mapping[str, ColumnCodes]
    kept: Mapping[str, pa.Array]
    words: Ints | None
    person: pa.Array | None
    carried: Mapping[str, pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, formation: ClassFormation, table: pa.Table) -> "TaskRows":
        """Return the rows of a task, given as a table of coded rows with their `node`."""
        coding = formation.coding
        kept = {
            name: unchunk(table.column(f"kept{place}")) for place, name in enumerate(coding.kept)
        }
        node = to_numpy(unchunk(table.column("node")))
        person = unchunk(table.column(PERSON)) if coding.person else None
        rows, wide = CodedRows.of(table, coding.codes), {}
        for place, (name, one) in enumerate(coding.wide.items()):
            wide[name] = one.encode(name, unchunk(table.column(f"wide{place}")))
            rows.codes[:, list(coding.quasi).index(name)] = wide[name].codes
        words = to_numpy(kept.pop(HASH)).astype(np.int64) if HASH in kept else None
        carried = {name: kept.pop(name) for name in coding.kept if name.startswith(CARRIED)}
        return cls(formation, rows, node, wide, kept, words, person, carried)

    def output(self) -> pa.Table:
        """Return the rows of the output, class by class."""
        quasi = {name: self._generalizer(name) for name in self.formation.coding.quasi}
        form = self._guided_classes if self.formation.guided else self._classes
        classes, cells = form(quasi)
        rows, columns = from_numpy(classes.order), []
        made = None
        if self.formation.permutation is not None:
            made = self.formation.permutation.permute(self.kept, classes, self.person)
        for name in self.formation.columns:
            if made and name in quasi:
                columns.append(made.columns[name])
            elif name in quasi:
                columns.append(cell_array(classes.starts, *cells[name]).cast(pa.string()))
            elif name in self.formation.redact:
                columns.append(redacted_column(len(rows)).cast(pa.string()))
            else:
                columns.append(self.kept[name].take(rows))
        columns += [column.take(rows) for column in self._persons.values()]
        names = [*self.formation.columns, *self._persons]
        if self.formation.guided:
            columns.append(from_numpy(target_marks(self.rows)[classes.order]))
            names.append(MARK)
        if made:
            columns += made.hidden.values()
            names += made.hidden
        columns += self._peaks(classes)
        names += self.formation.peaks
        if self.formation.near:
            seen = _evidence_text(quasi, classes, cells)
            columns.append(pa.array([seen, *[None] * (len(rows) - 1)], pa.string()))
            names.append(SEEN)
        return pa.table(columns, names=names).combine_chunks()

    @property
    def _persons(self) -> dict[str, pa.Array]:
        """The columns that tell whose rows are, where anybody has to know."""
        persons = {} if self.person is None else {PERSON: self.person}
        return persons | {name: one for name, one in self.carried.items() if name == WORD}

    def _peaks(self, classes: Partition) -> Iterator[pa.Array]:
        """Yield the greatest value of every class at its first row, and its sum, for all means."""
        rows, first = len(classes.order), classes.starts[:-1]
        for name in dict.fromkeys(self.formation.peaks.values()):
            mean = self._generalizer(name)
            peaks = mean.peaks(classes) if isinstance(mean, Means) else []
            for part in zip(*peaks, strict=True) if peaks else ((), ()):
                values = np.full(rows, None, dtype=object)
                values[first[: len(part)]] = [Decimal(one) for one in part]
                yield pa.array(values.tolist(), pa.decimal128(38, 0))

    def _generalizer(self, name: str) -> Generalizer:
        if name in self.wide:
            return Ranges(self.wide[name])
        generalizer, place = (
            self.formation.quasi[name],
            list(self.formation.coding.quasi).index(name),
        )
        return with_codes(generalizer, self.rows.codes[:, place])

    def _guided_classes(self, quasi: Mapping[str, Generalizer]) -> tuple[Partition, TaskCells]:
        """Return what `_classes` does, of accuracy-guided ones."""
        formation = self.formation
        if formation.guided is None:
            raise InternalError.of("X001", "Nothing says how classes are guided.")
        made = formation.guided.classes(
            self.rows, self.node, quasi, self._axes(), formation.constraint
        )
        return self._sort_within(made.rows, self.kept_ranks()), made.cells

    def kept_ranks(self) -> list[Ints]:
        """Return the ranks of the unchanged values of every column, (rows,) each."""
        return [_ranks(array_marks(column)) for column in self.kept.values()]

    def _classes(self, quasi: Mapping[str, Generalizer]) -> tuple[Partition, TaskCells]:
        """Return the classes of all nodes, with rows ordered by their unchanged values, and the
        cells of columns."""
        ranks = self.kept_ranks()
        made = self._sort_within(self.partition(ranks), ranks)
        return made, {name: one.cells(made) for name, one in quasi.items()}

    def partition(self, ranks: list[Ints]) -> Partition:
        """Return the classes of all nodes; `ranks` are those of unchanged values, (rows,) each."""
        orders, sizes = [], [np.zeros(1, np.int64)]
        near = self.formation.near
        for _, rows in group_by_node(self.node):
            is_sorted = near or self.formation.cutting.is_relaxed
            ordered_rows = self._sort_by_content(rows, ranks) if is_sorted else rows
            chosen = self.rows.select_rows(ordered_rows)
            classes = self._near_partition(near, chosen) if near else self._partition(chosen)
            orders.append(ordered_rows[classes.order])
            sizes.append(np.diff(classes.starts))
        return Partition(np.concatenate(orders), np.cumsum(np.concatenate(sizes)))

    def _sort_within(self, classes: Partition, ranks: list[Ints]) -> Partition:
        leaf = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
        keys = (rank[classes.order] for rank in reversed(ranks))
        return Partition(classes.order[np.lexsort((*keys, leaf))], classes.starts)

    def _near_partition(self, near: NearFormation, rows: CodedRows) -> Partition:
        """Return the classes of rows that come in the order of their content."""
        dims = len(self.formation.axes)
        personal = personal_rows(rows, dims, near.bounds)
        groups = near.groups(rows.codes[:, :dims], personal)
        if self.formation.is_whole:
            pairs = enumerate(self.formation.quasi.items())
            quasi = {name: with_codes(one, rows.codes[:, place]) for place, (name, one) in pairs}
            groups, _ = near.settled(groups, quasi, personal)
        return partition_of(groups)

    def coded_axes(self) -> list[Axis]:
        """Return the axes with the codes of these rows."""
        pairs = enumerate(self._axes())
        return [replace(axis, codes=self.rows.codes[:, dim]) for dim, axis in pairs]

    def _axes(self) -> list[Axis]:
        """Return the axes; columns with too many values have an axis of these rows."""
        pairs = zip(self.formation.coding.quasi, self.formation.axes, strict=True)
        return [
            replace(
                axis,
                shape=Interval(self.wide[name].position),
                has_missing=self.wide[name].has_missing,
            )
            if name in self.wide
            else axis
            for name, axis in pairs
        ]

    def _sort_by_content(self, rows: Ints, ranks: list[Ints]) -> Ints:
        quasi = [self.rows.codes[rows, place] for place in range(len(self.formation.axes))]
        texts = [*map(array_marks, self.kept.values())]
        texts += [] if self.person is None else [self.person]
        node_texts = [column.take(from_numpy(rows)) for column in texts]
        kept = [rank[rows] for rank in ranks]
        kept += [] if self.rows.persons is None else [self.rows.persons[rows]]
        first = len(self.formation.coding.quasi)
        for place, name in enumerate(self.formation.coding.sensitive):
            kept += [self.rows.codes[rows, first + place]] if is_joint(name) else []
        words = None if self.words is None else self.words[rows]
        return rows[content_order(quasi, row_marks(node_texts, len(rows)), kept, words)]

    def _partition(self, rows: CodedRows) -> Partition:
        formation, dims = self.formation, len(self.formation.axes)
        axes = [replace(axis, codes=rows.codes[:, dim]) for dim, axis in enumerate(self._axes())]
        people = sensitive_rows(rows, dims, formation.overall)
        return partition(axes, people, formation.constraint, formation.cutting, workers=1)


def _evidence_text(
    quasi: Mapping[str, Generalizer],
    classes: Partition,
    cells: Mapping[str, tuple[Ints, list[str | None]]],
) -> str:
    """Return the mark of cells, and what those of each column replace, as JSON."""
    replaced = [see_replaced(one.column, classes, cells[name]) for name, one in quasi.items()]
    mark = cells_mark(cells.values(), np.diff(classes.starts))
    return json.dumps([mark, [*map(asdict, replaced)]])


def with_codes(generalizer: Generalizer, codes: NDArray[np.int32]) -> Generalizer:
    """Return a generalizer of a whole column for some of its rows, whose `codes` are given."""
    return replace(generalizer, column=replace(generalizer.column, codes=codes, times=None))


def _ranks(column: pa.Array) -> Ints:
    """Return the rank of every row's value, (rows,), whatever the order of the rows."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64)
    encoded = column.dictionary_encode()
    values = encoded.dictionary
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    ranks = to_numpy(pc.rank(values)).astype(np.int64)
    return np.asarray(np.append(ranks, 0)[to_numpy(encoded.indices, missing=len(ranks))])
