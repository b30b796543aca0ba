"""How many persons the units of populations are of, where somebody may have several of them.

A threshold is a number of units: so many that they are of enough owners, whosever they are. Fewer
units may be of enough owners, too: so of what is small it is asked whose it is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.distinct_numbers import distinct_numbers

Counts = NDArray[np.int64]
Masks = NDArray[np.bool_]

_PARTS = 2**32
"""An owner in several atoms counts as a share in each: a whole number of so many parts."""


@dataclass(frozen=True, eq=False)
class UnitOwners:
    """Whose each unit is: `numbers` from 0 on, (units,)."""

    numbers: Counts

    @cached_property
    def _largest(self) -> Counts:
        """How many units the owners with the most have together: (owners,)."""
        return np.cumsum(np.sort(np.bincount(self.numbers))[::-1])

    def least(self, threshold: int) -> int:
        """Return how many owners are enough, of whom a threshold is the least number of units that
        are of so many, whosever they are."""
        if threshold <= 1:
            return 1
        return int(np.searchsorted(self._largest, threshold - 1)) + 2

    def units_of(self, owners: int) -> int:
        """Return how many units are of so many owners at least, whosever they are."""
        most = self._largest[min(owners - 1, len(self._largest)) - 1] if owners > 1 else 0
        return int(most) + max(owners - len(self._largest), 1)

    def are_enough(self, members: Masks, threshold: int) -> bool:
        """Return whether some units are of enough owners."""
        return len(distinct_numbers(self.numbers[members])) >= self.least(threshold)


@dataclass(frozen=True, eq=False)
class AtomOwners:
    """Of how many owners the units of atoms are, and how many of them are enough, the `least`.

    `sizes` are the owners of each atom, (atoms,), and `shares` numbers that add up, over atoms, to
    no more than `parts` times their owners. `pairs` are the atoms and the owners of the units in
    them, each pair once; empty where each unit has an owner of its own.
    """

    sizes: Counts
    shares: Counts
    least: int
    parts: int = 1
    pairs: tuple[Counts, Counts] | None = None

    @classmethod
    def of_units(cls, sizes: Counts, least: int) -> "AtomOwners":
        """Return the owners of atoms whose units have an owner each."""
        return cls(sizes, sizes, least)

    @classmethod
    def of_pairs(cls, atoms: Counts, owners: Counts, count: int, least: int) -> "AtomOwners":
        """Return the owners of so many atoms, by the atom and the owner of units."""
        width = int(owners.max(initial=0)) + 1
        atoms, owners = np.divmod(distinct_numbers(atoms * width + owners), width)
        times = np.bincount(owners, minlength=1)
        sizes = np.bincount(atoms, minlength=count)
        shares = np.zeros(count, np.int64)
        np.add.at(shares, atoms, _PARTS // times[owners])
        return cls(sizes, shares, least, _PARTS, (atoms, owners))

    @property
    def are_small(self) -> Masks:
        """Which atoms have fewer owners than are enough: (atoms,)."""
        return np.asarray(self.sizes < self.least, dtype=np.bool_)

    @property
    def least_share(self) -> int:
        """The shares that belong to enough owners at least."""
        return self.least * self.parts

    def are_enough(self, is_in: Masks) -> bool:
        """Return whether the units of some atoms, (atoms,), are of enough owners."""
        if self.pairs is None:
            return int(self.sizes[is_in].sum()) >= self.least
        atoms, owners = self.pairs
        return len(distinct_numbers(owners[is_in[atoms]])) >= self.least

    def merged(self, numbers: Counts, count: int) -> "AtomOwners":
        """Return the owners of other atoms that have these as parts: `numbers` are those that each
        becomes a part of, -1 for none, (atoms,)."""
        if self.pairs is None:
            is_in = numbers >= 0
            sizes = np.bincount(numbers[is_in], self.sizes[is_in], minlength=count)
            return AtomOwners.of_units(sizes.astype(np.int64), self.least)
        atoms, owners = numbers[self.pairs[0]], self.pairs[1]
        return AtomOwners.of_pairs(atoms[atoms >= 0], owners[atoms >= 0], count, self.least)
