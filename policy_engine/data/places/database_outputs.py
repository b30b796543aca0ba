"""Write a table into a file of DuckDB or SQLite, in one transaction with its certificate.

Certificates are in a table of their own, by the name of the table that each is of. What is written
is read back before the transaction ends, in the order in which it was written.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from policy_engine.data.places.database_files import (
    ALONE,
    read_duckdb_table,
    read_sqlite_table,
    split_place,
)
from policy_engine.data.places.spelling import scheme
from policy_engine.data.places.stored_rows import TableName, quoted
from policy_engine.errors import DataError, OutputError, PolicyEngineError

if TYPE_CHECKING:
    import pyarrow as pa

CERTIFICATES = "policy_engine_certificates"
"""The table of certificates: `output` is the name of a table, `certificate` its text."""
_SECONDS = 5.0  # to wait for another process that writes to a file of SQLite


class OutputDatabase(Protocol):
    """A file of a database within one transaction that writes."""

    def names(self) -> set[str]:
        """Return the names of its tables and views."""
        ...

    def create(self, name: str, rows: "pa.Table") -> None:
        """Create a table with rows, in their order."""
        ...

    def rows(self, name: str) -> "pa.Table":
        """Return the rows of a table in the order in which they were written."""
        ...

    def drop(self, name: str) -> None:
        """Drop a table."""
        ...

    def certificate(self, name: str) -> str | None:
        """Return the text of a table's certificate, None without one."""
        ...

    def certify(self, name: str, text: str) -> None:
        """Keep the certificate of a table, in the place of one that it had."""
        ...


def output_place(place: str) -> tuple[Path, str]:
    """Return the file and the table that an output is for.

    Raises OutputError (O002) for a name with a dot, which could be that of a schema, and for that
    of the table of certificates; DataError (C019) for another spelling.
    """
    path, name = split_place(place)
    if "." in name or name.lower() == CERTIFICATES or name.lower().startswith("sqlite_"):
        message = f"An output cannot be called {name!r} in a database."
        raise OutputError.of("O002", message, "Give a name without dots.", place)
    return path, name


def place_certificate(place: str) -> str | None:
    """Return the text of the certificate of a table, None without one.

    Raises DataError where the file is missing (C002) or cannot be read (C003).
    """
    path, name = split_place(place)
    if not path.is_file():
        raise DataError.of("C002", f"There is no file {str(path)!r}.", source=place)
    try:
        with output_transaction(place, writes=False) as database:
            return database.certificate(name) if CERTIFICATES in database.names() else None
    except OutputError as error:
        raise DataError.of("C003", error.problems[0].message, source=place) from None


@contextmanager
def output_transaction(place: str, *, writes: bool = True) -> Iterator[OutputDatabase]:
    """Give the database of a place in one transaction, which ends well only as the block does.

    A file that is not there is made where it `writes`, and is gone again where nothing came to be
    in it. Raises OutputError: O001 where another process writes to the file, O002 where it is not a
    database of this kind, or cannot be written.
    """
    path = split_place(place)[0].absolute()  # no name that these libraries take for another place
    if path.exists() and not _is_database_file(path, scheme(place)):
        raise _unopened(place, is_held=False)
    opener = _duckdb if scheme(place) == "duckdb" else _sqlite
    was_there = path.exists()
    try:
        with opener(path, place, writes=writes) as database:
            yield database
    except BaseException:
        if not was_there:
            path.unlink(missing_ok=True)
        raise


def _is_database_file(path: Path, kind: str) -> bool:
    """Tell whether a file begins as those of a database do, or is empty.

    DuckDB itself opens others, too, such as CSV files, and keeps what is written in memory alone.
    """
    mark, start = _MARKS[kind]
    try:
        with path.open("rb") as file:
            beginning = file.read(start + len(mark))
    except OSError:
        return False
    return not beginning or beginning[start:] == mark


_MARKS = {"duckdb": (b"DUCK", 8), "sqlite": (b"SQLite format 3\0", 0)}


