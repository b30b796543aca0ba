"""Whom figures of an audit are of: persons, each with as many records as on the other side."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.components import first_numbers

Scores = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_EVENLY = 83
"""A stream of random numbers of its own."""


@dataclass(frozen=True, eq=False)
class Subjects:
    """Persons, or records where nothing tells persons apart.

    `is_member` (subjects,) has the members first; `places` (records,) are those of the persons of
    audited records, None where each is a subject. Records that `are_counted` (records,) are those
    by which persons are scored, all where it is None.
    """

    is_member: Bools
    places: Ints | None = None
    are_counted: Bools | None = None

    @classmethod
    def of_records(cls, members: int, others: int) -> "Subjects":
        """Return so many records of either side, each a subject."""
        return cls(np.arange(members + others) < members)

    @classmethod
    def of_persons(cls, members: NDArray[Any], others: NDArray[Any]) -> "Subjects":
        """Return the persons of both sides' records, given the numbers of these: nobody of one is
        on the other."""
        own = [first_numbers(persons) for persons in (members, others)]
        sizes = [int(one.max(initial=-1)) + 1 for one in own]
        is_member = np.arange(sum(sizes)) < sizes[0]
        return cls(is_member, np.concatenate([own[0], own[1] + sizes[0]]))

    def evened(self, seed: int) -> "Subjects":
        """Return persons who are scored by as many records on both sides.

        The greatest of many scores is greater than that of few, seen or not. So persons of either
        side are put in the order of how many records they have, and each is scored by no more than
        whoever is at the same share of the other side has, drawn at random. Where both sides have
        persons with as many records, all count.
        """
        places = self.places
        if places is None:
            return self
        generator = np.random.default_rng([seed, _EVENLY])
        counts = np.bincount(places, minlength=len(self.is_member))
        most = _counts_on_both_sides(counts, self.is_member, generator)
        order = generator.permutation(len(places))
        order = order[np.argsort(places[order], kind="stable")]
        ranks = np.empty(len(places), np.int64)
        ranks[order] = np.arange(len(places)) - (np.cumsum(counts) - counts)[places[order]]
        return Subjects(self.is_member, places, ranks < most[places])

    def pooled(self, scores: Scores) -> Scores:
        """Return the score of each subject, (subjects,): the greatest of its records that are
        counted."""
        if self.places is None:
            return scores
        counted = slice(None) if self.are_counted is None else self.are_counted
        most = np.full(len(self.is_member), -np.inf)
        np.maximum.at(most, self.places[counted], scores[counted])
        return most

    @property
    def members(self) -> int:
        """How many are members."""
        return int(self.is_member.sum())

    @property
    def others(self) -> int:
        """How many are of the holdout."""
        return len(self.is_member) - self.members


def _counts_on_both_sides(counts: Ints, is_member: Bools, generator: np.random.Generator) -> Ints:
    """Return how many records of each person there are to be: the least of how many it has, and of
    how many whoever is at the same place of the other side has."""
    sides = []
    for own in (np.flatnonzero(is_member), np.flatnonzero(~is_member)):
        shuffled = generator.permutation(own)  # no order of the files decides between equal counts
        sides.append(shuffled[np.argsort(counts[shuffled], kind="stable")])
    most = counts.copy()
    for own, other in (sides, sides[::-1]):
        if len(own) and len(other):
            partners = other[(2 * np.arange(len(own)) + 1) * len(other) // (2 * len(own))]
            most[own] = np.minimum(counts[own], counts[partners])
    return most
