"""A chain as a table in an SQLite file."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.data.chain.connections import (
    KeptConnection,
    OpenFile,
    identity_of,
    prepare,
)
from policy_engine.data.chain.entries import ChainEntry
from policy_engine.data.chain.rows import (
    LONGEST,
    ChainTail,
    Row,
    check_database,
    make_database,
)

if TYPE_CHECKING:
    import sqlite3


EMPTY = "the file is empty"
LEAST, LARGEST = -(2**63), 2**63 - 1
"""The numbers that a row can have; those below 1 must be reported."""


class UnfinishedError(Exception):
    """A writer was interrupted in the middle of an entry, and this reader may not undo it."""


class TruncatedError(ValueError):
    """The file does not end where SQLite ends it."""


class NewerVersionError(Exception):
    """A newer version of the engine made the file."""


@dataclass(frozen=True)
class OpenTable:
    """A table within a transaction."""

    connection: "sqlite3.Connection"
    name: str
    _cursors: "list[sqlite3.Cursor]" = field(default_factory=list)

    def select(self, query: str, *values: Any) -> "sqlite3.Cursor":
        """Return the rows of a query, which end with the transaction."""
        cursor = self.connection.execute(query, values)
        self._cursors.append(cursor)
        return cursor

    def close(self) -> None:
        """End what was selected: otherwise whoever keeps rows keeps the file locked."""
        for one in self._cursors:
            one.close()

    def tail(self) -> ChainTail[Any]:
        """Return the end of the table."""
        query = f"SELECT number, entry, hash FROM {self.name} ORDER BY number DESC LIMIT 1"  # noqa: S608
        last = self.select(query).fetchone()
        return ChainTail(last and _row(*last), self.add, self.rows)

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Return the rows in order, starting at a number."""
        return self.between(start or LEAST, LARGEST)

    def between(self, first: int, last: int) -> Iterator[Row]:
        """Return the rows in order from a number to another."""
        query = (
            f"SELECT number, entry, hash FROM {self.name} "  # noqa: S608
            "WHERE number BETWEEN ? AND ? ORDER BY number"
        )
        return starmap(_row, self.select(query, first, last))

    def lowest(self, below: int, count: int) -> int | None:
        """Return the least number of so many rows below a number; None if there are none."""
        query = (
            f"SELECT min(number) FROM (SELECT number FROM {self.name} "  # noqa: S608
            "WHERE number < ? ORDER BY number DESC LIMIT ?)"
        )
        [number] = self.select(query, below, count).fetchone()
        return None if number is None else int(number)

    def latest(self, below: int, lowest: int, texts: Sequence[bytes] = ()) -> Iterator[Row]:
        """Return the rows below a number backwards to another, with each of some texts."""
        has_text = " AND instr(CAST(entry AS BLOB), ?)" * len(texts)
        query = (
            f"SELECT number, entry, hash FROM {self.name} "  # noqa: S608
            f"WHERE number < ? AND number >= ?{has_text} ORDER BY number DESC"
        )
        return starmap(_row, self.select(query, below, lowest, *texts))

    def add(self, entry: ChainEntry) -> int:
        """Insert an entry, and return its number."""
        row = entry.number, entry.text().decode(), entry.hash
        self.connection.execute(f"INSERT INTO {self.name} VALUES (?, ?, ?)", row)  # noqa: S608
        return entry.number


