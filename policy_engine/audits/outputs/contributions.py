"""What single units contribute to the groups of a table: the evidence of its cells, on arrays.

Rows are grouped by group and unit first, then by group: so units are counted, never rows.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Counts, Figures


@dataclass(frozen=True, eq=False)
class Contributions:
    """Rows in groups: the group, the unit and the value of each, (rows,), and how many groups.

    A missing value is NaN; without `values`, each row counts as 1.
    """

    groups: Counts
    units: Counts
    group_count: int
    values: Figures | None = None

    @cached_property
    def present(self) -> "Contributions":
        """The rows that have a value."""
        if self.values is None:
            return self
        is_present = ~np.isnan(self.values)
        return Contributions(
            self.groups[is_present],
            self.units[is_present],
            self.group_count,
            self.values[is_present],
        )

    @cached_property
    def _pairs(self) -> tuple[Counts, Counts, Counts]:
        """The group and the unit of each pair that has a row, and the pair of each row."""
        width = int(self.units.max(initial=-1)) + 1
        keys, pairs = np.unique(self.groups * max(width, 1) + self.units, return_inverse=True)
        return keys // max(width, 1), keys % max(width, 1), pairs

    @property
    def pairs(self) -> tuple[Counts, Counts]:
        """The group and the unit of each pair that has a row, (pairs,) each."""
        return self._pairs[0], self._pairs[1]

    @property
    def sizes(self) -> Counts:
        """How many rows each pair has, (pairs,)."""
        return np.bincount(self._pairs[2], minlength=len(self._pairs[0])).astype(np.int64)

    def count(self, is_counted: NDArray[np.bool_] | None = None) -> Counts:
        """Return how many pairs each group has, (groups,), or those of them that are counted."""
        groups = self._pairs[0]
        chosen = groups if is_counted is None else groups[is_counted]
        return np.bincount(chosen, minlength=self.group_count).astype(np.int64)

    def lone_units(self, is_counted: NDArray[np.bool_] | None = None) -> Counts:
        """Return the only unit of each group with one, -1 in others, (groups,): of all pairs, or of
        those that are counted."""
        groups, units, _ = self._pairs
        if is_counted is not None:
            groups, units = groups[is_counted], units[is_counted]
        lone = np.full(self.group_count, -1, dtype=np.int64)
        lone[groups] = units
        return np.where(np.bincount(groups, minlength=self.group_count) == 1, lone, -1)

    def pairs_where(self, condition: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which pairs have a row of which something holds, (pairs,)."""
        counts = np.bincount(self._pairs[2], condition, minlength=len(self._pairs[0]))
        return np.asarray(counts > 0, np.bool_)

    @cached_property
    def units_in(self) -> Counts:
        """How many units each group has."""
        return self.count()

    @cached_property
    def rows_in(self) -> Counts:
        """How many rows each group has."""
        return np.bincount(self.groups, minlength=self.group_count).astype(np.int64)

    @cached_property
    def sums(self) -> Figures:
        """What each pair contributes to a total, (pairs,)."""
        pairs = self._pairs[2]
        return np.bincount(pairs, self.values, minlength=len(self._pairs[0])).astype(np.float64)

    def total(self, sizes: Figures) -> Figures:
        """Return the sum of a figure of pairs in each group."""
        sums = np.bincount(self._pairs[0], sizes, minlength=self.group_count)
        return sums.astype(np.float64)

    @cached_property
    def largest_two(self) -> tuple[Figures, Figures]:
        """The largest and the second largest contribution to each group, by absolute value."""
        groups, sizes = self._pairs[0], np.abs(self.sums)
        order = np.lexsort((-sizes, groups))
        ordered, starts = sizes[order], np.searchsorted(groups[order], np.arange(self.group_count))
        ends = np.append(starts[1:], len(order))
        padded = np.append(ordered, [0.0, 0.0])
        first = np.where(ends > starts, padded[starts], 0.0)
        return first, np.where(ends > starts + 1, padded[starts + 1], 0.0)

    @cached_property
    def is_constant(self) -> NDArray[np.bool_]:
        """In which groups all rows have one value."""
        is_one = self.extreme(least=True) == self.extreme(least=False)
        return np.asarray(is_one & (self.rows_in > 0), np.bool_)

    def extreme(self, *, least: bool) -> Figures:
        """Return the least or the largest value in each group, NaN in one without any."""
        assert self.values is not None  # noqa: S101 (a count has no extremes)
        result = np.full(self.group_count, np.inf if least else -np.inf)
        (np.minimum if least else np.maximum).at(result, self.groups, self.values)
        return np.where(self.rows_in > 0, result, np.nan)

    def units_where(self, condition: NDArray[np.bool_]) -> Counts:
        """Return how many units of each group have a row of which something holds, (groups,)."""
        return self.count(self.pairs_where(condition))


def quantiles(rows: Contributions, share: float) -> Figures:
    """Return the quantile of each group's values, interpolated linearly, NaN in an empty one."""
    assert rows.values is not None  # noqa: S101
    order = np.lexsort((rows.values, rows.groups))
    starts = np.searchsorted(rows.groups[order], np.arange(rows.group_count))
    ordered = np.append(rows.values[order], np.nan)
    places = share * np.maximum(rows.rows_in - 1, 0)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(rows.rows_in - 1, 0))
    lower = ordered[np.minimum(starts + low, len(order))]
    upper = ordered[np.minimum(starts + high, len(order))]
    figures = lower + (places - low) * (upper - lower)
    return np.where(rows.rows_in > 0, figures, np.nan)


def uncommon_units(rows: Contributions) -> Counts:
    """Return how many units of each group have another value than its most common one, (groups,):
    of two values, those that have the less common one."""
    assert rows.values is not None  # noqa: S101
    values, codes = np.unique(rows.values, return_inverse=True)
    keys, kinds, counts = np.unique(
        rows.groups * max(len(values), 1) + codes.ravel(), return_inverse=True, return_counts=True
    )
    owners = keys // max(len(values), 1)
    order = np.lexsort((-counts, owners))
    common = np.full(rows.group_count, -1)
    first = np.unique(owners[order], return_index=True)[1]
    common[owners[order][first]] = order[first]
    return rows.units_where(kinds.ravel() != common[rows.groups])


def central_moments(rows: Contributions, power: int) -> Figures:
    """Return the sum of each group's deviations from its mean to a power, (groups,)."""
    assert rows.values is not None  # noqa: S101
    sums = np.bincount(rows.groups, rows.values, minlength=rows.group_count)
    means = sums / np.maximum(rows.rows_in, 1)
    deviations = (rows.values - means[rows.groups]) ** power
    return np.bincount(rows.groups, deviations, minlength=rows.group_count).astype(np.float64)
