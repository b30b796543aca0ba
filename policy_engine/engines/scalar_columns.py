"""Columns for media that have numbers and texts alone: JSON lines, and tables of SQLite."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal

import pyarrow as pa

from policy_engine.engines.arrays import is_text, unchunk
from policy_engine.engines.field_marks import is_masked, is_untyped
from policy_engine.engines.masking.cells import fitting_decimals
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import OutputError, PolicyEngineError

_EXACT = 2**53
"""Up to it, a float is the integer that it was."""
TypeTest = Callable[[pa.DataType], bool]
NUMBERS_AND_TEXTS: tuple[TypeTest, ...] = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_null),
    is_text,
)


def scalar_columns(
    table: pa.Table, medium: str, hint: str, others: Sequence[TypeTest] = ()
) -> pa.Table:
    """Return a table whose columns are numbers and texts, or of `others` of the types.

    Columns of CSV files whose cells are all numbers are numbers, dates and times of theirs the
    texts that they were. Raises OutputError (O002) for columns that have another type from the
    beginning, and numbers that are not finite, or have more digits than 64 bits: what is read back
    would not be what was released.
    """
    columns = [
        _scalar_column(field, column, medium, hint, (*NUMBERS_AND_TEXTS, *others))
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _scalar_column(
    field: pa.Field, column: pa.ChunkedArray, medium: str, hint: str, types: Sequence[TypeTest]
) -> pa.ChunkedArray:
    is_declared = not (is_untyped(field) or is_masked(field))
    if is_masked(field) and is_text(field.type):
        column = fitting_decimals(column)
    elif is_untyped(field):
        typed = to_inferred_type(column)
        column = column if pa.types.is_temporal(typed.type) else typed
    values = unchunk(column)
    values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values

    def refused(reason: str) -> PolicyEngineError:
        message = f"{medium} cannot hold all values of {field.name!r}: {reason}."
        return OutputError.of("O002", message, hint)

    kind = values.type
    if pa.types.is_decimal(kind) and (kind.scale == 0 or not is_declared):
        values = _without_decimals(values, refused)
    elif not any(test(kind) for test in types):
        raise refused(f"it has no type {kind}")
    _check_numbers(values, refused)
    return pa.chunked_array([values])


def _without_decimals(values: pa.Array, refused: Callable[[str], PolicyEngineError]) -> pa.Array:
    """Return decimals as the integers or floats that they are."""
    if values.type.scale == 0:
        return _cast(values, pa.int64(), refused)
    floats = values.cast(pa.float64())
    pairs = zip(values.to_pylist(), floats.to_pylist(), strict=True)
    if any(one is not None and Decimal(repr(number)) != one for one, number in pairs):
        raise refused("some have more digits than 64 bits keep")
    return floats


def _cast(
    values: pa.Array, kind: pa.DataType, refused: Callable[[str], PolicyEngineError]
) -> pa.Array:
    try:
        return values.cast(kind)
    except pa.ArrowInvalid:
        raise refused("some have more digits than 64 bits keep") from None


def _check_numbers(values: pa.Array, refused: Callable[[str], PolicyEngineError]) -> None:
    kind = values.type
    if pa.types.is_floating(kind):
        if any(
            one is not None and (not math.isfinite(one) or abs(one) >= _EXACT)
            for one in values.to_pylist()
        ):
            raise refused("some are not finite, or 2**53 or more")
    elif pa.types.is_uint64(kind) and any((one or 0) >= 2**63 for one in values.to_pylist()):
        raise refused("some are 2**63 or more")
