"""Rows beside what leaving them out of their classes gains, and what their classes cost."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DoubleType, IntegerType, LongType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.spark.classes import ClassFormation, TaskRows
from policy_engine.engines.spark.coding import CARRIED
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import Task, gather_tables, map_in_tasks, quote_name
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.outlying_rows import ClassHulls, judge, places
from policy_engine.kernels.trimmed_rows import (
    BinCounts,
    ChosenBins,
    LineEnd,
    LineTail,
    count_rows,
    gain_bins,
    tail_losses,
)

Floats = NDArray[np.float64]
Pricing = Callable[[ClassHulls], list[int]]
"""Returns prices of some classes, which are added up over all."""

PLACE = f"{CARRIED}_place"
"""How the names of the columns begin that hold the places of rows, by dimension."""
INPUT = f"{CARRIED}_input"
"""How the names of the columns begin that hold the input, by column."""
_BIN, _ROWS, _FIXED = (f"{CARRIED}_{name}" for name in ("bin", "rows", "fixed"))
_OF_GAINS = -1


@dataclass(frozen=True)
class JudgedRows:
    """Rows of a table, which are held, with their places between `ends` (dimensions, 2), the bin of
    what leaving each out gains, and in one row of each class what its cells cost.

    `inputs` are the columns of the input, and `axes` those of all rows of the table.
    """

    frame: DataFrame
    inputs: tuple[str, ...]
    axes: Sequence[Axis]
    ends: Floats

    def counts(self) -> BinCounts:
        """Return how many rows are in every bin."""
        names = [_BIN, *place_columns(self.axes)]
        task = _counting_task(self.axes, self.ends)
        figures = map_in_tasks(self.frame.select(names), task, _COUNTS)
        sums = figures.groupBy("side", "bin").agg(F.sum("times").alias("times")).toArrow()
        return sum(map(_read_count, sums.to_pylist()), BinCounts())

    def losses(self, ends: Floats) -> tuple[int, tuple[int, ...]]:
        """Return the price of the cells that depend on no span, and by dimension that of the
        others on given spans, of all rows."""
        axes = self.axes

        def price(hulls: ClassHulls) -> list[int]:
            return [hulls.fixed_loss(), *hulls.line_losses(axes, ends)]

        fixed, *lines = self._sums(price)
        return fixed, tuple(lines)

    def tail_losses(self, tails: Sequence[LineTail]) -> dict[LineTail, int]:
        """Return the price of the cells of all rows in the dimension of each tail, on what is left
        of its line."""
        axes, ends = self.axes, self.ends

        def price(hulls: ClassHulls) -> list[int]:
            return [*tail_losses(hulls, axes, ends, tails).values()]

        return dict(zip(tails, self._sums(price), strict=True)) if tails else {}

    def _sums(self, price: Pricing) -> list[int]:
        """Return the sums of the prices of all classes."""
        names = [_ROWS, _FIXED, *_hull_columns(len(self.axes))]
        classes = self.frame.where(F.col(_ROWS).isNotNull()).select(names)
        texts = map_in_tasks(classes, _pricing_task(len(self.axes), price), "prices string")
        prices = [map(int, one.split()) for one in texts.toArrow().column(0).to_pylist()]
        return [sum(column) for column in zip(*prices, strict=True)]

    def without(self, choice: ChosenBins) -> DataFrame:
        """Return the input of the rows that are not chosen, and their places."""
        names = [*self.inputs, *place_columns(self.axes)]
        return map_in_tasks(
            self.frame.select([*map(quote_name, names), _BIN]),
            _leaving_task(self.axes, self.ends, choice),
            StructType([self.frame.schema[name] for name in names]),
        )


def place_columns(axes: Sequence[Axis]) -> list[str]:
    """Return the names of the columns that hold the places of rows, by dimension."""
    return [f"{PLACE}{dim}" for dim in range(len(axes))]


def ends_of(frame: DataFrame, axes: Sequence[Axis]) -> Floats:
    """Return the least and the greatest place of some rows, (dimensions, 2), from 0 to 0 where all
    are missing."""
    present = [F.when(F.col(name) >= 0, F.col(name)) for name in place_columns(axes)]
    aggregates = [end(one) for one in present for end in (F.min, F.max)]
    [row] = frame.agg(*aggregates).collect()
    return np.array([0.0 if one is None else one for one in row]).reshape(-1, 2)


def judged_frame(
    moved: DataFrame,
    formation: ClassFormation,
    axes: Sequence[Axis],
    ends: Floats,
    fields: dict[str, StructField],
) -> DataFrame:
    """Return coded rows that were moved to the tasks of their classes as `JudgedRows` has them.

    `fields` are those of the input by the names under which it is carried.
    """
    schema = [*fields.values()]
    schema += [StructField(name, DoubleType()) for name in place_columns(axes)]
    schema += [StructField(_BIN, IntegerType())]
    schema += [StructField(name, LongType()) for name in (_ROWS, _FIXED)]
    schema += [StructField(name, DoubleType()) for name in _hull_columns(len(axes))]
    kinds = StructType(schema)
    return moved.mapInArrow(_judging_task(formation, axes, ends, tuple(fields), kinds.names), kinds)


def _hull_columns(dims: int) -> list[str]:
    return [f"{CARRIED}_{end}{dim}" for end in ("low", "high") for dim in range(dims)]


def _judging_task(
    formation: ClassFormation,
    axes: Sequence[Axis],
    ends: Floats,
    carried: Sequence[str],
    names: list[str],
) -> Task:
    """Return a task that forms the classes of its nodes, and judges them."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = list(gather_tables(batches))
        if tables:
            rows = TaskRows.of(formation, pa.concat_tables(tables))
            columns = _judged(rows, axes, ends, carried)
            yield from pa.table(columns, names=names).combine_chunks().to_batches()

    return tell


