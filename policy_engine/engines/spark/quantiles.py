"""Columns with too many values for the driver: first cut at quantiles, then coded in tasks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DataType, StringType, StructField

from policy_engine.engines.arrays import is_text, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import (
    SPARK_TYPES,
    Task,
    arrow_schema,
    gather_tables,
    loses_precision,
    map_in_tasks,
    parse_texts,
    quote_name,
    text_forms,
)
from policy_engine.engines.text_types import infer_type
from policy_engine.errors import DataError
from policy_engine.kernels.axis import Axis, Interval

PARTS = 4_096
"""The number of parts between quantiles that the driver distinguishes."""

_ACCURACY = 20_000
_ORDERED = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)


@dataclass(frozen=True)
class Quantiles:
    """An ordered column in parts with about the same number of rows.

    Part p holds the values from `edges[p - 1]` up to but without `edges[p]`, (parts - 1,); missing
    values are a part before all others. `low` and `high` are the least and greatest value as text,
    and `kind` is the type of the values.
    """

    edges: NDArray[np.float64]
    low: str
    high: str
    kind: pa.DataType
    has_missing: bool

    @property
    def parts(self) -> int:
        """The number of parts, including that of missing values."""
        return len(self.edges) + 1 + int(self.has_missing)

    def parse_column(self, column: pa.Array) -> pa.Array:
        """Return a column's values with their type."""
        return parse_texts(column, self.kind) if is_text(column.type) else column

    def look_up(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the part of every row, (rows,)."""
        keys = _keys(self.parse_column(column))
        part = np.searchsorted(self.edges, keys, side="right") + int(self.has_missing)
        return np.where(np.isnan(keys), 0, part).astype(np.int32)

    def axis(self, *, wildcard: bool, weight: float) -> Axis:
        """Return the parts as an axis, each at the position of its first value."""
        low, high = _keys(self._ends()).tolist()
        place = (np.append(low, self.edges) - low) / ((high - low) or 1.0)
        position = np.concatenate([np.zeros(int(self.has_missing)), np.clip(place, 0.0, 1.0)])
        no_codes = np.zeros(0, np.int32)
        return Axis(no_codes, Interval(position), self.has_missing, wildcard, weight)

    def encode(self, name: str, column: pa.Array) -> ColumnCodes:
        """Return the codes of some rows' typed values, with positions on the axis of the column."""
        joint = pa.chunked_array([self._ends().cast(column.type), column])
        codes = encode(name, joint, numbers=False)
        return ColumnCodes(
            codes.codes[2:], codes.labels, codes.position, codes.is_ordered, codes.has_missing
        )

    def _ends(self) -> pa.Array:
        return parse_texts(pa.array([self.low, self.high]), self.kind)


def compute_quantiles(frame: DataFrame, name: str, *, is_csv: bool) -> Quantiles:
    """Return the quantiles of a column. Raises DataError (R011) where values are not ordered."""
    column = frame.select(quote_name(name))
    [kind] = arrow_schema(column).types
    if is_text(kind):
        [form] = text_forms(column).values()
        # Distinct values could become equal when they are rounded.
        kind = pa.string() if loses_precision(form) else infer_type(form, numbers=is_csv)
    if not any(is_kind(kind) for is_kind in _ORDERED):
        raise _unordered_error(name)
    keys = map_in_tasks(column, _keys_task(kind), "key double, value string")
    shares = [number / PARTS for number in range(1, PARTS)]
    [row] = keys.agg(
        F.percentile_approx("key", shares, _ACCURACY).alias("edges"),
        F.min_by("value", "key").alias("low"),
        F.max_by("value", "key").alias("high"),
        F.sum(F.isnull("key").cast("long")).alias("missing"),
        F.min("key").alias("least"),
    ).collect()
    edges = np.unique(np.array(row.edges, dtype=np.float64))
    return Quantiles(edges[edges > row.least], row.low, row.high, kind, row.missing > 0)


def parsed_type(field: StructField, quantiles: Quantiles) -> DataType:
    """Return the Spark type of a column's values, once its texts are parsed."""
    is_read = isinstance(field.dataType, StringType)
    return SPARK_TYPES[quantiles.kind] if is_read else field.dataType


def _unordered_error(name: str) -> DataError:
    message = (
        f"The column {name!r} has more distinct values than the driver holds, and they are not "
        "numbers, dates or times that could be cut at quantiles."
    )
    hint = "Is it an identifier? Else shorten its texts, or allow more with most_values."
    return DataError.of("R011", message, hint)  # type: ignore[return-value]


def _keys_task(kind: pa.DataType) -> Task:
    """Return a task that yields the key of each value, and the value as text."""

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            column = unchunk(table.column(0))
            values = parse_texts(column, kind) if is_text(column.type) else column
            keys = _keys(values)
            arrays = [pa.array(keys, from_pandas=True), values.cast(pa.string())]
            yield from pa.table(arrays, names=["key", "value"]).to_batches()

    return tell


def _keys(values: pa.Array) -> NDArray[np.float64]:
    """Return values as floats in the same order, (rows,); NaN where missing."""
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return to_numpy(values.cast(pa.float64(), safe=False), missing=np.nan)
