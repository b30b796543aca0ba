"""Linear combinations of sparse rows of zeros and ones, modulo a prime, column by column.

Released cells are rows over atoms, and each atom is in a few cells alone: one of each table. So
combinations are kept by the coefficients of rows, (rows, combinations), at first one for each row;
a column in which all others are to vanish takes one of them, its pivot. What is left after all
large atoms are the combinations that tell of small ones alone: of tables by columns, hardly any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.components import first_numbers
from policy_engine.kernels.output_checks.released_span import reciprocal, residue

Residues = NDArray[np.float64]
Counts = NDArray[np.int64]
Masks = NDArray[np.bool_]

_AT_ONCE = 200


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of zeros and ones: `members` are the rows of the ones of each column, one column after
    another, and `starts` where each column's begin, (columns + 1,)."""

    count: int
    starts: Counts
    members: Counts

    @classmethod
    def of_pairs(cls, rows: Counts, columns: Counts, count: int, width: int) -> "SparseRows":
        """Return the rows with a one at each of some pairs, of which none is there twice."""
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(width + 1)).astype(np.int64)
        return cls(count, starts, rows[order].astype(np.int64))

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.starts) - 1

    @cached_property
    def columns(self) -> Counts:
        """The column of each one."""
        return np.repeat(np.arange(self.width), np.diff(self.starts))

    def dense(self) -> Residues:
        """Return the same as a matrix: (rows, columns)."""
        matrix = np.zeros((self.count, self.width))
        matrix[self.members, self.columns] = 1
        return matrix

    def chosen(self, is_row: Masks) -> "SparseRows":
        """Return some rows alone, over the same columns."""
        numbers, is_in = np.cumsum(is_row) - 1, is_row[self.members]
        count = int(is_row.sum())
        return self.of_pairs(numbers[self.members[is_in]], self.columns[is_in], count, self.width)

    def of_columns(self, is_first: Masks, numbers: Counts, count: int) -> "SparseRows":
        """Return the rows over other columns: of those of each number, the first one."""
        is_in = is_first[self.columns]
        own = self.members[is_in], numbers[self.columns[is_in]]
        return self.of_pairs(*own, self.count, count)

    def merged(self) -> "SparseRows":
        """Return the rows over columns of which no two are in the same rows, and none in none."""
        numbers = self.alike_columns()
        is_first = np.zeros(self.width, np.bool_)
        some = np.flatnonzero(numbers >= 0)
        is_first[some[np.unique(numbers[some], return_index=True)[1]]] = True
        return self.of_columns(is_first, numbers, int(numbers.max(initial=-1)) + 1)

    def beside(self, other: "SparseRows") -> "SparseRows":
        """Return the rows with the columns of others behind their own."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return SparseRows(self.count, starts, np.concatenate([self.members, other.members]))

    def repeated(self, rows: Counts) -> "SparseRows":
        """Return the rows at some places, which may be there several times."""
        order = np.argsort(self.members, kind="stable")
        starts = np.searchsorted(self.members[order], np.arange(self.count + 1))
        columns = self.columns[order]
        parts = [columns[starts[row] : starts[row + 1]] for row in rows.tolist()]
        members = np.repeat(np.arange(len(rows)), [len(one) for one in parts])
        own = np.concatenate([np.zeros(0, np.int64), *parts])
        return self.of_pairs(members, own, len(rows), self.width)

    def summed(self, sums: Sequence[Sequence[int]]) -> "SparseRows":
        """Return the sum of the rows at some places, for each of some sums, of rows of which no two
        have a one in a column."""
        of_sums = np.repeat(np.arange(len(sums)), [*map(len, sums)])
        whole = self.repeated(np.array([place for one in sums for place in one], np.int64))
        return self.of_pairs(of_sums[whole.members], whole.columns, len(sums), self.width)

    @cached_property
    def covered(self) -> Masks:
        """Which columns some row has a one in: (columns,)."""
        return np.asarray(np.diff(self.starts) > 0, np.bool_)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the values, (columns,), of each row: (rows,)."""
        sums = np.bincount(self.members, values[self.columns], minlength=self.count)
        return sums.astype(np.float64)

    def alike_columns(self) -> Counts:
        """Return a number from 0 on for each column, the same for those of the same rows; -1 for
        columns of none: (columns,). They are in the order of the first column of each."""
        words = np.random.default_rng().integers(1, 2**63, self.count, np.uint64)
        sums, numbers = np.zeros(self.width, np.uint64), np.full(self.width, -1, np.int64)
        np.add.at(sums, self.columns, words[self.members])
        numbers[self.covered] = first_numbers(sums[self.covered])
        return numbers


