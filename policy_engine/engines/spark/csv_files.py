"""Read CSV with Spark, exactly as the local engine reads it."""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from pyspark.sql import Column, DataFrame, DataFrameReader, Row, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.engines.csv_quotes import QUOTES_HINT, check_line_quotes, checked_quotes
from policy_engine.engines.spark.failures import carry_errors
from policy_engine.engines.spark.files import (
    as_path,
    column_mismatch_error,
    display_path,
    folder_value,
    strict_reader,
)
from policy_engine.engines.spark.values import Task, map_in_tasks, quote_name
from policy_engine.errors import DataError, PolicyEngineError

CORRUPT = "__policy_engine_corrupt"
_OPTIONS: dict[str, bool | int | str] = {
    "header": True,
    "sep": ",",
    "quote": '"',
    "escape": '"',
    "encoding": "UTF-8",
    "nullValue": "",
    "emptyValue": "",
    "enforceSchema": False,
    "maxColumns": 100_000,
    "maxCharsPerColumn": -1,
    "unescapedQuoteHandling": "RAISE_ERROR",
    "columnNameOfCorruptRecord": CORRUPT,
}
_WHOLE_ROWS = {"columnPruning": False}
"""With column pruning, Spark does not see how many cells a row has."""
_BLOCK = 8_000_000  # bytes; no row may be longer


def csv_columns(session: SparkSession, location: str) -> tuple[str, ...]:
    """Return the header of a nonempty file. Raises DataError (C010) where there is none."""
    return _header(session, location)[1]


def read_csv(session: SparkSession, location: str, folders: Sequence[str]) -> DataFrame:
    """Return the cells of CSV files as text, with the partition columns `folders`.

    Raises DataError for ragged rows (C007), bytes that are not UTF-8 (C008), quotes that are
    not those of whole cells (C010) and files with different headers (C014).
    """
    first, names = _header(session, location)
    files = _count_lines(session, location, names)
    _check_readable(files)
    _check_headers(session, files, names, first)
    # Spark's reader would leave out a second byte-order mark too, which is part of a name.
    is_marked = any(name.startswith("\ufeff") for name in names[:1])
    if is_marked or any(file.odd or file.spaced for file in files):
        return _read_line_by_line(session, location, names, folders)
    _check_lines(files, len(names))
    if any(file.quotes for file in files):
        _check_quotes(session, location)
        _check_rows(session, location, names)
    frame = _reader(session, names).csv(location)
    return frame.select("*", *map(folder_value, folders)) if folders else frame


def _header(session: SparkSession, location: str) -> tuple[str, tuple[str, ...]]:
    """Return one of the nonempty files of a location, and the cells of its first row."""
    file, reason = "", ""
    # Most headers are one line, whatever ends it; longer ones must keep their line ends.
    for options, count in (({}, 1), ({"lineSep": "\n"}, 1), ({"lineSep": "\n"}, 1_000)):
        lines = strict_reader(session).options(**options).text(as_path(file) or location)
        begin = lines.where("_metadata.file_block_start = 0")
        rows = begin.select(F.make_valid_utf8("value"), "_metadata.file_path").take(count)
        if not rows:
            raise DataError.of("C010", "The table has no columns.", source=location)
        file = rows[0].file_path
        # Hadoop has left out a byte-order mark: if there is another one, it is part of a name.
        text = "\n".join(row[0] for row in rows)
        try:
            names = tuple(next(csv.reader(io.StringIO(text, newline=""), strict=True), ()))
        except csv.Error as error:
            reason = str(error)
            continue
        if any("\ufffd" in name for name in names):
            raise DataError.of("C008", "The header is not UTF-8.", source=display_path(file))
        return file, names
    raise DataError.of("C010", f"The header cannot be read: {reason}.", source=display_path(file))


def _reader(session: SparkSession, names: Sequence[str]) -> DataFrameReader:
    return strict_reader(session).schema(_text_schema(names)).options(**_OPTIONS)


def _text_schema(names: Sequence[str]) -> types.StructType:
    return types.StructType([types.StructField(name, types.StringType()) for name in names])


