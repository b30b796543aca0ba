"""What Spark reads, and what it would otherwise read wrongly without a word."""

import csv
import io
import operator
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, DataFrameReader, Row, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.catalog import (
    MEMORY,
    SPARK_FORMATS,
    TABLE,
    Dataset,
    SparkFormat,
    check_names,
    missing_columns,
    with_ending,
)
from policy_engine.engines.spark.failures import explained
from policy_engine.engines.spark.values import quoted
from policy_engine.errors import DataError, PolicyEngineError, listed

_CORRUPT = "__policy_engine_corrupt"
_OTHER = "__policy_engine_other"
_STRICT = {"ignoreCorruptFiles": False, "ignoreMissingFiles": False}
_CSV: dict[str, bool | int | str] = {
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
    "columnNameOfCorruptRecord": _CORRUPT,
}
_WHOLE_ROWS = {"columnPruning": False}
"""Without it, Spark does not see how many cells a row has of which it needs only some."""
_USABLE = (
    *(types.StringType, types.CharType, types.VarcharType, types.NullType, types.BooleanType),
    *(types.NumericType, types.DateType, types.TimestampType, types.TimestampNTZType),
)


def described(session: SparkSession, iri: str, source: str | DataFrame) -> Dataset:
    """Return where a dataset lies, in which format and with which columns.

    `source` is a frame, the path or URI of a file or of a folder of files, or `table:NAME`.
    Raises DataError where there is nothing (C002), where it cannot be read (C003, C010), where
    its format is not known or not one (C004), and where its columns have no proper names.
    """
    if isinstance(source, DataFrame):
        names = tuple(source.columns)
        _check_columns(session, names, iri)
        return Dataset(iri, MEMORY, "memory", names)
    with _explaining(source):
        kind = _format(session, source)
        names = _columns(session, source, kind)
    _check_columns(session, names, source)
    return Dataset(iri, source, kind, names)


def read(
    session: SparkSession, source: str | DataFrame, kind: str, columns: Sequence[str]
) -> DataFrame:
    """Return the columns of a dataset in the order asked for, `kind` being its format.

    Cells of CSV are text exactly as written, empty ones missing. What Spark would pass over is
    looked for in at most two passes. Raises DataError for columns that are not there (C005) or
    of a type without an order (C009); rows that are ragged (C007); bytes that are not UTF-8
    (C008); damaged files and blank lines that stand for rows (C010); files of one table with
    other columns than the rest (C014).
    """
    where = MEMORY if isinstance(source, DataFrame) else source
    with _explaining(where):
        if isinstance(source, DataFrame):
            frame = source
        elif kind in {"csv", "csv.gz"}:
            frame = _csv(session, source)
        elif kind == "json":
            frame = _json(session, source)
        else:
            frame = _typed(session, source, kind)
        _check_present(frame, columns, where)
        _check_types(frame, columns, where)
        if kind in {"parquet", "orc"} and not isinstance(source, DataFrame):
            _check_everywhere(session, frame, kind, columns, source)
        return frame.select(*map(column, columns))


def column(name: str) -> Column:
    """Return a column by its name as it is, dots and backquotes included."""
    return F.col(quoted(name))


