"""Whether the difference of two released figures may be told: as a cell of its own.

Where one population is within another, whoever knows the totals of both knows that of those in one
alone, and by two deviations how those are spread. Such a difference is judged by all rules of its
class; the difference of two others, of which some are added and some subtracted, by concentration.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.judging import dominance, judge_statistic
from policy_engine.audits.outputs.model import CellEvidence, ShownStatistic, Statbarn
from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.kernels.output_checks.value_histograms import can_have_more
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.release.output_ledger import (
    COUNT,
    DISTINCT_PERSONS,
    PERSONS,
    column_of,
    statistics_of,
)

Figures = NDArray[np.float64]
Masks = NDArray[np.bool_]
_LEAST_DEGREES = 1.0
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

    def __call__(self, system: str, one: Masks, other: Masks) -> bool:
        """Return whether what a measure differs by between some rows and others, (rows,) each,
        passes as a figure of its own. Of a number of persons, each has one."""
        if system in (PERSONS, DISTINCT_PERSONS):
            return True
        differing = one != other
        if system == COUNT:
            statistic = self._total(differing, np.ones(len(self.units)))
            return not self.profile.has_dominance or not dominance(statistic, self.profile).any()
        contributions = self.values(statistics_of(system) or column_of(system))
        if contributions is None:
            return False
        is_within = not ((one & differing).any() and (other & differing).any())
        if statistics_of(system):
            return not is_within or self._passes(self._spread(differing, contributions))
        statistic = self._total(differing, np.nan_to_num(contributions))
        if not is_within:
            return not dominance(statistic, self.profile).any()
        return self._passes(self._valued(differing, contributions, statistic))

    def _passes(self, statistic: ShownStatistic) -> bool:
        return not judge_statistic(statistic, self.profile).any()

    def _total(self, members: Masks, sizes: Figures) -> ShownStatistic:
        """Return a total over some rows, by what each unit contributes."""
        sums = np.abs(np.bincount(self.units[members], sizes[members]))
        first, second = np.sort(np.append(sums, [0.0, 0.0]))[-2:][::-1]
        evidence = CellEvidence(
            units=np.array([np.count_nonzero(sums)]),
            largest=np.array([first]),
            second=np.array([second]),
            total=np.array([sums.sum()]),
            negatives=np.array([0]),
        )
        return ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, evidence)

    def _valued(
        self, members: Masks, contributions: Figures, total: ShownStatistic
    ) -> ShownStatistic:
        """Return a total over some rows with what is known of their values."""
        values, counts = self._values(members, contributions)
        rarest = self._rarest(counts)
        if rarest is not None and _is_wide(contributions):
            several = contributions[members]
            rows = np.unique(several[np.isfinite(several)], return_counts=True)[1]
            if not _is_told(values, rows, counts < self.profile.min_units, self.profile.min_units):
                rarest = None
        evidence = total.evidence
        sizes = np.bincount(self.units[members], np.nan_to_num(contributions)[members])
        some = sizes[distinct_numbers(self.units[members & np.isfinite(contributions)])]
        about = replace(
            evidence,
            is_constant=np.array([len(some) > 0 and bool((some == some[0]).all())]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return replace(total, evidence=about)

    def _spread(self, members: Masks, contributions: Figures) -> ShownStatistic:
        """Return how some rows are spread, as one statistic."""
        is_in = members & np.isfinite(contributions)
        _, counts = self._values(is_in, contributions)
        rarest, units = self._rarest(counts), len(distinct_numbers(self.units[is_in]))
        total = self._total(is_in, np.nan_to_num(contributions)).evidence
        evidence = replace(
            total,
            units=np.array([units]),
            left_out=np.array([units - counts.max(initial=0)]),
            is_constant=np.array([len(counts) <= 1]),
            degrees_of_freedom=np.array([units - _LEAST_DEGREES]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return ShownStatistic(Statbarn.SHAPE, evidence)

    def _values(self, members: Masks, contributions: Figures) -> tuple[Figures, NDArray[np.int64]]:
        """Return the values of some rows, each once, and how many units have each."""
        is_in = members & np.isfinite(contributions)
        values, places = np.unique(contributions[is_in], return_inverse=True)
        width = int(self.units.max(initial=0)) + 1
        pairs = distinct_numbers(places.reshape(-1) * width + self.units[is_in])
        return values, np.bincount(pairs // width, minlength=len(values))

    def _rarest(self, counts: NDArray[np.int64]) -> int | None:
        """Return how many units have the value that the fewest have, of few values."""
        return int(counts.min()) if 0 < len(counts) < self.profile.min_units else None


def _is_wide(contributions: Figures) -> bool:
    """Return whether a column has as many values as a percentile of it asks for."""
    return len(np.unique(contributions[np.isfinite(contributions)])) >= LEAST_RANKED


def _is_told(values: Figures, rows: NDArray[np.int64], is_few: Masks, least: int) -> bool:
    """Return whether a total tells how many rows have each of few values."""
    exact = [Fraction(one) for one in values.tolist()]
    places = np.flatnonzero(is_few).tolist()
    return not all(can_have_more(exact, rows.tolist(), place, least) for place in places)
