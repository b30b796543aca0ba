"""Statistics of small tables of whole numbers, exact, so that equal results are found equal.

Each returns a `Statistic`. A result is the same whatever the order of the rows.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.integral_privacy.modifications import Result, Statistic

Ints = NDArray[np.int64]


def result_of(statistic: Statistic, table: Ints) -> Hashable:
    """Return the result of a table, (rows, columns)."""
    records, counts = np.unique(table, axis=0, return_counts=True)
    return statistic(records)(counts)


def means(decimals: int | None = None) -> Statistic:
    """Return the statistic of all columns' means, exact or rounded (half to even) to decimals.

    None of an empty table.
    """

    def read_records(records: Ints) -> Result:
        # Python's integers, here and below: no sum is too large for them.
        whole = records.astype(object)

        def compute(counts: Ints) -> Hashable:
            total = int(counts.sum())
            if not total:
                return None
            sums = (counts @ whole).tolist()
            return tuple(_rounded(Fraction(one, total), decimals) for one in sums)

        return compute

    return read_records


def _rounded(figure: Fraction, decimals: int | None) -> Fraction:
    return figure if decimals is None else Fraction(round(figure, decimals))


def frequency_table(columns: Sequence[int]) -> Statistic:
    """Return the statistic of how often each combination of some columns' values occurs."""

    def read_records(records: Ints) -> Result:
        cells = [tuple(row) for row in records[:, list(columns)].tolist()]

        def compute(counts: Ints) -> Hashable:
            table = Counter[tuple[int, ...]]()
            for cell, count in zip(cells, counts.tolist(), strict=True):
                table[cell] += count
            return frozenset((+table).items())

        return compute

    return read_records


def regression(decimals: int | None = None) -> Statistic:
    """Return the statistic of a least-squares fit of the last column to the others.

    Its coefficients, the intercept first, exact or rounded (half to even) to decimals. None where
    they are not determined: too few records, or columns that depend on each other.
    """

    def read_records(records: Ints) -> Result:
        inputs = np.column_stack([np.ones(len(records), dtype=np.int64), records[:, :-1]])
        inputs, outputs = inputs.astype(object), records[:, -1:].astype(object)
        products = inputs[:, :, None] * np.concatenate([inputs, outputs], axis=1)[:, None, :]

        def compute(counts: Ints) -> Hashable:
            coefficients = _solution(np.tensordot(counts, products, axes=1).tolist())
            if coefficients is None:
                return None
            return tuple(_rounded(one, decimals) for one in coefficients)

        return compute

    return read_records


def _solution(equations: list[list[int]]) -> list[Fraction] | None:
    """Return the solution of linear equations, whose last column is the right side."""
    rows = [[Fraction(one) for one in row] for row in equations]
    for at in range(len(rows)):
        pivot = next((row for row in range(at, len(rows)) if rows[row][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [one / rows[at][at] for one in rows[at]]
        for other in set(range(len(rows))) - {at}:
            times = rows[other][at]
            rows[other] = [a - times * b for a, b in zip(rows[other], rows[at], strict=True)]
    return [row[-1] for row in rows]
