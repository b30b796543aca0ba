"""The distinct values of columns, counted by the cluster; and codes in their places."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import (
    DataType,
    DateType,
    DoubleType,
    LongType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import Encoded, encode
from policy_engine.engines.generalizations import encoded
from policy_engine.engines.spark.failures import carrying
from policy_engine.engines.text_types import EXACT_DIGITS, LazyTextForm, TextForm, infer_type
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

CHUNK = 500_000
"""So many rows are worked on at once where a task need not hold all of its rows."""


def gathered(batches: Iterator[pa.RecordBatch], rows: int = CHUNK) -> Iterator[pa.Table]:
    """Yield the rows of a task in tables of about so many, as every operation knows them."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= rows:
            yield plain(pa.Table.from_batches(held))
            held = []
    if held:
        yield plain(pa.Table.from_batches(held))


def in_tasks(frame: DataFrame, task: Task, schema: StructType | str) -> DataFrame:
    """Return what a task makes of a frame; mapInArrow itself takes no names with dots."""
    names = frame.columns
    numbered = frame.toDF(*(f"column{number}" for number in range(len(names))))

    def named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task(batch.rename_columns(names) for batch in batches)

    return numbered.mapInArrow(named, schema)


def plain(table: pa.Table) -> pa.Table:
    """Return a table with its texts in one layout, and its points in time in UTC."""
    table = tables.plain_texts(table)
    zoned = [
        pa.field(f.name, pa.timestamp(f.type.unit, "UTC"))
        if pa.types.is_timestamp(f.type) and f.type.tz
        else f
        for f in table.schema
    ]
    return table.cast(pa.schema(zoned))


def schema_of(frame: DataFrame) -> pa.Schema:
    """Return the types of a frame's columns as tasks have them."""
    return plain(frame.limit(0).toArrow()).schema


@dataclass(frozen=True)
class Values:
    """The distinct values of a column, (values,), and how many rows have each; one is missing
    where some rows have none."""

    values: pa.Array
    times: NDArray[np.int64]

    def encoded(self, name: str) -> Encoded:
        """Return the codes of the values of a sensitive column; errors as of `encode`."""
        column = pa.chunked_array([self.values])
        found = encode(name, column, numbers=True, generalised=False)
        return replace(found, times=self.times)

    def encoded_as(self, asked: QuasiIdentifier, *, numbers: bool) -> Encoded:
        """Return the codes of the values of a quasi-identifier; errors as of `encode`."""
        found = encoded(asked, pa.chunked_array([self.values]), numbers=numbers)
        return replace(found, times=self.times)


class ValueCounts(NamedTuple):
    """The distinct values of columns by name, how many rows there are, and in how many
    partitions; columns that are `wide` have too many."""

    values: dict[str, Values]
    rows: int
    partitions: int
    wide: tuple[str, ...]


def distinct_values(
    frame: DataFrame, names: Sequence[str], limit: int, may_be_wide: Sequence[str] = ()
) -> ValueCounts:
    """Return the distinct values of columns, each with its number of rows.

    Columns that may be wide are where the columns would have more than `limit` values together,
    those of most values first. Raises DataError (R011) where that does not suffice, (C009)
    where a column's type has no order that a cell could show.
    """
    types = schema_of(frame.select([quoted(name) for name in names]))
    for field in types:
        encode(field.name, pa.chunked_array([], field.type), numbers=False)
    kept = frame.select([quoted(name) for name in names])
    told = in_tasks(kept, _telling(limit), "place int, value string, times bigint")
    counts = told.groupBy("place", "value").agg(F.sum("times").alias("times"))
    found, wide = counts.limit(limit + 3).toArrow(), []
    if found.num_rows == limit + 3:
        wide = _wide(counts, names, limit, may_be_wide)
        found = counts.where(~F.col("place").isin([names.index(name) for name in wide])).toArrow()
    place, times = (to_numpy(unchunk(found.column(one))) for one in ("place", "times"))
    values = {
        name: _of_column(found.filter(from_numpy(place == number)), types.field(number).type)
        for number, name in enumerate(names)
        if name not in wide
    }
    rows, tasks = (int(times[place == number].sum()) for number in (_ROWS, _TASKS))
    return ValueCounts(values, rows, tasks, tuple(wide))


