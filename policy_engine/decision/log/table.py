"""A log as an SQLite table."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.decision.log.entries import Entry
from policy_engine.decision.log.locks import PATIENCE
from policy_engine.decision.log.places import (
    LONGEST,
    LogTail,
    Row,
    open_for_appending,
    open_for_reading,
    reading,
    writing,
)
from policy_engine.errors import LogError

if TYPE_CHECKING:
    import sqlite3

_TABLE = "CREATE TABLE decisions(number INTEGER PRIMARY KEY, entry TEXT, hash TEXT)"
_LAST = "SELECT number, entry, hash FROM decisions ORDER BY number DESC LIMIT 1"
_ROWS = "SELECT number, entry, hash FROM decisions WHERE number >= ? ORDER BY number"


@dataclass(frozen=True)
class LogTable:
    """A table in an SQLite file."""

    path: Path

    @contextmanager
    def appending(self) -> Iterator[LogTail]:
        """Return the table's end, within a transaction; a missing table is created."""
        import sqlite3  # noqa: PLC0415

        with writing(self.path, sqlite3.Error):
            os.close(open_for_appending(self.path))
            with closing(_connected(self.path, "rw")) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("BEGIN IMMEDIATE")
                if not _has_table(connection):
                    connection.execute(_TABLE)
                last = connection.execute(_LAST).fetchone()
                add, rows = partial(_add, connection), partial(_rows, connection)
                yield LogTail(last and _row(*last), add, rows)
                connection.execute("COMMIT")

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the rows that were there when reading began.

        If a writer was interrupted, its unfinished entry is undone first, as the next writer would
        do. Raises LogError (G001) if this reader may not do that.
        """
        import sqlite3  # noqa: PLC0415

        with reading(self.path, sqlite3.Error):
            os.close(open_for_reading(self.path))
            _undo(self.path)
            with closing(_connected(self.path, "ro")) as connection:
                connection.execute("BEGIN")
                if _has_table(connection):
                    yield from _rows(connection, start)


def _undo(path: Path) -> None:
    """Undo a transaction that was never completed.

    Only a connection that may write can do so (https://www.sqlite.org/lockingv3.html, section 4).
    """
    import sqlite3  # noqa: PLC0415

    try:
        _look(path, "ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
    else:
        return
    try:
        _look(path, "rw")
    except sqlite3.OperationalError:
        journal = f"{path.name}-journal"
        message = f"A writer was interrupted in the middle of an entry. {journal!r} can undo it,"
        message += " which needs permission to write the log and its folder."
        hint = "Read it once as a user with that permission, or copy both files and read the copy."
        raise LogError.of("G001", message, hint, str(path)) from None


def _look(path: Path, mode: str) -> None:
    with closing(_connected(path, mode)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _connected(path: Path, mode: str) -> "sqlite3.Connection":
    import sqlite3  # noqa: PLC0415

    name = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(name, PATIENCE, isolation_level=None, uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.text_factory = bytes
    return connection


def _has_table(connection: "sqlite3.Connection") -> bool:
    """Return whether the table exists. Raises ValueError for a database with other content.

    A view in place of the table, or a trigger on it, could show or store anything.
    """
    query = "SELECT sql FROM sqlite_master WHERE type != 'table' OR name NOT LIKE 'sqlite_stat_'"
    statements = [sql for (sql,) in connection.execute(query)]
    if statements not in ([], [_TABLE.encode()]):
        raise ValueError("the database contains more than a decision log")
    return bool(statements)


def _rows(connection: "sqlite3.Connection", start: int) -> Iterator[Row]:
    # A table may have numbers below 1, which `log verify` must report.
    least = start or -(2**63)
    for row in connection.execute(_ROWS, (least,)):
        yield _row(*row)


def _row(number: int, entry: Any, own_hash: Any) -> Row:
    if not isinstance(entry, bytes) or not isinstance(own_hash, bytes):
        return Row(number, b"", "its columns are not text", start=number)
    columns = number, own_hash.decode(errors="replace")
    return Row(number, entry, columns=columns, start=number)


def _add(connection: "sqlite3.Connection", entry: Entry) -> int:
    row = entry.number, entry.text().decode(), entry.hash
    connection.execute("INSERT INTO decisions VALUES (?, ?, ?)", row)
    return entry.number
