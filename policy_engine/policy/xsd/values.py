"""The values of literals, and what kinds of them there are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any, SupportsIndex

_MOST_DIGITS = 500
_LONGEST = 400
_NUMBER = re.compile(
    r"[ \t\r\n]*[-+]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][-+]?[0-9]{1,3})?[ \t\r\n]*"
)


@dataclass(frozen=True)
class Duration:
    """A duration: months and seconds, which have no fixed ratio (XSD 1.1 part 2, 3.3.6)."""

    months: int
    seconds: Decimal

    def __post_init__(self) -> None:
        if not self.seconds.is_finite() or self.seconds.adjusted() > _MOST_DIGITS:
            raise ValueError(f"a duration has no {self.seconds} seconds")
        if self.months < 0 < self.seconds or self.seconds < 0 < self.months:
            raise ValueError("the months and seconds of a duration have one sign")


class ZonedDate(date):
    """A day in a time zone of its own (XSD 1.1 part 2, 3.3.9)."""

    zone: tzinfo

    def __new__(cls, year: int, month: int, day: int, zone: tzinfo) -> "ZonedDate":
        """Return the day that a year, a month and a day name in a zone."""
        made = super().__new__(cls, year, month, day)
        made.zone = zone
        return made

    def __eq__(self, other: object) -> bool:
        alike = isinstance(other, ZonedDate) and self.zone == other.zone
        return alike and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        # That of `date` would be inherited, and knows no zones.
        return not self == other

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.zone))

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return ZonedDate, (self.year, self.month, self.day, self.zone)


Literals = str | bool | int | float | Decimal | datetime | date | time | Duration


def kind_of(value: Any) -> str:
    """Return which values one compares with: text, number, moment...; empty for others."""
    kind = _KINDS.get(type(value))
    if kind is not None or value != value:  # noqa: PLR0124 - what is not a number, time or text
        return kind or ""
    return next((kind for types, kind in _KINDS.items() if isinstance(value, types)), "")


_KINDS: Mapping[type, str] = MappingProxyType(
    # A boolean is an integer to Python and an instant is a date, so these come first.
    {str: "text", bool: "boolean", int: "number", float: "number", Decimal: "number"}
    | {datetime: "moment", date: "day", time: "time", Duration: "duration", ZonedDate: "day"}
)


class LongFloat(float):
    """The float nearest to a number that no float is; `text` is how it was written."""

    text: str

    def __new__(cls, text: str) -> "LongFloat":
        """Return the float of a text."""
        number = super().__new__(cls, text)
        number.text = str(text)
        return number


def read_float(text: str) -> float:
    """Return the float of a text, which keeps its text where it prints as another number."""
    number = float(text)
    if number - number != 0:  # infinite, or no number
        return number
    try:
        is_exact = as_written(number) == Decimal(text)
    except InvalidOperation:  # an exponent beyond those of decimals
        is_exact = False
    return number if is_exact else LongFloat(text)


def as_written(number: float | Decimal) -> int | Decimal:
    """Return a number as the exact decimal number that it prints as."""
    return Decimal(float.__repr__(number)) if isinstance(number, float) else number


def midnight(day: date) -> datetime:
    """Return the dateTime at which a day begins, without a zone."""
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - zones are added by the callers


def exact_number(value: Any) -> Decimal:
    """Return a number, or the text of one, as the exact decimal number that was written.

    Raises ValueError for anything else, and for a number of more than 400 digits.
    """
    text = value.text if isinstance(value, LongFloat) else value
    if isinstance(text, str):
        number = Decimal(text.strip(" \t\r\n")) if _NUMBER.fullmatch(text) else None
    else:
        is_number = kind_of(text) == "number"
        number = Decimal(as_written(text)) if is_number else None
    if number is None or not number.is_finite():
        raise ValueError("it is not a number")
    digits = len(number.as_tuple().digits)
    if digits > _LONGEST or abs(number.adjusted()) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST} digits")
    return number
