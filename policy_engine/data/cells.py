"""The shape of generalised cells: written in one place, read back in one place.

    cell    = ""                       the value is missing in every row of the class
            | body
            | body " or missing"       ... in some of its rows
    body    = "[" bound " - " bound "]"        a range, both ends included
            | "{" member ", " member ... "}"   a set of two or more texts
            | text                             one value, as it was, or the name of a group
    bound   = a number, a date, a time of day, or a date and time (ISO 8601)
    member  = text without , { } " or blanks at its ends, or a JSON string
    text    = any text that cannot be read as another cell, or a JSON string

A set holds no more than the class does, and so does a range, unless its ends are those of an
interval of a fixed width or of a level that a whole column is generalised to. So the original
domain can be read off a whole column of cells.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

MISSING = " or missing"
ALL = "*"
"""The cell that means every value, where a taxonomy has no name of its own for it."""

_NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ZONE = r"(?:Z|[-+]\d{2}:?\d{2})?"
_BOUND = rf"(?:{_DATE}[T ]{_TIME}{_ZONE}|{_DATE}|{_TIME}|{_NUMBER})"
_RANGE = re.compile(rf"\[({_BOUND}) - ({_BOUND})\]", re.ASCII)
_PLAIN_MEMBER = re.compile(r'[^\s,{}"](?:[^,{}"\n\r]*[^\s,{}"])?')
_MEMBER = re.compile(rf'("(?:[^"\\]|\\.)*"|{_PLAIN_MEMBER.pattern})(, |$)')


@dataclass(frozen=True)
class Cell:
    """The values that the rows of a class may have.

    For a range, `values` are its two ends; for a set or one value, all of them; empty where
    every value is missing.
    """

    values: tuple[str, ...]
    is_range: bool = False
    may_be_missing: bool = False


def write_range(low: str, high: str) -> str:
    """Return the body of a range, or the one value where both ends are the same."""
    return write_value(low) if low == high else f"[{low} - {high}]"


def write_set(values: Sequence[str]) -> str:
    """Return the body of a set, its members in the order given, or of its one value."""
    if len(values) == 1:
        return write_value(values[0])
    return f"{{{', '.join(map(_member, values))}}}"


def write_value(value: str) -> str:
    """Return the body of a single value: the value itself wherever that can be read back."""
    ambiguous = (
        not value
        or value[0] in '"{'
        or value.endswith(MISSING)
        or _RANGE.fullmatch(value) is not None
    )
    return json.dumps(value, ensure_ascii=False) if ambiguous else value


def read_cell(cell: str | None) -> Cell:
    """Read a cell back. Raises ValueError where it has none of the shapes above."""
    if not cell:
        return Cell((), may_be_missing=True)
    body = cell.removesuffix(MISSING)
    may_be_missing = body != cell
    if not body:
        raise ValueError(f"not a cell: {cell!r}")
    if (match := _RANGE.fullmatch(body)) and match[1] == match[2]:
        raise ValueError(f"not a range: {body!r}")
    if match:
        return Cell((match[1], match[2]), is_range=True, may_be_missing=may_be_missing)
    if body.startswith("{"):
        return Cell(tuple(_members(body)), may_be_missing=may_be_missing)
    if body.startswith('"'):
        return Cell((_text(body),), may_be_missing=may_be_missing)
    return Cell((body,), may_be_missing=may_be_missing)


def _member(value: str) -> str:
    is_plain = _PLAIN_MEMBER.fullmatch(value) is not None
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _members(body: str) -> list[str]:
    members, position, end, more = [], 1, len(body) - 1, True
    while more:
        match = _MEMBER.match(body, position, end)
        if not match:
            break
        members.append(_text(match[1]))
        position, more = match.end(), bool(match[2])
    if (
        more
        or position != end
        or not body.endswith("}")
        or len(set(members)) < max(2, len(members))
    ):
        raise ValueError(f"not a set: {body!r}")
    return members


def _text(token: str) -> str:
    if not token.startswith('"'):
        return token
    try:
        value = json.loads(token)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, str):
        raise ValueError(f"not a JSON string: {token!r}")
    return value
