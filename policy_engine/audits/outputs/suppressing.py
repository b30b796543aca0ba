"""Secondary suppression: totals that are released with their parts must not reveal suppressed ones.

Each measure of a table with totals is a system of equations (`kernels.output_checks`); the cheapest
pattern is searched for in which nobody computes a suppressed cell, or not closely enough, and an
attack of its own code has to fail on it. What is suppressed of counts is suppressed of every
measure: counts and means together are sums.

Whoever is alone in a cell knows it, and attacks the others with that; of a dominated cell, the
second largest contributor attacks the largest (Handbook on Statistical Disclosure Control, 2010,
section 4.2.2; Fischetti and Salazar 2001, section 2).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.dominated_totals import upper_levels
from policy_engine.audits.outputs.model import (
    TOTAL,
    Counts,
    Figures,
    Measure,
    Statbarn,
    TableVerdict,
)
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.total_grids import TotalGrid, grid_of
from policy_engine.kernels.output_checks.suppressing import suppress
from policy_engine.kernels.output_checks.table_system import NOBODY, table_system

_SECONDS = 20.0
_SHARE = 0.1
_LARGEST = 1e15
"""Of larger figures, programmes in floating point tell nothing."""
_MOST_ATTACKS = 5_000_000
"""Tables of more cells, times lone contributors, show no totals where something is withheld: to
attack such a table by each of them takes too long."""
_POSITIONS = (Statbarn.POSITION, Statbarn.MODE, Statbarn.ENDPOINTS)

Cells = NDArray[np.bool_]


def suppress_totals(verdict: TableVerdict) -> TableVerdict:
    """Return the verdict with further cells suppressed, so that totals reveal none.

    Nothing is done where the policy asks for none, where no totals are released with all their
    parts, and where there are more cells than `MOST_CELLS` of a grid: of these, the ledger of
    answers and outputs withholds what reveals others. Raises DataError (C011) without highspy.
    """
    grid = grid_of(verdict.table)
    if verdict.check.secondary == "none" or grid is None or not verdict.reasons.any():
        return verdict
    reasons = verdict.reasons.copy()
    order = sorted(range(len(verdict.table.measures)), key=lambda n: not _is_count(verdict, n))
    hidden = np.zeros(len(reasons), dtype=np.bool_)
    for number in order:
        measure = verdict.table.measures[number]
        if any(one.statbarn in _POSITIONS for one in measure.statistics):
            continue
        primary = (reasons[:, number] != 0) | hidden
        pattern = _pattern(verdict, grid, measure, primary)
        reasons[pattern & (reasons[:, number] == 0), number] |= Reason.COMPLEMENTARY.bit
        if _is_count(verdict, number):
            hidden |= reasons[:, number] != 0
    return replace(verdict, reasons=reasons)


def _is_count(verdict: TableVerdict, number: int) -> bool:
    statistics = verdict.table.measures[number].statistics
    return all(one.statbarn is Statbarn.FREQUENCIES for one in statistics)


def _pattern(verdict: TableVerdict, grid: TotalGrid, measure: Measure, primary: Cells) -> Cells:
    """Return which rows have a suppressed cell of a measure, the primary ones included: all totals
    where the cells cannot be protected, or are too large to tell."""
    if not primary.any():
        return primary
    is_total: Cells = (verdict.table.codes == TOTAL).any(axis=1)
    values = grid.summed(_sizes(measure), ~is_total)
    if not (values <= _LARGEST).all():
        return np.asarray(primary | is_total, np.bool_)
    is_shown = np.zeros(values.shape, dtype=np.bool_)
    is_shown[grid.cells] = True
    is_primary = np.zeros(values.shape, dtype=np.bool_)
    is_primary[grid.cells] = primary
    contributors = grid.contributors(*_lone_units(measure), ~is_total)
    attackers = np.unique(contributors[contributors != NOBODY])
    if len(attackers) * len(values) > _MOST_ATTACKS:
        return np.asarray(primary | is_total, np.bool_)
    system = table_system(
        grid.layout,
        values,
        is_primary,
        protection=_levels(verdict, grid, measure, values),
        weights=np.log1p(values),
        is_hidden=~is_shown,
        contributors=contributors,
    )
    result = suppress(system, _SECONDS)
    pattern: Cells = result.is_suppressed[grid.cells]
    if not result.is_protected:
        pattern = pattern | is_total
    return pattern


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
        upper[grid.cells] = np.fmax(upper[grid.cells], needs)
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
