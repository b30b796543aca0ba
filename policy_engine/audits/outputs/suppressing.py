"""Secondary suppression: totals that are released with their parts must not reveal suppressed ones.

Each measure of a table with totals is a system of equations (`kernels.output_checks`); the cheapest
pattern is searched for in which nobody computes a suppressed cell, or not closely enough, and an
attack of its own code has to fail on it. What is suppressed of counts is suppressed of every
measure: counts and means together are sums.

Whoever is alone in a cell knows it, and attacks the others with that; of a dominated cell, the
second largest contributor attacks the largest (Handbook on Statistical Disclosure Control, 2010,
section 4.2.2; Fischetti and Salazar 2001, section 2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.dominated_totals import upper_levels
from policy_engine.audits.outputs.model import (
    Counts,
    Figures,
    FoundBy,
    Measure,
    MeasureSuppression,
    Statbarn,
    TableVerdict,
)
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.total_grids import TotalGrid, grids_of
from policy_engine.kernels.output_checks.suppressing import suppress
from policy_engine.kernels.output_checks.table_system import NOBODY, table_system
from policy_engine.kernels.output_checks.work_time import TimeUpError

_SECONDS = 20.0
_MOST_SECONDS = 120.0
"""Where cells are not protected, and that is not shown, in so long, a person decides of totals."""
_SHARE = 0.1
_LARGEST = 1e15
"""Of larger figures, programmes in floating point tell nothing."""
_MOST_ATTACKS = 5_000_000
"""Tables of more cells, times lone contributors, show no totals where something is withheld: to
attack such a table by each of them takes too long."""
_POSITIONS = (Statbarn.POSITION, Statbarn.MODE, Statbarn.ENDPOINTS)

Cells = NDArray[np.bool_]


def suppress_totals(
    verdict: TableVerdict, known_grids: Sequence[TotalGrid] | None = None
) -> TableVerdict:
    """Return the verdict with further cells suppressed, so that totals reveal none.

    Keys that lie in others, as districts in regions, are one hierarchy. Where the cells are not
    protected in time, totals are for a person (K048). Nothing is done where the policy asks for
    none, where no totals are released with all their parts, and where there are more cells than
    `MOST_CELLS` of a grid: of these, the ledger of answers and outputs withholds what reveals
    others. The grids of a finished table, `known_grids`, are those of its lines. Raises DataError
    (C011) without highspy.
    """
    is_asked = verdict.check.secondary != "none" and bool(verdict.reasons.any())
    if not is_asked:
        return verdict
    grids = grids_of(verdict.table) if known_grids is None else known_grids
    if not grids:
        return verdict
    reasons, ways = verdict.reasons.copy(), list[MeasureSuppression]()
    order = sorted(range(len(verdict.table.measures)), key=lambda n: not _is_count(verdict, n))
    hidden = np.zeros(len(reasons), dtype=np.bool_)
    for number in order:
        measure = verdict.table.measures[number]
        if any(one.statbarn in _POSITIONS for one in measure.statistics):
            continue
        pattern = _Pattern((reasons[:, number] != 0) | hidden)
        for grid, own in zip(grids, _own_cells(grids), strict=True):
            pattern = _extended(verdict, grid, measure, (pattern, own))
        is_new = reasons[:, number] == 0
        reasons[pattern.cells & is_new, number] |= Reason.COMPLEMENTARY.bit
        reasons[pattern.undecided & is_new, number] |= Reason.BOUNDS_UNKNOWN.bit
        ways += pattern.ways
        if _is_count(verdict, number):
            hidden |= reasons[:, number] != 0
    return replace(verdict, reasons=reasons, suppressions=tuple(ways))


def _own_cells(grids: Sequence[TotalGrid]) -> Iterator[Cells]:
    """Yield the rows that each grid is to protect, (rows,): all of its cells that none before is.

    Who knows that keys lie in others knows more than who does not: what is protected by the former
    grid is protected by the latter, which has only cells that the former takes to be of nobody.
    """
    left = np.ones(len(grids[0].cells), np.bool_)
    for grid in grids:
        yield left & grid.is_cell
        left &= ~grid.is_cell


@dataclass(frozen=True)
class _Pattern:
    """Rows whose cell of a measure is suppressed, (rows,): to be protected, for others, and since
    nobody knows what it would tell; with how these were found."""

    primary: Cells
    complementary: Cells | None = None
    unknown: Cells | None = None
    ways: tuple[MeasureSuppression, ...] = ()

    @property
    def cells(self) -> Cells:
        """The rows that are to be protected, or protect them."""
        return self.primary if self.complementary is None else self.primary | self.complementary

    @property
    def undecided(self) -> Cells:
        """The rows that a person has to decide about."""
        return np.zeros_like(self.primary) if self.unknown is None else self.unknown

    def joined(
        self, cells: Cells, way: MeasureSuppression, *, is_decided: bool = True
    ) -> "_Pattern":
        """Return it with further cells."""
        ways = (*self.ways, way)
        if is_decided:
            return replace(self, complementary=self.cells | cells, ways=ways)
        return replace(self, unknown=self.undecided | cells, ways=ways)


def _is_count(verdict: TableVerdict, number: int) -> bool:
    statistics = verdict.table.measures[number].statistics
    return all(one.statbarn is Statbarn.FREQUENCIES for one in statistics)


def _extended(
    verdict: TableVerdict, grid: TotalGrid, measure: Measure, about: tuple[_Pattern, Cells]
) -> _Pattern:
    """Return a pattern that protects some rows, (rows,), in a grid too: without totals where the
    cells cannot be protected, or are too large to tell."""
    pattern, own = about
    before = pattern.cells | pattern.undecided
    is_total: Cells = grid.is_cell & ~grid.is_part
    is_primary = grid.any_of(pattern.primary & own)
    if not is_primary.any():
        return pattern
    values, contributors = grid.summed(_sizes(measure)), grid.contributors(*_lone_units(measure))
    attackers = np.unique(contributors[contributors != NOBODY])
    if not (values <= _LARGEST).all() or len(attackers) * len(values) > _MOST_ATTACKS:
        return pattern.joined(is_total, _way(measure, "no totals", is_total & ~before))
    system = table_system(
        grid.layout,
        values,
        is_primary,
        protection=_levels(verdict, grid, measure, values),
        weights=np.log1p(values),
        is_hidden=~grid.any_of(~before) & ~is_primary,
        contributors=contributors,
    )
    try:
        result = suppress(system, _SECONDS, _MOST_SECONDS)
    except TimeUpError:
        way = _way(measure, "none in time", is_total & ~before)
        return pattern.joined(is_total, way, is_decided=False)
    more = grid.rows_of(result.is_suppressed)
    if result.is_protected:
        return pattern.joined(more, _way(measure, result.method, more & ~before, result.gap))
    more |= is_total
    return pattern.joined(more, _way(measure, "no totals", more & ~before))


def _way(measure: Measure, method: FoundBy, cells: Cells, gap: float = 0.0) -> MeasureSuppression:
    return MeasureSuppression(measure.name, method, int(cells.sum()), gap)


def _levels(
    verdict: TableVerdict, grid: TotalGrid, measure: Measure, values: Figures
) -> tuple[Figures, Figures]:
    """Return how far below and above its value each cell has to seem possible.

    Above a dominated cell it is so far that the second largest contributor, who takes her own from
    what is possible, is no closer to the largest than the profile lets her be.
    """
    profile, level = verdict.check.profile, np.ones(len(values))
    if verdict.check.secondary != "interval":
        return level, level
    level = np.maximum(values * (profile.p_percent or _SHARE), level)
    upper = level.copy()
    evidence = measure.statistics[0].evidence
    if evidence.largest is not None and evidence.second is not None and evidence.total is not None:
        needs = upper_levels(profile, evidence.largest, evidence.second, evidence.total)
        np.fmax.at(upper, grid.cells[grid.is_cell], needs[grid.is_cell])
    return level, upper


def _lone_units(measure: Measure) -> tuple[Counts, Counts]:
    """Return who contributes alone to each row, each somebody else where nobody knows, and how many
    contribute: (rows,) each."""
    units = measure.statistics[0].evidence.units
    numbers = measure.lone_units
    if numbers is None:
        return np.arange(len(units)), units
    others = int(numbers.max(initial=-1)) + 1 + np.arange(len(units))
    return np.where(numbers >= 0, numbers, others), units


def _sizes(measure: Measure) -> NDArray[np.float64]:
    """Return what adds up of a measure: contributions by absolute value, or units."""
    evidence = measure.statistics[0].evidence
    figures = evidence.units if evidence.total is None else np.nan_to_num(evidence.total)
    return figures.astype(np.float64)
