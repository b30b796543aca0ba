"""Which unknown cells of a table are known because no cell is negative: by linear programmes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.highs_models import need_highs, new_solver
from policy_engine.kernels.output_checks.recoverability import determined
from policy_engine.kernels.output_checks.table_system import Bools, Equations, Floats

_TINY = 1e-6
_SECONDS = 20.0


def zeros_of(
    equations: Equations, values: Floats, slack: Floats, is_unknown: Bools
) -> NDArray[np.bool_]:
    """Return which unknown cells are 0 in all solutions without a negative cell, (n,).

    What equations and these zeros together do not determine takes different values in different
    solutions: a solution in which every other cell is positive can be moved either way. `values`
    (n,) are those of known cells, up to their `slack`. Where no solution is found, none is told.
    """
    return _zeros(equations, values, slack, is_unknown)[0]


def fixed_values(
    equations: Equations, values: Floats, slack: Floats, is_unknown: Bools
) -> Floats | None:
    """Return the values of the unknown cells that are the same in all solutions without a negative
    cell, (n,), NaN for all other cells; None where there is no solution, or none is found."""
    is_zero, solution = _zeros(equations, values, slack, is_unknown)
    if solution is None:
        return None
    is_fixed = is_zero | determined(equations, is_unknown & ~is_zero)
    return np.where(is_fixed & is_unknown, solution, np.nan)


def _zeros(
    equations: Equations, values: Floats, slack: Floats, is_unknown: Bools
) -> tuple[NDArray[np.bool_], Floats | None]:
    """Return which unknown cells are 0 in all solutions, and one of these, 0 for other cells."""
    cells = np.flatnonzero(is_unknown)
    is_zero = np.zeros(len(is_unknown), np.bool_)
    whole = np.zeros(len(is_unknown))
    some = equations.of_cells(is_unknown)
    if not some.count:
        return is_zero, whole
    left, reach = _right_sides(equations, values, slack, is_unknown)
    programme = _programme(some, np.searchsorted(cells, some.cells), len(cells), left, reach)
    scale = max(float(np.abs(left).max()), 1.0)
    most = 10 * float(np.abs(left).sum() + 1)
    open_cells = np.arange(len(cells))
    while len(open_cells):
        solution = _largest(programme, open_cells, most)
        if solution is None:
            return is_zero, None
        whole[cells] = solution
        positive = solution[open_cells] > _TINY * scale
        if not positive.any():
            break
        open_cells = open_cells[~positive]
    is_zero[cells[open_cells]] = True
    return is_zero, whole


def _right_sides(
    equations: Equations, values: Floats, slack: Floats, is_unknown: Bools
) -> tuple[Floats, Floats]:
    """Return what the unknown terms of each equation that has some add up to, and how far that is
    off by rounding; both (equations,)."""
    is_term = is_unknown[equations.cells]
    terms = np.where(is_term, 0.0, np.nan_to_num(values[equations.cells]) * equations.coefficients)
    off = np.where(is_term, 0.0, slack[equations.cells] * np.abs(equations.coefficients))
    has_some = np.bincount(equations.rows, is_term, minlength=equations.count) > 0
    sums = np.bincount(equations.rows, terms, minlength=equations.count)
    reach = np.bincount(equations.rows, off, minlength=equations.count)
    return -sums[has_some].astype(np.float64), reach[has_some].astype(np.float64)


def _programme(
    some: Equations, columns: NDArray[np.int64], width: int, left: Floats, reach: Floats
) -> Any:
    highs = need_highs()
    programme = highs.HighsLp()
    programme.num_row_, programme.num_col_ = some.count, width
    programme.row_lower_, programme.row_upper_ = left - reach, left + reach
    programme.col_lower_ = np.zeros(width)
    programme.col_upper_ = np.full(width, highs.kHighsInf)
    programme.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    programme.a_matrix_.start_ = some.starts
    programme.a_matrix_.index_ = columns
    programme.a_matrix_.value_ = some.coefficients.astype(np.float64)
    programme.col_cost_ = np.zeros(width)
    return programme


def _largest(programme: Any, chosen: NDArray[np.int64], most: float) -> Floats | None:
    """Return a solution in which the sum of some cells, each up to `most`, is largest."""
    highs = need_highs()
    solver = new_solver()
    solver.passModel(programme)
    columns = chosen.astype(np.int32)
    solver.changeColsCost(len(columns), columns, -np.ones(len(columns)))
    least, ends = np.zeros(len(columns)), np.full(len(columns), most)
    solver.changeColsBounds(len(columns), columns, least, ends)
    solver.setOptionValue("time_limit", _SECONDS)
    solver.run()
    if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value, np.float64)
