"""Which linear combinations of released sums vanish in all but small atoms, and tell of few units.

A combination that tells of fewer owners than are enough vanishes in every atom of enough owners,
and in all atoms together in which every combination that is left vanishes, or none: what is told
in one of them is told in all. So atoms are taken together until none of enough owners is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import (
    Residues,
    alike_multiples,
    combined_factors,
    disjoint_parts,
    echelon,
    in_span,
    light_vector,
)
from policy_engine.kernels.output_checks.sparse_span import Combinations
from policy_engine.release.output_ledger.linear_systems import LinearSystem

NODES = 2_000
"""How many subspaces are searched for combinations that tell of few units."""

_Masks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SmallCombinations:
    """The combinations of a system that vanish in all but some atoms.

    `numbers` are the class of each atom, (atoms,), -1 where all vanish, and `values` what each
    combination is in the first atom of a class, (classes, combinations); `shares` are those of
    owners in a class. `coefficients` are (rows, combinations).
    """

    system: LinearSystem
    prime: int
    numbers: NDArray[np.int64]
    values: Residues
    shares: NDArray[np.int64]
    coefficients: Residues

    @classmethod
    def of_system(
        cls, system: LinearSystem, prime: int, is_open: _Masks | None = None
    ) -> "SmallCombinations":
        """Return those of a system, over atoms that are all of fewer owners than are enough; those
        that are `open`, (atoms,), do not matter."""
        is_small = system.owners.are_small
        is_meant = np.ones(len(is_small), np.bool_) if is_open is None else ~is_open
        large = np.flatnonzero(~is_small & is_meant)
        large = large[np.argsort(-system.weights[large], kind="stable")]
        own = Combinations.of_rows(system.rows, prime).constrained(large).alone()
        columns, least = np.flatnonzero(is_small & is_meant), system.owners.least_share
        while True:
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
        return cls(system, prime, numbers, values[first], shares, own.coefficients)

    def told(self, *, is_known_free: bool) -> Iterator[list[int]]:
        """Yield the numbers of the new rows that tell together of too few owners, or of which it
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

    def _told_by_rows(self, *, is_known_free: bool) -> Iterator[list[int]]:
        light = self._basis[(self._basis != 0) @ self.shares < self.system.owners.least_share]
        for vector in light:
            if not self._is_known(vector, is_free=is_known_free):
                yield self._used(vector[None, :])

    def _told_by(self, part: Residues, *, is_known_free: bool) -> Iterator[list[int]]:
        is_known = partial(self._is_known, is_free=is_known_free)
        least = self.system.owners.least_share
        result = light_vector(part, self.shares, least, self.prime, is_known, NODES)
        if result.state == "found":
            yield self._used(result.vector[None, :])
        elif result.state == "undecided":
            rows = self._used(part)
            # Without a few of them, it may be decided: not all are at fault.
            groups = isqrt(len(rows))
            yield from (rows[first::groups] for first in range(groups))

    def _is_known(self, vector: Residues, *, is_free: bool) -> bool:
        """Return whether a combination may be told: it is of enough owners, or was told before."""
        support = np.append(vector != 0, np.False_)[self.numbers]
        if self.system.owners.are_enough(support):
            return True
        rows, count = self._ordered
        earlier = rows[:count, self._fresh_count :]
        return is_free and bool(in_span(earlier, vector[None, :], self.prime)[0])

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
