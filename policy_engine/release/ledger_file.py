"""A ledger in an SQLite file: what every kind of ledger needs of one, and words for its faults."""

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from policy_engine.data.chain.entries import ChainEntry
from policy_engine.data.chain.rows import Row, give_name, reason, sync_folder
from policy_engine.data.chain.table import (
    EMPTY,
    ChainTable,
    NewerVersionError,
    OpenTable,
    TruncatedError,
    UnfinishedError,
)
from policy_engine.data.chain.verification import Head
from policy_engine.errors import LedgerError, PolicyEngineError

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 30.0
"""How many seconds to wait for another process that writes."""

_ANSWERS = "CREATE TABLE answers(number INTEGER PRIMARY KEY, answer BLOB)"
_LARGEST, _VERSION = 2**30, 1
_RESTORE = "Restore it from a copy that has its latest head."
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


@dataclass(frozen=True)
class LedgerKind:
    """One kind of ledger: what it is called, its table, what makes one, and its error codes.

    The codes are those of a ledger that cannot be `used`, is `locked`, is for `reading` alone, is
    `broken`, has another `key`, is `other` than a ledger of this kind, or is of a newer `version`.
    `need` is what has to be written to, as a sentence. Where a ledger `makes_folders`, those that
    it is in are made with it: not where a new one is to be noticed, as by a mistyped path.
    """

    noun: str
    table: str
    maker: str
    need: str
    used: str
    locked: str
    reading: str
    broken: str
    key: str
    other: str
    version: str
    makes_folders: bool = True

    @property
    def article(self) -> str:
        """Its name with an article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"


class StoredLedger(Protocol):
    """A stored ledger within a transaction."""

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the entries in order, from a number on."""

    def add(self, entry: ChainEntry) -> None:
        """Add an entry."""

    def answer(self, number: int) -> bytes | None:
        """Return the answer that is kept under the number of an entry, None if there is none."""

    def add_answer(self, number: int, answer: bytes) -> None:
        """Keep an answer under the number of an entry."""


class LedgerStore(Protocol):
    """A file or a database that has the entries and the answers of one ledger.

    Both methods raise LedgerError if that is impossible, if the content is not such a ledger, or
    is one of a newer version.
    """

    @property
    def source(self) -> str:
        """What errors call it."""

    def exists(self) -> bool:
        """Return whether there is a ledger."""

    def create(self, first: ChainEntry) -> None:
        """Make a ledger that has a first entry, in one step, unless there is one."""

    def appending(self) -> AbstractContextManager[StoredLedger]:
        """Return the ledger within a transaction, held exclusively.

        What was added is durable once the context has ended without an error, or is not there.
        """

    def reading(self) -> AbstractContextManager[StoredLedger]:
        """Return the ledger as it is now."""


@dataclass(frozen=True)
class _OpenFile:
    table: OpenTable

    def rows(self, start: int = 0) -> Iterator[Row]:
        return self.table.rows(start)

    def add(self, entry: ChainEntry) -> None:
        self.table.add(entry)

    def answer(self, number: int) -> bytes | None:
        query = "SELECT answer FROM answers WHERE number = ?"
        row = self.table.select(query, number).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def add_answer(self, number: int, answer: bytes) -> None:
        self.table.connection.execute("INSERT INTO answers VALUES (?, ?)", (number, answer))


