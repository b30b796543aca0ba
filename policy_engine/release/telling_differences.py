"""Whether the difference of two released figures may be told: as a cell of its own.

Where one population is within another, whoever knows the totals of both knows that of those in one
alone, and by two deviations how those are spread. Such a difference is judged by all rules of its
class. So is that of two others, of which some are added and some subtracted: it is a total of few
where most of these have nothing, or what all know that they have. Whoever has nothing, or nothing
on balance, hides nobody: he is no unit of the difference, as he is none of a total. That does not
depend on what one unit has, but where just as many as are needed have something.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.judging import dominance, judge_statistic
from policy_engine.audits.outputs.model import CellEvidence, ShownStatistic, Statbarn
from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.kernels.output_checks.value_histograms import can_have_more
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.release.both_columns import are_enough_of_both
from policy_engine.release.output_ledger import (
    COUNT,
    DISTINCT_PERSONS,
    PERSONS,
    column_of,
    product_columns,
    statistics_of,
)

Figures = NDArray[np.float64]
Masks = NDArray[np.bool_]
_LEAST_DEGREES = 1.0
_PAIR = 2
_TOLERANCE = 1e-9
"""Tolerance: what is added and subtracted of a unit is nothing if it is this share of its sizes."""
LEAST_RANKED = 10
"""A column of fewer different values has neither percentiles nor modes."""


@dataclass(frozen=True, eq=False)
class ToldDifferences:
    """The rules of a profile, on what two figures differ by over the rows of a dataset.

    `units` is the unit of each row, (rows,), and `values` returns a column by its name, (rows,), or
    None where the dataset has no such numbers: of them nothing is told.
    """

    units: NDArray[np.int64]
    values: Callable[[str], Figures | None]
    profile: OutputProfile
    _columns: dict[str, "_Column | None"] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, system: str, one: Masks, other: Masks) -> bool:
        """Return whether what a measure differs by between some rows and others, (rows,) each,
        passes as a figure of its own. Of a number of persons, each has one."""
        if system in (PERSONS, DISTINCT_PERSONS):
            return True
        differing = one != other
        if system == COUNT:
            statistic = self._total(differing, np.ones(len(self.units)))
            return not self.profile.has_dominance or not dominance(statistic, self.profile).any()
        if columns := product_columns(system):
            return self._tells_enough_of_both(one, other, columns)
        column = self._column(statistics_of(system) or column_of(system))
        if column is None:
            return False
        is_within = not ((one & differing).any() and (other & differing).any())
        total = self._total(differing, np.where(one, column.sizes, -column.sizes))
        if not is_within and total.evidence.units[0] < self.profile.min_units:
            return False
        if statistics_of(system):
            told = self._spread(differing, column, is_within=is_within)
        else:
            told = (self._valued if is_within else self._mixed)(differing, column, total)
        return self._passes(told)

    def contributing(self, name: str) -> list[Masks]:
        """Return which rows add something to totals of a column that is not known of them, (rows,):
        those that have a value other than 0; other than the most common one, if enough units have
        it; and, of two values, those that have each. Of products, those that do to both columns."""
        if columns := product_columns(name):
            both = product(*map(self.contributing, columns))
            return [np.logical_and.reduce(masks) for masks in both]
        column = self._column(name)
        if column is None:
            return []
        levels = [0.0, *self._known(column)]
        return [column.is_known & (column.sizes != one) for one in dict.fromkeys(levels)]

    def _tells_enough_of_both(self, one: Masks, other: Masks, names: Sequence[str]) -> bool:
        """Return whether what products of two columns add up to differs by those of enough units,
        of which none has nearly all."""
        columns = [column for name in names if (column := self._column(name)) is not None]
        if len(columns) != len(names) or len(columns) != _PAIR:
            return False
        first, second = columns
        is_in = (one != other) & first.is_known & second.is_known
        sizes = np.where(one, 1.0, -1.0) * first.sizes * second.sizes
        total, least = self._total(is_in, sizes), self.profile.min_units
        if self.profile.has_dominance and dominance(total, self.profile).any():
            return False
        own = self.units[is_in], first.codes[is_in], second.codes[is_in]
        return bool(total.evidence.units[0] >= least) and are_enough_of_both(*own, least)

    def _known(self, column: "_Column") -> list[float]:
        """Return values by which others may know what many have in a column."""
        values, counts = self._values(column.is_known, column)
        if column.is_pair or counts.max(initial=0) < self.profile.min_units:
            return values.tolist() if column.is_pair else []
        return [float(values[counts.argmax()])]

    def _column(self, name: str) -> "_Column | None":
        if name not in self._columns:
            values = self.values(name)
            self._columns[name] = None if values is None else _Column.of_values(values)
        return self._columns[name]

    @cached_property
    def _are_single(self) -> bool:
        """Whether each unit has one row."""
        return bool(np.bincount(self.units).max(initial=0) <= 1)

    def _passes(self, statistic: ShownStatistic) -> bool:
        return not judge_statistic(statistic, self.profile).any()

    def _total(self, members: Masks, sizes: Figures) -> ShownStatistic:
        """Return a total over some rows, by what each unit contributes."""
        units, own = self.units[members], sizes[members]
        sums = np.abs(np.bincount(units, own))
        if not self._are_single:
            sums[sums <= _TOLERANCE * np.bincount(units, np.abs(own))] = 0.0
        second, first = np.partition(np.append(sums, [0.0, 0.0]), -2)[-2:]
        evidence = CellEvidence(
            units=np.array([np.count_nonzero(sums)]),
            largest=np.array([first]),
            second=np.array([second]),
            total=np.array([sums.sum()]),
            negatives=np.array([0]),
        )
        return ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, evidence)

    def _valued(self, members: Masks, column: "_Column", total: ShownStatistic) -> ShownStatistic:
        """Return a total over some rows with what is known of their values."""
        values, counts = self._values(members, column)
        rarest = self._rarest(counts)
        if rarest is not None and column.is_wide:
            rows = np.bincount(column.codes[members & column.is_known])
            is_few = counts < self.profile.min_units
            if not _is_told(values, rows[rows > 0], is_few, self.profile.min_units):
                rarest = None
        evidence = total.evidence
        sizes = np.bincount(self.units[members], column.sizes[members])
        some = sizes[distinct_numbers(self.units[members & column.is_known])]
        about = replace(
            evidence,
            is_constant=np.array([len(some) > 0 and bool((some == some[0]).all())]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return replace(total, evidence=about)

    def _mixed(self, members: Masks, column: "_Column", total: ShownStatistic) -> ShownStatistic:
        """Return a total of some rows less that of others, with what is known of their values: that
        enough have one is known to who has the total, and so are those with one of two."""
        _, counts = self._values(members, column)
        units = len(distinct_numbers(self.units[members & column.is_known]))
        common = int(counts.max(initial=0))
        is_common = common >= self.profile.min_units
        about = replace(
            total.evidence,
            left_out=np.array([units - common]) if is_common else None,
            is_constant=np.array([len(counts) <= 1]),
            units_of_rarest_value=np.array([counts.min(initial=units)]) if column.is_pair else None,
        )
        return replace(total, evidence=about)

    def _spread(self, members: Masks, column: "_Column", *, is_within: bool) -> ShownStatistic:
        """Return how some rows are spread, as one statistic: unless they are rows of one figure
        alone, it does not tell how many have each of few values, but of two."""
        is_in = members & column.is_known
        _, counts = self._values(is_in, column)
        units = len(distinct_numbers(self.units[is_in]))
        rarest = self._rarest(counts) if is_within or column.is_pair else None
        total = self._total(is_in, column.sizes).evidence
        evidence = replace(
            total,
            units=np.array([units]),
            left_out=np.array([units - counts.max(initial=0)]),
            is_constant=np.array([len(counts) <= 1]),
            degrees_of_freedom=np.array([units - _LEAST_DEGREES]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return ShownStatistic(Statbarn.SHAPE, evidence)

    def _values(self, members: Masks, column: "_Column") -> tuple[Figures, NDArray[np.int64]]:
        """Return the values of some rows, each once, and how many units have each."""
        is_in = members & column.is_known
        places = column.codes[is_in]
        if not self._are_single:
            width = int(self.units.max(initial=0)) + 1
            places = distinct_numbers(places * width + self.units[is_in]) // width
        counts = np.bincount(places, minlength=len(column.levels))
        return column.levels[counts > 0], counts[counts > 0]

    def _rarest(self, counts: NDArray[np.int64]) -> int | None:
        """Return how many units have the value that the fewest have, of few values."""
        return int(counts.min()) if 0 < len(counts) < self.profile.min_units else None


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of numbers: which rows have one (`is_known`), what they add to a total (`sizes`),
    its different values, the `levels`, and the place of each row's among them, 0 for none."""

    is_known: Masks
    sizes: Figures
    levels: Figures
    codes: NDArray[np.int64]

    @classmethod
    def of_values(cls, values: Figures) -> "_Column":
        """Return the column that has these values, (rows,), NaN for none."""
        is_known, codes = np.isfinite(values), np.zeros(len(values), np.int64)
        levels, places = np.unique(values[is_known], return_inverse=True)
        codes[is_known] = places.reshape(-1)
        return cls(is_known, np.nan_to_num(values), levels, codes)

    @property
    def is_pair(self) -> bool:
        """Whether it has two values, so that a total is a count of those with each."""
        return len(self.levels) == 2

    @property
    def is_wide(self) -> bool:
        """Whether it has as many values as a percentile of it asks for."""
        return len(self.levels) >= LEAST_RANKED


def _is_told(values: Figures, rows: NDArray[np.int64], is_few: Masks, least: int) -> bool:
    """Return whether a total tells how many rows have each of few values."""
    exact = [Fraction(one) for one in values.tolist()]
    places = np.flatnonzero(is_few).tolist()
    return not all(can_have_more(exact, rows.tolist(), place, least) for place in places)
