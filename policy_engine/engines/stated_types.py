"""Columns of CSV files as the types that they are said to have."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from policy_engine.data.declared_types import Datatype, types_of
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError


def with_stated_types(table: pa.Table, path: Path) -> pa.Table:
    """Return the table of a CSV file with its columns of texts as such, whatever they look like.

    Columns of other types stay texts until they are inferred. Raises DataError (C009) where their
    cells do not have the type that is stated.
    """
    types = types_of(path)
    fields = [
        _checked(field, column, types[field.name], path) if field.name in types else field
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.table(table.columns, schema=pa.schema(fields)) if types else table


def _checked(field: pa.Field, column: pa.ChunkedArray, kind: Datatype, path: Path) -> pa.Field:
    if kind == "string":
        return field.remove_metadata()
    if is_untyped(field) and column.null_count < len(column):
        inferred = to_inferred_type(column).type
        if not any(test(inferred) for test in _TESTS[kind]):
            message = f"The column {field.name!r} is said to be of the type {kind!r}, and has cells"
            raise DataError.of("C009", f"{message} that are not.", source=str(path))
    return field


_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_TESTS: dict[Datatype, tuple[Callable[[pa.DataType], bool], ...]] = {
    "integer": (pa.types.is_integer,),
    "number": _NUMBERS,
    "date": (pa.types.is_date,),
    "dateTime": (pa.types.is_timestamp,),
    "time": (pa.types.is_time,),
}
