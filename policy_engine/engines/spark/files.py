"""Files as Spark is to take them: by their names, none left out, and columns of folders as text."""

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
"""With the last, which Spark itself uses for files that it has listed, a path is a name."""


def strict(session: SparkSession) -> DataFrameReader:
    """Return a reader of the very files of a location, whatever letters are in their names and
    however the session is configured. Columns in the names of folders are not read."""
    return session.read.options(**_STRICT)


def check_there(session: SparkSession, location: str) -> None:
    """Raise DataError (C002) where nothing is at a location that looks like a pattern: of those
    Spark itself does not tell."""
    if not re.search(r"[\[\]{}*?\\]", location):
        return
    if not listing(session, location).take(1):
        hint = "A path is not a pattern. Several files are given as a folder, as in people.csv/."
        raise DataError.of("C002", f"Spark finds no data at {location!r}.", hint)


def listing(session: SparkSession, location: str) -> DataFrame:
    """Return the files of a location: their `path`, and what the source `binaryFile` has."""
    return strict(session).format("binaryFile").load(location)


def as_path(file: str) -> str:
    """Return a file as Spark takes it, from the percent-encoded URI that Spark gives."""
    return unquote(file)


def shown(file: str) -> str:
    """Return a file as a person would name it."""
    return re.sub("^file:/+", "/", unquote(file))


def unlike(
    one: str, ones: tuple[str, ...], other: str, others: tuple[str, ...]
) -> PolicyEngineError:
    """Return the error of two files of one table that differ in their columns."""
    message = (
        f"The files of one table differ in their columns. {one!r} has {join_names(ones)}, "
        f"{other!r} has {join_names(others)}."
    )
    return DataError.of("C014", message, "Their names and order must be the same.")


def folder_columns(session: SparkSession, location: str) -> tuple[str, ...]:
    """Return the columns whose values are in the names of folders, as in `year=2020/`.

    Raises DataError (C014) where files have different ones.
    """
    found = {
        tuple(storage.partition_values(file)): file for file in _one_of_each(session, location)
    }
    if len(found) > 1:
        (ones, one), (others, other) = sorted(found.items())[:2]
        raise unlike(one, ones, other, others)
    return next(iter(found), ())


def _one_of_each(session: SparkSession, location: str) -> list[str]:
    """Return the relative name of a file of each folder of a location that holds any."""
    if not storage.is_remote(location):
        is_folder = storage.is_folder(location)
        return list(storage.data_files(location)) if is_folder else []
    folder = F.regexp_replace("path", "[^/]*$", "").alias("folder")
    rows = listing(session, location).select(folder).distinct().collect()
    root = inner(location).rstrip("/")
    return [inner(row.folder).partition(f"{root}/")[2] + "file" for row in rows]


def inner(uri: str) -> str:
    """Return a URI's path. Hadoop's are written without percent-encoding."""
    return re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "", uri)


def folder_value(name: str) -> Column:
    """Return a column of a table's folders as text, as `storage.partition_values` does."""
    path = _decoded(F.col("_metadata.file_path"))
    ways = dict.fromkeys((name, storage.escape_folder_name(name)))
    pattern = rf"(?s).*/(?:{'|'.join(map(_literally, ways))})=([^/]*)/.*"
    value = _decoded(F.regexp_replace(path, pattern, "$1"))
    return F.nullif(F.nullif(value, F.lit(storage.MISSING_PARTITION)), F.lit("")).alias(name)


def _literally(text: str) -> str:
    return "\\Q" + text.replace("\\E", "\\E\\\\E\\Q") + "\\E"


def _decoded(text: Column) -> Column:
    """Return a text without its percent-encoding, where it is one; `+` means itself."""
    return F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)