@dataclass(frozen=True)
class ChainTable:
    """A table of entries in an SQLite file, and what else the file has.

    `noun` is what holds the chain, `others` the statements that made what the file has beside the
    table, `longest` the size in bytes of the largest text or blob that is read. `version` is the
    number that the file has of what made it, 0 for none. With `kept`, writers use one connection
    after one another.
    """

    path: Path
    name: str
    noun: str
    patience: float
    others: tuple[str, ...] = ()
    longest: int = LONGEST
    version: int = 0
    kept: KeptConnection | None = None

    @property
    def statements(self) -> tuple[str, ...]:
        """What makes the tables."""
        first = f"CREATE TABLE {self.name}(number INTEGER PRIMARY KEY, entry TEXT, hash TEXT)"
        return first, *self.others

    @contextmanager
    def appending(self, *, create: bool = True) -> Iterator[OpenTable]:
        """Return the table within a transaction of its own; a missing one may be created.

        What was added is on the disk once the context has ended, or not at all. Raises OSError and
        ValueError, and sqlite3.Error.
        """
        if create:
            make_database(self.path)
        check_database(self.path, follow=False)
        with self._writing() as connection:
            if not self._has_tables(connection):
                if not create:
                    raise ValueError(EMPTY)
                for statement in (*self.statements, f"PRAGMA user_version = {self.version}"):
                    connection.execute(statement)
            with closing(OpenTable(connection, self.name)) as table:
                yield table
            connection.execute("COMMIT")

    @contextmanager
    def _writing(self) -> Iterator["sqlite3.Connection"]:
        """Return a connection within a transaction that has just begun."""
        kept = None if self.kept is None else self.kept.take()
        file = self._begun(kept) or self._begun(self._opened())
        if file is None:
            raise OSError(errno.ESTALE, "another file has just taken its place")
        try:
            yield file.connection
        except BaseException:
            file.connection.close()  # which undoes the transaction
            raise
        if self.kept is None:
            file.connection.close()
        else:
            self.kept.give_back(file)

    def _opened(self) -> OpenFile:
        """Return a new connection that may write."""
        identity = identity_of(self.path)
        connection = self._connected("rw")
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            if self.kept is not None:
                prepare(connection)
        except BaseException:
            connection.close()
            raise
        return OpenFile(connection, self.path, identity)

    def _begun(self, file: OpenFile | None) -> OpenFile | None:
        """Begin a transaction, and return the file; None if another one is at the path by now.

        What the connection remembers of it is forgotten: what is on the disk counts.
        """
        if file is None:
            return None
        try:
            file.connection.execute("PRAGMA shrink_memory").close()
            file.connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            file.connection.close()
            raise
        if file.is_in_place():
            return file
        file.connection.close()
        return None

    @contextmanager
    def reading(self) -> Iterator[OpenTable | None]:
        """Return the table as it is now, None if there is none.

        If a writer was interrupted, its unfinished entry is undone first, as the next writer would
        do. Raises UnfinishedError if this reader may not do that, and as `appending` does.
        """
        import sqlite3  # noqa: PLC0415

        check_database(self.path)
        with closing(self._connected("ro")) as connection:
            connection.execute("BEGIN")
            try:
                self._undo()
                is_there = self._has_tables(connection)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                    raise
                self._undo()  # of a writer that was interrupted just now
                is_there = self._has_tables(connection)
            if not is_there:
                yield None
                return
            with closing(OpenTable(connection, self.name)) as table:
                yield table

    def _undo(self) -> None:
        """Undo a transaction that was never completed.

        Only a connection that may write can do so (https://www.sqlite.org/lockingv3.html, section
        4).
        """
        import sqlite3  # noqa: PLC0415

        journal = self.path.with_name(f"{self.path.name}-journal")
        try:
            if not journal.stat().st_size:
                return
        except FileNotFoundError:
            return
        try:
            self._look("ro")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
        else:
            return
        try:
            self._look("rw")
        except sqlite3.OperationalError:
            message = "A writer was interrupted in the middle of an entry. "
            message += f"{journal.name!r} can undo it,"
            raise UnfinishedError(message) from None

    def _look(self, mode: str) -> None:
        with closing(self._connected(mode)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def _connected(self, mode: str) -> "sqlite3.Connection":
        import sqlite3  # noqa: PLC0415

        name = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            name,
            self.patience,
            isolation_level=None,
            check_same_thread=self.kept is None,
            uri=True,
        )
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.longest)
        connection.text_factory = bytes
        return connection

    def _has_tables(self, connection: "sqlite3.Connection") -> bool:
        """Return whether the tables exist. Raises ValueError for a database with other content,
        and NewerVersionError for one that a newer version made.

        A view in place of a table, or a trigger on it, could show or store anything.
        """
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if self.version and version > self.version:
            raise NewerVersionError
        query = (
            "SELECT sql FROM sqlite_master WHERE type != 'table' OR name NOT LIKE 'sqlite_stat_'"
        )
        statements = [sql for (sql,) in connection.execute(query)]
        if statements not in ([], [one.encode() for one in self.statements]):
            raise ValueError(f"the database contains more than one {self.noun}")
        [size] = connection.execute("PRAGMA page_size").fetchone()
        if self.path.stat().st_size % size:
            raise TruncatedError("the file was cut off in the middle of a page")
        return bool(statements)


def _row(number: int, entry: Any, own_hash: Any) -> Row:
    if not isinstance(entry, bytes) or not isinstance(own_hash, bytes):
        return Row(number, b"", "its columns are not text", start=number)
    return Row(number, entry, "", (number, own_hash.decode(errors="replace")), number)
