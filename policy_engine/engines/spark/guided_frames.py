"""Accuracy-guided classes of a frame: the first cuts, the tasks that form classes, their cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import StructField, StructType

from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.care_levels import CareLevel
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.generalizations.representatives import Means
from policy_engine.engines.guided_classes import ALREADY, doubts_of_guide
from policy_engine.engines.microaggregating import ClassBounds
from policy_engine.engines.preparation import Overview
from policy_engine.engines.spark.classes import MARK, ClassFormation
from policy_engine.engines.spark.coded_frames import CodedFrame
from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.guided_nodes import FarTable, first_guided_cuts
from policy_engine.engines.spark.guided_rows import GuidedBy, GuidedFormation
from policy_engine.engines.spark.near_parts import personal_rows
from policy_engine.engines.spark.nodes import RowNodes, make_ask
from policy_engine.engines.spark.permuted_rows import CLASS
from policy_engine.engines.spark.quantiles import Quantiles
from policy_engine.engines.spark.targets import TargetLookup
from policy_engine.engines.spark.values import (
    Task,
    arrow_schema,
    distinct_values,
    gather_tables,
    map_in_tasks,
    quote_name,
)
from policy_engine.engines.suppressing import typed_values
from policy_engine.errors import InternalError
from policy_engine.kernels.coarse import coarsen
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.guided_tree import guided_table
from policy_engine.kernels.layout import Cutting, prepare
from policy_engine.methods.columns import PERTURBATIVE
from policy_engine.plan.steps import Publish

Ints = NDArray[np.int64]


class FormedFrame(NamedTuple):
    """The rows of a release, formed in `tasks` tasks; a column `MARK` has a number of each row's
    targets. The first cuts of the `approximated` columns were between parts of their values."""

    frame: DataFrame
    tasks: int
    by: GuidedBy
    approximated: tuple[str, ...] = ()


@dataclass(frozen=True)
class GuidedFrame:
    """A coded frame whose rows become accuracy-guided classes as `formation` says."""

    table: CodedFrame
    formation: ClassFormation
    rule: GuidedFormation
    targets: TargetLookup

    @classmethod
    def of(cls, table: CodedFrame, output: Publish, overview: Overview) -> Self:
        """Return how a table becomes classes."""
        step, targets = table.step, table.coding.targets
        if targets is None:
            raise InternalError.of("X001", "No targets say where classes are cut.")
        overall = {name: one.overall for name, one in overview.histograms.items()}
        rule = GuidedFormation(
            step,
            ClassBounds(step, overview.ancestries, overall),
            {name: one.column for name, one in _generalizers(table).items()},
            table.label,
        )
        formation = table.formation(output, overview, CareLevel.AS_PLANNED)
        # Rows have their targets by now: tasks that form classes look none up.
        coding = replace(formation.coding, targets=None)
        return cls(table, replace(formation, coding=coding), rule, targets)

    def formed(self) -> FormedFrame:
        """Return the classes: rows with equal quasi-identifiers, where those satisfy every bound,
        else rows whose targets vary little. Classes of several tasks may have equal cells."""
        return self._of_equal_rows() if self._is_exact() else self._cut()

    def merged(self, formed: FormedFrame) -> FormedFrame:
        """Return the classes with those that hold apart, but not as one, merged with others."""
        # Only all classes together tell which of them have equal cells.
        by: GuidedBy = "whole values" if formed.by == "values" else "whole targets"
        return self._in_one_task(by)

    def one_class(self) -> FormedFrame:
        """Return all rows as one class."""
        return self._in_one_task("nothing")

    def _formation(self, by: GuidedBy) -> ClassFormation:
        return replace(self.formation, guided=replace(self.rule, by=by))

    def _in_one_task(self, by: GuidedBy) -> FormedFrame:
        one_part = RowNodes(rows={0: self.table.rows})
        frame = self._formation(by).output_frame(self.table.frame, one_part, 1)
        return FormedFrame(self.table.work.hold(frame), 1, by)

    def _cut(self) -> FormedFrame:
        table, names = self.table, self.table.step.columns.quasi_names
        far = self._far_table()
        made = first_guided_cuts(
            make_ask(table.frame, table.coding.codes, {}),
            far,
            table.rows,
            table.limit,
            lambda settled: table.work.progress("cutting", settled, table.rows),
        )
        tasks = min(table.tasks, len(made.nodes.rows))
        frame = self._formation("targets").output_frame(table.frame, made.nodes, tasks)
        coarse = {names[dim] for dim in far.parts} if made.is_coarse else set()
        coarse |= set(table.coding.wide) if len(made.nodes.rows) > 1 else set()
        return FormedFrame(table.work.hold(frame), tasks, "targets", tuple(sorted(coarse)))

    def _far_table(self) -> FarTable:
        table, formation = self.table, self.formation
        axes, people = table.axes(), table.no_rows(formation.overall)
        parts, targets = table.parts(axes), self.targets.targets.shape[1]
        no_targets = np.zeros((0, targets), np.int64)
        axes_from_afar = [
            coarsen(axis, parts[dim]) if dim in parts else axis for dim, axis in enumerate(axes)
        ]
        return FarTable(
            guided_table(axes, people, formation.constraint, no_targets),
            targets,
            prepare(axes_from_afar, people, formation.constraint, Cutting("loss")),
            parts,
        )

    def _of_equal_rows(self) -> FormedFrame:
        table, formation = self.table, self._formation("values")
        node = F.lit(0).cast("bigint")
        moved = table.frame.withColumn("node", node).repartition(table.tasks, *self.table.values)
        frame = formation.frame_of_tasks(moved, table.frame)
        return FormedFrame(table.work.hold(frame), table.tasks, "values")

    def _is_exact(self) -> bool:
        """Return whether rows with equal quasi-identifiers satisfy every bound."""
        table, bounds = self.table, self.rule.bounds
        counts = table.frame.groupBy(*self.table.values).agg(F.count("*").alias("rows"))
        [[least]] = counts.agg(F.min("rows")).collect()
        if least < table.step.k or bounds.is_about_rows:
            return bool(least >= table.step.k)
        moved = table.frame.repartition(table.tasks, *self.table.values)
        task = _holding_task(bounds, table.coding.codes, self.table.values)
        return all(row[0] for row in moved.mapInArrow(task, "holds boolean").collect())

    def doubts(self, formed: FormedFrame) -> tuple[str, ...]:
        """Return warnings about what the guide was good for."""
        if formed.by in ("values", "whole values"):
            return (ALREADY,)
        cells = [quote_name(name) for name in self._class_columns]
        is_pure = (F.min(MARK) == F.max(MARK)).alias("pure")
        classes = formed.frame.groupBy(*cells).agg(is_pure)
        [row] = classes.agg(F.count("*"), F.min(F.col("pure").cast("int"))).collect()
        is_constant = self.targets.is_constant
        return tuple(doubts_of_guide(row[0], is_constant=is_constant, is_coarse=bool(row[1])))

    @property
    def _class_columns(self) -> list[str]:
        """The columns of the release that tell its classes apart."""
        if self.table.step.is_permuted:
            return [CLASS]
        quasi = self.table.step.columns.quasi_names
        return [name for name in self.formation.columns if name in quasi]

    def typed(self, formed: FormedFrame) -> tuple[str, ...]:
        """Return the columns whose cells are values of the input."""
        columns = self.table.step.columns
        if formed.by in ("values", "whole values"):
            return columns.quasi_names
        quasi = columns.quasi_identifier
        names = [one.name for one in quasi if one.generalization in PERTURBATIVE]
        return tuple(name for name in names if name not in self.numeric)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns whose cells are means."""
        quasi = _generalizers(self.table)
        return tuple(name for name, one in quasi.items() if isinstance(one, Means))


