"""Sums over classes that neither the order of the rows nor that of merging changes by a bit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassSums:
    """The sums of shares over classes, (classes, columns), in whole units, and the class sizes."""

    totals: Ints
    sizes: Ints
    unit: float

    @property
    def means(self) -> Floats:
        """The mean shares of the classes, (classes, columns)."""
        return self.totals / self.sizes[:, np.newaxis] * self.unit

    def merged(self, class_of: Ints) -> "ClassSums":
        """Return the sums of larger classes; `class_of` (classes,) numbers them from 0."""
        count = int(class_of.max(initial=-1)) + 1
        return ClassSums(
            _added(self.totals, class_of, count),
            _added(self.sizes[:, np.newaxis], class_of, count)[:, 0],
            self.unit,
        )


def whole_units(shares: Floats) -> tuple[Ints, float]:
    """Return shares from 0 to 1 as whole numbers of a unit, (rows, columns), and the unit.

    The unit is so small a power of 2 that all rows together have less than 2**62 of it.
    """
    digits = min(62 - len(shares).bit_length(), 52)
    return np.rint(shares.T * 2.0**digits).astype(np.int64).T, 2.0**-digits


def class_sums(shares: Floats, groups: Ints) -> ClassSums:
    """Return the sums of shares, (rows, columns), over the classes of the rows, (rows,)."""
    units, unit = whole_units(shares)
    return ClassSums(units, np.ones(len(units), dtype=np.int64), unit).merged(groups)


def distances_from_means(shares: Floats, groups: Ints) -> Floats:
    """Return by how much every row's shares are above its class's mean, (rows, columns)."""
    # Whole numbers up to the division: rows equal to their class's mean are 0 away from it.
    units, unit = whole_units(shares)
    sums = class_sums(shares, groups)
    sizes, distances = sums.sizes[groups], np.empty(units.T.shape)
    for above, column, total in zip(distances, units.T, sums.totals.T, strict=True):
        np.divide(column * sizes - total[groups], sizes, out=above)
    return distances.T * unit


def _added(numbers: Ints, class_of: Ints, count: int) -> Ints:
    sums = np.zeros((numbers.shape[1], count), dtype=np.int64)
    for total, column in zip(sums, numbers.T, strict=True):
        np.add.at(total, class_of, column)
    return sums.T
