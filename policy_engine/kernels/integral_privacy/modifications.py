"""Every small modification of a table that leads to a given result.

An intruder who knows a result before and after a table was modified learns from this set what the
modification was: M = {m | A(X) = G and A(X + m) = G'}, of Torra and Navarro-Arribas. From the empty
table, modifications by adding are the databases that could have made a result.
"""

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.integral_privacy.alternatives import Alternatives

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

Result = Callable[[Ints], Hashable]
"""Gives the result of a table by how often it has each of some distinct records, (records,)."""
Statistic = Callable[[Ints], Result]
"""Gives the results of tables whose distinct records are known, (records, columns)."""

_MOST_SETS = 2**20
_AT_A_TIME = 2**12


def consistent_modifications(
    table: Ints,
    pool: Ints,
    most: int,
    statistic: Statistic,
    expected: Hashable,
    is_known: Bools | None = None,
) -> Alternatives | NotApplicable:
    """Return the modifications of 1 to `most` records of a table that lead to the expected result.

    `table` (rows, columns) and `pool` (records, columns) are whole numbers: the rows may be
    removed, except for those that are there for sure, `is_known` (rows,), and each record of the
    pool may be added once. The elements of the alternatives are the rows, then the records of the
    pool.

    The empty modification, which nobody has to hide, is not among them. Nor are modifications that
    add a record equal to one that they remove: as a table of values, they are smaller ones.
    `NotApplicable` if there are more than a million to try.
    """
    removable = np.flatnonzero(~is_known) if is_known is not None else np.arange(len(table))
    elements = np.concatenate([removable, len(table) + np.arange(len(pool))])
    number = sum(math.comb(len(elements), size) for size in range(1, most + 1))
    if number > _MOST_SETS:
        return NotApplicable(reason=f"{number:,} modifications are too many to try each")
    changes = _Changes.of(table, pool)
    result = _remembered(statistic(changes.records))
    modifications = [
        changes.sets(chosen[changes.lead_to(expected, result, chosen)])
        for chosen in _combinations(elements, most)
    ]
    return Alternatives.of(
        np.concatenate([np.zeros((0, changes.elements), dtype=bool), *modifications])
    )


def _combinations(elements: Ints, most: int) -> Iterator[Ints]:
    """Yield all sets of 1 to `most` elements in parts, (sets, size)."""
    for size in range(1, min(most, len(elements)) + 1):
        flat = chain.from_iterable(combinations(elements.tolist(), size))
        chosen = np.fromiter(flat, dtype=np.int64).reshape(-1, size)
        for start in range(0, len(chosen), _AT_A_TIME):
            yield chosen[start : start + _AT_A_TIME]


def _remembered(result: Result) -> Callable[[Ints], Hashable]:
    """Return a function that computes the result of equal tables once."""
    results: dict[bytes, Hashable] = {}

    def remembered(counts: Ints) -> Hashable:
        key = counts.tobytes()
        if key not in results:
            results[key] = result(counts)
        return results[key]

    return remembered


@dataclass(frozen=True)
class _Changes:
    """The distinct `records`, how often the table has each, and what each element changes of it.

    `record_of` (elements,) numbers the element's record, of which `change` (elements,) is how many
    more the table has: -1 for a row, 1 for a record of the pool.
    """

    records: Ints
    counts: Ints
    record_of: Ints
    change: Ints

    @classmethod
    def of(cls, table: Ints, pool: Ints) -> "_Changes":
        both = np.concatenate([table, pool])
        records, record_of = np.unique(both, axis=0, return_inverse=True)
        record_of = record_of.reshape(-1)
        counts = np.bincount(record_of[: len(table)], minlength=len(records))
        change = np.where(np.arange(len(both)) < len(table), -1, 1)
        return cls(records, counts, record_of, change)

    @property
    def elements(self) -> int:
        return len(self.record_of)

    def sets(self, chosen: Ints) -> Bools:
        sets = np.zeros((len(chosen), self.elements), dtype=bool)
        np.put_along_axis(sets, chosen, values=True, axis=1)
        return sets

    def lead_to(self, expected: Hashable, result: Result, chosen: Ints) -> Bools:
        """Return which chosen sets of elements, (sets, size), lead to the expected result."""
        shape = (len(chosen), len(self.records))
        more, fewer = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for column in chosen.T:
            change, place = self.change[column], (np.arange(len(chosen)), self.record_of[column])
            more[place] += change > 0
            fewer[place] += change < 0
        lead: Bools = np.logical_and.reduce((more == 0) | (fewer == 0), axis=1)
        modified = self.counts + more - fewer
        lead[lead] = [result(counts) == expected for counts in modified[lead]]
        return lead
