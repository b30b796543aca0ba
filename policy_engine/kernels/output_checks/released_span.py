"""What linear combinations of released sums tell: exactly, modulo random primes.

A released cell is a row of zeros and ones over atoms, the groups of units that nothing released
tells apart. Who knows the values of cells knows those of all their linear combinations, and of no
other function of the atoms, as long as no bound on the values is reached. A combination whose
coefficients are zero but for a few units tells of these units alone: differences of two cells,
complements within a total, trackers (Denning, Denning and Schwartz, 1979) are all of this form.

Ranks over the integers are those modulo a prime, unless it divides one of the elementary divisors
of the matrix; for two primes drawn afterwards from two million, no caller can arrange for that.
"""

import math
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.components import first_numbers

Residues = NDArray[np.float64]
Counts = NDArray[np.int64]

_LEAST, _MOST = 2**25, 2**26
"""Products of two residues below the upper bound are exact in double precision."""
_MOST_STEPS = 4e9
"""How many steps of elimination a search may take: some ten seconds."""
_WITNESSES = (2, 3, 5, 7)
"""Enough for the Miller-Rabin test of numbers below 3,215,031,751 (Jaeschke, 1993)."""


def random_prime() -> int:
    """Return a prime drawn uniformly between 2**25 and 2**26."""
    while True:
        number = _LEAST + secrets.randbelow(_LEAST)
        if _is_prime(number):
            return number


def _is_prime(number: int) -> bool:
    if number % 2 == 0:
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in _WITNESSES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


class Echelon(NamedTuple):
    """Rows in echelon form, and the column of the pivot of each: (rank, columns) and (rank,)."""

    rows: Residues
    pivots: NDArray[np.int64]


def echelon(rows: Residues, prime: int, *, is_reduced: bool = False) -> Echelon:
    """Return the echelon form of rows of residues; reduced, pivots are alone in their columns."""
    work, pivots = np.ascontiguousarray(rows).copy(), np.full(len(rows), -1, np.int64)
    rank = int(_eliminate(work, len(work), pivots, float(prime), is_reduced))
    return Echelon(work[:rank], pivots[:rank])


def in_span(rows: Residues, vectors: Residues, prime: int) -> NDArray[np.bool_]:
    """Return which vectors are linear combinations of rows: (vectors,)."""
    if not len(vectors) or not len(rows):
        return np.asarray(~vectors.any(axis=1))
    return np.asarray(~reduced_by(rows, vectors, prime).any(axis=1))


def reduced_by(rows: Residues, vectors: Residues, prime: int) -> Residues:
    """Return what is left of vectors once rows are subtracted as often as vanishes in their pivots:
    (vectors, columns)."""
    work = np.vstack([rows, vectors])
    pivots = np.full(len(rows), -1, np.int64)
    _eliminate(work, len(rows), pivots, float(prime), False)  # noqa: FBT003 (a kernel)
    return work[len(rows) :]


def combined_factors(rows: Residues, vectors: Residues, prime: int) -> Residues:
    """Return by which factors rows add up to each of some vectors in their span, (vectors, rows);
    the first rows are preferred."""
    solution = echelon(np.hstack([rows.T, vectors.T]), prime, is_reduced=True)
    factors = np.zeros((len(vectors), len(rows)))
    inside = solution.pivots < len(rows)
    factors[:, solution.pivots[inside]] = solution.rows[inside, len(rows) :].T
    return factors


class LightVector(NamedTuple):
    """The outcome of a search: a vector that was found, that none is there, or neither."""

    state: Literal["found", "absent", "undecided"]
    vector: Residues


def light_vector(
    basis: Residues,
    weights: Counts,
    least: int,
    prime: int,
    is_known: Callable[[Residues], bool],
    nodes: int,
    seconds: float = math.inf,
) -> LightVector:
    """Return a combination of a reduced basis, not known, whose support weighs less than `least`.

    `weights` are those of the columns. At most `nodes` subspaces are looked at, for so many
    processor seconds of this thread. Raises nothing: if that is too few, the outcome is undecided.
    """
    search = _Search(weights, least, prime, is_known, nodes, time.thread_time() + seconds)
    outcome = LightVector("absent", np.zeros(basis.shape[1]))
    for part in disjoint_parts(basis):
        columns = np.flatnonzero(part.any(axis=0))
        result = search.run(part[:, columns], columns, basis.shape[1])
        if result.state == "found":
            return result
        outcome = result if result.state == "undecided" else outcome
    return outcome


