"""Read files into Arrow tables, and write them: CSV, Parquet, Arrow, JSON lines, numpy's arrays."""

import csv
import gzip
import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.data import storage
from policy_engine.data.catalog import make_catalog
from policy_engine.data.column_names import check_unique_names
from policy_engine.data.table_files import (
    ARRAY_FORMATS,
    TYPED_FORMATS,
    Format,
    file_format,
    file_partition_values,
    list_table_files,
    read_format,
    unreadable_file,
)
from policy_engine.data.typed_files import ARROW, JSON_LINES, read_typed
from policy_engine.engines.array_files import read_arrays, write_arrays
from policy_engine.engines.arrays import is_text
from policy_engine.engines.arrow_files import write_arrow
from policy_engine.engines.csv_files import one_decimal, read_csv, row_error, write_csv
from policy_engine.engines.field_marks import (
    CELL_TEXT,
    is_inferred,
    is_masked,
    is_untyped,
    untyped_field,
)
from policy_engine.engines.json_lines import write_json_lines
from policy_engine.engines.masking.cells import fitting_decimals
from policy_engine.engines.number_lists import is_array_of_numbers, plain_list_type
from policy_engine.engines.plain_floats import holds_floats, plain_floats
from policy_engine.engines.stated_types import with_stated_types
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError, OutputError, PolicyEngineError, join_names


def read_table(path: Path, columns: tuple[str, ...] | None = None) -> pa.Table:
    """Return some or all columns of a file, or of all files of a folder.

    Partition folders such as `year=2020/` are columns of text too. Cells of a CSV file are
    dictionary-encoded text, exactly as written; empty ones are missing.
    Raises DataError where two columns have one name (C006), a row is ragged (C007), bytes are not
    UTF-8 (C008), files differ in how decimals are written (C010), or the file is missing (C002),
    empty (C010) or damaged (C003, C010).
    """
    files = list_table_files(path)
    with one_decimal(files if len(files) > 1 else ()):
        parts = [_read_part(file, path, columns) for file in files]
    check_unique_names(parts[0].column_names, str(path))
    if len(parts) == 1:
        return parts[0]
    try:
        return pa.concat_tables(parts)
    except pa.ArrowInvalid:
        message = f"The files of {str(path)!r} differ in the types of columns."
        raise DataError.of("C014", message) from None


_UNREADABLE = (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowNotImplementedError, pa.ArrowIndexError)
"""What pyarrow raises for files that are damaged."""
_LEAST_HALVED = 2


