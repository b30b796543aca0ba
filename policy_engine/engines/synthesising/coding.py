"""Tables as codes of their own values, in their order, and back.

Every generator draws codes: a synthetic cell is a value of its column, of the same type and
written alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import (
    from_numpy,
    is_nested_or_span,
    to_numpy,
    unchunk,
    value_type,
)
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError, Problem

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearntColumn:
    """The distinct `values` of a column in their order, the missing one last, if cells are missing.

    `codes` (rows,) are places among them. The `numbers` (values,) of a column of numbers or times
    have the missing value far below all others; they are None for categories.
    """

    field: pa.Field
    values: pa.Array
    codes: Codes
    numbers: Floats | None = None

    @property
    def counts(self) -> Codes:
        """How often each value occurs, (values,)."""
        return np.bincount(self.codes, minlength=len(self.values))


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The `values` of a column as those of a `LearntColumn`, whatever rows had them."""

    field: pa.Field
    values: pa.Array
    numbers: Floats | None = None

    @classmethod
    def of(cls, field: pa.Field, values: pa.Array) -> "ColumnValues":
        """Return the values of a column that are in their order, the missing one last."""
        present = values.drop_null()
        numbers = _numbers(field, present)
        if numbers is not None and len(present) < len(values):
            numbers = np.append(numbers, _far_below(numbers))
        return cls(field, values, numbers)


AnyColumn = LearntColumn | ColumnValues


def table_of(columns: Sequence[AnyColumn], codes: Codes) -> pa.Table:
    """Return the table that has these codes, (rows, columns)."""
    arrays = [
        one.values.take(from_numpy(np.ascontiguousarray(codes[:, place]))).cast(one.field.type)
        for place, one in enumerate(columns)
    ]
    return pa.table(arrays, schema=pa.schema([one.field for one in columns]))


@dataclass(frozen=True, eq=False)
class LearntTable:
    """The columns of a table as codes, in an order, and how many rows it has."""

    columns: tuple[LearntColumn, ...]
    rows: int

    @property
    def codes(self) -> Codes:
        """The codes of all columns, (rows, columns)."""
        return np.column_stack([one.codes for one in self.columns])

    def table_of(self, codes: Codes) -> pa.Table:
        """Return the table that has these codes, (rows, columns)."""
        return table_of(self.columns, codes)

    def in_order(self) -> "LearntTable":
        """Return the table with its rows in the order of their codes, the same for the same rows.

        Sums of floats depend on the order of their terms: what is fitted to sorted rows tells
        nothing of the order in which rows were given.
        """
        order = np.lexsort([one.codes for one in reversed(self.columns)])
        columns = tuple(replace(one, codes=one.codes[order]) for one in self.columns)
        return LearntTable(columns, self.rows)


def learnt_table(table: pa.Table) -> LearntTable:
    """Return a table as codes.

    Texts that all are numbers or times, as in CSV files, are in the order of these. Raises
    DataError (C009) with all columns whose type has no values that generators learn: lists,
    structures, decimals of a negative scale, and so on.
    """
    problems = [
        Problem("C009", f"No rows are made up of the column {one.name!r}: its type is {one.type}.")
        for one in table.schema
        if _is_not_learnt(value_type(one.type))
    ]
    if problems:
        raise DataError(*problems)
    columns = tuple(map(_coded_column, table.schema, table.columns))
    return LearntTable(columns, table.num_rows)


def _is_not_learnt(kind: pa.DataType) -> bool:
    # Arrow neither writes nor orders decimals of a negative scale.
    is_scaled_up = pa.types.is_decimal(kind) and kind.scale < 0
    return is_nested_or_span(kind) or pa.types.is_null(kind) or is_scaled_up


def _coded_column(field: pa.Field, column: pa.ChunkedArray) -> LearntColumn:
    plain = unchunk(column)
    encoded = plain if pa.types.is_dictionary(plain.type) else plain.dictionary_encode()
    codes = to_numpy(encoded.indices, missing=-1).astype(np.int64)
    used = np.unique(codes[codes >= 0])
    values = encoded.dictionary.take(from_numpy(used))
    typed = _typed(field, values)
    numbers = _floats(typed)
    order = _order(values, typed, numbers)
    values = values.take(from_numpy(order))
    numbers = None if numbers is None else numbers[order]
    # The place behind the last value is that of missing cells, whose code is -1.
    places = np.full(len(encoded.dictionary) + 1, len(order), dtype=np.int64)
    places[used[order]] = np.arange(len(order))
    if (codes < 0).any():
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        numbers = None if numbers is None else np.append(numbers, _far_below(numbers))
    return LearntColumn(field, values, places[codes], numbers)


def _numbers(field: pa.Field, values: pa.Array) -> Floats | None:
    """Return values as numbers, (values,), None for categories; times as what they count."""
    return _floats(_typed(field, values))


def _typed(field: pa.Field, values: pa.Array) -> pa.Array:
    """Return values as the numbers or times that all are, whatever they are written as, times as
    what they count; others as they are."""
    if is_untyped(field):
        values = unchunk(to_inferred_type(pa.chunked_array([values])))
    if pa.types.is_temporal(values.type):
        return values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values


def _floats(typed: pa.Array) -> Floats | None:
    kind = typed.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _finite(to_numpy(typed.cast(pa.float64(), safe=False)))
    return None


def _finite(numbers: Floats) -> Floats:
    """Return numbers with NaN far below all others, and infinite ones beyond the last finite."""
    finite = numbers[np.isfinite(numbers)]
    least, most = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    return np.nan_to_num(numbers, nan=_far_below(finite), neginf=least - 1, posinf=most + 1)


def _order(values: pa.Array, typed: pa.Array, numbers: Floats | None) -> Codes:
    """Return the places of values in their order: of numbers, or of texts.

    The order never depends on that in which values were given, which would tell whose they are:
    numbers that are equal as floats are in their exact order, and equal ones in that of their
    texts.
    """
    if numbers is None:
        keys = values.cast(pa.uint8()) if pa.types.is_boolean(values.type) else values
        return to_numpy(pc.sort_indices(keys)).astype(np.int64)
    # Halves have neither an order nor texts in Arrow; every float is exact in 64 bits.
    exact = typed.cast(pa.float64()) if pa.types.is_floating(typed.type) else typed
    texts = (exact if pa.types.is_floating(values.type) else values).cast(pa.string())
    keys = pa.table({"number": numbers, "exact": exact, "text": texts})
    names = [(name, "ascending") for name in keys.column_names]
    return to_numpy(pc.sort_indices(keys, sort_keys=names)).astype(np.int64)


def _far_below(numbers: Floats) -> float:
    """Return a number that a single split of a tree parts from all others."""
    if not len(numbers):
        return -1.0
    return float(2 * numbers.min() - numbers.max() - 1)