@dataclass(frozen=True, eq=False)
class Combinations:
    """Combinations of rows that vanish in the columns they were constrained by, but for pivots.

    `coefficients` are (rows, combinations); `pivots` is the column of each combination that is the
    only one not to vanish there, and 1, or -1: those vanish in all these columns.
    """

    rows: SparseRows
    prime: int
    coefficients: Residues
    pivots: Counts

    @classmethod
    def of_rows(cls, rows: SparseRows, prime: int) -> "Combinations":
        """Return each row as a combination of its own."""
        return cls(rows, prime, np.eye(rows.count), np.full(rows.count, -1, np.int64))

    @property
    def vanishing(self) -> Residues:
        """The combinations that vanish in all columns so far: (rows, combinations)."""
        return np.ascontiguousarray(self.coefficients[:, self.pivots < 0])

    def constrained(self, columns: Counts, *, is_reduced: bool = False) -> "Combinations":
        """Return combinations that vanish in more columns as well, but for their pivots.

        Unless `is_reduced`, those with an earlier pivot stay as they are.
        """
        work, pivots = self.coefficients.copy(), self.pivots.copy()
        width = work.shape[1]
        spare = np.zeros(width), np.zeros(width, np.int64)
        table = (self.rows.starts, self.rows.members, np.asarray(columns, np.int64))
        _constrain(*table, work, pivots, float(self.prime), is_reduced, *spare)
        return Combinations(self.rows, self.prime, work, pivots)

    def alone(self) -> "Combinations":
        """Return those alone that vanish in all columns so far."""
        own = self.vanishing
        return Combinations(self.rows, self.prime, own, np.full(own.shape[1], -1, np.int64))

    def values(self, columns: Counts) -> Residues:
        """Return the combinations in some columns: (columns, combinations)."""
        result = np.zeros((len(columns), self.coefficients.shape[1]))
        table = (self.rows.starts, self.rows.members, np.asarray(columns, np.int64))
        _evaluate(*table, self.coefficients, float(self.prime), result)
        return result


def spanning_columns(rows: SparseRows, prime: int) -> Masks:
    """Return columns, (columns,), that all others are combinations of: where combinations of rows
    vanish in these, they vanish in all."""
    order = np.argsort(-np.diff(rows.starts), kind="stable")
    pivots = Combinations.of_rows(rows, prime).constrained(order).pivots
    is_spanning = np.zeros(rows.width, np.bool_)
    is_spanning[pivots[pivots >= 0]] = True
    return is_spanning


