"""How the values of literals compare, and which do not."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from policy_engine.policy.xsd.values import (
    Duration,
    Literals,
    ZonedDate,
    as_written,
    kind_of,
    midnight,
)

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - instants are counted from it once they are in UTC
_NONE = timedelta()


def order(left: Literals, right: Literals, zone: tzinfo) -> int | None:
    """Return -1, 0 or 1 for before, equal and after; None where that is unknown.

    Numbers are the decimal numbers that they are written as. Dates and times that name no zone
    are in `zone`, where they meet one that does. An instant and a day are equal while the day
    lasts. Durations are ordered where all of the reference instants agree (XSD 1.1 part 2,
    3.3.6.1). Texts and booleans have no order: equal ones are 0, others None.
    """
    compared = _ORDERS.get((kind_of(left), kind_of(right)))
    return compared(left, right, zone) if compared else None


def equal(left: Literals, right: Literals, zone: tzinfo) -> bool | None:
    """Tell whether two values are equal, as `order` has it; None where that is unknown.

    Two texts, booleans or durations always can be told apart; values of two kinds never can.
    """
    kind = kind_of(left)
    if kind in ("text", "boolean", "duration"):
        return left == right if kind == kind_of(right) else None
    compared = order(left, right, zone)
    return None if compared is None else compared == 0


def place_of(value: Any) -> tuple[str, Any] | None:
    """Return a line and where on it a value lies, so that values of one line can be sorted.

    They compare as `order` has it, whatever the zone of those that name none: an instant and a
    dateTime without a zone lie on two lines. None for what has no such place.
    """
    kind = kind_of(value)
    if kind == "number":
        number = as_written(value)
        return ("number", number) if number == number else None  # noqa: PLR0124 (no NaN)
    if kind == "moment":
        is_zoned = value.utcoffset() is not None
        return ("instant", _instant(value)) if is_zoned else ("moment", value)
    if kind == "day":
        is_zoned = isinstance(value, ZonedDate)
        return ("zoned day", _start(value, UTC)) if is_zoned else ("day", value)
    return None


def _sign(left: Any, right: Any) -> int | None:
    """Return how two values of one type compare; None for what compares with nothing."""
    if left == right:
        return 0
    return -1 if left < right else 1 if left > right else None


def _order_equals(left: Any, right: Any, _zone: tzinfo) -> int | None:
    return 0 if left == right else None


def _order_numbers(left: Any, right: Any, _zone: tzinfo) -> int | None:
    if type(left) is type(right) is not Decimal:
        return _sign(left, right)
    one, other = as_written(left), as_written(right)
    if any(isinstance(number, Decimal) and number.is_nan() for number in (one, other)):
        return None
    return _sign(one, other)


def _order_moments(left: datetime, right: datetime, zone: tzinfo) -> int | None:
    if left.tzinfo is None and right.tzinfo is None:
        return _sign(left, right)
    # Only fixed offsets compare as instants: within one zone Python compares wall clocks.
    if type(left.tzinfo or zone) is type(right.tzinfo or zone) is timezone:
        return _sign(
            left if left.tzinfo else left.replace(tzinfo=zone),
            right if right.tzinfo else right.replace(tzinfo=zone),
        )
    rights = [_instant(moment) for moment in _zoned_times(right, zone)]
    return _agreed(
        _sign(_instant(moment), other) for moment in _zoned_times(left, zone) for other in rights
    )


def _order_moment_and_day(moment: datetime, day: date, zone: tzinfo) -> int | None:
    if moment.tzinfo is None and not isinstance(day, ZonedDate):
        return _sign(moment.date(), day)
    there = _zone_of(day, zone)
    return _agreed(
        _sign(_local_day(at, there), day.toordinal()) for at in _zoned_times(moment, zone)
    )


def _order_day_and_moment(day: date, moment: datetime, zone: tzinfo) -> int | None:
    compared = _order_moment_and_day(moment, day, zone)
    return None if compared is None else -compared


def _order_days(left: date, right: date, zone: tzinfo) -> int | None:
    if isinstance(left, ZonedDate) or isinstance(right, ZonedDate):
        return _sign(_start(left, zone), _start(right, zone))
    return _sign(left, right)


def _order_times(left: time, right: time, zone: tzinfo) -> int | None:
    if left.utcoffset() is None and right.utcoffset() is None:
        return _sign(left.replace(tzinfo=None), right.replace(tzinfo=None))
    one, other = _utc_time_of_day(left, zone), _utc_time_of_day(right, zone)
    return None if one is None or other is None else _sign(one, other)


def _utc_time_of_day(value: time, zone: tzinfo) -> timedelta | None:
    """Return a time of day in UTC; None where its offset depends on the day."""
    own = value.utcoffset()
    offset = zone.utcoffset(None) if own is None else own
    if offset is None:
        return None
    clock = datetime.combine(_EPOCH, value.replace(tzinfo=None))
    return clock - _EPOCH - offset


def _order_durations(left: Duration, right: Duration, _zone: tzinfo) -> int | None:
    # Fractions, since differences of decimals are rounded.
    seconds = Fraction(left.seconds) - Fraction(right.seconds)
    return _agreed(
        _sign((_days(start + left.months) - _days(start + right.months)) * 86_400 + seconds, 0)
        for start in _REFERENCES
    )


_REFERENCES = (1696 * 12 + 8, 1697 * 12 + 1, 1903 * 12 + 2, 1903 * 12 + 6)
"""September 1696, February 1697, March and July 1903, in months (XSD 1.1 part 2, 3.3.6.1)."""


def _days(months: int) -> int:
    """Return the days before the first of a month, counted in months from the year 0."""
    year, month = divmod(months, 12)
    leap = int(year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + _BEFORE_MONTH[month] + (leap if month > 1 else 0)


_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


def _agreed(compared: Iterable[int | None]) -> int | None:
    """Return what all of several ways to compare agree on; None where they differ."""
    every = set(compared)
    return every.pop() if len(every) == 1 else None


def _zoned_times(moment: datetime, zone: tzinfo) -> tuple[datetime, ...]:
    """Return a dateTime in a zone: two where the clocks there are set at it."""
    if moment.utcoffset() is not None:
        return (moment,)
    return tuple([moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1)])


def _instant(moment: datetime) -> timedelta:
    # Not by astimezone, which knows no instants beyond the years 1 and 9999.
    return moment.replace(tzinfo=None) - _EPOCH - (moment.utcoffset() or _NONE)


def _start(day: date, zone: tzinfo) -> timedelta:
    return _instant(midnight(day).replace(tzinfo=_zone_of(day, zone)))


def _local_day(moment: datetime, zone: tzinfo) -> int:
    """Return the day on which an instant falls in a zone, as its ordinal."""
    try:
        return moment.astimezone(zone).toordinal()
    except OverflowError:
        # The instant, or its day, lies beyond the years that dates know.
        offset = moment.replace(tzinfo=zone).utcoffset() or _NONE
        return _EPOCH.toordinal() + (_instant(moment) + offset) // timedelta(days=1)


def _zone_of(day: date, zone: tzinfo) -> tzinfo:
    return day.zone if isinstance(day, ZonedDate) else zone


_ORDERS: Mapping[tuple[str, str], Callable[[Any, Any, tzinfo], int | None]] = MappingProxyType(
    {
        ("text", "text"): _order_equals,
        ("boolean", "boolean"): _order_equals,
        ("number", "number"): _order_numbers,
        ("moment", "moment"): _order_moments,
        ("moment", "day"): _order_moment_and_day,
        ("day", "moment"): _order_day_and_moment,
        ("day", "day"): _order_days,
        ("time", "time"): _order_times,
        ("duration", "duration"): _order_durations,
    }
)