def _read_part(file: Path, path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Read one of the files of a table, with the columns of its partition folders."""
    values = file_partition_values(file, path)
    if not values:
        return _read_file(file, columns)
    inside = columns and tuple(name for name in columns if name not in values)
    table = _read_file(file, inside)
    is_csv = read_format(file).startswith("csv")
    for name, value in values.items():
        field = untyped_field(name) if is_csv else pa.field(name, pa.string())
        cells = pa.repeat(pa.scalar(value, pa.string()), table.num_rows).cast(field.type)
        table = table.append_column(field, cells)
    return table.select(list(columns)) if columns else table


def _read_file(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    try:
        kind = read_format(path)
        if kind in TYPED_FORMATS:
            table = read_typed(path, kind)
            return plain_texts(table.select(list(columns)) if columns else table)
        if kind == "parquet":
            import pyarrow.parquet as pq  # noqa: PLC0415 (as used)

            names = list(columns or ()) or None
            return plain_texts(pq.read_table(path, columns=names, partitioning=None))
        if kind in ARRAY_FORMATS:
            return plain_texts(read_arrays(path, columns))
        return with_stated_types(read_csv(path, columns), path)
    except UnicodeEncodeError as error:  # pyarrow takes names in UTF-8 alone
        raise unreadable_file(path, error) from None
    except (*_UNREADABLE, ValueError, csv.Error) as error:
        if read_format(path) == "parquet" and "UTF" in str(error):
            message = "The file holds text that is not UTF-8."
            raise DataError.of("C008", message, source=str(path)) from None
        raise _unreadable_error(path, error) from None
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
        import pyarrow.parquet as pq  # noqa: PLC0415 (as used)

        pq.write_table(infer_types(table), file, compression="zstd")
        return
    if kind in ARROW:
        write_arrow(file, infer_types(table))
        return
    if kind in ARRAY_FORMATS:
        write_arrays(file, infer_types(table), kind)
        return
    if kind in JSON_LINES:
        write_json_lines(file, table)
        return
    check_writable([field.name for field in table.schema if pa.types.is_nested(field.type)])
    if kind == "csv.gz":
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as gzip_file:
            write_csv(table, gzip_file)
    else:
        write_csv(table, file)


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
    return (
        fitting_decimals(column) if is_masked(field) and is_text(field.type) else _decoded(column)
    )


def with_inferred_marks(table: pa.Table, source: pa.Table) -> pa.Table:
    """Return a table with the marks of inferred types that the same columns of another have."""
    fields = [
        field.with_metadata(source_field.metadata) if is_inferred(source_field) else field
        for field, source_field in zip(table.schema, source.schema, strict=True)
    ]
    return pa.table(table.columns, schema=pa.schema(fields))


def plain_texts(table: pa.Table) -> pa.Table:
    """Return the table with all texts in one Arrow layout, which every operation supports, and so
    with decimals and bytes; floats are as `plain_floats` has them. The types of lists of numbers
    say nothing of their own: no name of what is within, no metadata.

    Raises DataError (C008) where a text is not UTF-8, which neither Parquet nor Arrow checks.
    """
    columns = [
        pa.chunked_array([_plain_text(name, chunk) for chunk in column.chunks], kind)
        for name, column in zip(table.column_names, table.columns, strict=True)
        for kind in [_plain_type(column.type)]
    ]
    return pa.table(columns, names=table.column_names)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return CELL_TEXT if is_text(kind.value_type) else _plain_type(kind.value_type)
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if is_array_of_numbers(kind):
        return plain_list_type(kind)
    return pa.string() if is_text(kind) else kind


def _plain_text(name: str, chunk: pa.Array) -> pa.Array:
    if _plain_type(chunk.type) == CELL_TEXT:
        values = _check_utf8(name, chunk.dictionary)
        return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), values)
    if pa.types.is_dictionary(chunk.type):
        return _plain_text(name, chunk.dictionary_decode())
    if is_array_of_numbers(chunk.type):
        chunk = chunk.cast(_plain_type(chunk.type))
    if holds_floats(chunk.type):
        return plain_floats(chunk)
    if is_text(chunk.type):
        return _check_utf8(name, chunk)
    kind = _plain_type(chunk.type)  # a cast of lists of nulls to their own type breaks them
    return chunk if chunk.type == kind else chunk.cast(kind)


def _check_utf8(name: str, texts: pa.Array) -> pa.Array:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        message = f"The column {name!r} holds text that is not UTF-8."
        raise DataError.of("C008", message, "Write it as UTF-8.") from None
    return texts.cast(pa.string())


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


def _unreadable_error(path: Path, reason: Exception) -> PolicyEngineError:
    """Return why pyarrow could not read a file, without the values that its messages may quote."""
    if str(reason).startswith("Empty CSV file"):
        return DataError.of("C010", "The file is empty.", source=str(path))
    error = row_error(path) if read_format(path).startswith("csv") else None
    message = f"The file is not a {read_format(path)} table."
    return error or DataError.of("C010", message, source=str(path))


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = [part for chunk in column.chunks for part in _decoded_parts(chunk)]
    return pa.chunked_array(chunks, column.type.value_type)


def _decoded_parts(chunk: pa.DictionaryArray) -> list[pa.Array]:
    """Return an array with its values written out: in halves where one does not hold them all."""
    try:
        return [chunk.dictionary_decode()]
    except pa.ArrowInvalid:  # more bytes of text than an array of them has
        if len(chunk) < _LEAST_HALVED:
            raise
        middle = len(chunk) // 2
        return [*_decoded_parts(chunk[:middle]), *_decoded_parts(chunk[middle:])]
