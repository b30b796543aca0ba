"""Means, variances and covariances that no order of rows and no partitioning changes by a bit.

Sums of floats depend on the order in which they are added. Here every value is first rounded to a
whole number of units of its column, and whole numbers are added exactly (as in Demmel, Nguyen:
Parallel Reproducible Summation, IEEE Transactions on Computers 64(7), 2015).
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DIGITS = 42
"""A column's unit is so many binary digits below its exponent: at most 5e-13 of its largest
magnitude."""


def exponents(values: Floats) -> Ints:
    """Return for each column the least e with every magnitude below 2**e, (columns,).

    It is -1000 for columns below that, of zeros or of no rows. Those of the parts of a table are
    combined by `np.maximum`. Raises ValueError for values (rows, columns) that are not finite.
    """
    # Column by column: numpy reduces many short rows ten times as slowly.
    ends = [(column.min(initial=0.0), column.max(initial=0.0)) for column in values.T]
    largest = np.array([max(-low, high) for low, high in ends])
    if not np.isfinite(largest).all():
        raise ValueError("Only finite numbers have moments.")
    return np.where(largest > 0, np.maximum(np.frexp(largest)[1], _LEAST), _LEAST).astype(np.int64)


_LEAST = -1000
"""2 to the power of 21 less an exponent is a float."""


@dataclass(frozen=True)
class Moments:
    """The moments of a table's columns, or of a part of its rows; those of parts are added.

    With values as whole numbers of units, 2**(e - 42) for a column with exponent e, `sums` (1 +
    columns, 1 + columns) are the sums over the rows of the products of every two columns, where
    the first column is 1. They are exact and of any size, so that moments of the same rows are
    equal however the rows are ordered and divided.
    """

    exponents: tuple[int, ...]
    sums: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, values: Floats, exponents: Ints) -> "Moments":
        """Return the moments of rows, (rows, columns), with the exponents of all rows.

        Raises ValueError for values that are not finite or not below their exponents' powers of 2.
        """
        _check(values, exponents)
        width = 1 + len(exponents)
        sums: Any = np.zeros((width, width), dtype=object)
        for start in range(0, len(values), _BLOCK):
            high_high, high_low, low_low = _products(values[start : start + _BLOCK], exponents)
            sums += (high_high << 2 * _HALF) + (high_low + high_low.T << _HALF) + low_low
        return cls(tuple(exponents.tolist()), tuple(map(tuple, sums.tolist())))

    def __add__(self, other: "Moments") -> "Moments":
        if self.exponents != other.exponents:
            raise ValueError("Moments in different units cannot be added.")
        rows = zip(self.sums, other.sums, strict=True)
        sums = tuple(tuple(map(sum, zip(*pair, strict=True))) for pair in rows)
        return Moments(self.exponents, sums)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.sums[0][0]

    @property
    def means(self) -> Floats:
        """The means of the columns, (columns,); 0 where there are no rows."""
        count = max(self.count, 1)
        pairs = zip(self.sums[0][1:], self.exponents, strict=True)
        return np.array([_scaled(total, count, power - DIGITS) for total, power in pairs])

    @property
    def covariance(self) -> Floats:
        """The covariances of the columns, (columns, columns); 0 where there are no rows.

        The mean product of the distances from the means: the divisor is the number of rows. It is
        exactly 0 for a constant column, and cut off at the largest float.
        """
        # n sum(xy) - sum(x) sum(y) is a whole number: nothing cancels out, however far from 0 the
        # values are.
        count, totals = self.count, self.sums[0]
        covariances = np.zeros((len(self.exponents), len(self.exponents)))
        for i, power in enumerate(self.exponents, start=1):
            for j, other in enumerate(self.exponents, start=1):
                spread = count * self.sums[i][j] - totals[i] * totals[j]
                covariances[i - 1, j - 1] = _scaled(
                    spread, max(count**2, 1), power + other - 2 * DIGITS
                )
        return covariances


def _check(values: Floats, limits: Ints) -> None:
    if (exponents(values) > limits).any():
        raise ValueError("The exponents are those of other values.")


_HALF = DIGITS // 2
_CHUNK = 1 << 53 - DIGITS
"""Products of two halves are up to 2**42; so many of them add up to at most 2**53."""
_BLOCK = _CHUNK << 9
"""512 times 2**53 is less than the largest integer of 64 bits."""


def _products(values: Floats, exponents: Ints) -> tuple[Any, Any, Any]:
    """Return the sums of products of columns, the first of which is 1, as Python's integers.

    Each value is a high half times 2**21, and a low half: those of high and high, of high and
    low, of low and low halves.
    """
    width = 1 + len(exponents)
    sums = np.zeros((2 * width, 2 * width), dtype=np.int64)
    halves = np.zeros((2 * width, min(_CHUNK, len(values))))
    halves[width] = 1.0
    units = np.ldexp(1.0, _HALF - exponents)
    for start in range(0, len(values), _CHUNK):
        scaled = (values[start : start + _CHUNK] * units).T
        part = halves[:, : scaled.shape[1]]
        high = np.rint(scaled, out=part[1:width])
        np.rint((scaled - high) * 2.0**_HALF, out=part[width + 1 :])
        # By multiplying matrices of floats, which is by far the fastest: every sum on the way is a
        # whole number that floats hold, in whatever order the library adds.
        sums += (part @ part.T).astype(np.int64)
    whole: Any = sums.astype(object)
    return whole[:width, :width], whole[:width, width:], whole[width:, width:]


def _scaled(numerator: int, denominator: int, power: int) -> float:
    """Return a quotient times a power of 2, rounded; the largest float for what is larger."""
    quotient = numerator / denominator
    try:
        return math.ldexp(quotient, power)
    except OverflowError:
        return math.copysign(sys.float_info.max, quotient)
