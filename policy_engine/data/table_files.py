"""The files of a table: which they are, in which format, and the columns in their headers."""

import csv
import sys
import zlib
from pathlib import Path
from typing import Literal, get_args
from zipfile import BadZipFile, ZipFile

from policy_engine.data.column_names import check_column_names
from policy_engine.data.csv_reading import (
    ENCODING_HINT,
    check_is_header,
    csv_format,
    open_text,
)
from policy_engine.data.places.patterns import is_pattern, matching_files, pattern_folder
from policy_engine.data.sheets import split_sheet, without_sheet
from policy_engine.data.storage import data_files, partition_values
from policy_engine.data.typed_files import (
    ARROW,
    JSON_LINES,
    STATISTICS,
    WORKBOOKS,
    typed_names,
)
from policy_engine.errors import (
    DataError,
    PlanError,
    PolicyEngineError,
    did_you_mean,
    join_names,
)

Format = Literal["csv", "csv.gz", "parquet", "npy", "npz", "jsonl", "ndjson", "arrow", "feather"]
FORMATS: tuple[str, ...] = get_args(Format)
"""The endings of files that the local engine reads and writes."""
ReadFormat = Literal[Format, "xlsx", "xls", "ods", "sav", "dta", "sas7bdat", "xpt"]
READ_FORMATS = (*FORMATS, *WORKBOOKS, *STATISTICS)
"""The endings of files that the local engine reads."""
TYPED_FORMATS = (*JSON_LINES, *ARROW, *WORKBOOKS, *STATISTICS)
"""The endings of files that are read whole, with types of their own."""
SparkFormat = Literal[Format, "orc", "json", "table"]
ARRAY_FORMATS = ("npy", "npz")
SPARK_FORMATS = ("csv", "csv.gz", "parquet", "orc", "json")
"""The endings of files that the Spark engine knows."""
ALL_FORMATS = (*FORMATS, "orc", "json")
IMAGE = "image"
"""The name of the column that the only array of a .npy file is."""


def is_file(path: Path) -> bool:
    """Tell whether there is such a file. Raises DataError (C003) where that cannot be told."""
    try:
        return split_sheet(path)[0].is_file()
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None


def list_table_files(path: Path) -> tuple[Path, ...]:
    """Return the files that make up a table: itself, those that a pattern matches, or those of a
    folder that ends like data.

    Raises DataError (C002) where there is no such file, (C003) where that cannot be told, (C010)
    where a folder holds none.
    """
    try:
        if is_pattern(path):
            return _matched(path)
        is_folder, is_there = path.is_dir(), split_sheet(path)[0].exists()
        files = tuple(path / name for name in data_files(path)) if is_folder else (path,)
    except (OSError, ValueError) as error:
        raise unreadable_file(path, error) from None
    if not is_there:
        raise missing_file(path)
    if not files:
        raise DataError.of("C010", "The folder holds no files of data.", source=str(path))
    return files


def _matched(pattern: Path) -> tuple[Path, ...]:
    """Return the files that match. Raises DataError (C002) where none does."""
    files = matching_files(pattern)
    if files:
        return files
    message = f"No file matches the pattern {str(pattern)!r}."
    raise DataError.of("C002", message, "It may have *, ?, [...] and, for folders, **.")


def unreadable_file(path: Path, error: Exception) -> PolicyEngineError:
    """Return the error (C003) of a file that exists and cannot be read."""
    reason = getattr(error, "strerror", None) or "its name is not allowed or its bytes are damaged"
    hint = ""
    if isinstance(error, UnicodeEncodeError):
        reason, hint = "its name is not UTF-8", "Give it another name."
    hint = _encoding_hint(path) or hint
    return DataError.of("C003", f"The file cannot be read: {reason}.", hint, source=str(path))


def _encoding_hint(path: Path) -> str:
    """Return how Python can be made to read this name; empty where it already can."""
    encoding = sys.getfilesystemencoding()
    if encoding == "utf-8" or str(path).isascii():
        return ""
    return f"Python reads file names as {encoding}: start it with PYTHONUTF8=1."


def read_format(path: Path) -> ReadFormat:
    """Return the format of a file that is read. Raises DataError (C004) for one that cannot be."""
    return file_format(path, READ_FORMATS)


def file_format(path: Path, formats: tuple[str, ...] = FORMATS) -> Format:
    """Return the format that a file's ending names. Raises DataError (C004) for others."""
    ending = match_format(path.name, formats)
    if ending:
        return ending  # type: ignore[return-value]
    allowed = join_names(f".{name}" for name in formats)
    raise DataError.of("C004", f"The ending of {path.name!r} is not known. Known are {allowed}.")


def match_format(name: str, formats: tuple[str, ...]) -> SparkFormat | None:
    """Return the format whose ending a file's name has, None where it has none of them."""
    for ending in sorted(formats, key=len, reverse=True):
        if without_sheet(name).lower().endswith(f".{ending}"):
            return ending  # type: ignore[return-value]
    return None