def _judged(
    rows: TaskRows, axes: Sequence[Axis], ends: Floats, carried: Sequence[str]
) -> list[pa.Array]:
    names = place_columns(axes)
    if names[0] in rows.carried:
        place = np.column_stack([to_numpy(rows.carried[name]) for name in names])
    else:
        place = np.column_stack([*map(places, rows.coded_axes())])
    classes = rows.partition(rows.kept_ranks())
    judgement = judge(axes, ends, place, classes.order, classes.starts)
    first, hulls = classes.order[classes.starts[:-1]], judgement.hulls
    columns = [rows.carried[name] for name in carried]
    columns += [from_numpy(np.ascontiguousarray(one)) for one in place.T]
    columns.append(from_numpy(gain_bins(judgement.gain)))
    columns += [_at(first, one, len(place)) for one in (hulls.rows, hulls.fixed)]
    columns += [_at(first, one, len(place)) for ends in (hulls.low, hulls.high) for one in ends.T]
    return columns


def _at(first: NDArray[np.int64], values: NDArray[np.generic], rows: int) -> pa.Array:
    """Return the values of classes in their first rows, and nothing in the others."""
    column, is_missing = np.zeros(rows, dtype=values.dtype), np.ones(rows, dtype=np.bool_)
    column[first], is_missing[first] = values, False
    return from_numpy(column, is_missing)


def _places(table: pa.Table, axes: Sequence[Axis]) -> Floats:
    return np.column_stack([to_numpy(unchunk(table.column(name))) for name in place_columns(axes)])


_COUNTS = "side int, bin int, times bigint"


def _counting_task(axes: Sequence[Axis], ends: Floats) -> Task:
    @carry_errors
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            bins = to_numpy(unchunk(table.column(_BIN)))
            yield from _counts_table(
                count_rows(axes, bins, _places(table, axes), ends)
            ).to_batches()

    return count


def _counts_table(counts: BinCounts) -> pa.Table:
    figures = [(_OF_GAINS, one, times) for one, times in counts.gains.items()]
    for side, times in counts.tails.items():
        number = 2 * side.dim + side.is_high
        figures += [(number, one, int(times[one])) for one in np.flatnonzero(times).tolist()]
    columns = zip(*figures, strict=True)
    kinds = (pa.int32(), pa.int32(), pa.int64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["side", "bin", "times"])


def _read_count(figure: dict[str, int]) -> BinCounts:
    side, one, times = figure["side"], figure["bin"], figure["times"]
    if side == _OF_GAINS:
        return BinCounts({one: times})
    return BinCounts.of_tail(LineEnd(side // 2, bool(side % 2)), one, times)


def _pricing_task(dims: int, price: Pricing) -> Task:
    """Return a task that yields the prices of its classes as numbers in one text: digits of any
    number."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            rows, fixed = (to_numpy(unchunk(table.column(name))) for name in (_ROWS, _FIXED))
            columns = [to_numpy(unchunk(table.column(name))) for name in _hull_columns(dims)]
            low, high = np.column_stack(columns[:dims]), np.column_stack(columns[dims:])
            prices = price(ClassHulls(rows, fixed, low, high))
            yield from pa.table({"prices": [" ".join(map(str, prices))]}).to_batches()

    return tell


def _leaving_task(axes: Sequence[Axis], ends: Floats, choice: ChosenBins) -> Task:
    """Return a task that yields the rows that are not chosen, without their bins."""

    @carry_errors
    def leave(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            bins = to_numpy(unchunk(table.column(_BIN)))
            is_chosen = choice.holds(bins, _places(table, axes), ends)
            kept = table.filter(from_numpy(~is_chosen)).drop_columns([_BIN])
            yield from kept.to_batches()

    return leave