def _count_lines(session: SparkSession, location: str, names: Sequence[str]) -> list[Row]:
    """Count, per file, what its lines tell before any of them is split into cells.

    `first` and `header` are the places of the first line, and of the first line that is the header
    as it is usually written: where they differ, the header is different or written unusually.
    """
    line, here = F.col("value"), F.col("start") == 0
    quotes, commas = _count(line, '"'), _count(line, ",")
    is_ragged = (quotes == 0) & (line != "") & (commas != len(names) - 1)
    # Spark skips lines that are empty once trimmed.
    is_blank = line.rlike(r"^[\x00-\x20]*$") if len(names) == 1 else F.expr("false")
    return (
        _lines(strict_reader(session), location)
        .groupBy("file")
        .agg(
            F.count_if(~F.is_valid_utf8(line)).alias("undecodable"),
            F.sum(quotes).alias("quotes"),
            F.count_if(quotes % 2 == 1).alias("odd"),
            F.count_if(line.rlike(_SPACED)).alias("spaced"),
            F.count_if(is_ragged).alias("ragged"),
            F.count_if(is_blank).alias("blank"),
            F.min(F.when(here, F.col("place"))).alias("first"),
            F.min(F.when(here & line.isin(_ways_to_write(names)), F.col("place"))).alias("header"),
        )
        .collect()
    )


_SPACED = r'"[\x00-\x20]+(,|$)'
"""Blanks that may follow a closing quote: they are part of the cell, and Spark would drop them."""


def _lines(reader: DataFrameReader, location: str, *more: Column) -> DataFrame:
    """Return the lines of files as `value`, each with its `file` and its order in the file.

    The order is that of `start`, where the block of the line begins, and then of `place`.
    """
    return reader.text(location).select(
        "value",
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("start"),
        F.monotonically_increasing_id().alias("place"),
        *more,
    )


def _count(text: Column, letter: str) -> Column:
    return F.octet_length(text) - F.octet_length(F.replace(text, F.lit(letter)))


def _ways_to_write(names: Sequence[str]) -> list[str]:
    ways = [",".join(names)]
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        line = io.StringIO()
        csv.writer(line, quoting=quoting, lineterminator="").writerow(names)
        ways.append(line.getvalue())
    return ways


def _check_readable(files: Sequence[Row]) -> None:
    for file in files:
        if file.undecodable:
            message = f"{file.undecodable} lines are not UTF-8."
            raise DataError.of("C008", message, source=display_path(file.file))


def _check_lines(files: Sequence[Row], width: int) -> None:
    for file in files:
        if width == 1 and file.blank:
            message = f"{file.blank} lines are blank, and Spark would skip them."
            hint = 'A missing value of a table with one column is written as "".'
            raise DataError.of("C010", message, hint, display_path(file.file))
        if file.ragged:
            raise _ragged_rows_error(file.ragged, width, file.file)


def _ragged_rows_error(rows: int, width: int, file: str) -> PolicyEngineError:
    message = f"{rows} rows have too many or too few cells. The header has {width}."
    return DataError.of("C007", message, source=display_path(file))


def _check_headers(
    session: SparkSession, files: Sequence[Row], names: tuple[str, ...], first: str
) -> None:
    """Refuse files where one has other columns than the first, or another order of columns."""
    for file in files:
        is_usual = file.first == file.header
        file_names = names if is_usual else _header(session, as_path(file.file))[1]
        if file_names != names:
            raise column_mismatch_error(
                display_path(first), names, display_path(file.file), file_names
            )


def _check_rows(session: SparkSession, location: str, names: Sequence[str]) -> None:
    """Parse every row once: lines alone do not tell how many cells a row with quotes has."""
    frame = _reader(session, [*names, CORRUPT]).options(**_WHOLE_ROWS).csv(location)
    is_ragged = F.col(quote_name(CORRUPT)).isNotNull()
    counts = frame.groupBy(F.col("_metadata.file_path").alias("file"))
    # Spark refuses to read only the column of corrupt records.
    other = F.count(quote_name(names[0]))
    try:
        files = counts.agg(F.count_if(is_ragged).alias("ragged"), other).collect()
    except Exception as error:
        # The message of the parser is not quoted, since it holds cells.
        if "CSV header" in str(error):
            message = "The files of one table differ in their columns."
            raise DataError.of("C014", message, source=location) from None
        if "FAILED_READ_FILE" not in str(error):
            raise
        raise DataError.of("C010", "The rows cannot be read.", QUOTES_HINT, location) from None
    for file in files:
        if file.ragged:
            raise _ragged_rows_error(file.ragged, len(names), file.file)


def _check_quotes(session: SparkSession, location: str) -> None:
    """Refuse quotes that are not those of whole cells, in files whose rows are lines."""
    lines = _lines(strict_reader(session), location).select("value", "file")
    quoted = lines.where(_count(F.col("value"), '"') > 0)
    quoted.mapInArrow(_line_quotes_task, "file string").count()


@carry_errors
def _line_quotes_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for file, _, piece in _pieces(batches, ()):
        check_line_quotes(piece, ",", display_path(file))
        yield pa.record_batch([[file]], names=["file"])


