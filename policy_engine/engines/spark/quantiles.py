"""Columns of more values than the driver holds: cut at quantiles first, coded where they lie."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DataType, StringType, StructField

from policy_engine.engines.arrays import is_text, to_numpy, unchunk
from policy_engine.engines.encoding import Encoded, encode
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.spark.values import (
    OF_SPARK,
    Task,
    gathered,
    in_tasks,
    is_rounded,
    quoted,
    read_as,
    schema_of,
    writings,
)
from policy_engine.engines.text_types import infer_type
from policy_engine.errors import DataError
from policy_engine.kernels.axis import Axis, Interval

PARTS = 4_096
"""So many parts a column is told from afar in."""

_ACCURACY = 20_000
_ORDERED = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)


@dataclass(frozen=True)
class Quantiles:
    """An ordered column in parts of about as many rows each.

    Part p holds the values from `edges[p - 1]` up to but without `edges[p]`, (parts - 1,), and
    a missing value is a part before all others. `low` and `high` are the ends of the column as
    text, and `kind` is what its values are.
    """

    edges: NDArray[np.float64]
    low: str
    high: str
    kind: pa.DataType
    has_missing: bool

    @property
    def parts(self) -> int:
        """How many parts there are, with that of missing values."""
        return len(self.edges) + 1 + int(self.has_missing)

    def typed(self, column: pa.Array) -> pa.Array:
        """Return a column's values as what they are."""
        return read_as(column, self.kind) if is_text(column.type) else column

    def look_up(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the part of every row, (rows,)."""
        keys = _keys(self.typed(column))
        part = np.searchsorted(self.edges, keys, side="right") + int(self.has_missing)
        return np.where(np.isnan(keys), 0, part).astype(np.int32)

    def axis(self, *, wildcard: bool, weight: float) -> Axis:
        """Return the parts as a line, each where its first value stands."""
        low, high = _keys(self._ends()).tolist()
        place = (np.append(low, self.edges) - low) / ((high - low) or 1.0)
        position = np.concatenate([np.zeros(int(self.has_missing)), np.clip(place, 0.0, 1.0)])
        none = np.zeros(0, np.int32)
        return Axis(none, Interval(position), self.has_missing, wildcard, weight)

    def encoded(self, name: str, column: pa.Array) -> Encoded:
        """Return the codes of some rows' typed values, placed on the axis of the whole column."""
        joint = pa.chunked_array([self._ends().cast(column.type), column])
        found = encode(name, joint, numbers=False)
        return Encoded(
            found.codes[2:], found.labels, found.position, found.is_ordered, found.has_missing
        )

    def _ends(self) -> pa.Array:
        return read_as(pa.array([self.low, self.high]), self.kind)


def quantiles_of(frame: DataFrame, name: str, *, is_csv: bool) -> Quantiles:
    """Return the quantiles of a column. Raises DataError (R011) where its values have no order."""
    column = frame.select(quoted(name))
    [kind] = schema_of(column).types
    if is_text(kind):
        [written] = writings(column).values()
        # Of values that would be rounded, several would be one.
        kind = pa.string() if is_rounded(written) else infer_type(written, numbers=is_csv)
    if not any(is_kind(kind) for is_kind in _ORDERED):
        raise _unordered(name)
    keys = in_tasks(column, _telling(kind), "key double, value string")
    shares = [number / PARTS for number in range(1, PARTS)]
    [found] = keys.agg(
        F.percentile_approx("key", shares, _ACCURACY).alias("edges"),
        F.min_by("value", "key").alias("low"),
        F.max_by("value", "key").alias("high"),
        F.sum(F.isnull("key").cast("long")).alias("missing"),
        F.min("key").alias("least"),
    ).collect()
    edges = np.unique(np.array(found.edges, dtype=np.float64))
    return Quantiles(edges[edges > found.least], found.low, found.high, kind, found.missing > 0)


def type_of(field: StructField, found: Quantiles) -> DataType:
    """Return what Spark calls the type of a column's values, once texts are read."""
    is_read = isinstance(field.dataType, StringType)
    return OF_SPARK[found.kind] if is_read else field.dataType


def _unordered(name: str) -> DataError:
    message = (
        f"The column {name!r} has more distinct values than the driver holds, and they are no "
        "numbers, dates or times that could be cut at quantiles."
    )
    hint = "Is it an identifier? Else shorten its texts, or allow more with most_values."
    return DataError.of("R011", message, hint)  # type: ignore[return-value]


def _telling(kind: pa.DataType) -> Task:
    """Return a task that tells where each value stands, and the value as text."""

    @carrying
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            column = unchunk(table.column(0))
            values = read_as(column, kind) if is_text(column.type) else column
            keys = _keys(values)
            made = [pa.array(keys, from_pandas=True), values.cast(pa.string())]
            yield from pa.table(made, names=["key", "value"]).to_batches()

    return tell


def _keys(values: pa.Array) -> NDArray[np.float64]:
    """Return where values stand, in their order; those that are missing nowhere (NaN)."""
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return to_numpy(values.cast(pa.float64(), safe=False), missing=np.nan)
