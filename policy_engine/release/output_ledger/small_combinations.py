"""Which linear combinations of released sums vanish in all but small atoms, and tell of few units.

A combination that tells of fewer owners than are enough vanishes in every atom of enough owners,
and in all atoms together in which every combination that is left vanishes, or none: what is told
in one of them is told in all. So atoms are taken together until none of enough owners is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import (
    Echelon,
    Residues,
    alike_multiples,
    combined_factors,
    disjoint_parts,
    echelon,
    in_span,
    light_vector,
    reduced_by,
)
from policy_engine.kernels.output_checks.sparse_span import Combinations
from policy_engine.release.output_ledger.answers import ToldFigures, are_counts
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.knowledge import Knowledge
from policy_engine.release.output_ledger.linear_systems import LinearSystem
from policy_engine.release.output_ledger.told_figures import system_figures

NODES = 2_000
"""How many subspaces are searched for combinations that tell of few units."""

_Masks = NDArray[np.bool_]


class ToldCombination(NamedTuple):
    """The numbers of new rows that tell together of too few owners, by a combination of all rows
    with this value in each class, (classes,); None where that is not decided in time."""

    numbers: list[int]
    vector: Residues | None = None


@dataclass(frozen=True, eq=False)
class SmallCombinations:
    """The combinations of a system that vanish in all but some atoms.

    `numbers` are the class of each atom, (atoms,), -1 where all vanish, and `values` what each
    combination is in the first atom of a class, (classes, combinations); `shares` are those of
    owners in a class. `coefficients` are (rows, combinations). `judged` are the rows that may tell
    what they tell by themselves, in classes, those in the most of them first: (judged, classes).
    """

    system: LinearSystem
    prime: int
    numbers: NDArray[np.int64]
    values: Residues
    shares: NDArray[np.int64]
    coefficients: Residues
    limit: TimeLimit
    judged: _Masks

    @classmethod
    def of_system(
        cls,
        system: LinearSystem,
        prime: int,
        is_open: _Masks | None = None,
        limit: TimeLimit | None = None,
        is_judged: _Masks | None = None,
    ) -> "SmallCombinations":
        """Return those of a system, over atoms that are all of fewer owners than are enough; those
        that are `open`, (atoms,), do not matter. What rows tell by themselves that are `judged`,
        (rows,), is no matter either."""
        is_small = system.owners.are_small
        is_meant = np.ones(len(is_small), np.bool_) if is_open is None else ~is_open
        large = np.flatnonzero(~is_small & is_meant)
        large = large[np.argsort(-system.weights[large], kind="stable")]
        own = Combinations.of_rows(system.rows, prime).constrained(large).alone()
        columns, least = np.flatnonzero(is_small & is_meant), system.owners.least_share
        limit = limit or TimeLimit()
        while True:
            limit.check()
            values = own.values(columns)
            classes = alike_multiples(values.T, prime)
            is_in = classes >= 0
            shares = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
            np.add.at(shares, classes[is_in], system.owners.shares[columns[is_in]])
            _, first = np.unique(classes, return_index=True)
            first = first[len(first) - len(shares) :]
            heavy = np.flatnonzero(shares >= least)
            if not len(heavy):
                break
            columns, first = columns[is_in], (np.cumsum(is_in) - 1)[first]
            order = heavy[np.argsort(-shares[heavy], kind="stable")]
            own = own.constrained(columns[first[order]]).alone()
        numbers = np.full(len(is_small), -1, np.int64)
        numbers[columns] = classes
        judged = np.zeros(system.rows.count, np.bool_) if is_judged is None else is_judged
        is_in = _in_classes(system, judged, numbers, columns[first])
        return cls(system, prime, numbers, values[first], shares, own.coefficients, limit, is_in)

    def told(self, *, is_known_free: bool) -> "Iterator[ToldCombination]":
        """Yield the new rows that tell together of too few owners, or of which it
        is not decided in time whether they do; of these, as many groups as each has rows.

        What follows from earlier rows alone does not count if that `is_known_free`. Where a row of
        the reduced form tells of too few by itself, no other combinations are looked for.
        """
        plain = [*self._told_by_rows(is_known_free=is_known_free)]
        yield from plain
        if not plain:
            for part in disjoint_parts(self._basis):
                yield from self._told_by(part, is_known_free=is_known_free)

    @cached_property
    def _basis(self) -> Residues:
        return echelon(np.ascontiguousarray(self.values.T), self.prime, is_reduced=True).rows

    def _told_by_rows(self, *, is_known_free: bool) -> "Iterator[ToldCombination]":
        light = self._basis[(self._basis != 0) @ self.shares < self.system.owners.least_share]
        for vector in light:
            if not self._is_known(vector, is_free=is_known_free):
                yield ToldCombination(self._meant(vector), vector)

    def _told_by(self, part: Residues, *, is_known_free: bool) -> "Iterator[ToldCombination]":
        is_known = partial(self._is_known, is_free=is_known_free)
        least, rows = self.system.owners.least_share, self._used(part)
        if not rows and is_known_free:
            return
        seconds = self.limit.left
        result = light_vector(part, self.shares, least, self.prime, is_known, NODES, seconds)
        if result.state == "found":
            yield ToldCombination(self._meant(result.vector), result.vector)
        elif result.state == "undecided":
            rows = rows or self.system.fresh_numbers
            # Without a few of them, it may be decided: not all are at fault.
            groups = isqrt(len(rows))
            yield from (ToldCombination(rows[first::groups]) for first in range(groups))

    def figures_of(self, combination: "ToldCombination", after: Knowledge) -> ToldFigures:
        """Return of whom a combination tells, and their sum, if it is just that."""
        system, is_about = self.system, np.zeros(len(self.numbers), np.bool_)
        if combination.vector is None:
            is_used = np.isin(system.numbers, combination.numbers)
            return system_figures(after, system, is_used, is_about, "undecided")
        is_about = np.append(combination.vector != 0, np.False_)[self.numbers]
        factors = self._factors(combination.vector)
        ends = (None, None) if not are_counts(system.name) else self._count_of(factors, is_about)
        return system_figures(after, system, factors != 0, is_about, "combination", ends)

    def _factors(self, vector: Residues) -> Residues:
        """Return by which factors the rows of the system add up to a vector in classes: (rows,)."""
        width, prime, rows = self.values.shape[0], self.prime, self._whole_form.rows
        rest = np.zeros((1, rows.shape[1]))
        rest[0, :width] = vector
        return (prime - reduced_by(rows, rest, prime)[0, width:]) % prime

    @cached_property
    def _whole_form(self) -> Echelon:
        """The combinations by their values in classes and all their coefficients."""
        return echelon(np.hstack([self.values.T, self.coefficients.T]), self.prime)

    @cached_property
    def _are_needed(self) -> _Masks:
        """Which rows are no combinations of all others: (rows,)."""
        form, width = self._whole_form, self.values.shape[0]
        is_used = (form.rows[form.pivots >= width, width:] != 0).any(axis=0)
        return np.asarray(~is_used, np.bool_)

    def _meant(self, vector: Residues) -> list[int]:
        """Return the numbers of the new rows that a vector is combined of: of those alone without
        which it is not known, nor these from the others, if there are any."""
        numbers = self._used(vector[None, :])
        needed = {*self.system.numbers[self._are_needed & self.system.is_fresh].tolist()}
        return [one for one in numbers if one in needed] or numbers

    def _count_of(self, factors: Residues, is_about: _Masks) -> tuple[float | None, float | None]:
        """Return how many units some atoms have, twice, if a combination is their plain sum."""
        own = Combinations(self.system.rows, self.prime, factors[:, None], np.full(1, -1))
        is_sum = len(np.unique(own.values(np.flatnonzero(is_about)))) == 1
        units = float(self.system.weights[is_about].sum())
        return (units, units) if is_sum else (None, None)

    def _is_known(self, vector: Residues, *, is_free: bool) -> bool:
        """Return whether a combination may be told: it is of enough owners, or was told before, but
        for judged rows of others."""
        support = np.append(vector != 0, np.False_)[self.numbers]
        if self.system.owners.are_enough(support):
            return True
        rest = self._beyond_judged(vector)
        rows, count = self._ordered
        earlier = rows[:count, self._fresh_count :] if is_free else rows[:0, self._fresh_count :]
        return bool(in_span(earlier, rest[None, :], self.prime)[0])

    def _beyond_judged(self, vector: Residues) -> Residues:
        """Return what is left of a vector without multiples of judged rows of which no two have a
        class in common, nor any with what is left: these tell nothing that none tells alone."""
        rest = vector.copy()
        for is_in in self.judged:
            values = rest[is_in]
            if len(values) and (values == values[0]).all():
                rest[is_in] = 0.0
        return rest

    @property
    def _fresh_count(self) -> int:
        return int(self.system.is_fresh.sum())

    @cached_property
    def _ordered(self) -> tuple[Residues, int]:
        """Return the combinations by their coefficients of new rows and their values in classes,
        those of earlier rows alone first, and how many these are."""
        fresh = self.coefficients[self.system.is_fresh]
        form = echelon(np.hstack([fresh.T, self.values.T]), self.prime)
        is_earlier = form.pivots >= len(fresh)
        return np.vstack([form.rows[is_earlier], form.rows[~is_earlier]]), int(is_earlier.sum())

    def _used(self, vectors: Residues) -> list[int]:
        """Return the numbers of the new rows that vectors are combined of, old ones preferred."""
        rows, count = self._ordered[0], self._fresh_count
        factors = combined_factors(rows[:, count:], vectors, self.prime).astype(np.int64)
        fresh = np.zeros((len(vectors), count), np.int64)
        for number, row in enumerate(rows[:, :count].astype(np.int64)):
            fresh = (fresh + factors[:, number, None] * row) % self.prime
        numbers: list[int] = self.system.numbers[self.system.is_fresh][fresh.any(axis=0)].tolist()
        return numbers


def _in_classes(
    system: LinearSystem, is_row: _Masks, numbers: NDArray[np.int64], first: NDArray[np.int64]
) -> _Masks:
    """Return some rows of a system by whether they are in the first atom of each class: (rows,
    classes). Those alone that are in no atom of no class, the largest first."""
    rows = system.rows.chosen(is_row).dense() != 0
    rows = rows[~rows[:, numbers < 0].any(axis=1)][:, first]
    return np.asarray(rows[np.argsort(-rows.sum(axis=1), kind="stable")], np.bool_)
