"""Intervals: numbers in aligned intervals, each level wider by the same factor."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_range
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations import ranges
from policy_engine.engines.generalizations.decimals import (
    Decimals,
    decimals,
    format_scaled,
    is_number,
    parse_scaled,
)
from policy_engine.engines.generalizations.generalizer import (
    Ints,
    all_values,
    unfit_values_error,
    value_labels,
)
from policy_engine.engines.generalizations.trees import Nested, price_pieces, relative_lengths
from policy_engine.errors import CertificateError

_MOST_WIDTHS = 128


@dataclass(frozen=True)
class Intervals(Nested):
    """Numbers in intervals aligned at multiples of their widths.

    `widths` are those of the heights from 1, in quanta of `numbers`. Where no interval holds all
    numbers, since they lie on both sides of 0, there is one more height that does. Intervals of
    integers end before the next begins, `[20 - 29]`; others end where it begins, `[2.5 - 5]`.
    """

    numbers: Decimals
    widths: tuple[int, ...]

    @classmethod
    def of(cls, name: str, column: ColumnCodes, precision: float | None, fanout: int) -> Self:
        """Return the intervals of a column.

        `precision` is the width of the first interval. Without it, that is `fanout` times the
        greatest power of ten of which all values are multiples. Raises DataError (R006) where the
        column holds anything but numbers, or numbers so far apart that there are too many heights.
        """
        _check(name, column)
        precision_mantissa, power = parse_scaled(repr(precision)) if precision else (0, 0)
        numbers = decimals(value_labels(column), power)
        first = (
            precision_mantissa * 10 ** (power - numbers.exponent)
            if precision_mantissa
            else _step(numbers) * fanout
        )
        low, high = _ends(numbers)
        widths = _widths(low, high, first, fanout)
        if len(widths) > _MOST_WIDTHS:
            message = f"The numbers of {name!r} need more than {_MOST_WIDTHS} widths of intervals."
            raise unfit_values_error(message, "Name a greater precision, or a greater fanout.")
        if numbers.quanta.dtype != object and max(*widths, 0, -low, high) >= 2**62:
            numbers = Decimals(numbers.quanta.astype(object), numbers.exponent)
        joins = _joins(numbers.quanta, widths)
        return cls(column, joins, int(joins.max(initial=0)), numbers, widths)

    def labels(self, height: int, values: Ints) -> list[str]:
        """Return the intervals, with exact decimals as ends."""
        if height > len(self.widths):
            return [ALL] * len(values)
        low, exponent = self._low(height, values), self.numbers.exponent
        ends = zip(low.tolist(), self._high(height, low).tolist(), strict=True)
        return [
            write_range(format_scaled(a, exponent), format_scaled(b, exponent)) for a, b in ends
        ]

    def penalties(self, height: int, values: Ints) -> NDArray[np.float64]:
        """Return the widths of the intervals, relative to that of all values, 1 at most."""
        if height > len(self.widths):
            return np.ones(len(values))
        least, most = _ends(self.numbers)
        low = self._low(height, values)
        return relative_lengths(self._high(height, low) - low, most - least)

    def _low(self, height: int, values: Ints) -> Any:
        width = self.widths[height - 1]
        return self.numbers.quanta[values] // width * width

    def _high(self, height: int, low: Any) -> Any:
        return low + self.widths[height - 1] - (self.numbers.exponent == 0)


def _check(name: str, column: ColumnCodes) -> None:
    values = value_labels(column)
    if len(values) and not (column.is_ordered and is_number(values[0])):
        message = f"The column {name!r} holds values that are not numbers, so it has no intervals."
        raise unfit_values_error(
            message, "Dates and times take 'calendar', texts 'set', 'prefix' or 'taxonomy'."
        )


def _ends(numbers: Decimals) -> tuple[int, int]:
    if not len(numbers.quanta):
        return 0, 0
    return int(numbers.quanta[0]), int(numbers.quanta[-1])


def _step(numbers: Decimals) -> int:
    """Return the greatest power of ten of which all quanta are multiples; 1 if all are 0."""
    step = 1
    while numbers.quanta.any() and not (numbers.quanta % (10 * step)).any():
        step *= 10
    return step


def _widths(low: int, high: int, first: int, fanout: int) -> tuple[int, ...]:
    """Return the widths up to one that holds all numbers, or all on each side of 0."""
    widths = [first] if low < high else []
    while widths and len(widths) <= _MOST_WIDTHS:
        width = widths[-1]
        if low // width == high // width or max(high // width, -1 - low // width) == 0 > low:
            break
        widths.append(width * fanout)
    return tuple(widths)


def _joins(quanta: NDArray[Any], widths: tuple[int, ...]) -> Ints:
    """Return the lowest height at which each number and the next share an interval."""
    joins = np.full(max(len(quanta) - 1, 0), len(widths) + 1, dtype=np.int64)
    apart = np.arange(len(joins))
    for height, width in enumerate(widths, start=1):
        same = quanta[apart] // width == quanta[apart + 1] // width
        joins[apart[same]] = height
        apart = apart[~same]
    return joins


def price_cells(name: str, cells: list[Cell]) -> NDArray[np.float64]:
    """Return the loss of intervals, (cells,): their width relative to the column's; 1 for `*`.

    Raises CertificateError (V002) where a cell is neither an interval nor a number.
    """
    loss = np.ones(len(cells))
    is_interval = np.array([cell.values != (ALL,) for cell in cells], dtype=np.bool_)
    intervals_read = [cell for cell in cells if cell.values != (ALL,)]
    if not all(is_number(value) for cell in intervals_read for value in cell.values):
        message = f"The column {name!r} holds a cell that is not an interval or number."
        raise CertificateError.of("V002", message)
    loss[is_interval] = price_pieces(*ranges.place_cells(name, intervals_read))
    return loss


def code_finder(column: ColumnCodes) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from an interval to the codes of the values that it may stand for."""
    numbers = [Decimal(value) for value in value_labels(column)]
    blank = int(column.has_missing)

    def covered(cell: Cell) -> NDArray[np.int32]:
        if cell.values == (ALL,):
            return all_values(column)
        low, high = Decimal(cell.values[0]), Decimal(cell.values[-1])
        first, last = bisect_left(numbers, low), bisect_right(numbers, high)
        return np.arange(blank + first, blank + last, dtype=np.int32)

    return covered
