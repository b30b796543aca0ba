"""Generalised cells as tools spell them: ranges, half-lines, sets, prefixes, periods of time.

Our own notation (`[20 - 29]`, `{20, 25}`, `>64`, `2019-Q1`) comes first, then that of ARX
(`[20, 30[`, `>= 80`, `413**`), of R and pandas (`(20,30]`, `[20, 30)`), and `20-29`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from policy_engine.data.cells import MISSING, read_cell
from policy_engine.engines.generalizations.calendars import spans

Axis = Literal["numbers", "times"]
"""What the values of a column are: numbers, or dates and times, which are microseconds here."""


@dataclass(frozen=True)
class Part:
    """The values from `low` to `high`, with or without the ends themselves."""

    low: float
    high: float
    has_low: bool = True
    has_high: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether no value at all is in it."""
        ends = self.has_low and self.has_high
        return not (self.low < self.high or (ends and self.low == self.high))

    @property
    def middle(self) -> float:
        """The value in the middle, the end of a half-line."""
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return sum(ends) / len(ends)


@dataclass(frozen=True)
class CellShape:
    """The values that a cell may be: those of its parts, and with `may_be_missing`, none."""

    parts: tuple[Part, ...]
    may_be_missing: bool = False


ANY = Part(-math.inf, math.inf)
"""Every value."""

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_DAY, _CLOCK = r"\d{4}-\d{2}-\d{2}", r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_MOMENT = rf"{_DAY}[T ]{_CLOCK}(?:Z|[-+]\d{{2}}:?\d{{2}})?"
_TIME = rf"(?:{_MOMENT}|{_DAY}|{_CLOCK}|\d{{4}}-Q[1-4]|\d{{4}}-\d{{2}}|\d{{4}})"
_END = {"numbers": _NUMBER, "times": _TIME}
_INFINITE = r"[-+]?(?:inf|infinity|∞)"
_BETWEEN = r"(?:,|;|\.\.|-|\u2013|to)"


def _patterns(end: str) -> tuple[re.Pattern[str], ...]:
    some, flags = rf"({end}|{_INFINITE}|)", re.IGNORECASE | re.ASCII
    return (
        re.compile(rf"([\[(\]])\s*{some}\s*{_BETWEEN}\s*{some}\s*([\])\[])", flags),
        re.compile(rf"()({end})\s*(?:-|\u2013|to|\.\.)\s*({end})()", flags),
        re.compile(rf"(<=|>=|<|>|≤|≥)\s*({end})", re.ASCII),
        re.compile(rf"()({end})\s*(?:\+|or more|and over)", flags),
    )


_PATTERNS = {axis: _patterns(end) for axis, end in _END.items()}
_SINGLE = {axis: re.compile(end, re.ASCII) for axis, end in _END.items()}
_PREFIX = re.compile(r"(\d+)(\*+)", re.ASCII)
_LEAST = ("<", "<=", "≤")


def read_shape(text: str, axis: Axis) -> CellShape | None:
    """Return what a cell of a column of numbers or times may be, None where it is no such cell."""
    body = text.strip().removesuffix(MISSING)
    parts = _parts(body, axis)
    if parts is None or any(part.is_empty for part in parts):
        return None
    return CellShape(parts, may_be_missing=body != text.strip())


def _parts(body: str, axis: Axis) -> tuple[Part, ...] | None:
    if body and not body.strip("*"):
        return (ANY,)
    if body.startswith("{"):
        members = [_single(one, axis) for one in set_members(body) or ("",)]
        return tuple(one for one in members if one) if all(members) else None
    part = _single(body, axis) or _range(body, axis) or _half_line(body, axis)
    if part is None and axis == "numbers" and (match := _PREFIX.fullmatch(body)):
        scale = 10 ** len(match[2])
        part = Part(float(match[1]) * scale, float(match[1]) * scale + scale - 1)
    return None if part is None else (part,)


def set_members(body: str) -> tuple[str, ...]:
    """Return the members of a set as we write it, or of texts with commas between; none of what is
    no set."""
    try:
        return read_cell(body).values if body.startswith("{") else ()
    except ValueError:
        if not body.endswith("}"):
            return ()
        return tuple(one.strip().strip("\"'") for one in body[1:-1].split(","))


def _single(text: str, axis: Axis) -> Part | None:
    """Return a number, or a day, a moment or another period of time."""
    if axis == "numbers":
        return _number(text) if _SINGLE[axis].fullmatch(text) else None
    return _period(text)


def _number(text: str) -> Part:
    return Part(float(text), float(text))


def _period(text: str) -> Part | None:
    try:
        (start,), (end,) = spans([text])
    except ValueError:
        return None
    if re.fullmatch(_DAY, text):
        end = start + _MICROSECONDS_OF_A_DAY
    return Part(float(start), float(end), has_high=start == end)


_MICROSECONDS_OF_A_DAY = 86_400_000_000
_READ: dict[Axis, Callable[[str], Part | None]] = {"numbers": _number, "times": _period}


def _range(body: str, axis: Axis) -> Part | None:
    closed, plain, *_ = _PATTERNS[axis]
    match = closed.fullmatch(body) or plain.fullmatch(body)
    if match is None:
        return None
    low, high = (_end(match[place], axis, sign) for place, sign in ((2, -1), (3, 1)))
    if low is None or high is None:
        return None
    return Part(
        low.low if match[1] in ("[", "") else low.high,
        high.high if match[4] in ("]", "") else high.low,
        has_low=match[1] in ("[", "") or low.low < low.high,
        has_high=match[4] in ("]", "") and high.has_high,
    )


def _end(text: str, axis: Axis, sign: int) -> Part | None:
    """Return an end of a range, infinite where it is left out."""
    if not text or not any(one.isdigit() for one in text):
        return Part(sign * math.inf, sign * math.inf)
    return _READ[axis](text)


def _half_line(body: str, axis: Axis) -> Part | None:
    _, _, compared, more = _PATTERNS[axis]
    match = compared.fullmatch(body) or more.fullmatch(body)
    end = _READ[axis](match[2]) if match else None
    if match is None or end is None:
        return None
    if match[1] in _LEAST:
        is_in = match[1] != "<"
        high = end.high if is_in else end.low
        return Part(-math.inf, high, has_high=is_in and end.has_high)
    is_in = match[1] != ">"
    return Part(end.low if is_in else end.high, math.inf, has_low=is_in or not end.has_high)
