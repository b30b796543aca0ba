"""Read data with Spark, and refuse what Spark would silently read wrongly."""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.data.catalog import MEMORY, TABLE, Dataset
from policy_engine.data.column_names import check_column_names, missing_columns
from policy_engine.data.table_files import (
    SPARK_FORMATS,
    SparkFormat,
    check_spark_format,
    match_format,
)
from policy_engine.engines.spark.catalog_tables import sql_name
from policy_engine.engines.spark.coding import PERSON
from policy_engine.engines.spark.csv_files import CORRUPT, csv_columns, read_csv
from policy_engine.engines.spark.failures import explain_error
from policy_engine.engines.spark.files import (
    as_path,
    check_there,
    column_mismatch_error,
    display_path,
    folder_columns,
    folder_value,
    list_files,
    strict_reader,
)
from policy_engine.engines.spark.joining import KEY
from policy_engine.engines.spark.plain_floats import plain_floats
from policy_engine.engines.spark.values import quote_name
from policy_engine.errors import DataError, join_names

_OTHER = "__policy_engine_other"
RESERVED = ("_metadata", PERSON, CORRUPT, _OTHER, KEY)
"""The names of columns that Spark, or this engine, adds."""
_USABLE = (
    *(types.StringType, types.CharType, types.VarcharType, types.NullType, types.BooleanType),
    *(types.NumericType, types.DateType, types.TimestampType, types.TimestampNTZType),
)


def describe_dataset(session: SparkSession, iri: str, source: str | DataFrame) -> Dataset:
    """Return the location, the format and the columns of a dataset.

    `source` is a frame, the path or URI of a file or of a folder of files, or `table:NAME`.
    Raises DataError where it does not exist (C002), cannot be read (C003, C010), has an unknown
    format or several (C004), and where the names of its columns are not usable, PlanError (M009)
    for files of arrays.
    """
    if isinstance(source, DataFrame):
        names = tuple(source.columns)
        _check_columns(session, names, iri)
        return Dataset(iri, MEMORY, "memory", names)
    if not source.startswith(TABLE):
        check_spark_format(source)
    with _explain_errors(source):
        check_there(session, source)
        kind = _format(session, source)
        names = _columns(session, source, kind)
    _check_columns(session, names, source)
    return Dataset(iri, source, kind, names)


def read(
    session: SparkSession, source: str | DataFrame, kind: str, columns: Sequence[str]
) -> DataFrame:
    """Return the `columns` of a dataset, in that order; `kind` is its format.

    Cells of CSV are text exactly as written, empty ones missing; floats are as `plain_floats` has
    them. At most two more passes look for
    what Spark would ignore. Raises DataError for columns that are missing (C005) or of a type
    without an order (C009), ragged rows (C007), bytes that are not UTF-8 (C008), damaged files and
    blank lines that stand for rows (C010), files of one table with different columns (C014).
    """
    return plain_floats(read_as_stored(session, source, kind, columns))


def read_as_stored(
    session: SparkSession, source: str | DataFrame, kind: str, columns: Sequence[str]
) -> DataFrame:
    """Return what `read` does, floats with the bits that they have."""
    where = MEMORY if isinstance(source, DataFrame) else source
    with _explain_errors(where):
        if isinstance(source, DataFrame):
            frame = source
        elif kind == "table":
            frame = _load_typed(session, source, kind)
        else:
            frame = _read_files(session, source, kind, columns)
        _check_present(frame, columns, where)
        _check_types(frame, columns, where)
        return frame.select(*map(column, columns))


def _read_files(
    session: SparkSession, location: str, kind: str, columns: Sequence[str]
) -> DataFrame:
    """Return all columns of files, including partition columns.

    Only `columns` are checked to be in every file.
    """
    folders = folder_columns(session, location)
    if kind in {"csv", "csv.gz"}:
        return read_csv(session, location, folders)
    frame = _json(session, location) if kind == "json" else _load_typed(session, location, kind)
    present_columns = [name for name in columns if name in frame.columns]
    if present_columns and kind != "json":
        _check_everywhere(session, frame, kind, present_columns, location)
    return frame.select("*", *map(folder_value, folders)) if folders else frame


def first_texts(
    frame: DataFrame, names: Sequence[str], count: int
) -> Mapping[str, tuple[str, ...]]:
    """Return the distinct texts in the first `count` rows, by column; none for other types."""
    are_texts = [name for name, kind in frame.dtypes if kind == "string" and name in names]
    texts: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    if are_texts:
        rows = frame.select([F.col(quote_name(name)) for name in are_texts]).take(count)
        for index, name in enumerate(are_texts):
            texts[name] = tuple({row[index] for row in rows} - {None})
    return texts