@dataclass(frozen=True)
class KindredFile:
    """An SQLite file that has a ledger of one kind, readable for its owner alone."""

    path: Path
    kind: LedgerKind

    @property
    def source(self) -> str:
        """Its path."""
        return str(self.path)

    def exists(self) -> bool:
        """Return whether there is a file."""
        return os.path.lexists(self.path)

    def create(self, first: ChainEntry) -> None:
        """Make a file that has a first entry, in one step, unless there is one.

        Its folder is made, too, where that is so of its kind. A file without an entry was never
        made here: it was truncated.
        """
        try:
            if self.kind.makes_folders:
                self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"The folder of the {self.kind.noun} cannot be made: {reason(error)}."
            code = self.kind.reading if error.errno in _DENIED else self.kind.used
            raise self._error(code, message) from None
        draft = self.path.with_name(f".{self.path.name}-{token_hex(8)}")
        with self._told():
            try:
                with self._table(draft).appending() as table:
                    table.add(first)
                give_name(draft, self.path)
            finally:
                draft.unlink(missing_ok=True)
            with suppress(OSError):
                sync_folder(self.path.parent)

    @contextmanager
    def appending(self) -> Iterator[StoredLedger]:
        """Return the ledger within a transaction, held exclusively."""
        with self._told(), self._table(self.path).appending(create=False) as table:
            yield _OpenFile(table)

    @contextmanager
    def reading(self) -> Iterator[StoredLedger]:
        """Return the ledger as it is now."""
        with self._told(), self._table(self.path).reading() as table:
            if table is None:
                raise ValueError(EMPTY)
            yield _OpenFile(table)

    def head(self, number: int | None = None) -> Head | None:
        """Return the last entry that is stored, or that of a number; None where there is none.

        It is what the file says: nothing of the chain is verified.
        """
        if not self.exists():
            return None
        with self._told(), self._table(self.path).reading() as table:
            if table is None:
                raise ValueError(EMPTY)
            row = table.tail().last if number is None else next(table.between(number, number), None)
        return Head(*row.columns) if row and row.columns else None

    def _table(self, path: Path) -> ChainTable:
        kind = self.kind
        return ChainTable(path, kind.table, kind.noun, PATIENCE, (_ANSWERS,), _LARGEST, _VERSION)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of the system and of SQLite into LedgerError."""
        import sqlite3  # noqa: PLC0415

        kind = self.kind
        try:
            yield
        except NewerVersionError:
            message = f"The {kind.noun} was made by a newer version of the engine."
            raise self._error(kind.version, message, "Install that version.") from None
        except UnfinishedError as error:
            raise self._error(kind.reading, f"{error} which needs permission to write.") from None
        except sqlite3.Error as error:
            raise self._error(*_sqlite_fault(error, kind)) from None
        except TruncatedError:
            raise self._error(kind.broken, _damage(kind), _RESTORE) from None
        except OSError as error:
            if error.errno == errno.ENOENT and not self.path.parent.exists():
                message = f"There is no {kind.noun}: its folder {str(self.path.parent)!r} is not "
                hint = f"{kind.maker} makes both."
                if not kind.makes_folders:
                    hint = f"{kind.maker} makes the file alone: make the folder, or mend the path."
                raise self._error(kind.used, f"{message}there.", hint) from None
            raise self._error(*_system_fault(error, kind)) from None
        except ValueError as error:
            raise self._error(kind.other, f"It is not {kind.article}: {reason(error)}.") from None

    def _error(self, code: str, message: str, hint: str = "") -> PolicyEngineError:
        return LedgerError.of(code, message, hint, self.source)


def _damage(kind: LedgerKind) -> str:
    return f"The {kind.noun} is damaged: the file was truncated or changed."


def _sqlite_fault(error: "sqlite3.Error", kind: LedgerKind) -> tuple[str, str, str]:
    """Return the code, the message and the hint for an error of SQLite."""
    import sqlite3  # noqa: PLC0415

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        message = f"The {kind.noun} is locked: another process held it for {PATIENCE:g} s."
        return kind.locked, message, "Try again once that process has ended."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        message = f"The {kind.noun}, or its folder, cannot be written to. {kind.need}"
        return kind.reading, message, ""
    if code == sqlite3.SQLITE_NOTADB:
        return kind.other, f"The file is not {kind.article}: it is not an SQLite database.", ""
    if code == sqlite3.SQLITE_CORRUPT:
        return kind.broken, _damage(kind), _RESTORE
    return kind.used, f"The {kind.noun} cannot be used: {reason(error)}.", ""


def _system_fault(error: OSError, kind: LedgerKind) -> tuple[str, str, str]:
    """Return the code, the message and the hint for an error of the system."""
    if error.errno in _DENIED:
        return kind.reading, f"The {kind.noun} cannot be opened: {reason(error)}.", ""
    if error.errno == errno.ENOENT:
        return kind.used, f"There is no {kind.noun}.", f"{kind.maker} makes one."
    return kind.used, f"The {kind.noun} cannot be used: {reason(error)}.", ""
