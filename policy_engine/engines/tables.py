"""Read files into Arrow tables, and write them: CSV, CSV.gz, Parquet, and numpy's arrays."""

import csv
import gzip
import hashlib
import math
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from policy_engine.data import storage
from policy_engine.data.catalog import INFERRED, make_catalog
from policy_engine.data.table_files import (
    ARRAY_FORMATS,
    Format,
    file_format,
    file_partition_values,
    list_table_files,
    unreadable_file,
)
from policy_engine.engines.array_files import read_arrays, write_arrays
from policy_engine.engines.arrays import constant, from_numpy, from_texts, is_text, to_numpy
from policy_engine.engines.masking.cells import fitting_decimals, number_texts
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError, OutputError, PolicyEngineError, join_names

_BATCH = 65_536
_BLOCK = 8_000_000  # bytes; no row may be longer
_TEXT = pa.dictionary(pa.int32(), pa.string())
_MASKED = b"policy-engine-masked"
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^\s|\s$|^$')
_MAY_NEED_QUOTES = r'[",\r\n]|^[\x00-\x20]|[\x00-\x20]$|[^\x00-\x7f]|^$'
"""What Arrow can tell of it: to its expressions, blanks are those of ASCII."""


def read_table(path: Path, columns: tuple[str, ...] | None = None) -> pa.Table:
    """Return some or all columns of a file, or of all files of a folder.

    Partition folders such as `year=2020/` are columns of text too. Cells of a CSV file are
    dictionary-encoded text, exactly as written; empty ones are missing.
    Raises DataError where a row is ragged (C007), bytes are not UTF-8 (C008), or the file is
    damaged (C003, C010).
    """
    parts = [_read_part(file, path, columns) for file in list_table_files(path)]
    if len(parts) == 1:
        return parts[0]
    try:
        return pa.concat_tables(parts)
    except pa.ArrowInvalid:
        message = f"The files of {str(path)!r} differ in the types of columns."
        raise DataError.of("C014", message) from None


def _read_part(file: Path, path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Read one of the files of a table, with the columns of its partition folders."""
    values = file_partition_values(file, path)
    if not values:
        return _read_file(file, columns)
    inside = columns and tuple(name for name in columns if name not in values)
    table = _read_file(file, inside)
    metadata = {"csv": "text"} if file_format(file).startswith("csv") else None
    for name, value in values.items():
        kind = _TEXT if metadata else pa.string()
        cells = pa.repeat(pa.scalar(value, pa.string()), table.num_rows).cast(kind)
        table = table.append_column(pa.field(name, kind, metadata=metadata), cells)
    return table.select(list(columns)) if columns else table


def _read_file(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    try:
        if file_format(path) == "parquet":
            names = list(columns or ()) or None
            return plain_texts(pq.read_table(path, columns=names, partitioning=None))
        if file_format(path) in ARRAY_FORMATS:
            return plain_texts(read_arrays(path, columns))
        return _read_csv(path, columns)
    except UnicodeEncodeError as error:  # pyarrow takes names in UTF-8 alone
        raise unreadable_file(path, error) from None
    except (pa.ArrowInvalid, pa.ArrowKeyError, ValueError, csv.Error) as error:
        if file_format(path) == "parquet" and "UTF" in str(error):
            message = "The file holds text that is not UTF-8."
            raise DataError.of("C008", message, source=str(path)) from None
        raise _unreadable_error(path) from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable_file(path, error) from None


def first_rows(path: Path, count: int) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the names of a file's columns, and its first rows; errors as in `read_table`."""
    [dataset] = make_catalog({"": path}).datasets
    table = read_table(path).slice(0, count)
    columns = [_display_values(column) for column in table.columns]
    return dataset.columns, list(zip(*columns, strict=True))


def count_values(source: pa.Table | str | Path, column: str) -> dict[str, int]:
    """Return how often each value of a column occurs, by its text; missing values are left out."""
    if isinstance(source, pa.Table):
        values = plain_texts(source.select([column])).column(0)
    else:
        values = read_table(Path(source), (column,)).column(0)
    counts = pc.value_counts(values.cast(pa.string()).drop_null())
    pairs = zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)
    return dict(pairs)