@contextmanager
def _duckdb(path: Path, place: str, *, writes: bool) -> Iterator[OutputDatabase]:
    import duckdb  # noqa: PLC0415 (slow to import)

    try:
        connection = duckdb.connect(str(path), read_only=not writes, config=ALONE)
    except duckdb.Error as error:
        raise _unopened(place, is_held="lock" in str(error).lower()) from None
    try:
        with connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET preserve_insertion_order = true")
            connection.execute("BEGIN")
            try:
                yield _DuckDb(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except duckdb.Error as error:
        raise _unwritten(place, type(error).__name__) from None


@contextmanager
def _sqlite(path: Path, place: str, *, writes: bool) -> Iterator[OutputDatabase]:
    try:
        connection = sqlite3.connect(path, timeout=_SECONDS, isolation_level=None)
    except sqlite3.Error as error:
        raise _unwritten(place, type(error).__name__) from None
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield _Sqlite(connection, place)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise _unopened(place, is_held=True) from None
        raise _unwritten(place, type(error).__name__) from None
    except sqlite3.Error as error:
        raise _unwritten(place, type(error).__name__) from None
    finally:
        connection.close()


class _Connected:
    """What both kinds of databases are told in the same words."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def drop(self, name: str) -> None:
        self._connection.execute(f"DROP TABLE {quoted(name)}")

    def certificate(self, name: str) -> str | None:
        return _first(self._connection.execute(_FIND, [name]).fetchone())

    def certify(self, name: str, text: str) -> None:
        self._connection.execute(_TABLE)
        self._connection.execute(_KEEP, [name, text])


class _DuckDb(_Connected):
    def names(self) -> set[str]:
        rows = self._connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_catalog = current_database() AND table_schema = current_schema()"
        ).fetchall()
        return {name for (name,) in rows}

    def create(self, name: str, rows: "pa.Table") -> None:
        self._connection.register(_ROWS, rows)
        self._connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {_ROWS}")  # noqa: S608 (quoted)
        self._connection.unregister(_ROWS)

    def rows(self, name: str) -> "pa.Table":
        return read_duckdb_table(self._connection, TableName("", name))


class _Sqlite(_Connected):
    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        super().__init__(connection)
        self._place = place

    def names(self) -> set[str]:
        return {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}

    def create(self, name: str, rows: "pa.Table") -> None:
        columns = ", ".join(f"{quoted(one.name)} {_affinity(one.type)}" for one in rows.schema)
        self._connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
        marks = ", ".join("?" * rows.num_columns)
        insert = f"INSERT INTO {quoted(name)} VALUES ({marks})"  # noqa: S608 (quoted)
        for batch in rows.to_batches(max_chunksize=_BATCH):
            cells = (column.to_pylist() for column in batch.columns)
            self._connection.executemany(insert, zip(*cells, strict=True))

    def rows(self, name: str) -> "pa.Table":
        cursor = self._connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 0")  # noqa: S608
        columns = {one[0].lower() for one in cursor.description}
        order = next(one for one in _ROW_NUMBERS if one not in columns)
        return read_sqlite_table(self._connection, name, self._place, order)


def _affinity(kind: "pa.DataType") -> str:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    if pa.types.is_integer(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    return "BLOB" if pa.types.is_binary(kind) else "TEXT"


def _first(row: Sequence[str] | None) -> str | None:
    return row[0] if row else None


def _unopened(place: str, *, is_held: bool) -> PolicyEngineError:
    if is_held:
        message = f"Another process writes to the database of {place!r}."
        return OutputError.of("O001", message, "Wait for it: wait=True.")
    message = f"The database of {place!r} cannot be opened: it is not one, or not this one's."
    return OutputError.of("O002", message)


def _unwritten(place: str, reason: str) -> PolicyEngineError:
    return OutputError.of("O002", f"The database of {place!r} cannot be written ({reason}).")


_BATCH = 65_536
_ROW_NUMBERS = ("rowid", "_rowid_", "oid", "TRUE")
"""What SQLite calls the number of a row, unless a column is called so."""
_ROWS = "policy_engine_rows"
_TABLE = (
    f"CREATE TABLE IF NOT EXISTS {CERTIFICATES} (output VARCHAR PRIMARY KEY, certificate VARCHAR)"
)
_FIND = f"SELECT certificate FROM {CERTIFICATES} WHERE output = ?"  # noqa: S608
_KEEP = f"INSERT OR REPLACE INTO {CERTIFICATES} VALUES (?, ?)"  # noqa: S608
