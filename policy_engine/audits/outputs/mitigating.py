"""Small counts that are shown rounded or with noise, where that protects them, and not at all where
it does not.

Rounding and noise hide a count among few others. Of somebody who may only be in the cell or not, a
multiple above 0 tells everything: so a small count is shown only if each line of its table has
enough units. They hide neither who dominates a total nor what nearly everyone in a line is. And
what is shown must leave a count open even for who knows the exact values of all cells that pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.lines import least_lines, line_numbers
from policy_engine.audits.outputs.model import TOTAL, ResultTable, TableVerdict
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.audits.outputs.total_grids import TotalGrid, grids_of
from policy_engine.kernels.output_checks.released_bounds import KnownSums, intervals
from policy_engine.kernels.output_checks.rounding import round_to_nearest, round_to_totals

Cells = NDArray[np.bool_]
Figures = NDArray[np.float64]
_HIDDEN = Reason.FEW_UNITS.bit | Reason.COMPLEMENTARY.bit
_NEAR = 1e-6
_SECONDS = 20.0
LEAST_BASE = 3
"""Of two numbers, one of which is 0, rounding to the nearest tells too much."""


@dataclass(frozen=True)
class ProtectedFigures:
    """Figures in place of the exact ones, and which cells may be shown: both (rows, measures)."""

    values: Figures
    is_shown: Cells


@dataclass(frozen=True)
class NearFigures:
    """Figures in place of those of some measures, (rows, measures), and how far an exact one may be
    from its own at most: (measures,)."""

    values: Figures
    reach: NDArray[np.int64]

    def ends(self, row: int, measure: int) -> tuple[float, float]:
        """Return between what a count that is shown lies: what is above 0 is of somebody."""
        value, reach = float(self.values[row, measure]), int(self.reach[measure])
        return max(value - reach, float(value > 0)), value + reach


def rounded_figures(table: ResultTable, base: int, rounded: Cells) -> NearFigures:
    """Return figures rounded to multiples of a base, so that totals add up where they can.

    Those are rounded of the measures that are `rounded`, (measures,). Raises DataError (C011)
    without highspy.
    """
    grids, values = grids_of(table), table.values.copy()
    reach = np.zeros(values.shape[1], np.int64)
    for number in np.flatnonzero(rounded).tolist():
        values[:, number], reach[number] = _rounded(values[:, number], grids[-1:], base)
    return NearFigures(values, reach)


def protect_by_rounding(
    verdict: TableVerdict, before: TableVerdict, near: NearFigures, counts: Cells, rounded: Cells
) -> ProtectedFigures:
    """Return a table with rounded figures.

    `verdict` says what passes, secondary suppression and earlier answers included, and `before` is
    the verdict without both. `counts`, (measures,), are numbers of units, of which small ones may
    be shown, and `rounded` all measures that are rounded. Raises DataError (C011) without highspy.
    """
    grids, values = grids_of(verdict.table), near.values
    is_shown = np.asarray(verdict.reasons == 0)
    may_be_shown = hidden_enough(verdict, before, counts)
    for number in np.flatnonzero(rounded).tolist():
        more, reach = may_be_shown[:, number], int(near.reach[number])
        if _stays_open(verdict, grids, number, more, values[:, number], reach):
            is_shown[:, number] |= more
    return ProtectedFigures(values, is_shown)


def protect_by_noise(
    verdict: TableVerdict, before: TableVerdict, counts: Cells, noisy: Figures, most: int
) -> ProtectedFigures:
    """Return a table with noise of at most so much, (rows, measures), in its numbers of units.

    What they are rounded by at random is noise as well. The other parameters are those of
    `protect_by_rounding`.
    """
    grids = grids_of(verdict.table)
    values = np.where(counts, noisy, verdict.table.values)
    is_shown = np.asarray(verdict.reasons == 0)
    may_be_shown = hidden_enough(verdict, before, counts)
    for number in np.flatnonzero(counts).tolist():
        more = may_be_shown[:, number]
        if _stays_open(verdict, grids, number, more, values[:, number], most):
            is_shown[:, number] |= more
    return ProtectedFigures(values, is_shown)


def hidden_enough(verdict: TableVerdict, before: TableVerdict, counts: Cells) -> Cells:
    """Return which cells that do not pass are counts that rounding or noise hides: (rows,
    measures). The parameters are those of `protect_by_rounding`."""
    codes, least = verdict.table.codes, verdict.check.profile.min_units
    if len(np.unique(codes == TOTAL, axis=0)) > 1 and not grids_of(verdict.table):
        return np.zeros(verdict.reasons.shape, dtype=np.bool_)
    units = _units(verdict)
    # That nobody is in a cell is hidden as well: a few might be.
    of_nobody = np.where(units == 0, np.uint32(Reason.GROUP_DISCLOSURE.bit), np.uint32(0))
    hidden = np.uint32(_HIDDEN) | of_nobody
    blank = np.where(counts, before.reasons & ~hidden, np.uint32(0)).astype(np.uint32)
    others = suppress_totals(replace(before, reasons=blank)).reasons
    lines = np.column_stack([least_lines(codes, one) for one in units.T])
    is_open = (verdict.reasons & ~hidden) == 0
    is_hidden = (verdict.reasons != 0) & is_open & (others == 0) & (lines >= least)
    # The only others of a line tell that all else is in the cell that is missing.
    nearly_all = (before.reasons & np.uint32(Reason.GROUP_DISCLOSURE.bit) != 0) & (units > 0)
    return np.asarray(is_hidden & counts & ~_in_lines_of(codes, nearly_all), dtype=np.bool_)


def _in_lines_of(codes: NDArray[np.int64], is_one: Cells) -> Cells:
    """Return which cells are in a line with one of some cells, (rows, measures)."""
    result = np.zeros_like(is_one)
    for key in range(codes.shape[1]):
        is_part = codes[:, key] != TOTAL
        lines = line_numbers(np.delete(codes, key, axis=1))
        has_one = np.zeros((int(lines.max(initial=-1)) + 1, is_one.shape[1]), np.bool_)
        np.logical_or.at(has_one, lines[is_part], is_one[is_part])
        result[is_part] |= has_one[lines[is_part]]
    return result


def _units(verdict: TableVerdict) -> NDArray[np.int64]:
    return np.column_stack([one.statistics[0].evidence.units for one in verdict.table.measures])


def _rounded(exact: Figures, grids: Sequence[TotalGrid], base: int) -> tuple[Figures, int]:
    """Return rounded figures, and how far at most an exact one is from its own."""
    figures = np.nan_to_num(exact)
    for grid in grids if bool((figures == np.rint(figures)).all()) else ():
        whole, is_cell = grid.summed(figures), grid.is_cell
        if np.array_equal(np.where(is_cell, whole[grid.cells], 0.0), figures):
            multiples = round_to_totals(grid.layout.equations, whole.astype(np.int64), base)
            if multiples is not None:
                values = np.where(is_cell, multiples[grid.cells], 0).astype(np.float64)
                return np.where(np.isnan(exact), np.nan, values), base - 1
    values = round_to_nearest(figures, base).astype(np.float64)
    return np.where(np.isnan(exact), np.nan, values), (base - 1) // 2


def _stays_open(
    verdict: TableVerdict,
    grids: Sequence[TotalGrid],
    number: int,
    is_more: Cells,
    values: Figures,
    reach: int,
) -> bool:
    """Return whether each count that does not pass has two values or more for an attacker, whether
    or not that one knows which keys lie in others.

    The attacker knows the exact values of all cells that pass, and how far at most the others are
    from what is shown of them.
    """
    few = _units(verdict)[:, number] < verdict.check.profile.min_units
    for grid in grids if is_more.any() else ():
        exact = grid.summed(_units(verdict)[:, number].astype(np.float64))
        least, most = np.zeros(len(exact)), np.full(len(exact), np.inf)
        passes = grid.any_of(verdict.reasons[:, number] == 0)
        least[passes] = most[passes] = exact[passes]
        is_known = grid.is_cell & is_more
        is_known[is_known] &= ~passes[grid.cells[is_known]]
        more = grid.cells[is_known]
        np.maximum.at(least, more, values[is_known] - reach)
        np.minimum.at(most, more, values[is_known] + reach)
        targets = np.unique(grid.cells[grid.is_cell & is_more & few])
        if not _all_open(grid, least, most, targets):
            return False
    return True


def _all_open(grid: TotalGrid, least: Figures, most: Figures, targets: NDArray[np.int64]) -> bool:
    equations, unknown = grid.layout.equations, np.flatnonzero(least < most)
    if not np.isin(targets, unknown).all():
        return False
    rows = np.zeros((equations.count, len(least)))
    np.add.at(rows, (equations.rows, equations.cells), equations.coefficients)
    constants = rows @ np.where(least < most, 0.0, least)
    sums = KnownSums(rows[:, unknown], -constants, least[unknown], most[unknown])
    goals = np.eye(len(unknown))[np.searchsorted(unknown, targets)]
    ends = [*intervals(sums, goals, _SECONDS)]
    widths = [np.floor(one.high + _NEAR) - np.ceil(one.low - _NEAR) for one in ends]
    return len(ends) == len(targets) and all(width >= 1 for width in widths)
