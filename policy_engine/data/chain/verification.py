"""Whether a chain is intact: every entry as written, in order, none missing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic

from pydantic import ValidationError

from policy_engine.data.chain.entries import START, ChainEntry
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.rows import Chained, Row
from policy_engine.errors import DataError, Place, PolicyEngineError, Problem, RequestError

MOST = 100
"""How many problems are listed; a single one is enough not to trust the rest."""

_HEAD = re.compile("(?:([0-9]{1,18}):)?([0-9a-fA-F]{64})|([0-9]{1,18})")


@dataclass(frozen=True)
class Head:
    """The last entry of a chain: its number and its hash, as `12:9f86d0...`.

    If only one of them was kept, the number is -1 or the hash is empty.
    """

    number: int = 0
    hash: str = START

    def __str__(self) -> str:
        number = "" if self.number < 0 else str(self.number)
        return ":".join(filter(None, (number, self.hash)))

    def is_at(self, number: int, own_hash: str) -> bool:
        """Return whether this is the entry of that number and hash."""
        return self.number in (-1, number) and self.hash in ("", own_hash)

    @classmethod
    def of(cls, text: str, command: str = "log verify") -> "Head":
        """Return the head written as `NUMBER:HASH`, `HASH` or `NUMBER`.

        Raises RequestError (U001) if the text is none of these.
        """
        match = _HEAD.fullmatch(text.strip())
        if not match:
            message = f"A head is NUMBER:HASH, or one of the two. {text!r} was given."
            raise RequestError.of("U001", message, f"`{command}` prints it.")
        number = match[1] or match[3]
        return cls(int(number) if number else -1, (match[2] or "").lower())


@dataclass(frozen=True)
class Verification:
    """The result of checking a chain: the number of entries, the last one, and every problem.

    Keep the head of an intact chain elsewhere: only comparing with it reveals entries cut off at
    the end, or a chain without a key that was recreated as a whole.
    """

    entries: int
    head: Head
    problems: tuple[Problem, ...]

    @property
    def intact(self) -> bool:
        """Whether the chain has no faults."""
        return not self.problems


class InvalidEntryError(ValueError):
    """Why a row is not an entry, as the end of a sentence about it."""


@dataclass(frozen=True)
class EntryKind(Generic[Chained]):
    """The entries of one kind of chain, and the words for it: what it is and the code of a break.

    `writer` is how problems call what holds the chain, as in "the log".
    """

    model: type[Chained]
    writer: str
    code: str


def parse_entry(row: Row, kind: EntryKind[Chained]) -> Chained:
    """Return the entry in a row. Raises InvalidEntryError, which quotes nothing from the row."""
    if row.fault:
        raise InvalidEntryError(row.fault)
    try:
        entry = kind.model.model_validate_json(row.text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        problem = (
            "it is not JSON" if first["type"] == "json_invalid" else "it is not a complete entry"
        )
        raise InvalidEntryError(f"{where!r} is wrong" if where else problem) from None
    if entry.text() != row.text:
        raise InvalidEntryError(f"it is not written as the {kind.writer} writes it")
    if row.columns not in (None, (entry.number, entry.hash)):
        raise InvalidEntryError("the columns beside it differ from the entry")
    return entry


def verify(
    rows: Iterable[Row],
    chain: HashChain,
    kind: EntryKind[Chained],
    expected: Head | None = None,
) -> Verification:
    """Return the problems of the rows of a chain.

    Raises DataError (C013) if they are chained with a key that is not given.
    """
    walk, problems = _Walk(chain, kind, expected), []
    for row in rows:
        place = Place(line=row.line, column=1)
        problems += [Problem(kind.code, words, place=place) for words in walk.faults(row)]
        if len(problems) >= MOST:
            words = "There are more problems, which are not listed."
            problems[MOST - 1 :] = [Problem(kind.code, words, place=place)]
            break
    else:
        problems += [Problem(kind.code, words) for words in walk.missing()]
    return Verification(walk.rows, walk.head, tuple(problems))


class _Walk(Generic[Chained]):
    """One pass over a chain: the last entry, and whether the expected head was seen."""

    def __init__(self, chain: HashChain, kind: EntryKind[Chained], expected: Head | None) -> None:
        self.chain = chain
        self.kind = kind
        self.expected = expected
        self.rows = 0
        self.head = Head()
        self.is_readable = True
        self.has_expected_head = expected is None or expected.is_at(0, START)

    def faults(self, row: Row) -> Iterator[str]:
        """Yield the problems of the next row, and make it the last one."""
        self.rows += 1
        try:
            entry = parse_entry(row, self.kind)
        except InvalidEntryError as error:
            self.is_readable = False
            yield f"This is not an entry: {error}."
            return
        if self.rows == 1 and self.chain.key is None and entry.chain == "hmac-sha-256":
            raise key_error(self.kind.writer)
        entry_problems = list(self.chain.entry_faults(entry))
        yield from (f"Entry {entry.number}: {fault}." for fault in entry_problems)
        if self.is_readable:
            yield from _sequence_problem(entry, self.head)
        self.head, self.is_readable = Head(entry.number, entry.hash), True
        if self.expected and not entry_problems:
            self.has_expected_head = self.has_expected_head or self.expected.is_at(
                entry.number, entry.hash
            )

    def missing(self) -> Iterator[str]:
        """Yield the problems of the chain as a whole, after all rows."""
        if not self.has_expected_head:
            yield (
                f"The {self.kind.writer} does not contain the head {self.expected}; "
                f"it ends at {self.head}. It was truncated or replaced."
            )


def key_error(writer: str, source: str = "") -> PolicyEngineError:
    """Return the error (C013) of a chain with a key that is read without one."""
    message = f"The {writer} is chained with a key, but no key was given."
    hint = f"Give the key that the {writer} is chained with."
    return DataError.of("C013", message, hint, source)


def _sequence_problem(entry: ChainEntry, last: Head) -> Iterator[str]:
    expected = last.number + 1
    if entry.number > expected:
        until = entry.number - 1
        missing = (
            f"Entry {expected} is" if until == expected else f"Entries {expected} to {until} are"
        )
        yield f"{missing} missing before entry {entry.number}."
    elif entry.number < expected:
        where = f"Entry {entry.number} is where entry {expected} should be"
        yield f"{where}: it was inserted, moved or repeated."
    elif entry.previous != last.hash:
        yield f"Entry {entry.number} was written after a different entry {last.number}."
