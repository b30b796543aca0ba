"""Whether the versions of a table that changes are m-invariant.

Xiao and Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD
2007: every class has m rows or more, whose sensitive values all differ (it is m-unique), and who is
in several versions is, in each of them, in a class with the same values (its signature).
"""

from collections.abc import Iterator, Sequence
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


@dataclass(frozen=True)
class Disagreement:
    """Two versions, by their places, and how many persons are in both, but in classes with other
    values."""

    first: int
    second: int
    persons: int


def disagreements(versions: Sequence[Version]) -> Iterator[Disagreement]:
    """Yield which versions do not agree about how many persons, in the order of places.

    Each person is looked up in the first version it is in, and in every later one: where these
    agree, all do. So time grows with the rows of all versions, and not with the pairs of versions.
    """
    marked = [version.signatures() for version in versions]
    width = max((one.marks.shape[1] for one in marked), default=0) + 1
    marks = np.concatenate([_as_wide(one.marks, width) for one in marked] or [_NO_MARKS])
    persons = np.concatenate([one.persons for one in marked] or [_NO_MARKS[:, 0]])
    places = np.repeat(np.arange(len(marked)), [len(one.persons) for one in marked])
    order = np.lexsort((places, persons))
    marks, persons, places = marks[order], persons[order], places[order]
    first = np.searchsorted(persons, persons)
    is_other = (marks != marks[first]).any(axis=1)
    is_again = np.zeros(len(persons), np.bool_)
    is_again[1:] = (persons[1:] == persons[:-1]) & (places[1:] == places[:-1])
    # Who is in several classes of a version has no single signature, in whichever of two it is.
    several = np.unique(np.stack([first[is_again], places[is_again]], axis=1), axis=0)
    is_several = np.isin(first * (len(marked) + 1) + places, several @ [len(marked) + 1, 1])
    is_other |= is_several | is_several[first]
    is_other &= places != places[first]
    pairs = np.stack([places[first], places, first], axis=1)[is_other]
    pairs = np.unique(pairs, axis=0)[:, :2]  # a person counts once for each pair of versions
    for (one, other), count in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
        yield Disagreement(int(one), int(other), int(count))


_NO_MARKS = np.zeros((0, 1), np.uint64)


def _as_wide(marks: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Return marks with as many columns as the widest has, the first of which is their own
    number: versions with other columns agree about nobody."""
    wide = np.zeros((len(marks), width), np.uint64)
    wide[:, 0] = marks.shape[1]
    wide[:, 1 : marks.shape[1] + 1] = marks
    return wide


@dataclass(frozen=True, eq=False)
class MarkedPersons:
    """Persons in a class, in order, and marks of the values there: (persons, marks)."""

    persons: NDArray[np.uint64]
    marks: NDArray[np.uint64]


def _counted(signatures: Signatures, numbers: Ints, times: NDArray[np.generic]) -> Ints:
    """Return the sum over the values of each class of how often something is counted."""
    places = np.searchsorted(numbers, signatures.classes)
    return np.bincount(places, times.astype(np.int64), len(numbers)).astype(np.int64)