_ROWS, _TASKS = -1, -2
"""The places at which the rows and the tasks are counted."""


def _wide(
    counts: DataFrame, names: Sequence[str], limit: int, may_be_wide: Sequence[str]
) -> list[str]:
    """Return the columns of most values, without which the others have no more than `limit`."""
    told = counts.where("place >= 0").groupBy("place").count().collect()
    sizes = {names[row["place"]]: row["count"] for row in told}
    wide: list[str] = []
    for name in sorted(may_be_wide, key=lambda name: -sizes[name]):
        if sum(sizes.values()) <= limit:
            break
        wide.append(name)
        del sizes[name]
    if sum(sizes.values()) > limit:
        raise _too_many(max(sizes, key=lambda name: sizes[name]), limit)
    return wide


def quoted(name: str) -> str:
    """Return a name for Spark, to which a dot in it means nothing."""
    return "`" + name.replace("`", "``") + "`"


def _of_column(found: pa.Table, kind: pa.DataType) -> Values:
    # In the order of the texts: what follows must not hang on the order in which tasks end.
    found = found.sort_by("value")
    return Values(
        _typed(unchunk(found.column("value")), kind),
        to_numpy(unchunk(found.column("times"))),
    )


def _too_many(most: str, limit: int) -> DataError:
    message = (
        f"The columns have more than {limit:,} distinct values, most of them {most!r}: more than "
        "the driver holds."
    )
    hint = "Is it an identifier? Else round it, or allow more with most_values."
    return DataError.of("R011", message, hint)  # type: ignore[return-value]


def _telling(limit: int) -> Task:
    """Return a task that tells each distinct value of its columns, by their place, as text.

    Besides, it counts itself and its rows.
    """

    @carrying
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        met: list[list[pa.StructArray]] = []
        rows = 0
        for table in gathered(batches):
            rows += table.num_rows
            met = met or [[] for _ in table.columns]
            for parts, column in zip(met, table.columns, strict=True):
                parts.append(_counted(unchunk(column)))
        for place, parts in enumerate(met):
            values = pa.table(
                {
                    "value": pa.chunked_array([_texts(part.field(0)) for part in parts]),
                    "times": pa.chunked_array([part.field(1) for part in parts]),
                }
            )
            total = values.group_by("value").aggregate([("times", "sum")]).slice(0, limit + 1)
            columns = [pa.array(np.full(total.num_rows, place, np.int32)), *total.columns]
            yield from pa.table(columns, names=["place", "value", "times"]).to_batches()
        places, counts = pa.array([_TASKS, _ROWS], pa.int32()), pa.array([1, rows], pa.int64())
        yield pa.record_batch(
            [places, pa.nulls(2, pa.string()), counts], names=["place", "value", "times"]
        )

    return tell


def _counted(column: pa.Array) -> pa.StructArray:
    return pc.value_counts(column)


def _texts(values: pa.Array) -> pa.Array:
    """Return values as texts of which `_typed` makes the same values."""
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values.cast(pa.string())


