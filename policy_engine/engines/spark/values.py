"""Count the distinct values of columns on the cluster, and replace values by codes."""

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
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.generalizations import encode_quasi_identifier
from policy_engine.engines.plain_floats import plain_floats
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.text_types import EXACT_DIGITS, LazyTextForm, TextForm, infer_type
from policy_engine.errors import DataError, OutputError, join_names
from policy_engine.methods.columns import QuasiIdentifier

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

CHUNK = 500_000
"""The rows that a task processes at once where it need not hold all of its rows."""


def gather_tables(batches: Iterator[pa.RecordBatch], rows: int = CHUNK) -> Iterator[pa.Table]:
    """Yield the rows of a task in normalised tables of about `rows` rows."""
    batches_held: list[pa.RecordBatch] = []
    for batch in batches:
        batches_held.append(batch)
        if sum(map(len, batches_held)) >= rows:
            yield normalise_table(pa.Table.from_batches(batches_held))
            batches_held = []
    if batches_held:
        yield normalise_table(pa.Table.from_batches(batches_held))


def map_in_tasks(frame: DataFrame, task: Task, schema: StructType | str) -> DataFrame:
    """Return the result of a task on a frame; mapInArrow alone does not accept names with dots."""
    names = frame.columns
    numbered = frame.toDF(*(f"column{number}" for number in range(len(names))))

    def named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task(batch.rename_columns(names) for batch in batches)

    return numbered.mapInArrow(named, schema)