def check_spark_format(name: str) -> None:
    """Raise PlanError (M009) for a name that ends as a file of arrays does."""
    ending = match_format(name.rstrip("/"), ARRAY_FORMATS)
    if ending:
        message = (
            f"The spark engine has no .{ending} files: each is one array or one archive, which "
        )
        message += f"no task can read or write a part of. Given: {name!r}."
        raise PlanError.of("M009", message, "Write Parquet, or run it on the local engine.")


def array_names(archive: ZipFile) -> tuple[str, ...]:
    """Return the names of the arrays in a .npz file. Raises ValueError for other members."""
    members = archive.namelist()
    if not all(member.endswith(".npy") for member in members):
        raise ValueError(archive.filename)
    return tuple(member.removesuffix(".npy") for member in members)


def read_header(path: Path) -> tuple[ReadFormat, tuple[str, ...]]:
    """Return the format of a table, a file, a folder of files or those of a pattern, and its
    columns' names.

    Raises DataError where a file is missing (C002), unreadable or without a proper header, of an
    unknown format (C004), or where the files of a table have different columns (C014).
    """
    is_table = match_format(path.name, READ_FORMATS) and path.is_dir()
    if not is_file(path) and not is_table and not is_pattern(path):
        if path.is_dir():
            message = f"{str(path)!r} is a folder whose name does not end as a table's does."
            raise DataError.of("C002", message, "Give a file in it.")
        raise missing_file(path)
    format_name, files = read_format(path), list_table_files(path)
    names = _read_column_names(files[0], read_format(files[0]), path)
    for other in files[1:]:
        if _read_column_names(other, read_format(other), path) != names:
            message = f"The files of {str(path)!r} differ in the names or the order of columns."
            raise DataError.of("C014", message, source=str(other))
    if not names and format_name.startswith("csv"):
        message = "The file is empty, or its first line is."
        raise DataError.of("C010", message, source=str(files[0]))
    check_column_names(names, str(path))
    return format_name, names


def read_text(path: Path) -> str:
    """Return a text in UTF-8. Raises DataError where there is none (C002), it cannot be read (C003)
    or is another encoding (C008)."""
    if not is_file(path):
        raise missing_file(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable_file(path, error) from None
    except UnicodeDecodeError:
        raise DataError.of("C008", "The text is not UTF-8.", source=str(path)) from None


def missing_file(path: Path) -> PolicyEngineError:
    """Return the error (C002) of a file that is not there, with names near to its own."""
    return DataError.of("C002", f"There is no file {str(path)!r}.", _similar_files(path))


def file_partition_values(file: Path, table: Path) -> dict[str, str | None]:
    """Return the columns that the names of a file's folders in a table give, as text."""
    folder = pattern_folder(table) if file.parts[: len(table.parts)] != table.parts else table
    return partition_values(file.relative_to(folder).as_posix())


def _read_column_names(path: Path, kind: ReadFormat, table: Path) -> tuple[str, ...]:
    """Return the columns of a table's file: those in its header, then those of its folders."""
    try:
        names = _columns_of(path, kind)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        message = f"The header is not {error.encoding.upper()}. The byte 0x{byte:02x} is in it."
        raise DataError.of("C008", message, ENCODING_HINT, str(path)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable_file(path, error) from None
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
        raise DataError.of("C008", "The header is not UTF-8.", ENCODING_HINT, str(path))
    return (*names, *file_partition_values(path, table))


def _columns_of(path: Path, kind: ReadFormat) -> tuple[str, ...]:
    if kind in TYPED_FORMATS:
        return typed_names(path, kind)
    if kind in ARRAY_FORMATS:
        return _array_columns(path, kind)
    return _parquet_columns(path) if kind == "parquet" else _csv_columns(path)


def _array_columns(path: Path, kind: ReadFormat) -> tuple[str, ...]:
    try:
        return _archived_arrays(path) if kind == "npz" else _only_array(path)
    except (BadZipFile, ValueError, NotImplementedError):
        message = f"The file is not one of numpy's .{kind} files."
        raise DataError.of("C010", message, source=str(path)) from None


def _archived_arrays(path: Path) -> tuple[str, ...]:
    with ZipFile(path) as archive:
        return array_names(archive)


def _only_array(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        if file.read(len(_NPY)) != _NPY:
            raise ValueError(path)
    return (IMAGE,)


_NPY = b"\x93NUMPY"


def _similar_files(path: Path) -> str:
    if _encoding_hint(path):
        return _encoding_hint(path)
    if set(path.name) & set("{}"):
        return "A pattern has *, ? or [...]. Several files are given so, or as a folder."
    try:
        return did_you_mean(path.name, (other.name for other in path.parent.iterdir()))
    except OSError:
        return ""


def _csv_columns(path: Path) -> tuple[str, ...]:
    form = csv_format(path)
    errors = "surrogateescape" if form.encoding == "utf-8" else "strict"
    with open_text(path, form.encoding, errors) as text:
        try:
            names = tuple(next(csv.reader(text, delimiter=form.delimiter, strict=True), ()))
        except csv.Error as error:
            message = f"The header cannot be read: {error}."
            raise DataError.of("C010", message, source=str(path)) from None
    check_is_header(names, path)
    return names


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return tuple(pq.read_schema(path).names)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = f"The file is not Parquet: {str(error).splitlines()[0]}"
        raise DataError.of("C010", message, source=str(path)) from None