@contextmanager
def _explaining(source: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explained(error, source, "reading") from None


def strict(session: SparkSession) -> DataFrameReader:
    """Return a reader that leaves out no file, however the session is configured."""
    return session.read.options(**_STRICT)


def _format(session: SparkSession, location: str) -> SparkFormat:
    if location.startswith(TABLE):
        return "table"
    given = with_ending(location.rstrip("/"), SPARK_FORMATS)
    if given:
        return given
    endings = "|".join(re.escape(one) for one in sorted(SPARK_FORMATS, key=len, reverse=True))
    files = strict(session).options(recursiveFileLookup=True).format("binaryFile")
    ending = F.regexp_extract(F.lower("path"), rf"\.({endings})$", 1)
    found = {row[0] for row in files.load(location).select(ending).distinct().collect()}
    if len({kind.removesuffix(".gz") for kind in found}) == 1 and "" not in found:
        return max(found)
    allowed = listed(f".{name}" for name in SPARK_FORMATS)
    message = "The files of the folder have endings that are not known, or are not of one format."
    raise DataError.of("C004", message, f"Known are {allowed}.", location)


def _columns(session: SparkSession, location: str, kind: SparkFormat) -> tuple[str, ...]:
    if kind in {"csv", "csv.gz"}:
        return _header(session, _a_file(session, location))
    if kind == "json":
        return tuple(name for name in _json_schema(session, location).names if name != _OTHER)
    return tuple(_typed(session, location, kind).columns)


def _check_columns(session: SparkSession, names: tuple[str, ...], source: str) -> None:
    check_names(names, source)
    if str(session.conf.get("spark.sql.caseSensitive")).lower() == "true":
        return
    lower = [name.lower() for name in names]
    alike = [name for name in names if lower.count(name.lower()) > 1]
    if alike:
        message = f"The session does not tell the columns {listed(alike)} apart."
        raise DataError.of("C006", message, "Set spark.sql.caseSensitive to true.", source)


def _check_present(frame: DataFrame, columns: Sequence[str], source: str) -> None:
    dataset = Dataset(source, source, "memory", tuple(frame.columns))
    problems = list(missing_columns(tuple(columns), dataset))
    if problems:
        raise DataError(*problems, source=source)


def _check_types(frame: DataFrame, columns: Sequence[str], source: str) -> None:
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    for name in columns:
        kind = kinds[name]
        if not (isinstance(kind, _USABLE) or kind.simpleString().startswith("time(")):
            message = (
                f"The column {name!r} is of type {kind.simpleString()}, which has no order that "
                "a cell could show."
            )
            hint = "Allowed are numbers, texts, truth values, dates and times."
            raise DataError.of("C009", message, hint, source)


def _a_file(session: SparkSession, location: str) -> str:
    """Return one of the files that hold anything."""
    lines = strict(session).text(location).select(F.col("_metadata.file_path"))
    for line in lines.take(1):
        return str(line.file_path)
    raise DataError.of("C010", "The table has no columns.", source=location)


def _header(session: SparkSession, file: str) -> tuple[str, ...]:
    """Return the cells of the first row of one file."""
    lax: dict[str, bool | str] = {
        "header": False,
        "multiLine": True,
        "unescapedQuoteHandling": "STOP_AT_DELIMITER",
    }
    [*rows] = strict(session).options(**_CSV | lax).csv(_path(file)).take(1)
    names = tuple(cell or "" for row in rows for cell in row)
    if any("\ufffd" in name for name in names):
        raise DataError.of("C008", "The header is not UTF-8.", source=_shown(file))
    return names


def _path(file: str) -> str:
    """Return a file as Spark takes it, from the percent-encoded URI that Spark gives."""
    return re.sub(r"([\[\]*?\\])", r"\\\1", unquote(file))


def _shown(file: str) -> str:
    """Return a file as a person would name it."""
    return re.sub("^file:/+", "/", unquote(file))


def _csv(session: SparkSession, location: str) -> DataFrame:
    first = _a_file(session, location)
    names = _header(session, first)
    files = _raw_lines(session, location, names)
    is_multiline = any(file.odd for file in files)
    _check_readable(files)
    _check_headers(session, files, names, first)
    _check_lines(files, len(names), is_multiline=is_multiline)
    if any(file.quotes for file in files):
        _check_rows(session, location, names, is_multiline=is_multiline)
    return _csv_reader(session, names, is_multiline=is_multiline).csv(location)


def _csv_reader(
    session: SparkSession, names: Sequence[str], *, is_multiline: bool
) -> DataFrameReader:
    texts = [types.StructField(name, types.StringType()) for name in names]
    reader = strict(session).schema(types.StructType(texts))
    return reader.options(**_CSV, multiLine=is_multiline)


def _raw_lines(session: SparkSession, location: str, names: Sequence[str]) -> list[Row]:
    """Count, per file, what its lines say about it before any of them is taken apart.

    `first` and `header` are the places of the first line, and of the first that is the header
    as one writes it: where they differ, the file has another header, or one written oddly.
    """
    line, here = F.col("value"), F.col("start") == 0
    quotes, commas = _count(line, '"'), _count(line, ",")
    is_ragged = (quotes == 0) & (line != "") & (commas != len(names) - 1)
    # What Spark trims away to nothing, it takes for no line at all.
    is_blank = line.rlike(r"^[\x00-\x20]*$") if len(names) == 1 else F.expr("false")
    lines = (
        strict(session)
        .text(location)
        .select(
            "value",
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("start"),
            F.monotonically_increasing_id().alias("place"),
        )
    )
    return (
        lines.groupBy("file")
        .agg(
            F.count_if(~F.is_valid_utf8(line)).alias("undecodable"),
            F.sum(quotes).alias("quotes"),
            F.count_if(quotes % 2 == 1).alias("odd"),
            F.count_if(is_ragged).alias("ragged"),
            F.count_if(is_blank).alias("blank"),
            F.count_if(line == "").alias("empty"),
            F.min(F.when(here, F.col("place"))).alias("first"),
            F.min(F.when(here & line.isin(_ways_to_write(names)), F.col("place"))).alias("header"),
        )
        .collect()
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
            raise DataError.of("C008", message, source=_shown(file.file))
        if file.quotes % 2:
            message = "A quoted cell is not closed: the file has an odd number of double quotes."
            raise DataError.of("C010", message, source=_shown(file.file))


def _check_lines(files: Sequence[Row], width: int, *, is_multiline: bool) -> None:
    for file in files:
        blank = file.empty if is_multiline else file.blank
        if width == 1 and blank:
            message = f"{blank} lines are blank, which Spark leaves out."
            hint = 'A missing value of a table with one column is written as "".'
            raise DataError.of("C010", message, hint, _shown(file.file))
        if file.ragged and not is_multiline:
            raise _ragged(file.ragged, width, file.file)


def _ragged(rows: int, width: int, file: str) -> PolicyEngineError:
    message = f"{rows} rows have too many or too few cells. The header has {width}."
    return DataError.of("C007", message, source=_shown(file))


def _check_headers(
    session: SparkSession, files: Sequence[Row], names: tuple[str, ...], first: str
) -> None:
    """Refuse files of which one has other columns than the first, or in another order."""
    for file in files:
        found = names if file.first == file.header else _header(session, file.file)
        if found != names:
            raise _unlike(_shown(first), names, _shown(file.file), found)


def _unlike(one: str, ones: Sequence[str], other: str, others: Sequence[str]) -> PolicyEngineError:
    message = (
        f"The files of one table differ in their columns. {one!r} has {listed(ones)}, {other!r} "
        f"has {listed(others)}."
    )
    return DataError.of("C014", message, "Their names and order must be the same.")


def _check_rows(
    session: SparkSession, location: str, names: Sequence[str], *, is_multiline: bool
) -> None:
    """Take every row apart once, as lines alone do not tell how many cells a quoted row has."""
    reader = _csv_reader(session, [*names, _CORRUPT], is_multiline=is_multiline)
    frame = reader.options(**_WHOLE_ROWS).csv(location)
    counts = frame.groupBy(F.col("_metadata.file_path").alias("file")).agg(
        F.count_if(column(_CORRUPT).isNotNull()).alias("ragged"),
        F.count_if(column(names[-1]).endswith("\r")).alias("returns"),
    )
    try:
        found = counts.collect()
    except Exception as error:
        # Neither is quoted: the words of the parser hold cells.
        if "CSV header" in str(error):
            message = "The files of one table differ in their columns."
            raise DataError.of("C014", message, source=location) from None
        if "FAILED_READ_FILE" not in str(error):
            raise
        message = "Text stands behind the closing quote of a cell."
        hint = "A double quote within a quoted cell is written twice."
        raise DataError.of("C010", message, hint, location) from None
    for file in found:
        if file.ragged:
            raise _ragged(file.ragged, len(names), file.file)
        if file.returns and is_multiline:
            message = "The rows of the file end in different ways, with and without a return."
            raise DataError.of("C010", message, source=_shown(file.file))


def _json_schema(session: SparkSession, location: str) -> types.StructType:
    """Return the fields that the records have. Raises DataError (C010) where some are none."""
    schema = strict(session).options(columnNameOfCorruptRecord=_CORRUPT).json(location).schema
    if _CORRUPT not in schema.names:
        return schema
    whole = types.StructType([*schema.fields, types.StructField(_OTHER, types.StringType())])
    reader = strict(session).schema(whole).options(columnNameOfCorruptRecord=_CORRUPT)
    corrupt = F.count_if(column(_CORRUPT).isNotNull()).alias("corrupt")
    counts = reader.json(location).groupBy(F.col("_metadata.file_path").alias("file"))
    # Spark does not read the corrupt records alone.
    for row in counts.agg(corrupt, F.max(column(_OTHER))).where("corrupt > 0").collect():
        message = f"{row.corrupt} lines are no JSON records."
        raise DataError.of("C010", message, source=_shown(row.file))
    return schema


def _json(session: SparkSession, location: str) -> DataFrame:
    reader = strict(session).schema(_json_schema(session, location))
    return reader.options(columnNameOfCorruptRecord=_CORRUPT).json(location)


def _typed(session: SparkSession, location: str, kind: str) -> DataFrame:
    if kind == "table":
        return session.table(location.removeprefix(TABLE))
    return strict(session).format(kind).option("mergeSchema", value=True).load(location)


def _check_everywhere(
    session: SparkSession, frame: DataFrame, kind: str, columns: Sequence[str], location: str
) -> None:
    """Refuse files that lack a column, for which Spark would give missing values.

    Only where a column is missing in all rows of a file is that file's own list of columns
    looked at. Parts without missing values are passed over by their statistics.
    """
    for file, suspects in _files_without_values(frame, columns):
        found = strict(session).format(kind).load(_path(file)).columns
        if any(name not in found and f"/{name}=" not in unquote(file) for name in suspects):
            raise _unlike(location, frame.columns, _shown(file), found)


def _files_without_values(
    frame: DataFrame, columns: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    file, zero = F.col("_metadata.file_path").alias("file"), F.lit(0)
    missing = [column(name).isNull() for name in columns]
    flags = [one.cast("int").alias(f"n{i}") for i, one in enumerate(missing)]
    some = frame.where(reduce(operator.or_, missing)).select(file, zero.alias("rows"), *flags)
    every = frame.select(
        file, F.lit(1).alias("rows"), *(zero.alias(f"n{i}") for i in range(len(columns)))
    )
    sums = [F.sum(name).alias(name) for name in ("rows", *(f"n{i}" for i in range(len(columns))))]
    counts = every.union(some).groupBy("file").agg(*sums)
    is_empty = reduce(operator.or_, (F.col(f"n{i}") == F.col("rows") for i in range(len(columns))))
    for row in counts.where(is_empty).collect():
        yield row.file, [name for i, name in enumerate(columns) if row[f"n{i}"] == row.rows]
