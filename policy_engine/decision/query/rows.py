"""The rows of a query as text, as JSON, and as files."""

import json
import re
from datetime import date, datetime, time
from decimal import Decimal
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from policy_engine.data.atomic_file import write_file
from policy_engine.data.table_files import Format, file_format
from policy_engine.engines.tables import write_to
from policy_engine.errors import OutputError

if TYPE_CHECKING:
    import pyarrow as pa

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def as_csv(table: "pa.Table") -> str:
    """Return rows as CSV with a header (RFC 4180)."""
    return _bytes(table, "csv").decode()


def as_json(table: "pa.Table") -> list[dict[str, Any]]:
    """Return rows as JSON values: types that JSON lacks become text.

    Raises OutputError (O002) for a time outside the years 1 to 9999.
    """
    return [{name: cell_json(cell) for name, cell in row.items()} for row in _rows(table)]


def as_texts(table: "pa.Table") -> list[tuple[str | None, ...]]:
    """Return rows as people read them, with None for missing values.

    Terminal control characters are escaped as in JSON. Raises as `as_json` does.
    """
    return [tuple(_escape_controls(_text(cell)) for cell in row.values()) for row in _rows(table)]


def as_parquet(table: "pa.Table") -> bytes:
    """Return rows as a Parquet file. Raises OutputError (O002) for types that it does not have."""
    return _bytes(table, "parquet")


def read_parquet(content: bytes) -> "pa.Table":
    """Return the rows of a Parquet file that `as_parquet` made."""
    import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import)

    return pq.read_table(BytesIO(content))


def leading_texts(table: "pa.Table") -> list[str]:
    """Return the names of the first columns, up to the first of numbers."""
    is_number = [
        pa.types.is_integer(one) or pa.types.is_floating(one) for one in table.schema.types
    ]
    return list(table.column_names[: [*is_number, True].index(True)])


def write_rows(table: "pa.Table", path: Path, *inputs: Path, overwrite: bool = False) -> None:
    """Write rows to a file in the format of its ending, completely or not at all.

    Raises DataError (C004) for an unknown ending, and OutputError if the file cannot be written
    (O002), is one of the inputs, or already contains other rows (O001).
    """
    write_file(path, _bytes(table, file_format(path)), *inputs, overwrite=overwrite)


def _bytes(table: "pa.Table", kind: Format) -> bytes:

    written = BytesIO()
    try:
        write_to(written, table if kind == "parquet" else _flatten(table), kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        message = "A column of the result has a type that the file format does not support."
        raise OutputError.of("O002", message, "Cast it in the query.") from None
    return written.getvalue()


def _rows(table: "pa.Table") -> list[dict[str, Any]]:
    """Return rows. Raises OutputError (O002) for a time that Python cannot represent."""
    columns = [_cells(column) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _cells(column: "pa.ChunkedArray") -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        message = "A column of the result contains a time outside the years 1 to 9999."
        raise OutputError.of("O002", message, "Cast it to text in the query.") from None


def _escape_controls(text: str | None) -> str | None:
    return text and _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _flatten(table: "pa.Table") -> "pa.Table":
    """Return a table with nested columns turned into text."""
    columns = []
    for column in table.columns:
        kind = column.type
        odd = pa.types.is_nested(kind) or pa.types.is_interval(kind) or pa.types.is_binary(kind)
        cells = map(_text, _cells(column)) if odd else None
        columns.append(
            column if cells is None else pa.chunked_array([pa.array(cells, pa.string())])
        )
    return pa.table(columns, names=table.column_names)


def _text(cell: Any) -> str | None:
    plain = cell_json(cell)
    if plain is None or isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def cell_json(cell: Any) -> Any:
    """Return a cell as a JSON value: types that JSON lacks become text."""
    if isinstance(cell, list):
        return [cell_json(one) for one in cell]
    if isinstance(cell, dict):
        return {str(name): cell_json(one) for name, one in cell.items()}
    return _scalar_json(cell)


def _scalar_json(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else str(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.hex()
    is_json = cell is None or isinstance(cell, str | bool | int | float)
    is_odd = isinstance(cell, float) and not isfinite(cell)
    return cell if is_json and not is_odd else str(cell)
