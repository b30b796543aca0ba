"""Looks at a table that somebody uploaded, in a process of its own that may use little.

What it is follows from reading it, whatever its name says; what is no table is refused with the
library's codes.
"""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from policy_engine.data.csv_reading import csv_format
from policy_engine.data.table_files import Format, file_format, read_header, unreadable_file
from policy_engine.errors import AuditError, DataError, PolicyEngineError, Problem, ServiceError
from policy_engine.service.files.parquet_sizes import decoded_size

ENDINGS: tuple[Format, ...] = ("csv", "csv.gz", "parquet")
_SECONDS = 120
_MEMORY = 4 * 2**30
_MOST_INFLATED = 100
"""So many times as large as it is may a compressed file become."""
_ALWAYS = 64 * 2**20
"""So many bytes any file may become."""
_MOST_COLUMNS = 10_000
_CHUNK = 1 << 20
_LONGEST_LINE = 2**20
_STRADDLING = "straddling"
"""What pyarrow says of a row that is longer than it reads at once."""
_KINDS: dict[str, type[PolicyEngineError]] = {"N": ServiceError, "A": AuditError}
"""The errors that reading raises, by how their codes begin, but for those of data."""


class UploadedTable(NamedTuple):
    """What is known of a table without its values."""

    format: str
    columns: tuple[str, ...]
    rows: int


def ending_of(name: str) -> str:
    """Return the ending of a table's file. Raises DataError (C004) for one that is not accepted."""
    return file_format(Path(name), ENDINGS)


def inspect_table(path: Path, ending: str) -> UploadedTable:
    """Return what is known of a table, read in a process of its own.

    Raises DataError as the library does for what is not a table, ServiceError (N008) for one that
    takes too long, too much memory, or is far larger than its file.
    """
    answer = read_apart(__name__, str(path), ending)
    return UploadedTable(answer["format"], tuple(answer["columns"]), answer["rows"])


def read_apart(module: str, *arguments: str, question: str = "") -> dict[str, Any]:
    """Return what a module answers that reads a file in a process of its own, which may use little.

    A question is given as its input: an argument is bounded, and whoever is on the machine sees it.

    Raises what it says is wrong, ServiceError (N008) where it takes too long or too much memory.
    """
    command = [sys.executable, "-m", module, *arguments]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    try:
        result = subprocess.run(  # noqa: S603 (nothing of it is from outside but the file's place)
            command,
            input=question.encode(),
            capture_output=True,
            timeout=_SECONDS,
            env=kept,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ServiceError.of("N008", "The file takes too long to read.") from None
    try:
        answer: dict[str, Any] = json.loads(result.stdout)
    except ValueError:
        raise ServiceError.of("N008", "The file takes more memory to read than is given.") from None
    if "problems" in answer:
        kind = _KINDS.get(answer["problems"][0]["code"][:1], DataError)
        raise kind(*(Problem(**one) for one in answer["problems"]))
    return answer


def outline(path: Path, ending: str) -> UploadedTable:
    """Return what is known of a table, read here. Raises as `inspect_table`."""
    named = path.with_name(f"{path.name}.{os.getpid()}.{ending}")  # others may read it as well
    named.symlink_to(path)
    try:
        _check_inflated(path, ending)
        _check_first_line(path, ending)
        kind, columns = read_header(named)
        _check_columns(columns)
        _check_names(columns)
        return UploadedTable(kind, columns, _count_rows(named, kind, columns))
    finally:
        named.unlink()


def _check_names(columns: Sequence[str]) -> None:
    """Raise DataError (C015) for a name that not every database keeps whole.

    None is quoted: the first line of a file may be a person's data.
    """
    numbers = [number for number, name in enumerate(columns, start=1) if "\0" in name]
    if numbers:
        message = f"The name of column {numbers[0]} has the character U+0000, at which names end."
        raise DataError.of("C015", message, "Rename it.")


def _check_columns(columns: Sequence[str]) -> None:
    """Raise ServiceError (N008) for a table that is too wide."""
    if len(columns) > _MOST_COLUMNS:
        message = f"A table has at most {_MOST_COLUMNS:,} columns. Given: {len(columns):,}."
        raise ServiceError.of("N008", message)
    if sum(map(len, columns)) > _LONGEST_LINE:
        message = f"The names of all columns together have at most {_LONGEST_LINE:,} characters."
        raise ServiceError.of("N008", message)


def _check_first_line(path: Path, ending: str) -> None:
    """Raise ServiceError (N008) for a text whose first line is too long to be one of names."""
    if ending == "parquet":
        return
    with gzip.open(path) if ending == "csv.gz" else path.open("rb") as file:
        start = file.read(_LONGEST_LINE)
    if len(start) == _LONGEST_LINE and b"\n" not in start and b"\r" not in start:
        raise ServiceError.of("N008", f"The first line has more than {_LONGEST_LINE:,} bytes.")


def _check_inflated(path: Path, ending: str) -> None:
    size = path.stat().st_size
    limit = max(size * _MOST_INFLATED, _ALWAYS)
    if _inflated(path, ending, limit) > limit:
        message = f"The file is more than {_MOST_INFLATED} times as large as it was sent."
        raise ServiceError.of("N008", message)


def _inflated(path: Path, ending: str, limit: int) -> int:
    """Return how large a file is once it is read, as far as that is below a limit."""
    if ending == "csv.gz":
        total = 0
        try:
            with gzip.open(path) as file:
                while total <= limit and (chunk := file.read(_CHUNK)):
                    total += len(chunk)
        except (OSError, EOFError) as error:
            raise unreadable_file(path, error) from None
        return total
    if ending == "parquet":
        return decoded_size(path, limit)
    return 0


def _count_rows(path: Path, kind: str, columns: Sequence[str]) -> int:
    """Return how many rows a table has; those of a text are all read, with no value converted."""
    from pyarrow import ArrowException, binary, csv, parquet  # noqa: PLC0415 (slow to import)

    if kind == "parquet":
        return int(parquet.read_metadata(path).num_rows)
    form = csv_format(path)
    options = {
        "read_options": csv.ReadOptions(encoding=form.encoding),
        "parse_options": csv.ParseOptions(delimiter=form.delimiter),
        "convert_options": csv.ConvertOptions(column_types=dict.fromkeys(columns, binary())),
    }
    try:
        with csv.open_csv(path, **options) as batches:
            return sum(batch.num_rows for batch in batches)
    except ArrowException as error:
        if _STRADDLING in str(error):
            message = f"A row of the file has more than {_LONGEST_LINE:,} bytes."
            raise ServiceError.of("N008", message) from None
        reason = str(error).splitlines()[0].partition(":")[0]
        raise DataError.of("C007", f"The rows cannot be read: {reason}.") from None


def tell(read: Callable[[], dict[str, Any]]) -> None:
    """Print what is read, or what is wrong with it, once this process is limited."""
    _limit()
    try:
        answer = read()
    except PolicyEngineError as error:
        parts = ("code", "message", "hint")
        answer = {"problems": [{one: getattr(p, one) for one in parts} for p in error.problems]}
    sys.stdout.write(json.dumps(answer))


def _limit() -> None:
    """Bound what this process may use, before it reads anything."""
    import resource  # noqa: PLC0415 (there is none on Windows)

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


if __name__ == "__main__":
    tell(lambda: outline(Path(sys.argv[1]), sys.argv[2])._asdict())
