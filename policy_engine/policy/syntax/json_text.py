"""JSON text to values that remember where they stood."""

import bisect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from policy_engine.errors import Place, PolicyError, Problem
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, MAX_PROBLEMS, Limits
from policy_engine.policy.syntax.scanned_json import (
    MAX_DIGITS,
    UNLIMITED,
    UnclearJsonError,
    scanned_json,
)
from policy_engine.policy.xsd.values import read_float
from policy_engine.terms import MOST_CHARACTERS

__all__ = [
    "MAX_DIGITS",
    "Document",
    "decoded",
    "escape",
    "place_of",
    "read_json",
    "read_valid_json",
    "unescape",
]

_SPACE = re.compile(r"[ \t\n\r]*")
# Nearly all keys and strings match these at once; what does not is looked at step by step.
_MARK = re.compile(r"[ \t\n\r]*(.?)", re.DOTALL)
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f\ud800-\udfff]*)"')
_PLAIN_KEY = re.compile(f"{_SPACE.pattern}{_PLAIN_STRING.pattern}{_SPACE.pattern}:{_SPACE.pattern}")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_STRING_PROBLEMS = {
    "Unterminated string starting at": ("The string that starts here has no closing quote", ""),
    "Invalid control character at": (
        "A string may not hold a line break or another control character",
        "Is a closing quote missing in this line?",
    ),
}
_WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Document:
    """A JSON value and the place of each part of it, by JSON pointer (RFC 6901)."""

    value: Any
    text: str
    values: Mapping[str, int]
    keys: Mapping[str, int]
    problems: tuple[Problem, ...]
    lines: Sequence[int] = field(repr=False)
    name_characters: int = field(default=MOST_CHARACTERS, kw_only=True)
    """How many characters a name in it may have."""

    @property
    def has_contexts(self) -> bool:
        """Whether contexts declare the prefixes of its names, as in JSON-LD alone."""
        return True

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return the place of the value (or of its key) that the pointer names."""
        offsets = self.keys if of_key and pointer in self.keys else self.values
        return place_of(self.lines, offsets.get(pointer, 0), pointer)

    def string(self, pointer: str, *, of_key: bool = False) -> str | None:
        """Return the string that is the value (or the key) at a pointer."""
        offset = (self.keys if of_key else self.values).get(pointer)
        if offset is None or self.text[offset : offset + 1] != '"':
            return None
        return _scan_string(self.text, offset + 1)[0]

    def span(self, pointer: str, *, of_key: bool = False) -> tuple[Place, Place]:
        """Return where the string of a value (or of a key) begins and ends."""
        start = (self.keys if of_key else self.values)[pointer]
        end = _scan_string(self.text, start + 1)[1]
        return place_of(self.lines, start, pointer), place_of(self.lines, end, pointer)

    def opening(self, pointer: str) -> Place | None:
        """Return the place right behind the brace that opens the object that a pointer names."""
        offset = self.values.get(pointer)
        if offset is None or self.text[offset : offset + 1] != "{":
            return None
        return place_of(self.lines, offset + 1, pointer)

    def at(self, pointer: str) -> Any:
        """Return the value that the pointer names."""
        value = self.value
        for step in pointer.split("/")[1:]:
            value = value[int(step) if isinstance(value, list) else unescape(step)]
        return value


class _Scanned(Document):
    """A document whose places are looked for once one of them is asked for."""

    def __init__(self, value: Any, text: str, name_characters: int) -> None:
        parts = {"value": value, "text": text, "name_characters": name_characters}
        self.__dict__.update(parts, problems=())

    @cached_property
    def _reader(self) -> "_Reader":
        reader = _Reader(self.text, "", UNLIMITED)
        reader.document()
        return reader

    @cached_property
    def values(self) -> Mapping[str, int]:
        """Where each value begins, by its pointer."""
        return self._reader.values

    @cached_property
    def keys(self) -> Mapping[str, int]:
        """Where each key begins, by the pointer of its value."""
        return self._reader.keys

    @cached_property
    def lines(self) -> Sequence[int]:
        """Where each line begins."""
        return line_starts(self.text)

    def place(self, pointer: str, *, of_key: bool = False) -> Place:
        """Return the place of the value (or of its key) that the pointer names."""
        if pointer:
            return super().place(pointer, of_key=of_key)
        return place_of(self.lines, self._start)

    def opening(self, pointer: str) -> Place | None:
        """Return the place right behind the brace that opens the object that a pointer names."""
        if pointer or not isinstance(self.value, dict):
            return super().opening(pointer)
        return place_of(self.lines, self._start + 1)

    @cached_property
    def _start(self) -> int:
        match = _SPACE.match(self.text)
        return match.end() if match else 0


def read_json(text: str | bytes, source: str = "", limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read one JSON text (RFC 8259), strictly, with the place of every value and key.

    A key that appears twice is among the document's problems; what stops the text from being
    JSON at all raises PolicyError at once, as does a text beyond the limits. Places are looked for
    in a text in which nothing is wrong once one of them is asked for.
    """
    plain = decoded(text, source, limits)
    try:
        return _Scanned(scanned_json(plain, limits), plain, limits.name_characters)
    except UnclearJsonError:
        return _placed_json(plain, source, limits)


