"""How many rows satisfy predicates: conjunctions of comparisons with the values of columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EQUAL, AT_MOST, AT_LEAST, NOT_EQUAL, BELOW, ABOVE = range(6)
"""Comparisons of the value of a row with that of a predicate."""


@dataclass(frozen=True, eq=False)
class Predicates:
    """Predicates, each of as many comparisons: with `values` (predicates, comparisons) in columns.

    `columns` and `operators` are of the same shape. A row satisfies a predicate if all of its
    comparisons hold. A missing number, nan, is equal to a missing one alone, and neither above nor
    below anything.
    """

    columns: Ints
    operators: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, chosen: "Ints | slice") -> "Predicates":
        """Return some of the predicates."""
        return Predicates(self.columns[chosen], self.operators[chosen], self.values[chosen])


def count_rows(rows: Floats, predicates: Predicates, most: int = 2) -> Ints:
    """Return how many of the `rows` (rows, columns) satisfy each predicate, (predicates,).

    No more than `most` are counted, since looking on takes long.
    """
    counts = np.zeros(len(predicates), dtype=np.int64)
    columns = np.ascontiguousarray(rows.T)
    _count(columns, predicates.columns, predicates.operators, predicates.values, most, counts)
    return counts


def weighted_rows(rows: Floats, predicates: Predicates, weights: Floats) -> Floats:
    """Return the sum of the `weights` (predicates,) of all that each row satisfies, (rows,)."""
    chosen = np.flatnonzero(weights)
    some, sums = predicates[chosen], np.zeros(len(rows))
    columns = np.ascontiguousarray(rows.T)
    _weigh(columns, some.columns, some.operators, some.values, weights[chosen], sums)
    return sums


@compiled
def _count(rows, columns, operators, values, most, counts):  # type: ignore[no-untyped-def]
    for predicate in range(len(columns)):
        for row in range(rows.shape[1]):
            holds = True
            for part in range(columns.shape[1]):
                own, other = rows[columns[predicate, part], row], values[predicate, part]
                if not _holds(own, operators[predicate, part], other):
                    holds = False
                    break
            if holds:
                counts[predicate] += 1
                if counts[predicate] == most:
                    break


@compiled
def _weigh(rows, columns, operators, values, weights, sums):  # type: ignore[no-untyped-def]
    for predicate in range(len(columns)):
        for row in range(rows.shape[1]):
            holds = True
            for part in range(columns.shape[1]):
                own, other = rows[columns[predicate, part], row], values[predicate, part]
                if not _holds(own, operators[predicate, part], other):
                    holds = False
                    break
            if holds:
                sums[row] += weights[predicate]


@compiled
def _holds(own, operator, other):  # type: ignore[no-untyped-def]
    if operator == AT_MOST:
        return own <= other
    if operator == AT_LEAST:
        return own >= other
    if operator == BELOW:
        return own < other
    if operator == ABOVE:
        return own > other
    is_equal = own == other or (np.isnan(own) and np.isnan(other))
    return is_equal == (operator == EQUAL)
