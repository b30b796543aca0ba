"""Who is left as a candidate where several releases of the same persons are put together.

Somebody who knows in which class of each release a person is, looks for the person among those who
are in all of these classes: in their intersection (Ganta, Kasiviswanathan and Smith, "Composition
attacks and auxiliary information in data privacy", KDD 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OUTSIDE = -1
"""The class of who is in no class of a release: left out, not sampled, or not in its input."""
MOST_PAIRS = 200_000_000
"""So many pairs of a person and an intersection are looked at, at most."""

Ints = NDArray[np.int64]


def distinct_words(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words in order, each once."""
    # By a sort: `np.unique` hashes, which takes ten times as long for a million words.
    ordered = np.sort(words)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def are_among(words: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which words are among others, which come in order."""
    place = np.searchsorted(others, words)
    is_among = place < len(others)
    is_among[is_among] = others[place[is_among]] == words[is_among]
    return is_among


class TooManyPairsError(ValueError):
    """Persons are in too many classes of too many releases to look at all their intersections."""


@dataclass(frozen=True, eq=False)
class PersonClasses:
    """In which classes of a release persons are: pairs in order, each once.

    `persons` (pairs,) are words that are the same for a person in every release, and `classes`
    (pairs,) the numbers of classes, or `OUTSIDE`.
    """

    persons: NDArray[np.uint64]
    classes: Ints

    @classmethod
    def of(cls, persons: NDArray[np.uint64], classes: Ints) -> "PersonClasses":
        """Return the pairs of rows, (rows,) each, in any order and as often as they occur."""
        order = np.lexsort((classes, persons))
        persons, classes = persons[order], classes[order].astype(np.int64)
        is_new = np.ones(len(persons), np.bool_)
        is_new[1:] = (persons[1:] != persons[:-1]) | (classes[1:] != classes[:-1])
        return cls(persons[is_new], classes[is_new])

    @property
    def is_simple(self) -> bool:
        """Whether nobody is in several classes."""
        return not (self.persons[1:] == self.persons[:-1]).any()

    @property
    def released(self) -> NDArray[np.uint64]:
        """The persons who are in a class, each once."""
        return distinct_words(self.persons[self.classes != OUTSIDE])


@dataclass(frozen=True, eq=False)
class Intersections:
    """The intersections of the classes of several releases, and who is in each.

    `persons` are all who are in a class of any of them, in order. Pairs of a person and an
    intersection come in the order of persons: `person` (pairs,) is their place, `cell` (pairs,) the
    number of the intersection, and `first` (pairs,) the person's class in the first release, or
    `OUTSIDE`. `sizes` (cells,) counts the persons in each.
    """

    persons: NDArray[np.uint64]
    person: Ints
    cell: Ints
    first: Ints
    sizes: Ints

    @property
    def candidates(self) -> Ints:
        """Among how few each person is, in the smallest intersection that has the person."""
        least = np.full(len(self.persons), np.iinfo(np.int64).max)
        np.minimum.at(least, self.person, self.sizes[self.cell])
        return least

    @property
    def in_first(self) -> NDArray[np.bool_]:
        """Which intersections, (cells,), are within a class of the first release."""
        is_in = np.zeros(len(self.sizes), np.bool_)
        is_in[self.cell[self.first != OUTSIDE]] = True
        return is_in

    def cells_of_rows(self, persons: NDArray[np.uint64], classes: Ints) -> tuple[Ints, Ints]:
        """Return the intersections that rows of the first release, (rows,) each, are in: the place
        of a row and the number of an intersection, once for each pair. Rows of persons who are in
        no class of any release are in none."""
        width = int(max(classes.max(initial=0), self.first.max(initial=0))) + 2
        keys = self.person * width + self.first + 1
        sought = np.searchsorted(self.persons, persons) * width + classes + 1
        start, end = np.searchsorted(keys, sought), np.searchsorted(keys, sought, "right")
        # Where such a person would be, another one is.
        end = np.where(are_among(persons, self.persons), end, start)
        rows = np.repeat(np.arange(len(persons)), end - start)
        return rows, self.cell[_ranges(start, end - start)]


def intersections(releases: Sequence[PersonClasses]) -> Intersections:
    """Return the intersections of the classes of releases, one or more.

    Who is in no class of one of them is with all others of whom that is so: they can be told from
    the rest. Raises TooManyPairsError beyond `MOST_PAIRS`.
    """
    persons = distinct_words(np.concatenate([one.released for one in releases]))
    person = np.arange(len(persons))
    cell, first = np.zeros(len(persons), np.int64), np.full(len(persons), OUTSIDE)
    for number, release in enumerate(releases):
        place, classes = _pairs_of_all(release, persons)
        starts = np.searchsorted(place, np.arange(len(persons) + 1))
        counts = np.diff(starts)[person]
        if int(counts.sum()) > MOST_PAIRS:
            raise TooManyPairsError
        own = classes[_ranges(starts[person], counts)]
        person, cell = np.repeat(person, counts), np.repeat(cell, counts)
        first = own if number == 0 else np.repeat(first, counts)
        width = int(own.max(initial=0)) + 2
        _, cell = np.unique(cell * width + own + 1, return_inverse=True)
    order = np.lexsort((first, person))
    sizes = np.bincount(cell, minlength=int(cell.max(initial=-1)) + 1)
    return Intersections(persons, person[order], cell[order], first[order], sizes)


def _pairs_of_all(release: PersonClasses, persons: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """Return the place of each pair's person among some, in order, and the class; who is in no
    class has one pair."""
    place = np.searchsorted(persons, release.persons)
    is_known = release.classes != OUTSIDE
    place, classes = place[is_known], release.classes[is_known]
    is_missing = np.ones(len(persons), np.bool_)
    is_missing[place] = False
    missing = np.flatnonzero(is_missing)
    place = np.concatenate([place, missing])
    classes = np.concatenate([classes, np.full(len(missing), OUTSIDE)])
    order = np.argsort(place, kind="stable")
    return place[order], classes[order]


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Return all numbers of ranges, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts - starts, counts)