def _placed_json(text: str, source: str, limits: Limits) -> Document:
    """Return a document whose places are known."""
    reader = _Reader(text, source, limits)
    value = reader.document()
    return Document(
        value,
        reader.text,
        reader.values,
        reader.keys,
        tuple(reader.problems),
        reader.lines,
        name_characters=limits.name_characters,
    )


def read_valid_json(text: str | bytes, source: str = "") -> Document:
    """Read one JSON text in which no key appears twice. Raises PolicyError with every problem."""
    document = read_json(text, source)
    if document.problems:
        raise PolicyError(*document.problems, source=source)
    return document


def escape(step: str) -> str:
    """Return a key as a step of a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """Return the key that a step of a JSON pointer names."""
    return step.replace("~1", "/").replace("~0", "~")


def _scan_string(text: str, start: int) -> tuple[str, int]:
    """Return the JSON string whose first character is at `start`, and where it ends."""
    return json.decoder.scanstring(text, start, True)  # type: ignore[attr-defined,no-any-return]  # noqa: FBT003


def decoded(text: str | bytes, source: str, limits: Limits) -> str:
    """Return a text as such. Raises PolicyError where it is too large (J003) or no UTF-8."""
    if len(text) > limits.bytes:
        message = (
            f"The text is too large. It has {len(text):,} bytes. {limits.bytes:,} are allowed."
        )
        raise PolicyError(Problem("J003", message), source=source)
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        place = Place("", before.count("\n") + 1, len(before) - before.rfind("\n"))
        byte = error.object[error.start]
        message = f"The text is not UTF-8. It has the byte 0x{byte:02x} here."
        raise PolicyError(Problem("J004", message, "", place), source=source) from None


def line_starts(text: str) -> list[int]:
    """Return the offsets at which the lines of a text begin, as editors count them: after a line
    feed, a carriage return, or both. Other separators of Unicode are letters of a line."""
    return [0, *(match.end() for match in _LINE_ENDS.finditer(text))]


_LINE_ENDS = re.compile(r"\r\n?|\n")


def place_of(lines: Sequence[int], offset: int, pointer: str = "") -> Place:
    """Return the place of an offset in a text whose lines begin at the offsets given."""
    line = bisect.bisect_right(lines, offset)
    return Place(pointer, line, offset - lines[line - 1] + 1)


class _Reader:
    """A recursive-descent reader over one text."""

    def __init__(self, text: str, source: str, limits: Limits) -> None:
        self.text = text
        self.source = source
        self.limits = limits
        self.values: dict[str, int] = {}
        self.keys: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.lines = line_starts(text)
        self.position = 0
        self.last_closed = -1

    def document(self) -> Any:
        self._skip_space()
        value = self._value("", 0)
        self._skip_space()
        if self.position < len(self.text):
            self._fail("The JSON text ends here, but more follows.", self._closed_early())
        return value

    def _value(self, pointer: str, depth: int) -> Any:
        self.values[pointer] = self.position
        most = self.limits
        if (
            depth > most.depth
            or len(pointer) > most.key_characters
            or len(self.values) > most.values
        ):
            self._refuse_size(pointer, depth)
        start = self.text[self.position : self.position + 1]
        if start == '"':
            return self._string()
        if start == "{":
            return self._object(pointer, depth)
        if start == "[":
            return self._array(pointer, depth)
        return self._word_or_number()

    def _refuse_size(self, pointer: str, depth: int) -> NoReturn:
        most = self.limits
        if depth > most.depth or len(pointer) > most.key_characters:
            allowed = (
                f"{most.depth} levels and {most.key_characters} characters of keys are allowed."
            )
            self._fail(f"The text is nested too deeply. {allowed}", code="J003")
        self._fail(f"The text has too many values. {most.values:,} are allowed.", code="J003")

    def _object(self, pointer: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self._skip()
        while (mark := self._mark()) != "}":
            if members:
                if mark != ",":
                    self._fail(f"Expected ',' or '}}' here, found {self._found()}.")
                self.position += 1
            self._member(members, pointer, depth)
        self.last_closed = self.position
        self.position += 1
        return members

    def _key(self) -> tuple[int, str]:
        """Return where the next key begins, and the key; go to its value."""
        match = _PLAIN_KEY.match(self.text, self.position)
        if match:
            self.position = match.end()
            return match.start(1) - 1, match[1]
        if self._mark() != '"':
            self._fail(f"Expected a key in double quotes here, found {self._found()}.")
        start, key = self.position, self._string()
        if self._mark() != ":":
            self._fail(f"Expected ':' after the key {key!r}, found {self._found()}.")
        self._skip()
        return start, key

    def _member(self, members: dict[str, Any], pointer: str, depth: int) -> None:
        start, key = self._key()
        pointer = f"{pointer}/{escape(key)}"
        if key in members and len(self.problems) < MAX_PROBLEMS:
            first = place_of(self.lines, self.keys[pointer])
            message = f"The key {key!r} appears twice in one object, first in line {first.line}."
            self.problems.append(Problem("J002", message, "", place_of(self.lines, start, pointer)))
        self.keys[pointer] = start
        members[key] = self._value(pointer, depth + 1)

    def _array(self, pointer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        self._skip()
        while (mark := self._mark()) != "]":
            if items:
                if mark != ",":
                    early = self._closed_early() if mark == ":" else ""
                    self._fail(f"Expected ',' or ']' here, found {self._found()}.", early)
                self._skip()
            items.append(self._value(f"{pointer}/{len(items)}", depth + 1))
        self.position += 1
        return items

    def _string(self) -> str:
        start = self.position
        match = _PLAIN_STRING.match(self.text, start)
        if match:
            self.position = match.end()
            return match[1]
        try:
            value, self.position = _scan_string(self.text, start + 1)
            value.encode()
        except json.JSONDecodeError as error:
            self.position = error.pos
            problem, hint = _STRING_PROBLEMS.get(error.msg, (error.msg, ""))
            self._fail(f"{problem}.", hint)
        except UnicodeEncodeError:
            self.position = start
            self._fail("The string holds half of a surrogate pair.")
        return value

    def _word_or_number(self) -> Any:
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return value
        match = _NUMBER.match(self.text, self.position)
        if match is None:
            self._fail(f"Expected a value here, found {self._found()}.")
        number = read_float(match[0]) if match[1] or match[2] else match[0]
        if len(match[0]) > MAX_DIGITS or (isinstance(number, float) and math.isinf(number)):
            self._fail("The number is too large.")
        self.position = match.end()
        return number if isinstance(number, float) else int(number)

    def _skip(self) -> None:
        self.position += 1
        self._skip_space()

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def _mark(self) -> str:
        """Return the next character that is not white space, and go to it."""
        match = _MARK.match(self.text, self.position)
        assert match is not None  # noqa: S101 (it matches nothing at all, too)
        self.position = match.start(1)
        return match[1]

    def _found(self) -> str:
        if self.position >= len(self.text):
            return "the end of the text"
        return repr(self.text[self.position])

    def _closed_early(self) -> str:
        """Point to the object that closed last: often there is a brace too many."""
        if self.last_closed < 0:
            return ""
        place = place_of(self.lines, self.last_closed)
        return (
            f"The object that closed just before, in line {place.line}, column {place.column}, "
            "may have been closed too early: look for one '}' too many there."
        )

    def _fail(self, message: str, hint: str = "", code: str = "J001") -> NoReturn:
        place = place_of(self.lines, self.position)
        raise PolicyError(Problem(code, message, hint, place), source=self.source)
