"""Literals of XML Schema: from their text to values, and how these compare."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import partial
from math import isinf
from types import MappingProxyType
from typing import Any

from policy_engine import terms
from policy_engine.policy.xsd.ordering import equal, order
from policy_engine.policy.xsd.values import (
    Duration,
    Literals,
    ZonedDate,
    as_written,
    kind_of,
    midnight,
    read_float,
)

__all__ = [
    "FINE_TIME",
    "NUMERIC_TYPES",
    "TEXT_OF_A_LANGUAGE",
    "TEXT_TYPES",
    "Duration",
    "Literals",
    "ZonedDate",
    "can_be_read",
    "check_time",
    "equal",
    "lexical",
    "order",
    "read_literal",
    "read_moment",
    "type_of",
]

_DIGITS = "[0-9]{1,400}"
_DECIMAL = rf"[-+]?(?:{_DIGITS}(?:\.[0-9]{{0,400}})?|\.{_DIGITS})"
_ZONE = r"(?P<zone>Z|[-+](?:0[0-9]|1[0-3]):[0-5][0-9]|[-+]14:00)?"
_DATE = r"(?P<year>-?[0-9]{4,400})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_TIME = (
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])"
    r"(?:\.(?P<fraction>[0-9]{1,400}))?"
)
_YEARS = rf"(?:(?P<years>{_DIGITS})Y)?(?:(?P<months>{_DIGITS})M)?"
_DAYS = (
    rf"(?:(?P<days>{_DIGITS})D)?(?:T(?=[0-9])(?:(?P<hours>{_DIGITS})H)?(?:(?P<minutes>{_DIGITS})M)?"
    rf"(?:(?P<seconds>{_DIGITS}(?:\.{_DIGITS})?)S)?)?"
)
# Texts rather than patterns: few policies have literals of more than two or three types.
_BOOLEAN = "true|false|1|0"
_ANYTHING = "(?s:.*)"
_LANGUAGE = "[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*"
_OF_INTEGER = rf"[-+]?{_DIGITS}"
_OF_DOUBLE = rf"{_DECIMAL}(?:[eE][-+]?{_DIGITS})?|[-+]?INF|NaN"
_OF_MOMENT = f"{_DATE}T{_TIME}{_ZONE}"
_OF_DAY = _DATE + _ZONE
_OF_TIME = _TIME + _ZONE
_OF_DURATION = f"-?P(?=[0-9T]){_YEARS}{_DAYS}"
_OF_DAYS = f"-?P(?=[0-9T]){_DAYS}"
_OF_MONTHS = f"-?P(?=[0-9]){_YEARS}"
_MOST_DIGITS = 400
_MOST_BITS = (10**_MOST_DIGITS).bit_length()
FINE_TIME = "{} is finer than microseconds, to which times are read"
_FINE_TIME = re.compile(
    r"\s*(-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T)?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}[0-9]*[1-9][0-9]*"
    r"(Z|[-+][0-9]{2}:[0-9]{2})?\s*"
)
"""A time with digits beyond microseconds."""
_LONGEST = 80
_TOO_LONG = f"it has more than {_MOST_DIGITS} digits"
_NONE = timedelta()
_FARTHEST = timedelta(hours=14)
_RANGES: Mapping[str, tuple[int | None, int | None]] = MappingProxyType(
    {
        "integer": (None, None),
        "nonNegativeInteger": (0, None),
        "positiveInteger": (1, None),
        "nonPositiveInteger": (None, 0),
        "negativeInteger": (None, -1),
    }
    | {
        name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for name, bits in (("long", 64), ("int", 32), ("short", 16), ("byte", 8))
    }
    | {
        f"unsigned{name}": (0, 2**bits - 1)
        for name, bits in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))
    }
)
TEXT_OF_A_LANGUAGE = f"{terms.RDF}langString"
TEXT_TYPES = frozenset(
    {TEXT_OF_A_LANGUAGE}
    | {f"{terms.XSD}{name}" for name in ("string", "anyURI", "normalizedString", "token")}
)
"""The data types of texts that may look like a name."""
NUMERIC_TYPES = frozenset({"decimal", "double", "float", *_RANGES})
"""The local names of the data types of numbers."""


def check_time(literal: Any) -> None:
    """Raise ValueError for a time with digits beyond microseconds: it would equal others without.

    Anything else passes.
    """
    if isinstance(literal, str) and _FINE_TIME.fullmatch(literal):
        raise ValueError(FINE_TIME.format(_shortened(literal)))


def read_literal(literal: Any, kind: str) -> Literals:
    """Return the value of a literal under the IRI of its data type; without one, as it is.

    Follows the lexical and value spaces of XSD 1.1 part 2. A decimal is a float where that prints
    as the same number, and exact otherwise. Raises ValueError, with a text for users, for an
    unknown data type and for what is not a value of its type; NaN, which cannot be compared,
    infinity and the numbers that would become it, years outside 1 to 9999, and times that
    are finer than microseconds too.
    """
    reader = _READERS.get(kind)
    if reader is None:
        raise ValueError(f"{terms.compact(kind)} is not a data type that can be read")
    if kind and kind not in TEXT_TYPES:
        check_time(literal)
    try:
        return reader(literal)
    except (ValueError, OverflowError) as error:
        what = f"a value of {terms.compact(kind)}" if kind else "a literal"
        why = f": {error}" if str(error) else ""
        raise ValueError(f"{_shortened(literal)} is not {what}{why}") from None


def read_moment(literal: Any) -> datetime:
    """Return the instant that a dateTime names, in UTC where it names no zone; of a day its start.

    Raises ValueError.
    """
    check_time(literal)
    try:
        moment = _moment(literal)
    except ValueError:
        day = _day(literal)
        zone = day.zone if isinstance(day, ZonedDate) else UTC
        return midnight(day).replace(tzinfo=zone)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def can_be_read(kind: str) -> bool:
    """Tell whether the literals of a data type, given by its IRI, can be read."""
    return kind in _READERS


def lexical(value: Literals) -> str:
    """Return the canonical text of a value in XSD; of a double the shortest that reads back."""
    writer = _WRITERS.get(kind_of(value))
    return writer(value) if writer else str(value)


def type_of(value: Literals) -> str:
    """Return the IRI of the data type that a value has where its text names none."""
    kind = kind_of(value)
    if kind == "number":
        whole, exact = isinstance(value, int), isinstance(value, Decimal)
        return terms.XSD + ("integer" if whole else "decimal" if exact else "double")
    return terms.XSD + {"moment": "dateTime", "day": "date", "text": "string"}.get(kind, kind)


# -- reading ----------------------------------------------------------------------------------


def _as_it_is(literal: Any) -> Literals:
    if isinstance(literal, float) and literal - literal != 0:
        raise ValueError("no number of JSON is as large")
    if not isinstance(literal, str | bool | int | float):
        raise ValueError
    if isinstance(literal, int) and literal.bit_length() > _MOST_BITS:
        raise ValueError(_TOO_LONG)
    return literal


def _text(literal: Any) -> str:
    if not isinstance(literal, str):
        raise ValueError
    return literal


def _matched(pattern: str, literal: Any) -> re.Match[str]:
    """Return the match of a literal without the space around it."""
    match = re.fullmatch(pattern, _text(literal).strip(" \t\r\n"))
    if not match:
        raise ValueError
    return match


def _one_line(literal: Any) -> str:
    return re.sub("[\t\r\n]", " ", _text(literal))


def _token(pattern: str, literal: Any) -> str:
    return _matched(pattern, re.sub("[ \t\r\n]+", " ", _text(literal)))[0]


def _boolean(literal: Any) -> bool:
    if isinstance(literal, bool):
        return literal
    return _matched(_BOOLEAN, literal)[0] in ("true", "1")


def _integer(lowest: int | None, highest: int | None, literal: Any) -> int:
    number = _whole(literal) if isinstance(literal, int | float) else _text_of_integer(literal)
    if number.bit_length() > _MOST_BITS:
        raise ValueError(_TOO_LONG)
    if lowest is not None and number < lowest:
        raise ValueError(f"the least is {lowest}")
    if highest is not None and number > highest:
        raise ValueError(f"the greatest is {highest}")
    return number


def _text_of_integer(literal: Any) -> int:
    return int(_matched(_OF_INTEGER, literal)[0])


def _whole(literal: float) -> int:
    if isinstance(literal, bool) or literal % 1 != 0:
        raise ValueError
    return literal if isinstance(literal, int) else int(as_written(literal))


def _decimal(literal: Any) -> Literals:
    if isinstance(literal, int | float):
        return _json_number(literal)
    text = _matched(_DECIMAL, literal)[0]
    near, exact = float(text), Decimal(text)
    return near + 0.0 if as_written(near) == exact else exact


def _double(literal: Any) -> Literals:
    if isinstance(literal, int | float):
        return _json_number(literal)
    text = _matched(_OF_DOUBLE, literal)[0]
    if text == "NaN":
        raise ValueError("it compares with nothing")
    number = read_float(text)
    if isinf(number):  # and so equal to every other one that is too large
        raise ValueError("no finite double is as large")
    return number


def _json_number(literal: float) -> Literals:
    if isinstance(literal, bool):
        raise ValueError
    return _as_it_is(literal)


def _moment(literal: Any, *, zoned: bool = False) -> datetime:
    match = _matched(_OF_MOMENT, literal)
    if zoned and not match["zone"]:
        raise ValueError("it names no time zone")
    clock, is_next_day = _clock(match)
    moment = datetime.combine(date(*_year_month_day(match)), clock, tzinfo=_zone(match["zone"]))
    return moment + timedelta(days=1) if is_next_day else moment


def _day(literal: Any) -> date:
    match = _matched(_OF_DAY, literal)
    zone = _zone(match["zone"])
    return ZonedDate(*_year_month_day(match), zone) if zone else date(*_year_month_day(match))


def _time(literal: Any) -> time:
    match = _matched(_OF_TIME, literal)
    return _clock(match)[0].replace(tzinfo=_zone(match["zone"]))


def _year_month_day(match: re.Match[str]) -> tuple[int, int, int]:
    if len(match["year"]) > len("9999") or match["year"] == "0000":
        raise ValueError("years are from 0001 to 9999")
    return int(match["year"]), int(match["month"]), int(match["day"])


def _clock(match: re.Match[str]) -> tuple[time, bool]:
    """Return the time of day, and whether it is that of the next day (24:00:00)."""
    fraction = (match["fraction"] or "").rstrip("0")
    microseconds = int(fraction.ljust(6, "0"))  # of no more digits: such times were refused
    minute, second = int(match["minute"]), int(match["second"])
    if match["hour"] == "24" and not (minute or second or fraction):
        return time(), True
    return time(int(match["hour"]), minute, second, microseconds), False


def _zone(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text in ("Z", "+00:00", "-00:00"):
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
    return timezone(offset if text[0] == "+" else -offset)


def _duration(pattern: str, literal: Any) -> Duration:
    match = _matched(pattern, literal)
    part = {name: digits or "0" for name, digits in match.groupdict().items()}
    months = int(part.get("years", 0)) * 12 + int(part.get("months", 0))
    whole, _, fraction = part.get("seconds", "0").partition(".")
    hours = int(part.get("days", 0)) * 24 + int(part.get("hours", 0))
    seconds = (hours * 60 + int(part.get("minutes", 0))) * 60 + int(whole)
    sign = "-" if match[0].startswith("-") else ""
    # Built from text, since sums of decimals are rounded.
    return Duration(int(f"{sign}{months}"), Decimal(f"{sign}{seconds}.{fraction}"))


_BY_NAME: Mapping[str, Callable[[Any], Literals]] = MappingProxyType(
    {
        "string": _text,
        "anyURI": partial(_token, _ANYTHING),
        "normalizedString": _one_line,
        "token": partial(_token, _ANYTHING),
        "language": partial(_token, _LANGUAGE),
        "boolean": _boolean,
        "decimal": _decimal,
        "double": _double,
        "float": _double,
        "date": _day,
        "time": _time,
        "dateTime": _moment,
        "dateTimeStamp": partial(_moment, zoned=True),
        "duration": partial(_duration, _OF_DURATION),
        "dayTimeDuration": partial(_duration, _OF_DAYS),
        "yearMonthDuration": partial(_duration, _OF_MONTHS),
        **{name: partial(_integer, *ends) for name, ends in _RANGES.items()},
    }
)
_READERS: Mapping[str, Callable[[Any], Literals]] = MappingProxyType(
    {"": _as_it_is, TEXT_OF_A_LANGUAGE: _text}
    | {f"{terms.XSD}{name}": reader for name, reader in _BY_NAME.items()}
)


# -- writing ----------------------------------------------------------------------------------


def _number_text(number: float | Decimal) -> str:
    if isinstance(number, float):
        return float.__repr__(number).replace("inf", "INF").replace("nan", "NaN")
    exact = Decimal(number)
    if not exact.is_finite() or abs(exact.adjusted()) > _MOST_DIGITS:
        return str(exact)
    return _trimmed(format(exact, "f")) or "0"


def _trimmed(text: str) -> str:
    """Return a text without the zeros at the end of its fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def _time_text(value: time) -> str:
    return _trimmed(value.replace(tzinfo=None).isoformat()) + _zone_text(value.utcoffset())


