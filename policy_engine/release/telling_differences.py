"""Whether the difference of two released figures may be told: as a cell of its own.

Where one population is within another, whoever knows the totals of both knows that of those in one
alone, and by two deviations how those are spread. Such a difference is judged by all rules of its
class. So is that of two others, of which some are added and some subtracted: it is a total of few
where most of these have nothing, or what all know that they have. Whoever has nothing, or nothing
on balance, or as much as enough others, hides nobody: he is no unit of the difference, as he is
none of a total. Only of many, or if what is added passes without what is subtracted, and this
without that, the difference is told of such units, too. That does not depend on what one unit has,
but where just as many as are needed have something.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.few_values import LEAST_RANKED
from policy_engine.audits.outputs.judging import dominance, judge_statistic
from policy_engine.audits.outputs.model import CellEvidence, ShownStatistic, Statbarn
from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.kernels.output_checks.near_values import near_widths, nearest, spreads_tell
from policy_engine.kernels.output_checks.value_histograms import tell_counts
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.release.both_columns import LargestTerms, are_enough_of_both, largest_terms
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
_SHARE = 0.1
"""What is left open of a figure where a profile has no p%: as of cells that are withheld."""
_MANY = 10
"""So many times as many units as are needed are many: who has which of common values is not known
of them."""


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
        spread = statistics_of(system)
        if is_within:
            is_enough = self._is_open(self._sums(differing, column.sizes), column, spread)
        else:
            is_enough = self._is_hidden(one, differing, column, spread)
        if not is_enough:
            return False
        if spread:
            statistic = self._spread(differing, column, is_within=is_within)
        else:
            statistic = self._valued(differing, column, total) if is_within else total
        return self._passes(statistic)

    def is_count_open(self, least: int) -> bool:
        """Return whether a count that differs by at least so many rows passes, whoever they are of:
        none may be of a larger unit than the two largest of all."""
        if not self.profile.has_dominance:
            return True
        first, second = self._largest_counts
        evidence = CellEvidence(
            units=np.array([1]),
            largest=np.array([min(first, least)], np.float64),
            second=np.array([min(second, least)], np.float64),
            total=np.array([least], np.float64),
            negatives=np.array([0]),
        )
        statistic = ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, evidence)
        return not dominance(statistic, self.profile).any()

    def contributing(self, name: str, parts: NDArray[np.int64] | None = None) -> list[Masks]:
        """Return which rows add something to totals of a column that is not known of them, (rows,):
        those that have a value other than 0; other than the most common one, too, if enough units
        have it; of few values, other than each that enough have, or of two than each; and those
        that have none in `parts`, (rows,), by which what they have there may be known. Of products,
        those that do to both columns, wherever."""
        if columns := product_columns(name):
            both = product(*map(self.contributing, columns))
            return [np.logical_and.reduce(masks) for masks in both]
        column = self._column(name)
        if column is None:
            return []
        masks = [column.is_known & ~np.isin(column.sizes, one) for one in self._known(column)]
        if parts is not None and not self._is_short(column):
            masks.append(masks[-1] & ~self._are_alike(column, parts))
        return [*{one.tobytes(): one for one in masks}.values()]

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
        own = self.units[is_in], first.codes[is_in], second.codes[is_in]
        if total.evidence.units[0] < least or not are_enough_of_both(*own, least):
            return False
        if not self.profile.has_dominance:
            return True
        terms = largest_terms(own[0], first.sizes[is_in], second.sizes[is_in])
        return not dominance(_of_terms(terms, total.evidence), self.profile).any()

    def _known(self, column: "_Column") -> list[list[float]]:
        """Return values by which others may know what many have in a column, together each."""
        values, counts = self._values(column.is_known, column)
        is_common = (counts >= self.profile.min_units) | column.is_pair
        if self._is_short(column):
            return [[0.0], *([one] for one in values[is_common].tolist())]
        most = values[is_common & (counts == counts.max(initial=0))][:1]
        return [[0.0], [0.0, *most.tolist()]]

    def _is_short(self, column: "_Column") -> bool:
        """Return whether a column has fewer values than units are needed."""
        return len(column.levels) < self.profile.min_units

    def _are_alike(self, column: "_Column", parts: NDArray[np.int64]) -> Masks:
        """Return which rows are of units that have nothing in a part, or as much there as half of
        enough have in it, and enough in all such parts: (rows,). In parts of many who have neither
        nothing nor what most have, nobody knows who has what."""
        width, least = int(self.units.max(initial=0)) + 1, self.profile.min_units
        pairs, places = np.unique(parts * width + self.units, return_inverse=True)
        places, numbers = places.reshape(-1), pairs // width
        sums = np.bincount(places, column.sizes)
        levels = _levels(np.abs(sums))
        count = int(levels.max(initial=0)) + 1
        is_any = sums != 0
        kinds, kind_of = np.unique(numbers * count + levels, return_inverse=True)
        kind_of = kind_of.reshape(-1)
        own = np.bincount(kind_of, is_any).astype(np.int64)
        most = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
        np.maximum.at(most, kinds // count, own)
        is_open = np.bincount(numbers[is_any], minlength=len(most)) - most < _MANY * least
        is_often = (2 * own >= least) & is_open[kinds // count]
        every = np.bincount(kinds % count, own * is_often, minlength=count)
        is_alike = (is_often & (every[kinds % count] >= least))[kind_of]
        return np.asarray((is_alike | ~is_any)[places], np.bool_)

    def _column(self, name: str) -> "_Column | None":
        if name not in self._columns:
            values = self.values(name)
            self._columns[name] = None if values is None else _Column.of_values(values)
        return self._columns[name]

    @cached_property
    def _largest_counts(self) -> tuple[float, float]:
        """How many rows the two units have that have most."""
        second, first = np.partition(np.append(np.bincount(self.units), [0, 0]), -2)[-2:]
        return float(first), float(second)

    @cached_property
    def _are_single(self) -> bool:
        """Whether each unit has one row."""
        return bool(np.bincount(self.units).max(initial=0) <= 1)

    def _passes(self, statistic: ShownStatistic) -> bool:
        return not judge_statistic(statistic, self.profile).any()

    def _sums(self, members: Masks, sizes: Figures) -> Figures:
        """Return what each unit adds to a total over some rows, (units,), but for rounding."""
        units, own = self.units[members], sizes[members]
        sums = np.bincount(units, own).astype(np.float64)
        if not self._are_single:
            sums[np.abs(sums) <= _TOLERANCE * np.bincount(units, np.abs(own))] = 0.0
        return sums

    def _total(self, members: Masks, sizes: Figures) -> ShownStatistic:
        """Return a total over some rows, by what each unit contributes."""
        sums = np.abs(self._sums(members, sizes))
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
            rarest = rarest if self._are_told(values, rows[rows > 0], counts) else None
        evidence = total.evidence
        sizes = np.bincount(self.units[members], column.sizes[members])
        some = sizes[distinct_numbers(self.units[members & column.is_known])]
        about = replace(
            evidence,
            is_constant=np.array([len(some) > 0 and bool((some == some[0]).all())]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return replace(total, evidence=about)

    def _is_hidden(self, one: Masks, members: Masks, column: "_Column", spread: str) -> bool:
        """Return whether a difference of rows of two figures tells of nobody, whatever is known of
        the others: enough units add something to it that only few have, or what those add who
        have rows of either figure, or of both, passes by itself."""
        units, is_plus = self.units[members], one[members]
        sizes, is_known = column.sizes[members], column.is_known[members]
        sums = np.bincount(units, np.where(is_plus, sizes, -sizes)).astype(np.float64)
        if not self._are_single:
            sums[np.abs(sums) <= _TOLERANCE * np.bincount(units, np.abs(sizes))] = 0.0
        levels = _levels(np.abs(sums))
        counts = np.bincount(levels[sums != 0], minlength=int(levels.max(initial=0)) + 1)
        is_rare = (sums != 0) & (counts[levels] < self.profile.min_units)
        is_in = np.bincount(units[is_known], minlength=len(sums)) > 0
        if self._are_many(sums[is_in], levels[is_in], column):
            return True
        if self._is_passing(sums[is_rare], column, spread):
            return True
        sides = [units[is_known & (is_plus == side)] for side in (True, False)]
        first, second = (np.bincount(own, minlength=len(sums)) > 0 for own in sides)
        parts = [sums[first & ~second], sums[second & ~first], sums[first & second]]
        return all(self._is_passing(own, column, spread) for own in parts if len(own))

    def _are_many(self, sums: Figures, levels: NDArray[np.int64], column: "_Column") -> bool:
        """Return whether units have other values than what most have, or nothing, who are so many
        that nobody knows which each has."""
        is_meant = (sums != 0) | self._is_short(column)
        counts = np.bincount(levels[is_meant], minlength=1)
        most = max(counts.max(), np.count_nonzero(nearest(np.abs(sums[is_meant]))))
        return bool(counts.sum() - most >= _MANY * self.profile.min_units)

    def _is_passing(self, sums: Figures, column: "_Column", spread: str) -> bool:
        """Return whether what some units add to a figure passes as one, whatever is known of those
        that add nearly the same."""
        return self._passes_alone(sums, column, spread) and self._is_open(sums, column, spread)

    def _is_open(self, sums: Figures, column: "_Column", spread: str) -> bool:
        """Return whether of units that add nearly the same as enough others, (units,), it is as
        open what they add as what any other adds has to be, or that of others passes alone."""
        sizes, least = np.abs(sums), self.profile.min_units
        levels = _levels(sizes)
        is_rare = (sizes > 0) & (np.bincount(levels, minlength=1)[levels] < least)
        widths = np.full(len(sizes), np.inf)
        widths[is_rare] = near_widths(levels[is_rare] * 0, sizes[is_rare], least)
        is_near = np.isfinite(widths)
        apart = sums[is_rare & ~is_near]
        if not is_near.any() or not len(apart):
            return True
        share = self.profile.p_percent or _SHARE
        if widths[is_near].sum() >= 2 * share * np.abs(apart).max():
            return True
        return self._passes_alone(apart, column, spread)

    def _passes_alone(self, sums: Figures, column: "_Column", spread: str) -> bool:
        """Return whether what some units add to a figure passes as one: a total, or a spread."""
        sizes = np.abs(sums)
        second, first = np.partition(np.append(sizes, [0.0, 0.0]), -2)[-2:]
        is_first, counts = np.unique(_levels(sums), return_index=True, return_counts=True)[1:]
        values, units = sums[is_first], np.array([np.count_nonzero(sizes)])
        rarest = self._rarest(counts[values != 0])
        if rarest is not None:
            rarest = int(counts.min())
            if column.is_wide and not self._are_told(values, counts, counts):
                rarest = None
        evidence = CellEvidence(
            units=units,
            largest=np.array([first]),
            second=np.array([second]),
            total=np.array([sizes.sum()]),
            negatives=np.array([0]),
            is_constant=np.array([len(values) <= 1]),
            degrees_of_freedom=np.array([np.inf]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        statbarn = Statbarn.SHAPE if spread else Statbarn.LINEAR_AGGREGATIONS
        return self._passes(ShownStatistic(statbarn, evidence))

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
            is_constant=self._are_close(is_in, column, total) | (len(counts) <= 1),
            degrees_of_freedom=np.array([units - _LEAST_DEGREES]),
            units_of_rarest_value=None if rarest is None else np.array([rarest]),
        )
        return ShownStatistic(Statbarn.SHAPE, evidence)

    def _are_close(self, is_in: Masks, column: "_Column", total: CellEvidence) -> Masks:
        """Return whether a spread of some rows tells what all have closely, (1,)."""
        own = column.sizes[is_in]
        if column.is_pair or total.largest is None or not len(own):
            return np.zeros(1, np.bool_)
        squares = np.array([len(own) * np.var(own)])
        return spreads_tell(squares, np.array([len(own)]), total.largest)

    def _values(self, members: Masks, column: "_Column") -> tuple[Figures, NDArray[np.int64]]:
        """Return the values of some rows, each once, and how many units have each."""
        is_in = members & column.is_known
        places = column.codes[is_in]
        if not self._are_single:
            width = int(self.units.max(initial=0)) + 1
            places = distinct_numbers(places * width + self.units[is_in]) // width
        counts = np.bincount(places, minlength=len(column.levels))
        return column.levels[counts > 0], counts[counts > 0]

    def _are_told(self, values: Figures, rows: NDArray[np.int64], units: NDArray[np.int64]) -> bool:
        """Return whether a total tells how many have each value, of rows and units (values,)."""
        least = self.profile.min_units
        return tell_counts(values.tolist(), rows.tolist(), (units < least).tolist(), least)

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


def _of_terms(terms: LargestTerms, evidence: CellEvidence) -> ShownStatistic:
    """Return sums of which the largest terms are known, of the units of some evidence."""
    count = len(terms.total)
    own = CellEvidence(
        units=np.repeat(evidence.units, count),
        largest=terms.largest,
        second=terms.second,
        total=terms.total,
        negatives=np.zeros(count, np.int64),
    )
    return ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, own)


def _levels(sizes: Figures) -> NDArray[np.int64]:
    """Return the number of each of some sizes among the different ones, but for rounding."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    is_new = np.diff(ordered, prepend=ordered[:1]) > _TOLERANCE * np.abs(ordered)
    levels = np.empty(len(sizes), np.int64)
    levels[order] = np.cumsum(is_new)
    return levels
