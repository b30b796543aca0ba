"""How far a chain has been read, and entries read fast."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from policy_engine.data.chain.entries import START
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.rows import Chained, Row
from policy_engine.data.chain.verification import EntryKind, InvalidEntryError, parse_entry

Plain = Mapping[str, Any]
"""An entry as a JSON object."""
_HASH, _SIZE = b',"hash":"', 64


@dataclass(frozen=True)
class Mark:
    """The entry up to which a chain was read: its number, its hash, and its position."""

    number: int = 0
    hash: str = START
    start: int = 0

    def next(self, row: Row, chain: HashChain, kind: EntryKind[Chained]) -> "tuple[Plain, Mark]":
        """Return the entry in the row after the one marked here, and its own mark.

        Raises InvalidEntryError if it is not an entry, or does not follow.
        """
        entry = plain_entry(row, chain, kind)
        number = entry["number"]
        if (number, entry["previous"]) != (self.number + 1, self.hash):
            raise InvalidEntryError(f"entry {number} does not follow entry {self.number}")
        return entry, Mark(number, entry["hash"], row.start)

    def is_in(self, row: Row | None, chain: HashChain, kind: EntryKind[Chained]) -> bool:
        """Return whether a row has the entry marked here. Raises as `plain_entry` does."""
        if row is None:
            return False
        entry = plain_entry(row, chain, kind)
        return (entry["number"], entry["hash"]) == (self.number, self.hash)


def plain_entry(row: Row, chain: HashChain, kind: EntryKind[Chained]) -> Plain:
    """Return an entry whose hash matches its content, as a JSON object.

    Raises InvalidEntryError if it is not an entry, or was changed.
    """
    parsed = _with_right_hash(row, chain)
    if parsed is not None:
        return parsed
    entry = parse_entry(row, kind)
    for fault in chain.entry_faults(entry):
        raise InvalidEntryError(f"in entry {entry.number}, {fault}")
    return entry.to_json()


def _with_right_hash(row: Row, chain: HashChain) -> Plain | None:
    """Return an entry as a JSON object if its hash is right; validating it takes ten times as long.

    The hash covers the rest of the text, so an entry with the right hash is as it was written.
    """
    text = row.text
    start = text.rfind(_HASH)
    end = start + len(_HASH) + _SIZE + 1
    if (
        row.fault
        or start < 0
        or chain.text_hash(text[:start] + text[end:]) != _hash_at(text, start)
    ):
        return None
    entry: Plain = from_json(text)
    is_same = row.columns in (None, (entry["number"], entry["hash"]))
    return entry if is_same and entry["chain"] == chain.kind else None


def _hash_at(text: bytes, start: int) -> str:
    return text[start + len(_HASH) :][:_SIZE].decode(errors="replace")
