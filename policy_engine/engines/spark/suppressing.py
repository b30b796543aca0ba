"""Local suppression on a cluster: the driver looks at distinct tuples, tasks null cells of rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import BooleanType, DataType, LongType, StringType, StructField, StructType

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.identifiers import redacted_column
from policy_engine.engines.reading_back import cell_columns, present_codes
from policy_engine.engines.spark.coding import CodedRows
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.values import (
    Task,
    arrow_schema,
    gather_tables,
    map_in_tasks,
    quote_name,
)
from policy_engine.engines.suppressing import (
    Codes,
    Ints,
    cell_texts,
    shown_codes,
    suppress_tuples,
    typed_values,
)
from policy_engine.engines.tied_rows import row_words, tie_secret
from policy_engine.errors import DataError
from policy_engine.kernels.local_suppression import Suppression
from policy_engine.kernels.match_counts import match_counts
from policy_engine.plan.steps import Anonymize, Publish

HASH = "\ufffdhash"
"""The column for random bits of every row; no text that is read from a file is named so."""
_TUPLE, _IS_PARTED, _RANK = "tuple", "parted", "rank"
_SIGN = np.uint64(2**63)


def with_row_hashes(
    frame: DataFrame, names: Sequence[str], key: bytes | None, algorithm: str
) -> DataFrame:
    """Return a frame with random bits of every row, in the order of those of `row_words`."""
    secret = tie_secret(key, algorithm)

    @carry_errors
    def put(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            words = np.ascontiguousarray(row_words(table.select(list(names)), secret))
            yield from table.append_column(
                HASH, from_numpy((words ^ _SIGN).view(np.int64))
            ).to_batches()

    return map_in_tasks(frame, put, StructType([*frame.schema.fields, _long(HASH)]))


def nulled_rows(
    coded: DataFrame, quasi: Mapping[str, ColumnCodes], step: Anonymize, limit: int
) -> "NulledRows":
    """Return what of the quasi-identifiers is suppressed, given rows that are coded.

    The driver holds the distinct tuples. Raises DataError where they are more than `limit` (R011),
    or the caps of columns do not allow k (R009).
    """
    names = [f"quasi{place}" for place in range(len(quasi))]
    distinct = coded.groupBy(*names).agg(F.count("*").alias("rows")).limit(limit + 1).toArrow()
    if distinct.num_rows > limit:
        message = f"The quasi-identifiers have more than {limit:,} distinct combinations: more than"
        hint = "Round some, or allow more with most_values."
        raise DataError.of("R011", f"{message} the driver suppresses cells of.", hint)
    codes = CodedRows.of(distinct, names).codes
    order = np.lexsort(codes.T[::-1])
    codes, counts = codes[order], to_numpy(unchunk(distinct.column("rows")))[order].astype(np.int64)
    missing = np.array([one.has_missing for one in quasi.values()], dtype=np.int32)
    parts = suppress_tuples(codes - missing, counts, step)
    visible_codes = shown_codes(codes - missing, parts)
    return NulledRows(_TupleNumbers.of(codes), parts, visible_codes, dict(quasi))


class _TupleNumbers(NamedTuple):
    """The number of every tuple of codes, in their order.

    `known` are, column by column, the ascending keys that the tuples have so far: the number of
    the key before, times the `width` of the column, and its code.
    """

    known: tuple[Ints, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, codes: Codes) -> "_TupleNumbers":
        """Number distinct tuples, (tuples, columns)."""
        numbers, keys_by_column = np.zeros(len(codes), dtype=np.int64), []
        widths = tuple(int(width) + 1 for width in codes.max(axis=0))
        for column, width in zip(codes.T, widths, strict=True):
            keys, numbers = np.unique(numbers * width + column, return_inverse=True)
            keys_by_column.append(keys)
        return cls(tuple(keys_by_column), widths)

    def look_up(self, codes: Codes) -> Ints:
        """Return the number of the tuple of every row, (rows,).

        Raises DataError (C010) for a tuple that did not occur when they were counted.
        """
        numbers = np.zeros(len(codes), dtype=np.int64)
        for column, width, tuple_keys in zip(codes.T, self.widths, self.known, strict=True):
            keys = numbers * width + column
            numbers = np.minimum(np.searchsorted(tuple_keys, keys), len(tuple_keys) - 1)
            if (tuple_keys[numbers] != keys).any() or (column >= width).any():
                message = "The data had different values when it was read again."
                raise DataError.of("C010", message, "Write it to storage first, or cache it.")
        return numbers


@dataclass(frozen=True)
class NulledRows:
    """What is shown of the tuples of a table: by part of a tuple, as codes, -1 for missing.

    `shown` is (parts, columns); `quasi` are the columns by name.
    """

    numbers: _TupleNumbers
    parts: Suppression
    shown: Codes
    quasi: Mapping[str, ColumnCodes]

    @property
    def suppressed_cells(self) -> dict[str, int]:
        """How many cells of each column are suppressed."""
        return dict(zip(self.quasi, self.parts.suppressed.tolist(), strict=True))

    def output_frame(
        self,
        coded: DataFrame,
        frame: DataFrame,
        kept: tuple[str, ...],
        output: Publish,
        step: Anonymize,
    ) -> DataFrame:
        """Return the output of the coded rows of a `frame`, whose `kept` columns stay as they are.

        The random bits of rows are one of them.
        """
        kinds = arrow_schema(frame.select([quote_name(name) for name in self.quasi]))
        cells = {name: self._cells(name, kinds.field(name).type) for name in self.quasi}
        fields = []
        for name in output.columns:
            kind: DataType = StringType()
            if name in kept:
                kind = coded.schema[f"kept{kept.index(name)}"].dataType
            elif name in cells and not pa.types.is_string(cells[name].type):
                kind = frame.schema[name].dataType
            fields.append(StructField(name, kind))
        task = _showing_task(self, cells, output.columns, kept, step.columns.redact)
        ranked = self._ranked(coded, f"kept{kept.index(HASH)}")
        return map_in_tasks(ranked, task, StructType(fields))

    def _cells(self, name: str, kind: pa.DataType) -> pa.Array:
        texts = cell_texts(self.quasi[name])
        values = typed_values(kind, texts)
        return pa.array(texts, pa.string()) if values is None else values

    def _ranked(self, coded: DataFrame, bits: str) -> DataFrame:
        """Return coded rows with the number of their tuple, and their rank in it, by random `bits`,
        if it has parts."""
        names = [f"quasi{place}" for place in range(len(self.quasi))]
        is_parted = np.bincount(self.parts.tuple_of) > 1
        fields = [_long(_TUPLE), StructField(_IS_PARTED, BooleanType())]
        numbered = map_in_tasks(
            coded,
            _numbering_task(self.numbers, names, is_parted),
            StructType([*coded.schema.fields, *fields]),
        )
        whole = numbered.withColumn(_RANK, F.lit(0).cast(LongType()))
        if not is_parted.any():
            return whole
        order = Window.partitionBy(_TUPLE).orderBy(bits)
        rank = (F.row_number().over(order) - 1).cast(LongType())
        ranked = numbered.where(_IS_PARTED).withColumn(_RANK, rank)
        return whole.where(f"not {_IS_PARTED}").unionByName(ranked)

    def part_of(self, numbers: Ints, ranks: Ints) -> Ints:
        """Return the part of rows, (rows,), by the number of their tuple and their rank in it."""
        ends = np.cumsum(self.parts.rows)
        first = np.searchsorted(self.parts.tuple_of, np.arange(len(self.numbers.known[-1])))
        starts = ends[first] - self.parts.rows[first]
        return np.searchsorted(ends, starts[numbers] + ranks, side="right")


def _numbering_task(numbers: _TupleNumbers, names: list[str], is_parted: NDArray[np.bool_]) -> Task:
    """Return a task that adds to each row the number of its tuple, and whether that has parts."""

    @carry_errors
    def number(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            tuple_of_row = numbers.look_up(CodedRows.of(table, names).codes)
            columns = [
                *table.columns,
                from_numpy(tuple_of_row),
                from_numpy(is_parted[tuple_of_row]),
            ]
            named = [*table.column_names, _TUPLE, _IS_PARTED]
            yield from pa.table(columns, names=named).combine_chunks().to_batches()

    return number


def _showing_task(
    nulled: NulledRows,
    cells: Mapping[str, pa.Array],
    columns: tuple[str, ...],
    kept: tuple[str, ...],
    redact: tuple[str, ...],
) -> Task:
    """Return a task that makes rows of the output of coded rows."""
    places = {name: place for place, name in enumerate(cells)}

    def column(name: str, table: pa.Table, codes_by_part: Codes) -> pa.Array:
        if name in cells:
            codes = codes_by_part[:, places[name]]
            return cells[name].take(from_numpy(np.maximum(codes, 0), codes < 0))
        if name in redact:
            return redacted_column(table.num_rows).cast(pa.string())
        return unchunk(table.column(f"kept{kept.index(name)}"))

    @carry_errors
    def show(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_tables(batches):
            numbers, ranks = (to_numpy(unchunk(table.column(one))) for one in (_TUPLE, _RANK))
            codes_by_row = nulled.shown[nulled.part_of(numbers, ranks)]
            made = [column(name, table, codes_by_row) for name in columns]
            yield from pa.table(made, names=list(columns)).combine_chunks().to_batches()

    return show


def least_matches(frame: DataFrame, step: Anonymize, limit: int) -> int:
    """Return how many rows of an output the row matches that matches fewest, itself included.

    A missing cell matches any. The driver holds the distinct tuples of cells. Raises DataError
    (R011) where they are more than `limit`, CertificateError (V002) where a column holds no cells.
    """
    names = step.columns.quasi_names
    cells = [quote_name(column) for name in names for column in cell_columns(name, frame.columns)]
    distinct = frame.groupBy(*cells).agg(F.count("*").alias("rows")).limit(limit + 1).toArrow()
    if distinct.num_rows > limit:
        message = f"The output has more than {limit:,} distinct rows of quasi-identifiers: more "
        raise DataError.of("R011", f"{message}than the driver compares.", "Give most_values.")
    codes = np.column_stack([present_codes(distinct, name) for name in names])
    counts = to_numpy(unchunk(distinct.column("rows"))).astype(np.int64)
    return int(match_counts(codes, counts, "wildcard").min())


def _long(name: str) -> StructField:
    return StructField(name, LongType())
