"""Calendars: dates and times in hours, parts of the day, days, months ... centuries."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.generalizer import (
    Ints,
    all_values,
    unfit_values_error,
    value_labels,
)
from policy_engine.engines.generalizations.trees import Nested, price_pieces, relative_lengths
from policy_engine.errors import CertificateError

PARTS = ("night", "morning", "afternoon", "evening")
"""The parts of the day, six hours each, from midnight."""

_DATE, _CLOCK = r"\d{4}-\d{2}-\d{2}", r"\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_ZONE = r"(?:Z|[-+]\d{2}:?\d{2})?"
_KIND = re.compile(rf"(?P<date>{_DATE})|(?P<stamp>{_DATE}[T ]{_CLOCK}{_ZONE})|(?P<time>{_CLOCK})")
_PERIODS = {
    "date": ("month", "quarter", "year", "decade", "century"),
    "stamp": ("hour", "part", "day", "month", "quarter", "year", "decade", "century"),
    "time": ("hour", "part"),
}
_NUMBERS: dict[str, Callable[[Ints], Ints]] = {
    "hour": lambda hour: hour,
    "part": lambda hour: hour // 100 * 4 + hour % 100 // 6,
    "day": lambda hour: hour // 100,
    "month": lambda hour: hour // 10_000,
    "quarter": lambda hour: hour // 1_000_000 * 4 + (hour // 10_000 % 100 - 1) // 3,
    "year": lambda hour: hour // 1_000_000,
    "decade": lambda hour: hour // 10_000_000,
    "century": lambda hour: hour // 100_000_000,
}
"""The number of the period of an hour, which is given as the number YYYYMMDDHH."""

_LABELS: dict[str, Callable[[str], str]] = {
    "hour": lambda text: f"{text[:10]}T{text[11:13]}",
    "part": lambda text: f"{text[:10]} {PARTS[int(text[11:13]) // 6]}",
    "day": lambda text: f"{text[:10]} all day",
    "month": lambda text: text[:7],
    "quarter": lambda text: f"{text[:4]}-Q{(int(text[5:7]) + 2) // 3}",
    "year": lambda text: text[:4],
    "decade": lambda text: f"{text[:3]}0s",
    "century": lambda text: f"{text[:2]}xx",
}
_LABELS_OF_TIME: dict[str, Callable[[str], str]] = {
    "hour": lambda text: f"{text[:2]}h",
    "part": lambda text: PARTS[int(text[:2]) // 6],
}


@dataclass(frozen=True)
class Calendars(Nested):
    """Dates, moments or times of day in periods of the calendar, each by its own time zone.

    Periods are written `2019-03-04T17`, `2019-03-04 evening`, `2019-03-04 all day`, `2019-03`,
    `2019-Q1`, `2019`, `2010s`, `20xx`; those of a time of day `17h` and `evening`.
    """

    kind: str

    @classmethod
    def of(cls, name: str, column: ColumnCodes) -> Self:
        """Return the calendar of a column.

        Raises DataError (R006) where it holds anything but dates and times, or moments in time
        zones in which a later moment has an earlier hour.
        """
        values = value_labels(column)
        match = _KIND.fullmatch(values[0]) if len(values) else _KIND.fullmatch("00:00")
        if match is None or match.lastgroup is None or not (column.is_ordered or not len(values)):
            message = f"The column {name!r} holds values that are not dates or times (ISO 8601)."
            raise unfit_values_error(
                message, "Numbers take 'range' or 'interval', texts 'set' or 'taxonomy'."
            )
        hours = _hours(values, match.lastgroup)
        if (hours[1:] < hours[:-1]).any():
            message = f"The column {name!r} mixes time zones, so that its hours and days overlap."
            raise unfit_values_error(message, "Write all moments in one time zone.")
        joins = _joins(hours, _PERIODS[match.lastgroup])
        return cls(column, joins, int(joins.max(initial=0)), match.lastgroup)

    def labels(self, height: int, values: Ints) -> list[str]:
        """Return the periods."""
        periods = _PERIODS[self.kind]
        if height > len(periods):
            return [ALL] * len(values)
        labels = _LABELS_OF_TIME if self.kind == "time" else _LABELS
        return list(map(labels[periods[height - 1]], value_labels(self.column)[values]))

    def penalties(self, height: int, values: Ints) -> NDArray[np.float64]:
        """Return the lengths of the periods, relative to that of all values, 1 at most."""
        if height > len(_PERIODS[self.kind]):
            return np.ones(len(values))
        start, end = spans(self.labels(height, values))
        (least, most), _ = spans(value_labels(self.column)[[0, -1]].tolist())
        return relative_lengths(end - start, max(most - least, 0))


def _hours(values: NDArray[np.object_], kind: str) -> Ints:
    """Return the hours of dates, moments or times of day as numbers YYYYMMDDHH."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    digits = {"date": [0, 1, 2, 3, 5, 6, 8, 9], "time": [0, 1]}
    places = digits.get(kind, [*digits["date"], 11, 12])
    letters = values.astype("U13").view(np.uint32).reshape(len(values), 13)[:, places]
    number = (letters.astype(np.int64) - ord("0")) @ 10 ** np.arange(len(places))[::-1]
    return number * 100 if kind == "date" else number