def _day_text(day: date) -> str:
    offset = day.zone.utcoffset(midnight(day)) if isinstance(day, ZonedDate) else None
    return date.isoformat(day) + _zone_text(offset)


def _moment_text(moment: datetime) -> str:
    offset = moment.utcoffset()
    if offset is not None and (offset.seconds % 60 or abs(offset) > _FARTHEST):
        # XSD has no such offset.
        try:
            return _moment_text(moment.astimezone(UTC))
        except OverflowError:
            return moment.isoformat()
    return _trimmed(moment.replace(tzinfo=None).isoformat()) + _zone_text(offset)


def _zone_text(offset: timedelta | None) -> str:
    if offset is None:
        return ""
    minutes = abs(offset) // timedelta(minutes=1)
    sign = "-" if offset < _NONE else "+"
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}" if offset else "Z"


def _duration_text(duration: Duration) -> str:
    sign = "-" if duration.months < 0 or duration.seconds < 0 else ""
    years, months = divmod(abs(duration.months), 12)
    whole, _, fraction = format(duration.seconds.copy_abs(), "f").partition(".")
    minutes, seconds = divmod(int(whole), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    last = _trimmed(f"{seconds}.{fraction}")
    day = _parts((years, "Y"), (months, "M"), (days, "D"))
    clock = _parts((hours, "H"), (minutes, "M"), (0 if last == "0" else last, "S"))
    return f"{sign}P{day}" + (f"T{clock}" if clock else "" if day else "T0S")


def _parts(*parts: tuple[int | str, str]) -> str:
    return "".join(f"{number}{unit}" for number, unit in parts if number)


_WRITERS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "boolean": _boolean_text,
        "number": _number_text,
        "moment": _moment_text,
        "day": _day_text,
        "time": _time_text,
        "duration": _duration_text,
    }
)


def _shortened(literal: Any) -> str:
    try:
        text = repr(literal)
    except (ValueError, RecursionError):
        return "what was given"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