def disjoint_parts(basis: Residues) -> list[Residues]:
    """Return the rows of a basis in groups that share no column: a light vector lies in one."""
    groups: list[tuple[NDArray[np.bool_], list[int]]] = []
    for row, support in enumerate(basis != 0):
        joined = [one for one in groups if (one[0] & support).any()]
        rows = sorted([row, *(other for one in joined for other in one[1])])
        columns = np.logical_or.reduce([support, *(one[0] for one in joined)])
        groups = [one for one in groups if not any(one is other for other in joined)]
        groups.append((columns, rows))
    return [basis[rows] for _, rows in groups]


class _Columns(NamedTuple):
    """The columns of a subspace in which something is not zero, those that are multiples of each
    other taken together: the `first` of each, what they weigh, and whether that is paid."""

    first: NDArray[np.intp]
    weights: Counts
    are_paid: NDArray[np.bool_]
    numbers: NDArray[np.int64]

    @classmethod
    def of_rows(
        cls, rows: Residues, weights: Counts, is_paid: NDArray[np.bool_], prime: int
    ) -> "_Columns":
        """Return those of the rows, which columns of these weights and payments have; `numbers` are
        theirs for each column of the rows, -1 for those of zeros."""
        numbers = alike_multiples(rows, prime)
        is_in = numbers >= 0
        count = int(numbers.max(initial=-1)) + 1
        sums = np.bincount(numbers[is_in], weights[is_in], minlength=count).astype(np.int64)
        paid = np.bincount(numbers[is_in], is_paid[is_in], minlength=count) > 0
        first = np.unique(numbers, return_index=True)[1][int((~is_in).any()) :]
        return cls(first, sums, paid, numbers)

    @property
    def paid(self) -> int:
        """What is paid."""
        return int(self.weights[self.are_paid].sum())

    @property
    def open(self) -> NDArray[np.int64]:
        """Which of them are not paid, by their place, those of the largest weight first."""
        own = np.flatnonzero(~self.are_paid)
        return own[np.argsort(-self.weights[own], kind="stable")]


class _Search:
    """Branch and bound: a column is zero, or its weight is paid, whatever its coefficient."""

    def __init__(
        self,
        weights: Counts,
        least: int,
        prime: int,
        is_known: Callable[[Residues], bool],
        nodes: int,
        end: float,
    ) -> None:
        self.weights, self.least, self.prime = weights, least, prime
        self.is_known, self.nodes, self.end = is_known, nodes, end

    def run(self, basis: Residues, columns: NDArray[np.intp], width: int) -> LightVector:
        """Return the outcome for a basis that has some of the columns."""
        weights, absent = self.weights[columns], LightVector("absent", np.zeros(width))
        stack, steps = [(basis, np.zeros(len(columns), np.bool_))], 0
        while stack:
            rows, is_paid = stack.pop()
            steps += len(rows) ** 2 * len(columns)
            is_late = steps > _MOST_STEPS or time.thread_time() > self.end
            if self.nodes <= 0 or (is_late and len(rows) > 1):
                return absent._replace(state="undecided")
            self.nodes -= 1
            rows, own = self._payable(rows, is_paid, weights)
            for vector in rows[(rows != 0) @ weights < self.least]:
                full = np.zeros(width)
                full[columns] = vector
                if not self.is_known(full):
                    return LightVector("found", full)
            if len(rows) > 1:
                stack += self._branches(rows, is_paid, own)
        return absent

    def _payable(
        self, rows: Residues, is_paid: NDArray[np.bool_], weights: Counts
    ) -> tuple[Residues, _Columns]:
        """Return a basis of the vectors that are zero wherever more would have to be paid than is
        left, reduced by the columns of the largest weight, and its columns."""
        while True:
            own = _Columns.of_rows(rows, weights, is_paid, self.prime)
            dear = own.open[own.weights[own.open] >= self.least - own.paid]
            if len(rows) < 2 or not len(dear):
                return _reduced(rows, own.first[own.open], self.prime).rows, own
            rows = _vanishing(rows, own.first[dear], self.prime)

    def _branches(
        self, rows: Residues, is_paid: NDArray[np.bool_], own: _Columns
    ) -> Sequence[tuple[Residues, NDArray[np.bool_]]]:
        """Return the subspaces in which light vectors may be that are not multiples of a row.

        Each vector is zero in all of the columns that are left, or not zero in one of a basis of
        these. Disjoint bases add up (as in Brouwer's and Zimmermann's bound), and what is not zero
        in one column of the first alone is a multiple of a row.
        """
        left, bound = own.open, own.paid
        if bound >= self.least or (is_paid & (own.numbers < 0)).any():
            return ()
        is_first = True
        while len(left):
            pivots = echelon(rows[:, own.first[left]], self.prime).pivots
            times = 2 if is_first and len(pivots) == len(rows) else 1
            bound += int(np.sort(own.weights[left[pivots]])[:times].sum())
            if bound >= self.least:
                rest = _vanishing(rows, own.first[left], self.prime)
                return ((rest, is_paid),) if len(rest) else ()
            left, is_first = np.delete(left, pivots), False
        if not len(own.open):
            return ()
        chosen = own.open[0]
        zero = _vanishing(rows, own.first[[chosen]], self.prime)
        return ((rows, is_paid | (own.numbers == chosen)), (zero, is_paid))


