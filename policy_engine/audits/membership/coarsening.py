"""Numbers made so coarse that each applies to several records, like those in a released model.

The result depends only on whether ranges of a grid hold at least `fewest` records. The grid is
the same for all tables except for its unit, which is as fine as the last decimal of `fewest`
records. So a single record changes the result only where it completes such a number.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
FINEST = 12
"""The most digits that distinguish cells, counted from those of the `fewest`-largest number."""
MOST_PLACES = 22
"""The most decimals to which numbers are checked for being rounded: 10 ** 22 is exact."""
_LEAST = -200
"""The power of ten below which numbers are 0."""
_TOLD = 3
"""Decimals of the levels."""


@dataclass(frozen=True)
class Cells:
    """The number line, cut into cells by `edges` (m,), with one number for each cell, (m + 1,).

    An edge belongs to the cell above it. It shows only that there are enough records on both of its
    sides: it is half a unit below a round number, and is found by bisection between round numbers.
    The number of a cell is the middle of its main part.
    """

    edges: tuple[float, ...]
    numbers: tuple[float, ...]

    def places(self, values: Values) -> NDArray[np.int64]:
        """Return the cell of each value."""
        return np.searchsorted(np.array(self.edges), values, side="right").astype(np.int64)


@dataclass(frozen=True)
class Levels:
    """The encoding of numbers as a feature with a few levels, one for each cell."""

    edges: tuple[float, ...]
    levels: tuple[float, ...]

    def apply(self, values: Values) -> Values:
        """Return the level of each value; nan of nan."""
        places = np.searchsorted(np.array(self.edges), values, side="right")
        levels: Values = np.array(self.levels)[places]
        return np.where(np.isnan(values), np.nan, levels)


def levels_of(values: Values, fewest: int) -> Levels:
    """Return levels for finite numbers (n,), each of at least `fewest` of them, or the only one.

    Numbers of 0 and 1 are their own levels. Others have mean 0 and deviation 1, approximately: from
    the cells' numbers, each weighted by how many times `fewest` records it holds.
    """
    cells = cells_of(values, fewest)
    numbers = np.array(cells.numbers)
    if set(cells.numbers) <= {0.0, 1.0} and len(numbers) > 1:
        return Levels(cells.edges, cells.numbers)
    if len(set(cells.numbers)) == 1:
        return Levels((), (0.0,))
    numbers /= np.abs(numbers).max()  # what is squared below may be large
    times = np.bincount(cells.places(values), minlength=len(numbers)) // fewest
    numbers_of_rows, span = np.repeat(numbers, times), float(np.ptp(numbers))
    shift = span / len(numbers_of_rows)  # of the mean, where so many records are others
    deviation = float(numbers_of_rows.std())
    deviation = round_to_step(deviation, shift * span / (2 * deviation)) or deviation
    mean = round_to_step(float(numbers_of_rows.mean()), max(shift, deviation / 10))
    levels = np.round((numbers - mean) / deviation, _TOLD) + 0.0
    return Levels(cells.edges, tuple(levels.tolist()))


def round_to_step(value: float, step: float) -> float:
    """Return the multiple nearest to a value of the next 1, 2 or 5 times a power of ten."""
    unit = round_step_up(step)
    return round(value / unit) * unit if unit else value


def round_step_up(least: float) -> float:
    """Return the least 1, 2 or 5 times a power of ten that is not below a number; 0 for 0."""
    if not least:
        return 0.0
    power = Fraction(10) ** int(np.floor(np.log10(least)))
    return next(float(power * times) for times in (1, 2, 5, 10) if float(power * times) >= least)


def cells_of(values: Values, fewest: int) -> Cells:
    """Return cells with at least `fewest` of some finite numbers (n,) in each, or one cell."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if len(ordered) < fewest:
        return Cells((), (0.0,))
    unit, span = _scale(ordered, fewest)
    grid = _Grid(ordered, fewest, unit)
    marks = list(grid.cut((-span, span), (0, len(ordered)), (0, 0)))
    return Cells(
        tuple(one.value for one in marks if one.is_edge),
        tuple(one.value for one in marks if not one.is_edge),
    )


@dataclass(frozen=True)
class _Mark:
    value: float
    is_edge: bool


@dataclass(frozen=True)
class _Grid:
    """Sorted numbers on a grid of units."""

    ordered: Values
    fewest: int
    unit: Fraction

    def cut(
        self, ends: tuple[int, int], rows: tuple[int, int], outer_rows: tuple[int, int]
    ) -> Iterator[_Mark]:
        """Yield the cells between two points of the grid, and the edges between them, in order.

        `rows` are the first and last row between the points. `outer_rows` is the number of rows
        below and above them that are too few for cells of their own: they count for the first and
        for the last cell.
        """
        (low, high), (first, last), (below, above) = ends, rows, outer_rows
        middle = _middle(low, high)
        if last - first < self.fewest or middle is None:
            yield self._number(low, high)
            return
        edge = self._point(middle)
        between = int(np.searchsorted(self.ordered, edge, side="left"))
        lower_rows, upper_rows = between - first + below, last - between + above
        lower, upper = ((low, middle), (first, between)), ((middle, high), (between, last))
        if lower_rows >= self.fewest and upper_rows >= self.fewest:
            yield from self.cut(*lower, (below, 0))
            yield _Mark(edge, is_edge=True)
            yield from self.cut(*upper, (0, above))
        elif upper_rows >= self.fewest:
            yield from self.cut(*upper, (lower_rows, above))
        elif lower_rows >= self.fewest:
            yield from self.cut(*lower, (below, upper_rows))
        else:
            yield self._number(low, high)

    def _point(self, place: int) -> float:
        """Return a point of the grid, half a unit below its round number."""
        return _float(self.unit * (place - Fraction(1, 2)))

    def _number(self, low: int, high: int) -> _Mark:
        """Return the middle between two points; between neighbours, the round number there."""
        return _Mark(_float(self.unit * Fraction(low + high - 1, 2)), is_edge=False)


def _middle(low: int, high: int) -> int | None:
    """Return the roundest point near the middle of two; None for neighbours."""
    if high - low < 2:
        return None
    if low < 0 < high:
        return 0
    unit: int = 10 ** (len(str(high - low - 1)) - 1)
    return low + unit * ((high - low) // unit // 2)


def _scale(ordered: Values, fewest: int) -> tuple[Fraction, int]:
    """Return the unit of a grid, a power of ten, and how many of them it reaches from 0.

    It reaches to the power of ten beyond which there are fewer than `fewest` records on both sides
    together. The unit is the last decimal that `fewest` of the others have, or the finest one.
    """
    sizes = np.abs(ordered)
    size = float(np.partition(sizes, -fewest)[-fewest])
    decade = max(Decimal(size).adjusted() + 1 if size else _LEAST, _LEAST)
    reach = Fraction(10) ** decade
    inner = ordered[sizes < _float(reach)]
    unit = reach / 10**FINEST
    for places in range(min(FINEST - decade, MOST_PLACES) + 1):
        if int((np.round(inner, places) != inner).sum()) < fewest:
            unit = Fraction(1, 10**places)
            break
    return unit, max(int(reach / unit), 1)


def _float(number: Fraction) -> float:
    """Return the float nearest to a number, limited to the largest float."""
    largest = Fraction(sys.float_info.max)
    return float(max(-largest, min(number, largest)))
