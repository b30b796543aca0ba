"""Whether the versions of a table that changes are m-invariant.

Xiao and Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD
2007: every class has m rows or more, whose sensitive values all differ (it is m-unique), and who is
in several versions is, in each of them, in a class with the same values (its signature).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.intersections import OUTSIDE
from policy_engine.release.composition.kept_classes import KeptClasses, Signatures

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Version:
    """A version of a table, and who is in which class of it."""

    classes: KeptClasses

    def not_unique(self, m: int) -> int:
        """Return how many classes have fewer than m rows, or a sensitive value that is missing or
        not the only one of its kind."""
        numbers, rows = self._sizes()
        broken = rows < m
        for one in self.classes.signatures.values():
            broken |= _counted(one, numbers, one.rows) != rows
            broken |= _counted(one, numbers, one.rows > 1) > 0
        return int(broken.sum())

    def changed(self, other: "Version") -> int:
        """Return how many persons in both versions are in classes with other values.

        Who is in several classes of a version counts as changed: it has no single signature.
        """
        own, theirs = self.signatures(), other.signatures()
        both = np.intersect1d(own.persons, theirs.persons)
        is_same = np.ones(len(both), np.bool_)
        for one in (own, theirs):
            is_same &= np.searchsorted(one.persons, both, "right") == (
                np.searchsorted(one.persons, both) + 1
            )
        before, now = (one.marks[np.searchsorted(one.persons, both)] for one in (own, theirs))
        if before.shape[1] != now.shape[1]:
            return len(both)
        return int((~is_same | (before != now).any(axis=1)).sum())

    def _sizes(self) -> tuple[Ints, Ints]:
        """Return the numbers of classes, and how many persons each has."""
        classes = self.classes.persons.classes
        return np.unique(classes[classes != OUTSIDE], return_counts=True)

    def signatures(self) -> "MarkedPersons":
        """Return who is in a class, and a mark of its values in every sensitive column."""
        persons = self.classes.persons
        is_in = persons.classes != OUTSIDE
        numbers = np.unique(persons.classes[is_in])
        place = np.searchsorted(numbers, persons.classes[is_in])
        columns = []
        for name in sorted(self.classes.signatures):
            one = self.classes.signatures[name]
            # The values are keyed hashes: sums of different sets differ, but for a chance in 2^64.
            sums = np.zeros(len(numbers), np.uint64)
            np.add.at(sums, np.searchsorted(numbers, one.classes), one.values)
            columns += [sums[place], _counted(one, numbers, np.ones_like(one.rows))[place]]
        marks = (
            np.stack([one.astype(np.uint64) for one in columns], axis=1)
            if columns
            else (np.zeros((len(place), 0), np.uint64))
        )
        return MarkedPersons(persons.persons[is_in], marks)


@dataclass(frozen=True, eq=False)
class MarkedPersons:
    """Persons in a class, in order, and marks of the values there: (persons, marks)."""

    persons: NDArray[np.uint64]
    marks: NDArray[np.uint64]


def _counted(signatures: Signatures, numbers: Ints, times: NDArray[np.generic]) -> Ints:
    """Return the sum over the values of each class of how often something is counted."""
    places = np.searchsorted(numbers, signatures.classes)
    return np.bincount(places, times.astype(np.int64), len(numbers)).astype(np.int64)