def _generalizers(table: CodedFrame) -> dict[str, Generalizer]:
    """Return the quasi-identifiers that do not have too many values."""
    return {name: one for name, one in table.quasi.items() if not isinstance(one, Quantiles)}


def _holding_task(bounds: ClassBounds, codes: list[str], values: list[str]) -> Task:
    """Return a task that tells whether its rows with equal `values` satisfy every bound."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gather_tables(batches))
        if tables:
            table = pa.concat_tables(tables)
            rows = CodedRows.of(table, codes)
            columns = [_numbers(unchunk(table.column(name))) for name in values]
            groups, count = classes_of(columns)
            personal = personal_rows(rows, len(values), bounds)
            holds = bounds.hold_by_class(personal, groups.astype(np.int64), count).all()
            yield pa.record_batch([pa.array([bool(holds)])], names=["holds"])

    return tell


def _numbers(column: pa.Array) -> NDArray[np.int32]:
    encoded = column.dictionary_encode()
    numbers = to_numpy(encoded.indices, missing=len(encoded.dictionary))
    return np.asarray(numbers, dtype=np.int32)


def with_input_types(
    frame: DataFrame, names: Sequence[str], original: DataFrame, limit: int
) -> DataFrame:
    """Return a frame of cells in which some columns have the type that they have in the original,
    but for those of texts, and those some of whose cells are not values.

    The driver holds the distinct cells of these columns: at most `limit`.
    """
    schema = arrow_schema(original.select([quote_name(name) for name in names]))
    kinds = {one.name: one.type for one in schema if not pa.types.is_string(one.type)}
    if not kinds:
        return frame
    values = distinct_values(frame, list(kinds), limit).values
    texts = {name: values[name].values.to_pylist() for name in kinds}
    kinds = {name: kind for name, kind in kinds.items() if _are_values(kind, texts[name])}
    fields = [
        StructField(one.name, original.schema[one.name].dataType) if one.name in kinds else one
        for one in frame.schema.fields
    ]
    return map_in_tasks(frame, _typing_task(kinds), StructType(fields)) if kinds else frame


def _are_values(kind: pa.DataType, texts: list[str | None]) -> bool:
    return typed_values(kind, texts) is not None


def _typing_task(kinds: Mapping[str, pa.DataType]) -> Task:
    """Return a task that gives the cells of some columns their types."""

    @carry_errors
    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            columns = [
                _typed(unchunk(table.column(name)), kinds[name])
                if name in kinds
                else unchunk(table.column(name))
                for name in table.column_names
            ]
            yield from pa.table(columns, names=table.column_names).to_batches()

    return give


def _typed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    encoded = column.dictionary_encode()
    values = typed_values(kind, encoded.dictionary.to_pylist())
    if values is None:
        raise InternalError.of("X001", f"Some cells are not of type {kind}.")
    return values.take(encoded.indices)