def _display_values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values as Arrow writes them, or else as Python does."""
    try:
        return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [str(value) for value in column]


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table in the format of the path's ending, flushed to the disk.

    Only its owner may read the file, since it is not verified yet. Raises OutputError (O002) where
    the disk is full, or the place is not writable.
    """
    try:
        with storage.open_private(path, os.O_EXCL) as file:
            write_to(file, table, file_format(path))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"The output cannot be written: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(path)) from None


def write_to(file: IO[bytes], table: pa.Table, kind: Format) -> None:
    """Write a table to an open file in a format.

    Raises OSError, and OutputError (O002) where the format has no such values.
    """
    if kind == "parquet":
        pq.write_table(infer_types(table), file, compression="zstd")
        return
    if kind in ARRAY_FORMATS:
        write_arrays(file, infer_types(table), kind)
        return
    check_writable([field.name for field in table.schema if pa.types.is_nested(field.type)])
    if kind == "csv.gz":
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as gzip_file:
            _write_csv(table, gzip_file)
    else:
        _write_csv(table, file)


def check_writable(arrays: Sequence[str]) -> None:
    """Raise OutputError (O002) where columns of arrays would be written to a CSV file."""
    if arrays:
        message = f"A CSV file cannot hold the arrays of {join_names(arrays)}."
        raise OutputError.of("O002", message, "Write Parquet, or a .npz file.")


def infer_types(table: pa.Table) -> pa.Table:
    """Return the table with the texts of CSV columns as the numbers or times that they all are."""
    columns = [
        _infer_column(field, column)
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def _infer_column(field: pa.Field, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if is_untyped(field):
        return to_inferred_type(column)
    return fitting_decimals(column) if _is_masked(field) and is_text(field.type) else _plain(column)


def with_inferred_marks(table: pa.Table, source: pa.Table) -> pa.Table:
    """Return a table with the marks of inferred types that the same columns of another have."""
    fields = [
        field.with_metadata(source_field.metadata) if is_inferred(source_field) else field
        for field, source_field in zip(table.schema, source.schema, strict=True)
    ]
    return pa.table(table.columns, schema=pa.schema(fields))


def plain_texts(table: pa.Table) -> pa.Table:
    """Return the table with all texts in one Arrow layout, which every operation supports.

    Raises DataError (C008) where a text is not UTF-8, which neither Parquet nor Arrow checks.
    """
    columns = [
        pa.chunked_array([_plain_text(name, chunk) for chunk in column.chunks], kind)
        for name, column in zip(table.column_names, table.columns, strict=True)
        for kind in [_plain_type(column.type)]
    ]
    return pa.table(columns, names=table.column_names)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind) and is_text(kind.value_type):
        return _TEXT
    return pa.string() if is_text(kind) else kind


def _plain_text(name: str, chunk: pa.Array) -> pa.Array:
    if pa.types.is_float32(chunk.type) or pa.types.is_float64(chunk.type):
        values = to_numpy(chunk, missing=math.nan)
        return from_numpy(values + values.dtype.type(0), np.isnan(values))  # -0.0 + 0 is 0.0
    if _plain_type(chunk.type) == _TEXT:
        values = _check_utf8(name, chunk.dictionary)
        return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), values)
    return _check_utf8(name, chunk) if is_text(chunk.type) else chunk


def _check_utf8(name: str, texts: pa.Array) -> pa.Array:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        message = f"The column {name!r} holds text that is not UTF-8."
        raise DataError.of("C008", message, "Write it as UTF-8.") from None
    return texts.cast(pa.string())


def is_untyped(field: pa.Field) -> bool:
    """Tell whether a column holds text whose type is still to be inferred."""
    return bool(field.metadata and b"csv" in field.metadata)


def is_inferred(field: pa.Field) -> bool:
    """Tell whether the type of a column in memory was inferred from its values."""
    return bool(field.metadata and INFERRED in field.metadata)


def masked_field(field: pa.Field, kind: pa.DataType) -> pa.Field:
    """Return the field of a column of masked decimals, whose type may be text."""
    return pa.field(field.name, kind, metadata={_MASKED: "decimals"})


