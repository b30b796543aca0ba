"""Read and write CSV, gzipped or not: RFC 4180, each cell exactly as it is written."""

import csv
import gzip
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from policy_engine.data.column_names import separator_hint
from policy_engine.data.table_files import file_format
from policy_engine.engines.arrays import constant, from_texts, is_text
from policy_engine.engines.field_marks import CELL_TEXT, is_masked, untyped_field
from policy_engine.engines.masking.cells import number_texts
from policy_engine.errors import DataError, OutputError, PolicyEngineError

_BATCH = 65_536
_BLOCK = 8_000_000  # bytes; no row may be longer
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$|^$')
_MAY_NEED_QUOTES = r'[",\r\n]|^[\x00-\x20]|[\x00-\x20]$|[^\x00-\x7f]|^$'
"""What Arrow can tell of it: to its expressions, blanks are those of ASCII."""


def read_csv(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Return some or all columns of a file, as dictionary-encoded texts; empty cells are missing.

    Raises what pyarrow does where a row is ragged or bytes are not UTF-8 (`row_error` says which),
    DataError (C010) where a quoted cell is not closed.
    """
    _check_quotes(path)
    names = columns or _header(path)
    packing = "gzip" if file_format(path) == "csv.gz" else None
    table = pacsv.read_csv(
        pa.input_stream(path, compression=packing),
        read_options=pacsv.ReadOptions(block_size=_BLOCK),
        parse_options=pacsv.ParseOptions(
            newlines_in_values=True, ignore_empty_lines=len(_header(path)) > 1
        ),
        convert_options=pacsv.ConvertOptions(
            include_columns=list(names),
            column_types=dict.fromkeys(names, CELL_TEXT),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return table.cast(pa.schema([untyped_field(name) for name in names]))


def _check_quotes(path: Path) -> None:
    """Refuse a file in which a quoted cell is not closed: it would swallow the rows after it."""
    quotes = 0
    with _open_bytes(path) as file:
        while chunk := file.read(_BLOCK):
            quotes += chunk.count(b'"')
    if quotes % 2:
        message = "A quoted cell is not closed: the file has an odd number of double quotes."
        raise DataError.of("C010", message, source=str(path))


def _header(path: Path, errors: str = "strict") -> tuple[str, ...]:
    with _open_text(path, errors) as text:
        return tuple(next(csv.reader(text), ()))


def _open_bytes(path: Path) -> IO[bytes]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[bytes] = opener(path, "rb")
    return file


def _open_text(path: Path, errors: str = "strict") -> IO[str]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="", errors=errors)
    return file


def row_error(path: Path) -> PolicyEngineError | None:
    """Return the error of the first line that cannot be read, None where all can.

    The messages of pyarrow are not used since they may quote values.
    """
    source = str(path)
    for line, width, expected in _odd_rows(path):
        message = f"Line {line} has {width} cells. The header has {expected}."
        return DataError.of("C007", message, separator_hint(_header(path, "replace")), source)
    line = _undecodable_line(path)
    return DataError.of("C008", f"Line {line} is not UTF-8.", source=source) if line else None


def _odd_rows(path: Path) -> Iterator[tuple[int, int, int]]:
    with _open_text(path, errors="replace") as text:
        rows = csv.reader(text)
        expected = len(next(rows, ()))
        with suppress(csv.Error):  # a cell too long for Python's reader
            for row in rows:
                if row and len(row) != expected:
                    yield rows.line_num, len(row), expected


def _undecodable_line(path: Path) -> int:
    with _open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 0


def write_csv(table: pa.Table, file: Any) -> None:
    """Write RFC 4180 CSV, quoting only where needed (Arrow's own writer quotes every text)."""
    file.write(",".join(_quote_cell(name) for name in table.column_names).encode() + b"\n")
    missing = '""' if table.num_columns == 1 else ""
    for place, field in enumerate(table.schema):
        if is_masked(field) and not is_text(field.type):
            # The type of a decimal may add trailing zeros, unlike other numbers.
            texts = number_texts(table.column(place))
            table = table.set_column(place, field.name, texts)
    for batch in table.to_batches(max_chunksize=_BATCH):
        columns = [
            _csv_text(name, column, missing)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        if len(batch):
            last = pc.binary_join_element_wise(columns[-1], constant("\n"), constant(""))
            lines = pc.binary_join_element_wise(*columns[:-1], last, constant(","))
            file.write(lines.buffers()[2])


def _csv_text(name: str, column: pa.Array, missing: str) -> pa.Array:
    """Return the cells of a column as they are written, quoted where they need it.

    Raises OutputError (O002) where they have no text.
    """
    try:
        if not pa.types.is_dictionary(column.type):
            texts = _quoted(column.cast(pa.string()))
        elif len(column.dictionary) <= len(column):
            texts = _quoted(column.dictionary.cast(pa.string())).take(column.indices)
        else:  # batches share a dictionary, which is quoted once for each of them
            texts = _quoted(column.dictionary.take(column.indices).cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        message = f"A CSV file cannot hold all values of {name!r}: {column.type} is not all text."
        raise OutputError.of("O002", message, "Write Parquet.") from None
    return pc.fill_null(texts, constant(missing))


def _quoted(texts: pa.Array) -> pa.Array:
    suspects = pc.match_substring_regex(texts, _MAY_NEED_QUOTES)
    distinct = texts.filter(suspects).dictionary_encode()
    if not len(distinct):
        return texts
    quoted = from_texts([_quote_cell(text) for text in distinct.dictionary.to_pylist()])
    return pc.replace_with_mask(texts, suspects, quoted.take(distinct.indices))


def _quote_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