def normalise_table(table: pa.Table) -> pa.Table:
    """Return a table with all texts in one layout, and points in time in UTC."""
    table = tables.plain_texts(table)
    fields = [
        pa.field(f.name, pa.timestamp(f.type.unit, "UTC"))
        if pa.types.is_timestamp(f.type) and f.type.tz
        else f
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the types of a frame's columns as tasks see them."""
    return normalise_table(frame.limit(0).toArrow()).schema


@dataclass(frozen=True)
class Values:
    """The distinct values of a column, (values,), missing included, and how many rows have each."""

    values: pa.Array
    times: NDArray[np.int64]

    def encode_sensitive(self, name: str) -> ColumnCodes:
        """Return the codes of the values of a sensitive column. Raises the errors of `encode`."""
        column = pa.chunked_array([self.values])
        codes = encode(name, column, numbers=True, is_generalised=False)
        return replace(codes, times=self.times)

    def encode_kept(self, name: str, *, numbers: bool) -> ColumnCodes:
        """Return the codes of the values of a column that stays as it is. Raises the errors of
        `encode`."""
        column = pa.chunked_array([self.values])
        codes = encode(name, column, numbers=numbers, is_generalised=False)
        return replace(codes, times=self.times)

    def encode_quasi(self, quasi_identifier: QuasiIdentifier, *, numbers: bool) -> ColumnCodes:
        """Return the codes of the values of a quasi-identifier. Raises the errors of `encode`."""
        codes = encode_quasi_identifier(
            quasi_identifier, pa.chunked_array([self.values]), numbers=numbers
        )
        return replace(codes, times=self.times)


class ValueCounts(NamedTuple):
    """The distinct values of columns by name, the number of rows and of partitions, and the `wide`
    columns, which have too many values."""

    values: dict[str, Values]
    rows: int
    partitions: int
    wide: tuple[str, ...]


def distinct_values(
    frame: DataFrame, names: Sequence[str], limit: int, may_be_wide: Sequence[str] = ()
) -> ValueCounts:
    """Return the distinct values of columns, each with its number of rows.

    If all columns together have more than `limit` values, columns that `may_be_wide` are left out,
    those with the most values first. Raises DataError (R011) where that does not suffice, (C009)
    where a column's type has no order.
    """
    types = arrow_schema(frame.select([quote_name(name) for name in names]))
    for field in types:
        encode(field.name, pa.chunked_array([], field.type), numbers=False)
    columns = frame.select([quote_name(name) for name in names])
    counts_by_task = map_in_tasks(
        columns, _counting_task(limit), "place int, value string, times bigint"
    )
    counts = counts_by_task.groupBy("place", "value").agg(F.sum("times").alias("times"))
    count_table, wide = counts.limit(limit + 3).toArrow(), []
    if count_table.num_rows == limit + 3:
        wide = _wide(counts, names, limit, may_be_wide)
        count_table = counts.where(
            ~F.col("place").isin([names.index(name) for name in wide])
        ).toArrow()
    place, times = (to_numpy(unchunk(count_table.column(one))) for one in ("place", "times"))
    values = {
        name: _column_values(
            count_table.filter(from_numpy(place == number)), types.field(number).type
        )
        for number, name in enumerate(names)
        if name not in wide
    }
    rows, tasks = (int(times[place == number].sum()) for number in (_ROWS, _TASKS))
    return ValueCounts(values, rows, tasks, tuple(wide))


_ROWS, _TASKS = -1, -2
"""The places under which the rows and the tasks are counted."""


def _wide(
    counts: DataFrame, names: Sequence[str], limit: int, may_be_wide: Sequence[str]
) -> list[str]:
    """Return the columns with most values, without which the others have at most `limit`."""
    sizes_by_place = counts.where("place >= 0").groupBy("place").count().collect()
    sizes = {names[row["place"]]: row["count"] for row in sizes_by_place}
    wide: list[str] = []
    for name in sorted(may_be_wide, key=lambda name: -sizes[name]):
        if sum(sizes.values()) <= limit:
            break
        wide.append(name)
        del sizes[name]
    if sum(sizes.values()) > limit:
        raise _too_many_error(max(sizes, key=lambda name: sizes[name]), limit)
    return wide


def quote_name(name: str) -> str:
    """Return a name quoted for Spark, so that a dot in it has no meaning."""
    return "`" + name.replace("`", "``") + "`"


def _column_values(counts: pa.Table, kind: pa.DataType) -> Values:
    # Ordered by the texts: the result must not depend on the order in which tasks end.
    counts = counts.sort_by("value")
    return Values(
        _typed(unchunk(counts.column("value")), kind),
        to_numpy(unchunk(counts.column("times"))),
    )


def _too_many_error(most: str, limit: int) -> DataError:
    message = (
        f"The columns have more than {limit:,} distinct values, most of them {most!r}: more than "
        "the driver holds."
    )
    hint = "Is it an identifier? Else round it, or allow more with most_values."
    return DataError.of("R011", message, hint)  # type: ignore[return-value]


def _counting_task(limit: int) -> Task:
    """Return a task that counts each distinct value of its columns, as text by column place.

    It also counts itself and its rows.
    """

    @carry_errors
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts_by_column: list[list[pa.StructArray]] = []
        rows = 0
        for table in gather_tables(batches):
            rows += table.num_rows
            parts_by_column = parts_by_column or [[] for _ in table.columns]
            for parts, column in zip(parts_by_column, table.columns, strict=True):
                parts.append(_count_values(unchunk(column)))
        for place, parts in enumerate(parts_by_column):
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


def _count_values(column: pa.Array) -> pa.StructArray:
    return pc.value_counts(column)


def _texts(values: pa.Array) -> pa.Array:
    """Return values as texts, from which `_typed` restores the values."""
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values.cast(pa.string())


def _typed(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_temporal(kind):
        return texts.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    return texts.cast(kind)


def text_types(frame: DataFrame, *, numbers: bool) -> dict[str, pa.DataType | None]:
    """Return the type that the texts of each column can be read as; None for other columns."""
    kinds = {name: infer_type(form, numbers=numbers) for name, form in text_forms(frame).items()}
    return dict.fromkeys(frame.columns) | kinds


def text_forms(frame: DataFrame) -> dict[str, TextForm]:
    """Return the form of the texts of each column of texts."""
    texts = [field.name for field in arrow_schema(frame) if pa.types.is_string(field.type)]
    if not texts:
        return {}
    pickled_forms = map_in_tasks(
        frame.select([quote_name(name) for name in texts]), _text_forms_task, "forms binary"
    )
    parts = [pickle.loads(pickled) for pickled in pickled_forms.toArrow().column(0).to_pylist()]  # noqa: S301 (our tasks')
    forms = [
        reduce(TextForm.merge, forms_of_column) for forms_of_column in zip(*parts, strict=True)
    ]
    return dict(zip(texts, forms or [TextForm()] * len(texts), strict=True))


@carry_errors
def _text_forms_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the form of the texts of each column of a task's rows."""
    for table in gather_tables(batches):
        values = [pc.unique(unchunk(column)).drop_null() for column in table.columns]
        pickled_forms = pickle.dumps([LazyTextForm(texts).form() for texts in values])
        yield pa.record_batch([pa.array([pickled_forms], pa.binary())], names=["forms"])


def cast_texts(frame: DataFrame, names: Sequence[str], masked: Sequence[str] = ()) -> DataFrame:
    """Return a frame with the texts of some columns as numbers, dates or times, where all are.

    Times of day stay texts, since Spark has no type for them in files, as do numbers that a float
    would round and times finer than microseconds. Raises OutputError (O002) for such times in
    `masked` columns, which are compared as times.
    """
    forms = text_forms(frame.select([quote_name(name) for name in names]))
    _check_microseconds([name for name in masked if name in forms and _is_too_fine(forms[name])])
    kinds = {name: infer_type(form) for name, form in forms.items() if not loses_precision(form)}
    kinds = {name: kind for name, kind in kinds.items() if kind in SPARK_TYPES}
    if not kinds:
        return frame
    fields = [
        StructField(field.name, SPARK_TYPES[kinds[field.name]]) if field.name in kinds else field
        for field in frame.schema.fields
    ]
    return map_in_tasks(frame, _casting_task(kinds), StructType(fields))


def _is_too_fine(texts: TextForm) -> bool:
    return pa.types.is_timestamp(infer_type(texts)) and loses_precision(texts)


def _check_microseconds(too_fine: Sequence[str]) -> None:
    if too_fine:
        message = f"Masked times of {join_names(too_fine)} have nanoseconds, and Spark writes "
        message += "no finer times than microseconds where columns have types."
        hint = "Write CSV, or use the local engine."
        raise OutputError.of("O002", message, hint)


def loses_precision(texts: TextForm) -> bool:
    """Tell whether the values of texts would be rounded by their inferred type."""
    kind = infer_type(texts)
    if pa.types.is_timestamp(kind):
        return not any(texts.stamps[-2:])  # the last two are in microseconds
    return pa.types.is_floating(kind) and texts.digits > EXACT_DIGITS


SPARK_TYPES: dict[pa.DataType, DataType] = {
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.date32(): DateType(),
    pa.timestamp("us"): TimestampNTZType(),
    pa.timestamp("us", "UTC"): TimestampType(),
    pa.timestamp("ns"): TimestampNTZType(),
    pa.timestamp("ns", "UTC"): TimestampType(),
}


def _casting_task(kinds: Mapping[str, pa.DataType]) -> Task:
    """Return a task that parses the texts of some columns."""

    @carry_errors
    def cast(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            columns = [
                parse_texts(unchunk(table.column(name)), kinds[name])
                if name in kinds
                else table[name]
                for name in table.column_names
            ]
            yield from pa.table(columns, names=table.column_names).to_batches()

    return cast


def parse_texts(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return texts as what all of them are written as; times to the microsecond."""
    values = plain_floats(pc.utf8_trim_whitespace(texts).cast(kind))
    return values.cast(pa.timestamp("us", kind.tz)) if pa.types.is_timestamp(kind) else values


@dataclass(frozen=True)
class Lookup:
    """The code of every value of a column: `codes` (values,), and that of a missing one, None
    where none is missing."""

    values: pa.Array
    codes: NDArray[np.int32]
    missing: int | None

    @classmethod
    def of(cls, values: Values, codes: NDArray[np.int32]) -> "Lookup":
        """Return the lookup of distinct values, given the code of each, (values,)."""
        present = to_numpy(values.values.is_valid())
        absent = codes[~present]
        present_values = values.values.filter(from_numpy(present))
        return cls(present_values, codes[present], int(absent[0]) if len(absent) else None)

    def look_up(self, column: pa.Array) -> NDArray[np.int32]:
        """Return the code of every row, (rows,).

        Raises DataError (C010) for a value that did not occur when values were counted.
        """
        encoded = column.dictionary_encode()
        place = to_numpy(pc.index_in(encoded.dictionary, value_set=self.values), missing=-1)
        if (place < 0).any() or (column.null_count and self.missing is None):
            message = "The data had different values when it was read again."
            raise DataError.of("C010", message, "Write it to storage first, or cache it.")
        missing = -1 if self.missing is None else self.missing
        codes = np.append(self.codes[place], np.int32(missing)).astype(np.int32)
        return np.asarray(codes[to_numpy(encoded.indices, missing=len(place))])