def _joins(hours: Ints, periods: tuple[str, ...]) -> Ints:
    """Return the lowest height at which each value and the next share a period."""
    joins = np.full(max(len(hours) - 1, 0), len(periods) + 1, dtype=np.int64)
    for height, period in reversed(list(enumerate(periods, start=1))):
        number = _NUMBERS[period](hours)
        joins[number[1:] == number[:-1]] = height
    return joins


def spans(labels: list[str]) -> tuple[Ints, Ints]:
    """Return the start and the end of each label's period in microseconds, (labels,) each.

    A single value has length 0. Raises ValueError where a label is not a period.
    """
    periods = [_span(label) for label in labels]
    start, end = np.zeros((2, len(labels)), dtype=np.int64)
    for unit in {unit for _, unit, _ in periods}:
        places = [place for place, period in enumerate(periods) if period[1] == unit]
        first = np.array([periods[place][0] for place in places], dtype=f"datetime64[{unit}]")
        last = first + np.array([periods[place][2] for place in places], dtype=np.int64)
        start[places] = first.astype("datetime64[us]").view(np.int64)
        end[places] = last.astype("datetime64[us]").view(np.int64)
    return start, end


_SPAN = re.compile(
    rf"""(?P<value>(?P<moment>{_DATE}(?:[T ]{_CLOCK})?){_ZONE}|(?P<time>{_CLOCK}))
    |(?P<century>\d{{2}})xx
    |(?P<decade>\d{{3}})0s
    |(?P<quarter>\d{{4}})-Q(?P<number>[1-4])
    |(?P<month>\d{{4}}-\d{{2}})
    |(?P<year>\d{{4}})
    |(?P<hour>{_DATE}T\d{{2}}|\d{{2}}h)
    |(?:(?P<date>{_DATE})\ )?(?P<part>{"|".join(PARTS)})
    |(?P<day>{_DATE})\ all\ day""",
    re.ASCII | re.VERBOSE,
)
_MICROSECONDS = len("2019-03-04T17:00:00.000000")


def _span(label: str) -> tuple[str, str, int]:
    """Return the start of a period, a unit of time, and the length of the period in that unit."""
    match = _SPAN.fullmatch(label)
    if match is None:
        raise ValueError(f"not a period: {label!r}")
    day = match["date"] or "1970-01-01"
    match match.lastgroup:
        case "value":
            return (match["moment"] or f"{day}T{label}")[:_MICROSECONDS], "us", 0
        case "hour":
            return (label if label[-1] != "h" else f"{day}T{label[:2]}"), "h", 1
        case "part":
            return f"{day}T{6 * PARTS.index(match['part']):02}", "h", 6
        case "number":
            return f"{match['quarter']}-{3 * int(match['number']) - 2:02}", "M", 3
        case period:
            return _period_span(str(period), match[str(period)])


def _period_span(period: str, text: str) -> tuple[str, str, int]:
    if period == "day":
        return text, "D", 1
    if period == "month":
        return text, "M", 1
    zeros = {"year": 0, "decade": 1, "century": 2}[period]
    return text + "0" * zeros, "Y", 10**zeros


def price_cells(name: str, cells: list[Cell]) -> NDArray[np.float64]:
    """Return the loss of periods, (cells,): their length relative to the column's; 1 for `*`.

    Raises CertificateError (V002) where a cell is not a period.
    """
    loss = np.ones(len(cells))
    is_period = np.array([cell.values != (ALL,) for cell in cells], dtype=np.bool_)
    if not is_period.any():
        return loss
    try:
        start, end = spans([cell.values[0] for cell in cells if cell.values != (ALL,)])
    except ValueError:
        message = f"The column {name!r} holds a cell that is not a period of a calendar."
        raise CertificateError.of("V002", message) from None
    # A period ends a microsecond before the next begins.
    loss[is_period] = price_pieces(start, np.maximum(end - 1, start))
    return loss


def code_finder(column: ColumnCodes) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from a period to the codes of the values that it may stand for."""
    values, blank = value_labels(column), int(column.has_missing)
    code_of = {label: code for code, label in enumerate(values, start=blank)}
    moments, _ = spans(values.tolist())
    order = np.argsort(moments, kind="stable")

    def covered(cell: Cell) -> NDArray[np.int32]:
        [label] = cell.values
        if label == ALL:
            return all_values(column)
        if label in code_of:
            return np.array([code_of[label]], dtype=np.int32)
        (start,), (end,) = spans([label])
        first, last = np.searchsorted(moments, [start, max(end, start + 1)], sorter=order)
        return np.sort(order[first:last] + blank).astype(np.int32)

    return covered
