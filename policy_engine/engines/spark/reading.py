"""What Spark reads, and what it would otherwise read wrongly without a word."""

import operator
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.data.catalog import MEMORY, TABLE, Dataset
from policy_engine.data.column_names import check_column_names, missing_columns
from policy_engine.data.table_files import SPARK_FORMATS, SparkFormat, match_format
from policy_engine.engines.spark.catalog_tables import sql_name
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.csv_files import CORRUPT, csv_columns, read_csv
from policy_engine.engines.spark.failures import explained
from policy_engine.engines.spark.files import (
    as_path,
    check_there,
    folder_columns,
    folder_value,
    listing,
    shown,
    strict,
    unlike,
)
from policy_engine.engines.spark.joining import KEY
from policy_engine.engines.spark.values import quoted
from policy_engine.errors import DataError, join_names

_OTHER = "__policy_engine_other"
RESERVED = ("_metadata", PERSON, CORRUPT, _OTHER, KEY)
"""What Spark, or this engine on it, calls columns of its own."""
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
        check_there(session, source)
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
        elif kind == "table":
            frame = _typed(session, source, kind)
        else:
            frame = _of_files(session, source, kind, columns)
        _check_present(frame, columns, where)
        _check_types(frame, columns, where)
        return frame.select(*map(column, columns))


def _of_files(session: SparkSession, location: str, kind: str, columns: Sequence[str]) -> DataFrame:
    """Return all columns of files, those of their folders too.

    That no file lacks any is looked at of the `columns` alone.
    """
    folders = folder_columns(session, location)
    if kind in {"csv", "csv.gz"}:
        return read_csv(session, location, folders)
    frame = _json(session, location) if kind == "json" else _typed(session, location, kind)
    asked = [name for name in columns if name in frame.columns]
    if asked and kind != "json":
        _check_everywhere(session, frame, kind, asked, location)
    return frame.select("*", *map(folder_value, folders)) if folders else frame


def column(name: str) -> Column:
    """Return a column by its name as it is, dots and backquotes included."""
    return F.col(quoted(name))


@contextmanager
def _explaining(source: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explained(error, source, "reading") from None


def _format(session: SparkSession, location: str) -> SparkFormat:
    if location.startswith(TABLE):
        return "table"
    given = match_format(location.rstrip("/"), SPARK_FORMATS)
    if given:
        return given
    endings = "|".join(re.escape(one) for one in sorted(SPARK_FORMATS, key=len, reverse=True))
    ending = F.regexp_extract(F.lower("path"), rf"\.({endings})$", 1)
    found = {row[0] for row in listing(session, location).select(ending).distinct().collect()}
    if len({kind.removesuffix(".gz") for kind in found}) == 1 and "" not in found:
        return max(found)
    allowed = join_names(f".{name}" for name in SPARK_FORMATS)
    message = "The files of the folder have endings that are not known, or are not of one format."
    raise DataError.of("C004", message, f"Known are {allowed}.", location)


def _columns(session: SparkSession, location: str, kind: SparkFormat) -> tuple[str, ...]:
    if kind in {"csv", "csv.gz"}:
        names = csv_columns(session, location)
    elif kind == "json":
        names = tuple(_json_schema(session, location).names)
    else:
        names = tuple(_typed(session, location, kind).columns)
    return names if kind == "table" else (*names, *folder_columns(session, location))


def _check_columns(session: SparkSession, names: tuple[str, ...], source: str) -> None:
    check_column_names(names, source)
    taken = [name for name in names if name.lower() in RESERVED]
    if taken:
        message = f"Spark, or this engine on it, has columns of its own called {join_names(taken)}."
        raise DataError.of("C006", message, "Rename those of the data.", source)
    if str(session.conf.get("spark.sql.caseSensitive")).lower() == "true":
        return
    lower = [name.lower() for name in names]
    alike = [name for name in names if lower.count(name.lower()) > 1]
    if alike:
        message = f"The session does not tell the columns {join_names(alike)} apart."
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


def _json_schema(session: SparkSession, location: str) -> types.StructType:
    """Return the fields that the records have. Raises DataError (C010) where some are none."""
    schema = strict(session).options(columnNameOfCorruptRecord=CORRUPT).json(location).schema
    if CORRUPT not in schema.names:
        return schema
    whole = types.StructType([*schema.fields, types.StructField(_OTHER, types.StringType())])
    reader = strict(session).schema(whole).options(columnNameOfCorruptRecord=CORRUPT)
    corrupt = F.count_if(column(CORRUPT).isNotNull()).alias("corrupt")
    counts = reader.json(location).groupBy(F.col("_metadata.file_path").alias("file"))
    # Spark does not read the corrupt records alone.
    for row in counts.agg(corrupt, F.max(column(_OTHER))).where("corrupt > 0").collect():
        message = f"{row.corrupt} lines are no JSON records."
        raise DataError.of("C010", message, source=shown(row.file))
    return schema


def _json(session: SparkSession, location: str) -> DataFrame:
    reader = strict(session).schema(_json_schema(session, location))
    return reader.options(columnNameOfCorruptRecord=CORRUPT).json(location)


def _typed(session: SparkSession, location: str, kind: str) -> DataFrame:
    if kind == "table":
        return session.table(sql_name(location))
    return strict(session).format(kind).option("mergeSchema", value=True).load(location)


def _check_everywhere(
    session: SparkSession, frame: DataFrame, kind: str, columns: Sequence[str], location: str
) -> None:
    """Refuse files that lack a column, for which Spark would give missing values.

    Only where a column is missing in all rows of a file is that file's own list of columns
    looked at. Parts without missing values are passed over by their statistics.
    """
    for file, suspects in _files_without_values(frame, columns):
        found = strict(session).format(kind).load(as_path(file)).columns
        if any(name not in found for name in suspects):
            raise unlike(location, tuple(frame.columns), shown(file), tuple(found))


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
