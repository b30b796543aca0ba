"""How far a chain has been read, and entries read fast."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from policy_engine.data.chain.entries import START
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.rows import Chained, Row
from policy_engine.data.chain.verification import EntryKind, InvalidEntryError, parse_entry

Plain = Mapping[str, Any]
"""An entry as a JSON object."""
_HASH = b',"hash":"'
_LENGTH = len(_HASH) + len(START) + 1


@dataclass(frozen=True)
class Mark:
    """The entry up to which a chain was read: its number, its hash, and its position."""

    number: int = 0
    hash: str = START
    start: int = 0

    def is_in(self, row: Row | None, chain: HashChain, kind: EntryKind[Chained]) -> bool:
        """Return whether a row has the entry marked here. Raises as `plain_entry` does."""
        if row is None:
            return False
        entry = plain_entry(row, chain, kind)
        return (entry["number"], entry["hash"]) == (self.number, self.hash)


def entries_after(
    mark: Mark, rows: Iterable[Row], chain: HashChain, kind: EntryKind[Chained]
) -> Iterator[tuple[Plain, int]]:
    """Yield the entries in the rows after the one marked, and the position of each.

    Raises InvalidEntryError at a row that is not an entry, or does not follow.
    """
    last, own_hash = mark.number, mark.hash
    for row in rows:
        entry = _with_right_hash(row, chain) or plain_entry(row, chain, kind)
        number = entry["number"]
        if number != last + 1 or entry["previous"] != own_hash:
            raise InvalidEntryError(f"entry {number} does not follow entry {last}")
        last, own_hash = number, entry["hash"]
        yield entry, row.start


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
    if row.fault or start < 0:
        return None
    own_hash = chain.text_hash(text[:start] + text[start + _LENGTH :])
    try:
        entry: Plain = from_json(text, cache_strings="keys")
        columns = row.columns
        is_same = columns is None or (columns[1] == own_hash and columns[0] == entry["number"])
        is_right = is_same and entry["hash"] == own_hash and entry["chain"] == chain.kind
    except (ValueError, KeyError, TypeError):
        return None
    return entry if is_right else None