@dataclass(frozen=True, eq=False)
class WholeForm:
    """The reduced echelon form of rows, as combinations of them: each is 1 in its pivot, and all
    others are 0 there."""

    combinations: Combinations

    @classmethod
    def of_rows(cls, rows: SparseRows, order: Counts, prime: int) -> "WholeForm":
        """Return the form with the first columns in an order as pivots that can be."""
        every = Combinations.of_rows(rows, prime)
        return cls(every.constrained(order, is_reduced=True))

    @cached_property
    def pivots(self) -> Counts:
        """The columns of pivots."""
        pivots = self.combinations.pivots
        return pivots[pivots >= 0]

    @property
    def prime(self) -> int:
        """The prime that entries are residues of."""
        return self.combinations.prime

    @cached_property
    def are_needed(self) -> Masks:
        """Which rows are no combinations of all others, (rows,): what is combined of such a row
        does not follow without it."""
        return np.asarray(~(self.combinations.vanishing != 0).any(axis=1))

    @cached_property
    def _pivoted(self) -> Combinations:
        own = self.combinations
        coefficients = np.ascontiguousarray(own.coefficients[:, own.pivots >= 0])
        return Combinations(own.rows, own.prime, coefficients, self.pivots)

    def entries(self, columns: Counts) -> Residues:
        """Return the rows of the form in some columns: (pivots, columns)."""
        return np.ascontiguousarray(self._pivoted.values(columns).T)

    def factors(self, vectors: Residues) -> Residues:
        """Return by which factors the rows would add up to vectors of zeros and ones, (vectors,
        columns), to judge by the pivots: (rows, vectors)."""
        own = self._pivoted
        # Sums of residues times 0 or 1 are exact.
        return np.asarray((own.coefficients @ vectors[:, self.pivots].T) % own.prime)

    def spans(self, vectors: SparseRows, columns: Counts | None = None) -> Masks:
        """Return which vectors are combinations of the rows, (vectors,), in all columns or some."""
        own, is_spanned = self._pivoted, np.zeros(vectors.count, np.bool_)
        some = np.arange(vectors.width) if columns is None else columns
        for first in range(0, vectors.count, _AT_ONCE):
            is_chosen = np.zeros(vectors.count, np.bool_)
            is_chosen[first : first + _AT_ONCE] = True
            dense = vectors.chosen(is_chosen).dense()
            sums = Combinations(own.rows, own.prime, self.factors(dense), own.pivots[:0])
            is_spanned[is_chosen] = (sums.values(some) == dense[:, some].T).all(axis=0)
        return is_spanned


@compiled
def _evaluate(starts, members, columns, coefficients, prime, result):  # type: ignore[no-untyped-def]
    inverse_prime = 1.0 / prime
    for place in range(columns.shape[0]):
        column = columns[place]
        for at in range(starts[column], starts[column + 1]):
            row = members[at]
            for number in range(coefficients.shape[1]):
                result[place, number] += coefficients[row, number]
        for number in range(coefficients.shape[1]):
            if result[place, number] >= prime:
                result[place, number] = residue(result[place, number], prime, inverse_prime)


@compiled
def _constrain(  # type: ignore[no-untyped-def]
    starts, members, columns, work, pivots, prime, is_reduced, value, others
):
    """Make combinations vanish in columns, in place, each by the pivot that it finds."""
    inverse_prime, width = 1.0 / prime, work.shape[1]
    left = 0
    for number in range(width):
        left += pivots[number] < 0
    for place in range(columns.shape[0]):
        if left == 0:
            return
        column = columns[place]
        for number in range(width):
            value[number] = 0.0
        for at in range(starts[column], starts[column + 1]):
            row = members[at]
            for number in range(width):
                value[number] += work[row, number]
        pivot, count = -1, 0
        for number in range(width):
            if value[number] == 0.0 or (pivots[number] >= 0 and not is_reduced):
                continue
            value[number] = residue(value[number], prime, inverse_prime)
            if value[number] == 0.0:
                continue
            if pivots[number] < 0 and pivot < 0:
                pivot = number
            else:
                others[count] = number
                count += 1
        if pivot < 0:
            continue
        power = reciprocal(value[pivot], prime, inverse_prime)
        for row in range(work.shape[0]):
            entry = work[row, pivot]
            if entry == 0.0:
                continue
            entry = residue(entry * power, prime, inverse_prime)
            work[row, pivot] = entry
            for at in range(count):
                number = others[at]
                work[row, number] = residue(
                    work[row, number] + (prime - value[number]) * entry, prime, inverse_prime
                )
        pivots[pivot] = column
        left -= 1
