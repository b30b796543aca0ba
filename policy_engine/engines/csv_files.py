"""Read and write CSV, gzipped or not: RFC 4180, each cell exactly as it is written."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from policy_engine.data.column_names import separator_hint
from policy_engine.data.csv_format import CsvFormat, csv_files_as, declared_format
from policy_engine.data.csv_reading import (
    DECIMAL_HINT,
    ENCODING_HINT,
    csv_format,
    has_comma_numbers,
    is_western_file,
    open_bytes,
    open_text,
    tell_western,
    to_points,
)
from policy_engine.data.table_files import file_format, read_format
from policy_engine.data.text_encodings import UTF_8, WESTERN
from policy_engine.engines.arrays import constant, from_texts, is_text
from policy_engine.engines.csv_cells import ColumnCells, quoted_name
from policy_engine.engines.csv_quotes import QUOTES_HINT, checked_quotes
from policy_engine.engines.field_marks import CELL_TEXT, is_masked, untyped_field
from policy_engine.engines.masking.cells import number_texts
from policy_engine.errors import DataError, PolicyEngineError

_BATCH = 65_536
_BLOCK = 8_000_000  # bytes; no row may be longer
_ESCAPED = re.compile("[\udc80-\udcff]")
"""What a byte becomes that its encoding does not have."""
_MARKS = re.compile("[;\t]")


def read_csv(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Return some or all columns of a file, as dictionary-encoded texts; empty cells are missing.

    Decimals have points, whatever the file has. Raises what pyarrow does where a row is ragged or
    bytes are not of its encoding (`row_error` says which), DataError (C010) where quotes are not
    those of whole cells, and as `csv_format` does.
    """
    form = _whole_format(path)
    is_plain = _check_quotes(path, form)
    header = _header(path, form)
    names = columns or header
    packing = "gzip" if file_format(path) == "csv.gz" else None
    table = pacsv.read_csv(
        pa.input_stream(path, compression=packing),
        read_options=pacsv.ReadOptions(block_size=_BLOCK, encoding=form.encoding),
        parse_options=pacsv.ParseOptions(
            delimiter=form.delimiter,
            newlines_in_values=not is_plain,  # which is sooner read
            ignore_empty_lines=len(header) > 1,
        ),
        convert_options=pacsv.ConvertOptions(
            include_columns=list(names),
            column_types=dict.fromkeys(names, CELL_TEXT),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    if not is_plain:
        _check_swallowed(table, form, len(header), path)
    pa.default_memory_pool().release_unused()  # blocks of the file, as large as what was read
    if form.decimal != ".":
        table = _with_points(table, form, path)
    return table.cast(pa.schema([untyped_field(name) for name in names]))


@contextmanager
def one_decimal(files: Sequence[Path]) -> Iterator[None]:
    """Have the files of a table be read with one mark of decimals within the block.

    One whose beginning shows none has the comma that others have. Raises DataError (C010) where
    some have commas and others points; files with commas between cells have points, and are none
    of these.
    """
    formats = {one: csv_format(one) for one in files if read_format(one) in ("csv", "csv.gz")}
    marks = {one: form.decimal for one, form in formats.items() if form.delimiter != ","}
    if {",", "."} <= {*marks.values()}:
        commas, points = (next(one for one in marks if marks[one] == mark) for mark in ",.")
        message = f"{commas.name!r} has decimal commas, {points.name!r} decimal points."
        raise DataError.of("C010", message, DECIMAL_HINT, str(points))
    with ExitStack() as stack:
        for one in (one for one in marks if not marks[one] and "," in marks.values()):
            stack.enter_context(csv_files_as(replace(declared_format(one), decimal=","), one))
        yield


def _whole_format(path: Path) -> CsvFormat:
    """Return the format of a file, whose encoding may first show beyond its beginning."""
    form = csv_format(path)
    is_said = declared_format(path).encoding
    if is_said or form.encoding != UTF_8 or _is_utf_8(path) or not is_western_file(path):
        return form
    tell_western(path)
    return replace(form, encoding=WESTERN)


def _is_utf_8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder(UTF_8)()
    with open_bytes(path) as file:
        try:
            while chunk := file.read(_BLOCK):
                if not chunk.isascii():
                    decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
    return True


def _with_points(table: pa.Table, form: CsvFormat, path: Path) -> pa.Table:
    """Return a table with the decimals of its texts written with points.

    Raises DataError (C010) where numbers could be read in two ways.
    """
    table = table.unify_dictionaries()
    for place, name in enumerate(table.column_names):
        chunks = table.column(place).chunks
        texts = chunks[0].dictionary.to_pylist() if chunks else []
        points = _points(name, texts, form, path)
        if points is not None and points != texts:
            values = from_texts(points).dictionary_encode()
            parts = [
                pa.DictionaryArray.from_arrays(
                    values.indices.take(chunk.indices), values.dictionary
                )
                for chunk in chunks
            ]
            table = table.set_column(place, name, pa.chunked_array(parts, CELL_TEXT))
    return table


def _points(name: str, texts: list[str], form: CsvFormat, path: Path) -> list[str] | None:
    def error(what: str) -> PolicyEngineError:
        message = f"The numbers of {name!r} have {what}."
        hint = DECIMAL_HINT if form.decimal != "," else "Write all numbers of the file in one way."
        return DataError.of("C010", message, hint, str(path))

    if form.decimal == ",":
        return to_points(texts, error)
    if has_comma_numbers([one.strip() for one in texts]):
        raise error("commas, which its first rows do not show")
    return None


def _check_quotes(path: Path, form: CsvFormat) -> bool:
    """Refuse a file in which quotes are not those of whole cells: rows could be swallowed. Return
    whether rows end at line feeds, and all line feeds end one."""
    chunks, is_plain = _utf_8_chunks(path, form.encoding), True
    for chunk in checked_quotes(chunks, form.delimiter, str(path)):
        is_plain = is_plain and b'"' not in chunk and b"\r" not in chunk
    return is_plain


def _check_swallowed(table: pa.Table, form: CsvFormat, width: int, path: Path) -> None:
    """Refuse a cell that looks like rows which lost quotes joined.

    A cell that ends with a quote of its own, and has lost the one that closes it, goes on to the
    next cell of which all but three quotes are lost. What is read of them ends with a quote behind
    the end of a cell, and has exactly the marks between cells that so many lines have.
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            texts = chunk.dictionary.filter(pc.match_substring(chunk.dictionary, "\n"))
            if any(_joins_rows(text, form.delimiter, width) for text in texts.to_pylist()):
                message = f"A cell of {name!r} looks like several rows: is a closing quote lost?"
                raise DataError.of("C010", message, QUOTES_HINT, str(path))


def _joins_rows(text: str, mark: str, width: int) -> bool:
    ends = (mark, "\r", "\n")
    closes = any(f'"{end}' in text for end in ends)
    opens = any(text.endswith(f'{end}"') for end in ends)
    return closes and opens and text.count(mark) == text.count("\n") * (width - 1)


def _utf_8_chunks(path: Path, encoding: str) -> Iterator[bytes]:
    with open_bytes(path) if encoding == UTF_8 else open_text(path, encoding) as file:
        while chunk := file.read(_BLOCK):
            yield chunk if isinstance(chunk, bytes) else chunk.encode(UTF_8, "surrogatepass")


def _header(path: Path, form: CsvFormat, errors: str = "strict") -> tuple[str, ...]:
    with open_text(path, form.encoding, errors) as text:
        return tuple(next(csv.reader(text, delimiter=form.delimiter), ()))


def row_error(path: Path) -> PolicyEngineError | None:
    """Return the error of the first line that cannot be read, None where all can.

    The messages of pyarrow are not used since they may quote values.
    """
    source, form = str(path), csv_format(path)
    for line, width, expected in _odd_rows(path, form):
        message = f"Line {line} has {width} cells. The header has {expected}."
        return DataError.of("C007", message, separator_hint(_header(path, form, "replace")), source)
    line = _undecodable_line(path, form.encoding)
    if not line:
        return None
    message = f"Line {line} is not {form.encoding.upper()}."
    return DataError.of("C008", message, ENCODING_HINT, source)


def _odd_rows(path: Path, form: CsvFormat) -> Iterator[tuple[int, int, int]]:
    with open_text(path, form.encoding, errors="replace") as text:
        rows = csv.reader(text, delimiter=form.delimiter)
        expected = len(next(rows, ()))
        with suppress(csv.Error):  # a cell too long for Python's reader
            for row in rows:
                if row and len(row) != expected:
                    yield rows.line_num, len(row), expected


def _undecodable_line(path: Path, encoding: str) -> int:
    """Return the number of the first line that is not in an encoding, 0 if all are."""
    number = 0
    with open_text(path, encoding, errors="surrogateescape") as text:
        try:
            for number, line in enumerate(text, start=1):
                if _ESCAPED.search(line):
                    return number
        except UnicodeDecodeError:
            return number + 1
    return 0


def write_csv(table: pa.Table, file: Any) -> None:
    """Write RFC 4180 CSV, quoting only where needed (Arrow's own writer quotes every text).

    Raises OutputError (O002) where cells have no text.
    """
    file.write(",".join(map(_quote_name, table.column_names)).encode() + b"\n")
    last, missing = table.num_columns - 1, '""' if table.num_columns == 1 else ""
    for place, field in enumerate(table.schema):
        if is_masked(field) and not is_text(field.type):
            # The type of a decimal may add trailing zeros, unlike other numbers.
            texts = number_texts(table.column(place))
            table = table.set_column(place, field.name, texts)
    cells = [
        ColumnCells(name, column, end="," if place < last else "\n", missing=missing)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True))
    ]
    for batch in table.to_batches(max_chunksize=_BATCH):
        parts = [one.of(part) for one, part in zip(cells, batch.columns, strict=True)]
        if len(batch):
            lines = pc.binary_join_element_wise(*parts, constant(""))
            file.write(lines.buffers()[2])


def _quote_name(name: str) -> str:
    """Return a name in the header, where marks without quotes could be what separates cells."""
    quoted = quoted_name(name)
    return f'"{name}"' if quoted == name and _MARKS.search(name) else quoted
