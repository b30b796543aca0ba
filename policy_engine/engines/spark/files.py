"""Files for Spark: taken by their exact names, none left out, partition folders as text columns."""

import re
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its name everywhere)

from policy_engine.data import storage
from policy_engine.errors import DataError, PolicyEngineError, join_names

_STRICT = {
    "ignoreCorruptFiles": False,
    "ignoreMissingFiles": False,
    "recursiveFileLookup": True,
    "__globPaths__": False,
}
"""The last, which Spark sets itself for files that it has listed, turns off glob patterns."""


def strict_reader(session: SparkSession) -> DataFrameReader:
    """Return a reader of exactly the files of a location, whatever their names and the session's
    configuration. It does not read columns from partition folders."""
    return session.read.options(**_STRICT)


def check_there(session: SparkSession, location: str) -> None:
    """Raise DataError (C002) where a location that looks like a pattern does not exist, which Spark
    itself does not report."""
    if not re.search(r"[\[\]{}*?\\]", location):
        return
    if not list_files(session, location).take(1):
        hint = "A path is not a pattern. Several files are given as a folder, as in people.csv/."
        raise DataError.of("C002", f"Spark finds no data at {location!r}.", hint)


def list_files(session: SparkSession, location: str) -> DataFrame:
    """Return the files of a location, with the columns of the source `binaryFile`."""
    return strict_reader(session).format("binaryFile").load(location)


def as_path(file: str) -> str:
    """Return a file's path for Spark, from the percent-encoded URI that Spark returns."""
    return unquote(file)


def display_path(file: str) -> str:
    """Return a file's path or URI for messages."""
    return re.sub("^file:/+", "/", unquote(file))


def column_mismatch_error(
    first: str, first_columns: tuple[str, ...], second: str, second_columns: tuple[str, ...]
) -> PolicyEngineError:
    """Return the error (C014) of two files of a table that differ in their columns."""
    first_names, second_names = (
        join_names(columns) if columns else "none" for columns in (first_columns, second_columns)
    )
    message = (
        "The files of one table differ in their columns. "
        f"{first!r} has {first_names}, {second!r} has {second_names}."
    )
    return DataError.of("C014", message, "Their names and order must be the same.")


def folder_columns(session: SparkSession, location: str) -> tuple[str, ...]:
    """Return the columns of the partition folders of a table, as in `year=2020/`.

    Raises DataError (C014) where files differ in them.
    """
    files_by_columns = {
        tuple(storage.partition_values(file)): file
        for file in _one_file_per_folder(session, location)
    }
    if len(files_by_columns) > 1:
        (columns, file), (other_columns, other) = sorted(files_by_columns.items())[:2]
        raise column_mismatch_error(file, columns, other, other_columns)
    return next(iter(files_by_columns), ())


def _one_file_per_folder(session: SparkSession, location: str) -> list[str]:
    """Return the relative name of one file in each folder of a location that has files."""
    if not storage.is_remote(location):
        is_folder = storage.is_folder(location)
        return list(storage.data_files(location)) if is_folder else []
    folder = F.regexp_replace("path", "[^/]*$", "").alias("folder")
    rows = list_files(session, location).select(folder).distinct().collect()
    root = uri_path(location).rstrip("/")
    return [uri_path(row.folder).partition(f"{root}/")[2] + "file" for row in rows]


def uri_path(uri: str) -> str:
    """Return the path of a URI; Hadoop writes URIs without percent-encoding."""
    return re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "", uri)


def folder_value(name: str) -> Column:
    """Return a partition column as text, with the values of `storage.partition_values`."""
    path = _percent_decode(F.col("_metadata.file_path"))
    ways = dict.fromkeys((name, storage.escape_folder_name(name)))
    pattern = rf"(?s).*/(?:{'|'.join(map(_quote_pattern, ways))})=([^/]*)/.*"
    value = _percent_decode(F.regexp_replace(path, pattern, "$1"))
    return F.nullif(F.nullif(value, F.lit(storage.MISSING_PARTITION)), F.lit("")).alias(name)


def _quote_pattern(text: str) -> str:
    return "\\Q" + text.replace("\\E", "\\E\\\\E\\Q") + "\\E"


def _percent_decode(text: Column) -> Column:
    """Return a text percent-decoded where it can be; `+` stays as it is."""
    return F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)