def column(name: str) -> Column:
    """Return a column by its exact name, including dots and backquotes."""
    return F.col(quote_name(name))


@contextmanager
def _explain_errors(source: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 (Spark's are of many kinds)
        raise explain_error(error, source, "reading") from None


def _format(session: SparkSession, location: str) -> SparkFormat:
    if location.startswith(TABLE):
        return "table"
    named_format = match_format(location.rstrip("/"), SPARK_FORMATS)
    if named_format:
        return named_format
    endings = "|".join(re.escape(name) for name in sorted(SPARK_FORMATS, key=len, reverse=True))
    ending = F.regexp_extract(F.lower("path"), rf"\.({endings})$", 1)
    endings_found = {
        row[0] for row in list_files(session, location).select(ending).distinct().collect()
    }
    if len({kind.removesuffix(".gz") for kind in endings_found}) == 1 and "" not in endings_found:
        return max(endings_found)
    allowed = join_names(f".{name}" for name in SPARK_FORMATS)
    message = "The files of the folder have unknown endings, or different formats."
    raise DataError.of("C004", message, f"Known are {allowed}.", location)


def _columns(session: SparkSession, location: str, kind: SparkFormat) -> tuple[str, ...]:
    if kind in {"csv", "csv.gz"}:
        names = csv_columns(session, location)
    elif kind == "json":
        names = tuple(_json_schema(session, location).names)
    else:
        names = tuple(_load_typed(session, location, kind).columns)
    return names if kind == "table" else (*names, *folder_columns(session, location))


def _check_columns(session: SparkSession, names: tuple[str, ...], source: str) -> None:
    check_column_names(names, source)
    reserved = [name for name in names if name.lower() in RESERVED]
    if reserved:
        message = (
            f"Spark, or this engine on it, has columns of its own called {join_names(reserved)}."
        )
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
        if not _is_usable(kind):
            message = (
                f"The column {name!r} is of type {kind.simpleString()}, which has no order that "
                "a cell could show."
            )
            hint = "Allowed are numbers, texts, truth values, dates, times and arrays of numbers."
            raise DataError.of("C009", message, hint, source)


def _is_usable(kind: types.DataType) -> bool:
    """Tell whether a type is that of cells, or of arrays of numbers, such as images."""
    if isinstance(kind, types.ArrayType):
        inner = kind.elementType
        while isinstance(inner, types.ArrayType):
            inner = inner.elementType
        return isinstance(inner, types.NumericType) and not isinstance(inner, types.DecimalType)
    return isinstance(kind, _USABLE) or kind.simpleString().startswith("time(")


def _json_schema(session: SparkSession, location: str) -> types.StructType:
    """Return the fields of the records. Raises DataError (C010) for lines that are not records."""
    schema = strict_reader(session).options(columnNameOfCorruptRecord=CORRUPT).json(location).schema
    if CORRUPT not in schema.names:
        return schema
    with_other = types.StructType([*schema.fields, types.StructField(_OTHER, types.StringType())])
    reader = strict_reader(session).schema(with_other).options(columnNameOfCorruptRecord=CORRUPT)
    corrupt = F.count_if(column(CORRUPT).isNotNull()).alias("corrupt")
    counts = reader.json(location).groupBy(F.col("_metadata.file_path").alias("file"))
    # Spark refuses to read only the column of corrupt records.
    for row in counts.agg(corrupt, F.max(column(_OTHER))).where("corrupt > 0").collect():
        message = f"{row.corrupt} lines are not JSON records."
        raise DataError.of("C010", message, source=display_path(row.file))
    return schema


def _json(session: SparkSession, location: str) -> DataFrame:
    reader = strict_reader(session).schema(_json_schema(session, location))
    return reader.options(columnNameOfCorruptRecord=CORRUPT).json(location)


def _load_typed(session: SparkSession, location: str, kind: str) -> DataFrame:
    if kind == "table":
        return session.table(sql_name(location))
    return strict_reader(session).format(kind).option("mergeSchema", value=True).load(location)


def _check_everywhere(
    session: SparkSession, frame: DataFrame, kind: str, columns: Sequence[str], location: str
) -> None:
    """Refuse files that lack a column, for which Spark would give missing values.

    Only where a column is missing in all rows of a file is that file's own list of columns
    looked at. Parts without missing values are passed over by their statistics. A single file
    has the columns that were read of it.
    """
    if len(frame.inputFiles()) == 1:
        return
    for file, suspects in _files_without_values(frame, columns):
        file_columns = strict_reader(session).format(kind).load(as_path(file)).columns
        if any(name not in file_columns for name in suspects):
            raise column_mismatch_error(
                location, tuple(frame.columns), display_path(file), tuple(file_columns)
            )


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