def _typed(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_temporal(kind):
        return texts.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    return texts.cast(kind)


def written_kinds(frame: DataFrame, *, numbers: bool) -> dict[str, pa.DataType | None]:
    """Return the type that the texts of each column are written in, None where it has its own."""
    kinds = {name: infer_type(one, numbers=numbers) for name, one in writings(frame).items()}
    return dict.fromkeys(frame.columns) | kinds


def writings(frame: DataFrame) -> dict[str, TextForm]:
    """Return how the texts of each column of texts are written."""
    texts = [field.name for field in schema_of(frame) if pa.types.is_string(field.type)]
    if not texts:
        return {}
    told = in_tasks(frame.select([quoted(name) for name in texts]), _reading, "told binary")
    parts = [pickle.loads(one) for one in told.toArrow().column(0).to_pylist()]  # noqa: S301 (our tasks')
    found = [reduce(TextForm.merge, lot) for lot in zip(*parts, strict=True)]
    return dict(zip(texts, found or [TextForm()] * len(texts), strict=True))


@carrying
def _reading(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tell how the texts of each column of a task's rows are written."""
    for table in gathered(batches):
        values = [pc.unique(unchunk(column)).drop_null() for column in table.columns]
        told = pickle.dumps([LazyTextForm(one).form() for one in values])
        yield pa.record_batch([pa.array([told], pa.binary())], names=["told"])


def as_written(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a frame with texts in some columns as the numbers, dates or times all of them are.

    Spark has no time of day in files: those stay texts, as do numbers that a float would round
    and times finer than microseconds.
    """
    found = writings(frame.select([quoted(name) for name in names]))
    kinds = {name: infer_type(one) for name, one in found.items() if not is_rounded(one)}
    kinds = {name: kind for name, kind in kinds.items() if kind in OF_SPARK}
    if not kinds:
        return frame
    fields = [
        StructField(field.name, OF_SPARK[kinds[field.name]]) if field.name in kinds else field
        for field in frame.schema.fields
    ]
    return in_tasks(frame, _casting(kinds), StructType(fields))


def is_rounded(texts: TextForm) -> bool:
    """Tell whether texts would lose something as the type that they are written in."""
    kind = infer_type(texts)
    if pa.types.is_timestamp(kind):
        return not any(texts.stamps[-2:])  # those in microseconds
    return pa.types.is_floating(kind) and texts.digits > EXACT_DIGITS


OF_SPARK: dict[pa.DataType, DataType] = {
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.date32(): DateType(),
    pa.timestamp("us"): TimestampNTZType(),
    pa.timestamp("us", "UTC"): TimestampType(),
    pa.timestamp("ns"): TimestampNTZType(),
    pa.timestamp("ns", "UTC"): TimestampType(),
}


def _casting(kinds: Mapping[str, pa.DataType]) -> Task:
    """Return a task that reads texts as what they are."""

    @carrying
    def cast(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches):
            columns = [
                read_as(unchunk(table.column(name)), kinds[name]) if name in kinds else table[name]
                for name in table.column_names
            ]
            yield from pa.table(columns, names=table.column_names).to_batches()

    return cast


def read_as(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts as what all of them are written as; times to the microsecond."""
    values = pc.utf8_trim_whitespace(texts).cast(kind)
    return values.cast(pa.timestamp("us", kind.tz)) if pa.types.is_timestamp(kind) else values


@dataclass(frozen=True)
class Lookup:
    """The code of every value of a column: `codes` (values,), and that of a missing one, None
    where none is missing."""

    values: pa.Array
    codes: NDArray[np.int32]
    missing: int | None

    @classmethod
    def of(cls, found: Values, codes: NDArray[np.int32]) -> "Lookup":
        """Return the lookup of distinct values, given the code of each, (values,)."""
        present = to_numpy(found.values.is_valid())
        absent = codes[~present]
        kept = found.values.filter(from_numpy(present))
        return cls(kept, codes[present], int(absent[0]) if len(absent) else None)

    def look_up(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the code of every row, (rows,).

        Raises DataError (C010) on a value that was not there when values were counted.
        """
        met = column.dictionary_encode()
        place = to_numpy(pc.index_in(met.dictionary, value_set=self.values), missing=-1)
        if (place < 0).any() or (column.null_count and self.missing is None):
            message = "The data gave other values when it was read again."
            raise DataError.of("C010", message, "Write it down first, or cache it.")
        missing = -1 if self.missing is None else self.missing
        codes = np.append(self.codes[place], np.int32(missing)).astype(np.int32)
        return np.asarray(codes[to_numpy(met.indices, missing=len(place))])
