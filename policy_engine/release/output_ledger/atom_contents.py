"""What atoms have of something, such as of a column."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Masks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AtomContents:
    """What atoms have of something that each unit has from nothing to one of, as far as between the
    least and the largest value in a column: the `units` that have any value, their `sums`, and
    which atoms are at one end, none of a unit's in them being above the least, or below the most;
    (atoms,) each."""

    units: NDArray[np.int64]
    sums: NDArray[np.float64]
    are_least: _Masks
    are_most: _Masks

    @classmethod
    def of_units(
        cls, atoms: NDArray[np.int64], count: int, values: NDArray[np.float64]
    ) -> "AtomContents":
        """Return the contents of so many atoms by the value and the atom, from 0 on, of units."""
        is_in = np.isfinite(values)
        values, atoms = values[is_in], atoms[is_in]
        low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        width = (high - low) or 1.0
        units = np.bincount(atoms, minlength=count)
        sums = np.bincount(atoms, (values - low) / width, minlength=count).astype(np.float64)
        above = np.bincount(atoms, values > low, minlength=count) > 0
        below = np.bincount(atoms, values < high, minlength=count) > 0
        return cls(units, sums, (units > 0) & ~above, (units > 0) & ~below)

    @classmethod
    def of_holders(
        cls, atoms: NDArray[np.int32], sizes: NDArray[np.int64], holders: _Masks
    ) -> "AtomContents":
        """Return the contents of atoms of these sizes by whether units are holders, and their atom:
        as `of_units`, in a fraction of the time."""
        held = np.bincount(atoms[holders], minlength=len(sizes))
        is_alike = int(held.sum()) in (0, len(holders))
        sums, some = held.astype(np.float64) * (not is_alike), sizes > 0
        return cls(
            sizes, sums, some & (is_alike | (held == 0)), some & (is_alike | (held == sizes))
        )

    @property
    def are_ends(self) -> _Masks:
        """Which atoms are at one end or the other."""
        return self.are_least | self.are_most

    def merged(self, numbers: NDArray[np.int64], count: int) -> "AtomContents":
        """Return the contents of other atoms that have these as parts: `numbers` are those that
        each becomes a part of, -1 for none."""
        is_in = numbers >= 0
        own, some = numbers[is_in], self.units[is_in] > 0
        units = np.bincount(own, self.units[is_in], minlength=count).astype(np.int64)
        sums = np.bincount(own, self.sums[is_in], minlength=count).astype(np.float64)
        above = np.bincount(own, some & ~self.are_least[is_in], minlength=count) > 0
        below = np.bincount(own, some & ~self.are_most[is_in], minlength=count) > 0
        return AtomContents(units, sums, (units > 0) & ~above, (units > 0) & ~below)
