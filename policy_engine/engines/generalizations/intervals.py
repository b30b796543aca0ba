"""Intervals: numbers in aligned intervals, ever wider by the same factor."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_range
from policy_engine.engines.encoding import Encoded
from policy_engine.engines.generalizations import ranges
from policy_engine.engines.generalizations.decimals import (
    Decimals,
    decimals,
    is_number,
    scaled,
    written,
)
from policy_engine.engines.generalizations.generalizer import (
    Ints,
    all_values,
    unfit,
    values_of,
)
from policy_engine.engines.generalizations.trees import Nested, relative
from policy_engine.engines.generalizations.trees import priced as priced_pieces
from policy_engine.errors import CertificateError

_MOST_WIDTHS = 128


@dataclass(frozen=True)
class Intervals(Nested):
    """Numbers in intervals aligned at multiples of their widths.

    `widths` are those of the heights from 1, in quanta of `numbers`. Where no interval holds
    all, since the numbers lie on both sides of 0, one height more does. Intervals of integers
    end before the next begins, `[20 - 29]`; others end where it begins, `[2.5 - 5]`.
    """

    numbers: Decimals
    widths: tuple[int, ...]

    @classmethod
    def of(cls, name: str, column: Encoded, precision: float | None, fanout: int) -> Self:
        """Return the intervals of a column.

        Without a precision, it is the greatest power of ten of which all values are multiples,
        and the intervals begin with `fanout` of them. Raises DataError (R006) where the column
        holds other than numbers, or so different ones that there were too many heights.
        """
        _check(name, column)
        given, power = scaled(repr(precision)) if precision else (0, 0)
        numbers = decimals(values_of(column), power)
        first = given * 10 ** (power - numbers.exponent) if given else _step(numbers) * fanout
        low, high = _ends(numbers)
        widths = _widths(low, high, first, fanout)
        if len(widths) > _MOST_WIDTHS:
            message = f"The numbers of {name!r} need more than {_MOST_WIDTHS} widths of intervals."
            raise unfit(message, "Name a greater precision, or a greater fanout.")
        if numbers.quanta.dtype != object and max(*widths, 0, -low, high) >= 2**62:
            numbers = Decimals(numbers.quanta.astype(object), numbers.exponent)
        joins = _joins(numbers.quanta, widths)
        return cls(column, joins, int(joins.max(initial=0)), numbers, widths)

    def labels(self, height: int, values: Ints) -> list[str]:
        """Return the intervals, their ends as exact decimals."""
        if height > len(self.widths):
            return [ALL] * len(values)
        low, exponent = self._low(height, values), self.numbers.exponent
        ends = zip(low.tolist(), self._high(height, low).tolist(), strict=True)
        return [write_range(written(a, exponent), written(b, exponent)) for a, b in ends]

    def penalties(self, height: int, values: Ints) -> NDArray[np.float64]:
        """Return the widths of the intervals over that of all values, 1 at most."""
        if height > len(self.widths):
            return np.ones(len(values))
        least, most = _ends(self.numbers)
        low = self._low(height, values)
        return relative(self._high(height, low) - low, most - least)

    def _low(self, height: int, values: Ints) -> Any:
        width = self.widths[height - 1]
        return self.numbers.quanta[values] // width * width

    def _high(self, height: int, low: Any) -> Any:
        return low + self.widths[height - 1] - (self.numbers.exponent == 0)


def _check(name: str, column: Encoded) -> None:
    values = values_of(column)
    if len(values) and not (column.is_ordered and is_number(values[0])):
        message = f"The column {name!r} holds values that are no numbers, so it has no intervals."
        raise unfit(
            message, "Dates and times take 'calendar', texts 'set', 'prefix' or 'taxonomy'."
        )


def _ends(numbers: Decimals) -> tuple[int, int]:
    if not len(numbers.quanta):
        return 0, 0
    return int(numbers.quanta[0]), int(numbers.quanta[-1])


def _step(numbers: Decimals) -> int:
    """Return the greatest power of ten of which all quanta are multiples, 1 for zeros alone."""
    step = 1
    while numbers.quanta.any() and not (numbers.quanta % (10 * step)).any():
        step *= 10
    return step


def _widths(low: int, high: int, first: int, fanout: int) -> tuple[int, ...]:
    """Return the widths up to one that holds all; or all below 0, and all others."""
    widths = [first] if low < high else []
    while widths and len(widths) <= _MOST_WIDTHS:
        width = widths[-1]
        if low // width == high // width or max(high // width, -1 - low // width) == 0 > low:
            break
        widths.append(width * fanout)
    return tuple(widths)


def _joins(quanta: NDArray[Any], widths: tuple[int, ...]) -> Ints:
    """Return the height at which each number is in one interval with the next."""
    joins = np.full(max(len(quanta) - 1, 0), len(widths) + 1, dtype=np.int64)
    apart = np.arange(len(joins))
    for height, width in enumerate(widths, start=1):
        same = quanta[apart] // width == quanta[apart + 1] // width
        joins[apart[same]] = height
        apart = apart[~same]
    return joins


def priced(name: str, found: list[Cell]) -> NDArray[np.float64]:
    """Return what intervals cost: their width over that of the column, and `*` 1.

    Raises CertificateError (V002) where a cell is neither an interval nor a number.
    """
    loss = np.ones(len(found))
    bounded = np.array([cell.values != (ALL,) for cell in found], dtype=np.bool_)
    rest = [cell for cell in found if cell.values != (ALL,)]
    if not all(is_number(value) for cell in rest for value in cell.values):
        message = f"The column {name!r} holds a cell that is not an interval or number."
        raise CertificateError.of("V002", message)
    loss[bounded] = priced_pieces(*ranges.placed(name, rest))
    return loss


def covering(column: Encoded) -> Callable[[Cell], NDArray[np.int32]]:
    """Return what tells the codes of the values that an interval may stand for."""
    numbers = [Decimal(value) for value in values_of(column)]
    blank = int(column.has_missing)

    def covered(cell: Cell) -> NDArray[np.int32]:
        if cell.values == (ALL,):
            return all_values(column)
        low, high = Decimal(cell.values[0]), Decimal(cell.values[-1])
        first, last = bisect_left(numbers, low), bisect_right(numbers, high)
        return np.arange(blank + first, blank + last, dtype=np.int32)

    return covered
