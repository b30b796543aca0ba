"""The log of a folder of outputs: each step is an entry of a chain, so that changes are seen."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine.data.chain.entries import START, now
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import (
    Head,
    InvalidEntryError,
    Verification,
    parse_entry,
    verify,
)
from policy_engine.errors import LedgerError, Problem
from policy_engine.release.ledger_file import KindredFile, LedgerKind, StoredLedger
from policy_engine.release.output_folder.model import STEPS, StepEntry

LOG = "steps.db"
_KIND = LedgerKind(
    noun="log of the folder",
    table="steps",
    maker="A folder of outputs",
    need="Taking a step needs both.",
    used="K027",
    locked="K027",
    reading="K027",
    broken="K027",
    key="K027",
    other="K027",
    version="K027",
)


@dataclass(frozen=True)
class StepLog:
    """The steps that were taken with a folder, chained with a key if there is one.

    Where a head is `expected`, a log is not intact without it: else nobody sees that the last steps
    were cut off.
    """

    folder: Path
    chain: HashChain
    expected: Head | None = None

    @property
    def _file(self) -> KindredFile:
        return KindredFile(self.folder / LOG, _KIND)

    def begin(self, **parts: Any) -> StepEntry:
        """Make the log, with its first step, and return that."""
        entry = _entry(self.chain, (), **parts)
        self._file.create(entry)
        return entry

    def entries(self) -> tuple[StepEntry, ...]:
        """Return all steps in order. Raises LedgerError (K027) if the log is not intact."""
        with self._file.reading() as stored:
            return self._read(stored)

    def verify(self, expected: Head | None = None) -> Verification:
        """Return every break of the chain."""
        with self._file.reading() as stored:
            return verify(stored.rows(), self.chain, STEPS, expected)

    @property
    def head(self) -> Head:
        """The last step: its number and its hash."""
        last = self.entries()[-1]
        return Head(last.number, last.hash)

    def _read(self, stored: StoredLedger) -> tuple[StepEntry, ...]:
        return _read(stored, self.chain, self._file.source, self.expected)

    @contextmanager
    def appending(self) -> Iterator["OpenLog"]:
        """Return the log held exclusively: what is added is on the disk at the end, or not at all.

        Raises LedgerError (K027) if it is not intact.
        """
        with self._file.appending() as stored:
            yield OpenLog(stored, self.chain, self._read(stored))


@dataclass
class OpenLog:
    """A log that nobody else writes to."""

    stored: StoredLedger
    chain: HashChain
    entries: tuple[StepEntry, ...]

    def add(self, **parts: Any) -> StepEntry:
        """Add a step, and return it."""
        entry = _entry(self.chain, self.entries, **parts)
        self.stored.add(entry)
        self.entries = (*self.entries, entry)
        return entry


def _entry(chain: HashChain, entries: tuple[StepEntry, ...], **parts: Any) -> StepEntry:
    last = entries[-1] if entries else None
    number, previous = (last.number + 1, last.hash) if last else (1, START)
    logged = max(now(), last.logged) if last else now()
    entry = StepEntry(chain=chain.kind, number=number, previous=previous, logged=logged, **parts)
    return entry.model_copy(update={"hash": chain.hash(entry)})


def _read(
    stored: StoredLedger, chain: HashChain, source: str, expected: Head | None
) -> tuple[StepEntry, ...]:
    rows = list(stored.rows())
    checked = verify(rows, chain, STEPS, expected)
    if checked.problems:
        problems = [Problem(one.code, one.message, one.hint) for one in checked.problems]
        raise LedgerError(*problems, source=source)
    try:
        return tuple(parse_entry(row, STEPS) for row in rows)
    except InvalidEntryError as error:  # pragma: no cover (verified above)
        raise LedgerError.of("K027", f"An entry cannot be read: {error}.", source=source) from None