def _reduced(rows: Residues, columns: NDArray[np.intp], prime: int) -> Echelon:
    """Return the reduced form of rows by some columns first; pivots are places in that order."""
    rest = np.setdiff1d(np.arange(rows.shape[1]), columns)
    order = np.concatenate([columns, rest])
    form = echelon(rows[:, order], prime, is_reduced=True)
    return Echelon(form.rows[:, np.argsort(order)], form.pivots)


def _vanishing(rows: Residues, columns: NDArray[np.intp], prime: int) -> Residues:
    """Return a basis of the vectors that are zero in some columns."""
    rest = np.setdiff1d(np.arange(rows.shape[1]), columns)
    order = np.concatenate([columns, rest])
    form = echelon(rows[:, order], prime)
    return form.rows[form.pivots >= len(columns)][:, np.argsort(order)]


def alike_multiples(rows: Residues, prime: int) -> NDArray[np.int64]:
    """Return a number from 0 on for each column, the same for those that are multiples of each
    other, and -1 for columns of zeros: combinations vanish in all columns of a number, or none.
    They are in the order of the first column of each."""
    numbers = np.full(rows.shape[1], -1, np.int64)
    some = np.flatnonzero(rows.any(axis=0))
    if not len(some):
        return numbers
    values = np.ascontiguousarray(rows[:, some].T)
    _divide(values, values[np.arange(len(values)), (values != 0).argmax(axis=1)], float(prime))
    words = np.random.default_rng().integers(1, 2**63, rows.shape[0], np.uint64)
    numbers[some] = first_numbers(values.astype(np.uint64) @ words)
    return numbers


@inlined
def residue(number: float, prime: float, inverse_prime: float) -> Any:
    """Return a whole number, held as a float, modulo a prime."""
    rest = number - np.floor(number * inverse_prime) * prime
    # The quotient may be off by one.
    if rest < 0.0:
        rest += prime
    if rest >= prime:
        rest -= prime
    return rest


@compiled
def reciprocal(number: float, prime: float, inverse_prime: float) -> Any:
    """Return the inverse of a number modulo a prime, by Fermat's little theorem."""
    base, power, exponent = number, 1.0, np.int64(prime) - 2
    while exponent > 0:
        if exponent & 1:
            power = residue(power * base, prime, inverse_prime)
        base = residue(base * base, prime, inverse_prime)
        exponent >>= 1
    return power


@compiled
def _eliminate(work, choices, pivots, prime, is_reduced):  # type: ignore[no-untyped-def]
    """Bring the first rows to echelon form, all others being reduced by them; return the rank."""
    rank, inverse_prime = 0, 1.0 / prime
    for column in range(work.shape[1]):
        if rank == choices:
            break
        row = rank
        while row < choices and work[row, column] == 0.0:
            row += 1
        if row == choices:
            continue
        if row != rank:
            for place in range(work.shape[1]):
                work[row, place], work[rank, place] = work[rank, place], work[row, place]
        # The inverse by Fermat's little theorem.
        base, power, exponent = work[rank, column], 1.0, np.int64(prime) - 2
        while exponent > 0:
            if exponent & 1:
                power = residue(power * base, prime, inverse_prime)
            base = residue(base * base, prime, inverse_prime)
            exponent >>= 1
        for place in range(column, work.shape[1]):
            work[rank, place] = residue(work[rank, place] * power, prime, inverse_prime)
        first = 0 if is_reduced else rank + 1
        for other in range(first, work.shape[0]):
            if other != rank and work[other, column] != 0.0:
                factor = prime - work[other, column]
                for place in range(column, work.shape[1]):
                    work[other, place] = residue(
                        work[other, place] + factor * work[rank, place], prime, inverse_prime
                    )
        pivots[rank] = column
        rank += 1
    return rank


@compiled
def _divide(values, factors, prime):  # type: ignore[no-untyped-def]
    """Divide each row by its factor, in place, but for factors of 0 and 1."""
    inverse_prime = 1.0 / prime
    for row in range(values.shape[0]):
        if factors[row] == 0.0 or factors[row] == 1.0:
            continue
        power = reciprocal(factors[row], prime, inverse_prime)
        for place in range(values.shape[1]):
            if values[row, place] != 0.0:
                values[row, place] = residue(values[row, place] * power, prime, inverse_prime)
