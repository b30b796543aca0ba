"""Whether the chain of a stored ledger is the one that was read before, with the key given."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.reading import Mark
from policy_engine.data.chain.rows import Chained, Row
from policy_engine.data.chain.verification import (
    MOST,
    EntryKind,
    Head,
    InvalidEntryError,
    Verification,
    key_error,
    parse_entry,
    verify,
)
from policy_engine.errors import LedgerError, Problem
from policy_engine.release.ledger_file import LedgerKind, StoredLedger


def verify_stored(
    stored: StoredLedger,
    chain: HashChain,
    entries: EntryKind[Chained],
    expect: str | int | Head | None,
    command: str,
    faults: Iterator[str],
) -> Verification:
    """Return the problems of a ledger: those of its chain, or else the `faults` of what it says.

    Those are sentences, until an InvalidEntryError ends them, which is one as well. With `expect`,
    a head, it must still have that. Raises RequestError (U001) for what is not a head; the
    `command` is what prints one.
    """
    expected = Head.of(str(expect), command) if isinstance(expect, str | int) else expect
    verification = verify(stored.rows(), chain, entries, expected)
    if not verification.intact:
        return verification
    problems = tuple(Problem(entries.code, words) for words in _told(faults))
    return replace(verification, problems=problems[:MOST])


def _told(faults: Iterator[str]) -> Iterator[str]:
    try:
        yield from faults
    except InvalidEntryError as error:
        yield fault_sentence(error)


def fault_sentence(error: InvalidEntryError) -> str:
    """Return why an entry is not valid, as a sentence."""
    reason = f"{error}"
    return f"{reason[0].upper()}{reason[1:]}."


@dataclass(frozen=True)
class LedgerChain(Generic[Chained]):
    """How the entries of one ledger are chained; `source` is what errors call it."""

    chain: HashChain
    entries: EntryKind[Chained]
    kind: LedgerKind
    source: str

    def unread_rows(self, stored: StoredLedger, read: Mark, latest: Mark) -> Iterator[Row]:
        """Return the rows from the entry on up to which the ledger was `read`.

        Raises InvalidEntryError if the ledger lacks the `latest` entry that was read or written
        before, and as `checked_rows` does.
        """
        row = next(stored.rows(latest.number), None)
        if latest.number and not latest.is_in(row, self.chain, self.entries):
            message = f"it no longer has entry {latest.number}: it was truncated or replaced"
            raise InvalidEntryError(message)
        rows = stored.rows(read.number)
        return rows if read.number else self.checked_rows(rows)

    def checked_rows(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Return rows, of which the first is chained with the key of this ledger.

        Raises DataError (C013) where no key is given, and LedgerError where it is another.
        """
        first = next(rows, None)
        if first is None:
            return rows
        entry = parse_entry(first, self.entries)
        if self.chain.key is None and entry.chain == "hmac-sha-256":
            raise key_error(self.kind.noun, self.source)
        if any(self.chain.entry_faults(entry)):
            message = f"The {self.kind.noun} was made with another key, or without one."
            hint = "Give the key that it is chained with. If that is the key, it was changed."
            raise LedgerError.of(self.kind.key, message, hint, self.source)
        return chain((first,), rows)