def _read_line_by_line(
    session: SparkSession, location: str, names: tuple[str, ...], folders: Sequence[str]
) -> DataFrame:
    """Return the cells of files in which a cell may span several lines or end in blanks: each file
    is read in one task, from its first line on, with the CSV reader of the local engine.

    Spark's own reader turns every carriage return and line feed within a cell into a line feed,
    takes a carriage return that ends the last cell for a part of the line end, and drops blanks
    after a closing quote.
    """
    lines = (
        _lines(
            strict_reader(session).option("lineSep", "\n"), location, *map(folder_value, folders)
        )
        .repartition("file")
        .sortWithinPartitions("file", "start", "place")
    )
    counts = lines.select("value", "file").mapInArrow(
        _ragged_rows_task(names), "file string, rows bigint"
    )
    for row in counts.groupBy("file").agg(F.sum("rows").alias("rows")).where("rows > 0").collect():
        raise _ragged_rows_error(row.rows, len(names), row.file)
    schema = _text_schema((*names, *folders))
    return map_in_tasks(lines.drop("start", "place"), _reading_task(names, folders), schema)


def _ragged_rows_task(names: tuple[str, ...]) -> Task:
    """Return a task that counts the rows of each file that have too many or too few cells."""

    @carry_errors
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, _, pieces in _group_by_file(batches):
            counter = _RaggedRows()
            checked = checked_quotes(pieces, ",", display_path(file))
            for _ in _rows(checked, names, file, counter.pass_over):
                pass
            yield pa.record_batch([[file], [counter.rows]], names=["file", "rows"])

    return count


class _RaggedRows:
    """The number of rows with more or fewer cells than their header."""

    def __init__(self) -> None:
        self.rows = 0

    def pass_over(self, _row: pacsv.InvalidRow) -> str:
        self.rows += 1
        return "skip"


def _reading_task(names: tuple[str, ...], folders: Sequence[str]) -> Task:
    """Return a task that reads the rows of its files, and adds their partition columns."""

    @carry_errors
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, values, pieces in _group_by_file(batches, folders):
            for batch in _rows(pieces, names, file):
                folder_columns = [
                    pa.repeat(pa.scalar(value, pa.string()), len(batch)) for value in values
                ]
                columns = [*batch.columns, *folder_columns]
                yield pa.record_batch(columns, names=[*names, *folders])

    return read


def _rows(
    pieces: Iterator[bytes],
    names: tuple[str, ...],
    file: str,
    handler: Callable[[pacsv.InvalidRow], str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, as `tables.read_table` reads them."""
    try:
        yield from pacsv.open_csv(
            # Of two byte-order marks, Hadoop has left one out, and Arrow would the other.
            pa.PythonFile(_PieceReader(chain([codecs.BOM_UTF8], pieces)), "r"),
            read_options=pacsv.ReadOptions(block_size=_BLOCK, use_threads=False),
            parse_options=pacsv.ParseOptions(
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
                invalid_row_handler=handler,
            ),
            convert_options=pacsv.ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):  # its message may quote the data
        raise DataError.of(
            "C010", "The file is not a csv table.", source=display_path(file)
        ) from None


class _PieceReader:
    """A readable file that consists of pieces."""

    closed = False

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held = pieces, b""

    def read(self, size: int) -> bytes:
        """Return `size` bytes, fewer only at the end."""
        parts, missing = [self._held], size - len(self._held)
        while missing > 0 and (piece := next(self._pieces, None)) is not None:
            parts.append(piece)
            missing -= len(piece)
        joined = b"".join(parts)
        self._held = joined[size:]
        return joined[:size]

    def close(self) -> None:
        """Do nothing: there is no file to close."""


def _group_by_file(
    batches: Iterator[pa.RecordBatch], folders: Sequence[str] = ()
) -> Iterator[tuple[str, list[str | None], Iterator[bytes]]]:
    """Yield each file, the values of its partition columns, and its bytes in pieces."""
    for (file, values), parts in groupby(_pieces(batches, folders), key=lambda part: part[:2]):
        yield file, values, (piece for _, _, piece in parts)


def _pieces(
    batches: Iterator[pa.RecordBatch], folders: Sequence[str]
) -> Iterator[tuple[str, list[str | None], bytes]]:
    for batch in batches:
        ends = pc.run_end_encode(batch.column("file")).run_ends.to_pylist()
        for start, end in zip([0, *ends], ends, strict=False):
            values = [batch.column(name)[start].as_py() for name in folders]
            lines = batch.column("value").slice(start, end - start).cast(pa.large_binary())
            joined = pc.binary_join_element_wise(lines, _END, _NOTHING)
            yield batch.column("file")[start].as_py(), values, joined.buffers()[2].to_pybytes()


_END, _NOTHING = (pa.scalar(text, pa.large_binary()) for text in (b"\n", b""))
