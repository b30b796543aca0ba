"""Logs and ledgers in an audit trail: their entries alone, in lines that can be verified."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from policy_engine.data.chain.entries import ChainEntry
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.rows import Row
from policy_engine.data.chain.verification import (
    EntryKind,
    Head,
    InvalidEntryError,
    Verification,
    parse_entry,
    verify,
)
from policy_engine.decision.log import log_lines
from policy_engine.decision.log.chain import LOG
from policy_engine.errors import DataError, LedgerError, Problem
from policy_engine.release.budget.entries import LEDGER
from policy_engine.release.budget.store import BUDGET
from policy_engine.release.ledger_file import KindredFile
from policy_engine.release.output_ledger.entries import OUTPUTS
from policy_engine.release.output_ledger.store import OUTPUT

DECISION_LOG = "decision log"
_ENTRIES: Mapping[str, EntryKind[Any]] = MappingProxyType(
    {DECISION_LOG: LOG, BUDGET.noun: LEDGER, OUTPUT.noun: OUTPUTS}
)
_LEDGERS = (BUDGET, OUTPUT)
CHAINS = frozenset(_ENTRIES)
"""What a log or ledger of an audit trail can be."""


@dataclass(frozen=True)
class ExportedChain:
    """The entries of a log or of a ledger, each the bytes that its hash is of."""

    name: str
    lines: tuple[bytes, ...]

    @property
    def content(self) -> bytes:
        """The lines as a file."""
        return b"".join(line + b"\n" for line in self.lines)

    @classmethod
    def of(cls, name: str, content: bytes) -> "ExportedChain":
        """Return the chain in a file of lines."""
        lines = content.split(b"\n")
        return cls(name, tuple(lines[:-1] if lines and not lines[-1] else lines))

    def entries(self) -> Iterator[ChainEntry]:
        """Yield the entries that can be read."""
        for row in self._rows():
            try:
                yield parse_entry(row, _ENTRIES[self.name])
            except InvalidEntryError:
                continue

    def verified(self, keys: Sequence[bytes] = ()) -> Verification | None:
        """Return whether every entry is as it was written; None without the key that it takes.

        With keys, every entry must be chained by one of them: whoever has none could have written
        a chain without a key. Of several, the one is taken that the first entry was chained with.
        """
        kind = _ENTRIES[self.name]
        if keys and not self.lines:
            problem = Problem(kind.code, "It has no entry, and so none by a key that was given.")
            return Verification(0, Head(), (problem,))
        try:
            return verify(self._rows(), HashChain(self._key(keys)), kind)
        except DataError:
            return None

    def _key(self, keys: Sequence[bytes]) -> bytes | None:
        if not keys:
            return None
        first = next(self.entries(), None)
        fitting = (
            one for one in keys if first is not None and not [*HashChain(one).entry_faults(first)]
        )
        return next(fitting, keys[0])

    def _rows(self) -> Iterator[Row]:
        return (Row(number, line) for number, line in enumerate(self.lines, start=1))


def export_log(path: Path) -> ExportedChain:
    """Return the entries of a decision log. Raises as `log_lines` does."""
    return ExportedChain(DECISION_LOG, tuple(line.rstrip(b"\n") for line in log_lines(path)))


def export_ledger(path: Path) -> ExportedChain:
    """Return the entries of a ledger, of whichever kind it is.

    What is kept beside entries, such as answers and the populations of cells, is not: it tells of
    persons. Raises LedgerError as reading the ledger does.
    """
    for kind in _LEDGERS:
        try:
            with KindredFile(path, kind).reading() as stored:
                return ExportedChain(kind.noun, tuple(row.text for row in stored.rows()))
        except LedgerError as error:
            if error.code != kind.other:
                raise
    message = f"The file is neither {' nor '.join(kind.article for kind in _LEDGERS)}."
    raise LedgerError.of(_LEDGERS[0].other, message, source=str(path))
