"""Where a budget ledger is stored: what it needs of a store, and a store in an SQLite file."""

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Protocol

from policy_engine.data.chain.rows import Row, give_name, reason, sync_folder
from policy_engine.data.chain.table import (
    EMPTY,
    ChainTable,
    NewerVersionError,
    OpenTable,
    TruncatedError,
    UnfinishedError,
)
from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.budget.entries import BudgetEntry

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 30.0
"""How many seconds to wait for another process that writes."""

_ANSWERS = "CREATE TABLE answers(number INTEGER PRIMARY KEY, answer BLOB)"
_LARGEST, _VERSION = 2**30, 1
_DAMAGED = "The budget ledger is damaged: the file was truncated or changed."
_RESTORE = "Restore it from a copy that has its latest head."
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


class StoredLedger(Protocol):
    """A stored ledger within a transaction."""

    def rows(self, start: int = 0) -> Iterator[Row]:
        """Yield the entries in order, from a number on."""

    def add(self, entry: BudgetEntry) -> None:
        """Add an entry."""

    def answer(self, number: int) -> bytes | None:
        """Return the answer of the reservation with that number, None if there is none."""

    def add_answer(self, number: int, answer: bytes) -> None:
        """Add the answer of the reservation with that number."""


class BudgetStore(Protocol):
    """A file or a database that has the entries and the answers of one ledger.

    Both methods raise LedgerError if that is impossible (B001 to B003), if the content is not a
    ledger (B006) or one of a newer version (B007).
    """

    @property
    def source(self) -> str:
        """What errors call it."""

    def exists(self) -> bool:
        """Return whether there is a ledger."""

    def create(self, first: BudgetEntry) -> None:
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

    def add(self, entry: BudgetEntry) -> None:
        self.table.add(entry)

    def answer(self, number: int) -> bytes | None:
        query = "SELECT answer FROM answers WHERE number = ?"
        row = self.table.select(query, number).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def add_answer(self, number: int, answer: bytes) -> None:
        self.table.connection.execute("INSERT INTO answers VALUES (?, ?)", (number, answer))


@dataclass(frozen=True)
class LedgerFile:
    """An SQLite file, readable for its owner alone."""

    path: Path

    @property
    def source(self) -> str:
        """Its path."""
        return str(self.path)

    def exists(self) -> bool:
        """Return whether there is a file."""
        return os.path.lexists(self.path)

    def create(self, first: BudgetEntry) -> None:
        """Make a file that has a first entry, in one step, unless there is one.

        Its folder is made, too. A file without an entry was never made here: it was truncated.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"The folder of the budget ledger cannot be made: {reason(error)}."
            code = "B003" if error.errno in _DENIED else "B001"
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

    def _table(self, path: Path) -> ChainTable:
        return ChainTable(
            path, "charges", "budget ledger", PATIENCE, (_ANSWERS,), _LARGEST, _VERSION
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of the system and of SQLite into LedgerError."""
        import sqlite3  # noqa: PLC0415

        try:
            yield
        except NewerVersionError:
            message = "The budget ledger was made by a newer version of the engine."
            raise self._error("B007", message, "Install that version.") from None
        except UnfinishedError as error:
            raise self._error("B003", f"{error} which needs permission to write.") from None
        except sqlite3.Error as error:
            raise self._error(*_sqlite_fault(error)) from None
        except TruncatedError:
            raise self._error("B004", _DAMAGED, _RESTORE) from None
        except OSError as error:
            if error.errno == errno.ENOENT and not self.path.parent.exists():
                message = f"There is no budget ledger: its folder {str(self.path.parent)!r} is not "
                hint = "A release under a budget makes both."
                raise self._error("B001", f"{message}there.", hint) from None
            raise self._error(*_system_fault(error)) from None
        except ValueError as error:
            raise self._error("B006", f"It is not a budget ledger: {reason(error)}.") from None

    def _error(self, code: str, message: str, hint: str = "") -> PolicyEngineError:
        return LedgerError.of(code, message, hint, self.source)


def _sqlite_fault(error: "sqlite3.Error") -> tuple[str, str, str]:
    """Return the code, the message and the hint for an error of SQLite."""
    import sqlite3  # noqa: PLC0415

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        message = f"The budget ledger is locked: another process held it for {PATIENCE:g} s."
        return "B002", message, "Try again once that process has ended."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        message = "The budget ledger, or its folder, cannot be written to. A charge needs both."
        return "B003", message, ""
    if code == sqlite3.SQLITE_NOTADB:
        return "B006", "The file is not a budget ledger: it is not an SQLite database.", ""
    if code == sqlite3.SQLITE_CORRUPT:
        return "B004", _DAMAGED, _RESTORE
    return "B001", f"The budget ledger cannot be used: {reason(error)}.", ""


def _system_fault(error: OSError) -> tuple[str, str, str]:
    """Return the code, the message and the hint for an error of the system."""
    if error.errno in _DENIED:
        return "B003", f"The budget ledger cannot be opened: {reason(error)}.", ""
    if error.errno == errno.ENOENT:
        return "B001", "There is no budget ledger.", "A release under a budget makes one."
    return "B001", f"The budget ledger cannot be used: {reason(error)}.", ""