def _is_masked(field: pa.Field) -> bool:
    return bool(field.metadata and _MASKED in field.metadata)


def table_digest(table: pa.Table) -> str:
    """Return the sha-256 of a table's Arrow IPC stream in one batch, in hexadecimal."""
    digest, table = hashlib.sha256(), _without_marks(table)
    with pa.ipc.new_stream(pa.PythonFile(_Sink(digest), "w"), table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return digest.hexdigest()


def _without_marks(table: pa.Table) -> pa.Table:
    fields = [field.remove_metadata() if is_inferred(field) else field for field in table.schema]
    return pa.table(table.columns, schema=pa.schema(fields, table.schema.metadata))


class _Sink:
    """A file that feeds everything written to it into a digest."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self.write = digest.update

    def flush(self) -> None:
        """Do nothing: there is nothing behind."""

    def close(self) -> None:
        """Do nothing: there is nothing behind."""


def _read_csv(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
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
            column_types=dict.fromkeys(names, _TEXT),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return table.cast(
        pa.schema([pa.field(name, _TEXT, metadata={"csv": "text"}) for name in names])
    )


def _check_quotes(path: Path) -> None:
    """Refuse a file in which a quoted cell is not closed: it would swallow the rows after it."""
    quotes = 0
    with _open_bytes(path) as file:
        while chunk := file.read(_BLOCK):
            quotes += chunk.count(b'"')
    if quotes % 2:
        message = "A quoted cell is not closed: the file has an odd number of double quotes."
        raise DataError.of("C010", message, source=str(path))


def _header(path: Path) -> tuple[str, ...]:
    with _open_text(path) as text:
        return tuple(next(csv.reader(text), ()))


def _open_bytes(path: Path) -> IO[bytes]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[bytes] = opener(path, "rb")
    return file


def _open_text(path: Path, errors: str = "strict") -> IO[str]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[str] = opener(path, "rt", encoding="utf-8-sig", newline="", errors=errors)
    return file


def _unreadable_error(path: Path) -> PolicyEngineError:
    """Return the error of the line that pyarrow failed on; its own message may quote values."""
    source = str(path)
    if file_format(path) != "parquet":
        for line, width, expected in _odd_rows(path):
            message = f"Line {line} has {width} cells. The header has {expected}."
            return DataError.of("C007", message, source=source)
        line = _undecodable_line(path)
        if line:
            return DataError.of("C008", f"Line {line} is not UTF-8.", source=source)
    return DataError.of("C010", f"The file is not a {file_format(path)} table.", source=source)


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


def _write_csv(table: pa.Table, file: Any) -> None:
    """Write RFC 4180 CSV, quoting only where needed (Arrow's own writer quotes every text)."""
    file.write(",".join(_quote_cell(name) for name in table.column_names).encode() + b"\n")
    missing = '""' if table.num_columns == 1 else ""
    for place, field in enumerate(table.schema):
        if _is_masked(field) and not is_text(field.type):
            # The type of a decimal may add trailing zeros, unlike other numbers.
            texts = number_texts(table.column(place))
            table = table.set_column(place, field.name, texts)
    for batch in table.to_batches(max_chunksize=_BATCH):
        columns = [_csv_text(column, missing) for column in batch.columns]
        if len(batch):
            last = pc.binary_join_element_wise(columns[-1], constant("\n"), constant(""))
            lines = pc.binary_join_element_wise(*columns[:-1], last, constant(","))
            file.write(lines.buffers()[2])


def _csv_text(column: pa.Array, missing: str) -> pa.Array:
    """Return the cells of a column as they are written, quoted where they need it."""
    if not pa.types.is_dictionary(column.type):
        texts = _quoted(column.cast(pa.string()))
    elif len(column.dictionary) <= len(column):
        texts = _quoted(column.dictionary.cast(pa.string())).take(column.indices)
    else:  # batches share a dictionary, which is quoted once for each of them
        texts = _quoted(column.dictionary.take(column.indices).cast(pa.string()))
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


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    is_dictionary = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column
