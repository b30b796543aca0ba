"""Numbers made so coarse that each stands for several records, as those in a released model are."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_DECIMALS = 3
"""To how many places numbers are looked at for being rounded themselves."""
_FINEST = 9
"""How many digits of numbers that are not rounded may tell cells apart."""
_EXACT = 1 << 40
"""Below it, half a unit of the last place that is looked at can be told from a whole one."""
_TOLD = 3
"""Decimals of the levels."""


@dataclass(frozen=True)
class Cells:
    """The line cut into cells by `edges` (m,), with a number that stands for each, (m + 1,).

    An edge belongs to the cell above it. An edge tells that there are so many records on both its
    sides, and no more: it is a round number, or one between two that can occur, chosen by halving
    what lies between round numbers, whatever the values in there are. A number is one value where
    so many records have that, else the middle of its cell.
    """

    edges: tuple[float, ...]
    numbers: tuple[float, ...]

    def places(self, values: Values) -> NDArray[np.int64]:
        """Return the cell of each value."""
        return np.searchsorted(np.array(self.edges), values, side="right").astype(np.int64)


@dataclass(frozen=True)
class Levels:
    """What numbers become as a feature: one of a few levels, by the cells that they lie in."""

    edges: tuple[float, ...]
    levels: tuple[float, ...]

    def of(self, values: Values) -> Values:
        """Return the level of each value; nan of nan."""
        places = np.searchsorted(np.array(self.edges), values, side="right")
        found: Values = np.array(self.levels)[places]
        return np.where(np.isnan(values), np.nan, found)


def levels_of(values: Values, fewest: int) -> Levels:
    """Return levels for finite numbers (n,), each of at least `fewest` of them, or the only one.

    Numbers of 0 and 1 keep these as their levels. Others have mean 0 and deviation 1, as the
    cells' numbers have them, and that roughly: no ten records more or less would show.
    """
    cells = cells_of(values, fewest)
    numbers = np.array(cells.numbers)
    if set(cells.numbers) <= {0.0, 1.0} and len(numbers) > 1:
        return Levels(cells.edges, cells.numbers)
    if len(set(cells.numbers)) == 1:
        return Levels((), (0.0,))
    numbers /= np.abs(numbers).max()  # what is squared below may be large
    held, span = numbers[cells.places(values)], float(np.ptp(numbers))
    shift = 10 * span / len(values)  # of the mean, where ten records are others
    deviation = float(held.std())
    deviation = rounded(deviation, shift * span / (2 * deviation)) or deviation
    mean = rounded(float(held.mean()), max(shift, deviation / 10))
    told = np.round((numbers - mean) / deviation, _TOLD) + 0.0
    return Levels(cells.edges, tuple(told.tolist()))


def rounded(value: float, step: float) -> float:
    """Return the multiple nearest to a value of the next 1, 2 or 5 times a power of ten."""
    unit = step_above(step)
    return round(value / unit) * unit if unit else value


def step_above(least: float) -> float:
    """Return the least 1, 2 or 5 times a power of ten that is not below a number; 0 for 0."""
    if not least:
        return 0.0
    power = Fraction(10) ** int(np.floor(np.log10(least)))
    return next(float(power * times) for times in (1, 2, 5, 10) if float(power * times) >= least)


def cells_of(values: Values, fewest: int) -> Cells:
    """Return cells with at least `fewest` of some finite numbers (n,) in each, or one cell."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if not len(ordered):
        return Cells((), (0.0,))
    grid = _Grid(ordered, fewest, *_unit(ordered))
    found = list(grid.cut(-grid.span, grid.span, 0, 0))
    return Cells(
        tuple(one.value for one in found if one.is_edge),
        tuple(one.value for one in found if not one.is_edge),
    )


@dataclass(frozen=True)
class _Mark:
    value: float
    is_edge: bool


@dataclass(frozen=True)
class _Grid:
    """Sorted numbers on a grid of whole units, which `point` turns into numbers."""

    ordered: Values
    fewest: int
    span: int
    point: Callable[[int], float]

    def cut(self, low: int, high: int, below: int, above: int) -> Iterator[_Mark]:
        """Yield the cells between two points of the grid, and the edges between them, in order.

        So many records lie `below` and `above` it, and are too few for cells of their own: they
        count as if they were in the first cell and in the last.
        """
        first, last = self._rows_below(low), self._rows_below(high)
        is_one_value = last > first and self.ordered[first] == self.ordered[last - 1]
        middle = _middle(low, high)
        if last - first < self.fewest or is_one_value or middle is None:
            yield self._number(low, high, first, last)
            return
        edge = self.point(middle)
        between = int(np.searchsorted(self.ordered, edge, side="left"))
        left, right = between - first + below, last - between + above
        if left >= self.fewest and right >= self.fewest:
            if self._is_rare(edge):
                yield self._number(low, high, first, last)
                return
            yield from self.cut(low, middle, below, 0)
            yield _Mark(edge, is_edge=True)
            yield from self.cut(middle, high, 0, above)
        elif right >= self.fewest:
            yield from self.cut(middle, high, left, above)
        elif left >= self.fewest:
            yield from self.cut(low, middle, below, right)
        else:
            yield self._number(low, high, first, last)

    def _rows_below(self, place: int) -> int:
        if abs(place) == self.span:
            return 0 if place < 0 else len(self.ordered)
        return int(np.searchsorted(self.ordered, self.point(place), side="left"))

    def _number(self, low: int, high: int, first: int, last: int) -> _Mark:
        """Return what stands for a cell: its one value, or its middle."""
        is_one = last > first and self.ordered[first] == self.ordered[last - 1]
        if is_one and last - first >= self.fewest:
            return _Mark(float(self.ordered[first]), is_edge=False)
        return _Mark(self.point((low + high + 1) // 2), is_edge=False)

    def _is_rare(self, number: float) -> bool:
        return 0 < int((self.ordered == number).sum()) < self.fewest


def _middle(low: int, high: int) -> int | None:
    """Return the roundest point near the middle of two, None where there is none between them."""
    if high - low < 2:
        return None
    if low < 0 < high:
        return 0
    unit: int = 10 ** (len(str(high - low - 1)) - 1)
    return low + unit * ((high - low) // unit // 2)


def _unit(ordered: Values) -> tuple[int, Callable[[int], float]]:
    """Return how many units the numbers lie from 0 at most, a power of ten, and what units are.

    Where all numbers are rounded to so many places, a point lies half a unit below its number,
    so that none of them is on it; else it is that, if no number is.
    """
    most = float(np.abs(ordered).max())
    for places in range(_DECIMALS + 1):
        if most < _EXACT and (np.round(ordered, places) == ordered).all():
            unit, half, taken = Fraction(1, 10**places), Fraction(1, 2), frozenset[float]()
            break
    else:
        unit = Fraction(10) ** (int(np.floor(np.log10(most))) - _FINEST)
        half, taken = Fraction(0), frozenset(ordered.tolist())
    span = 10 ** len(str(int(Fraction(most) / unit) + 1))

    def point(place: int) -> float:
        number = _float(unit * (place - half))
        return number if number not in taken else _float(unit * (place - Fraction(1, 2)))

    return span, point


def _float(number: Fraction) -> float:
    """Return the float nearest to a number, the largest that there is where it is beyond that."""
    largest = Fraction(sys.float_info.max)
    return float(max(-largest, min(number, largest)))
