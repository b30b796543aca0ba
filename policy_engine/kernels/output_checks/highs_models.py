"""Linear programmes over the cells of a table on HiGHS, which is loaded when first needed.

Huangfu and Hall: Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10(1), 2018. On one thread and with a seed, so that equal programmes have equal answers
unless time ends them.
"""

from types import ModuleType
from typing import Any

import numpy as np

from policy_engine.errors import DataError
from policy_engine.kernels.output_checks.table_system import Equations, Floats, Ints
from policy_engine.kernels.output_checks.work_time import UNLIMITED, TimeUpError, WorkTime

_OPTIONS = {"output_flag": False, "threads": 1, "random_seed": 0}


_CLOCK = 4.0
"""How many seconds of the clock pass at the most while the processor works for one."""


def need_highs() -> ModuleType:
    """Return the library highspy. Raises DataError (C011) where it is not installed."""
    try:
        import highspy  # noqa: PLC0415 (an extra)
    except ImportError:
        hint = "Install 'policy-engine[audits]'."
        raise DataError.of("C011", "highspy is not installed.", hint) from None
    return highspy


def new_model(costs: Floats, lower: Floats, upper: Floats, equations: Equations) -> Any:
    """Return a model of columns, (columns,) each, that satisfy equations; it minimises."""
    highs, zeros = need_highs(), np.zeros(equations.count)
    problem = highs.HighsLp()
    problem.num_col_, problem.num_row_ = len(costs), equations.count
    problem.col_cost_, problem.col_lower_, problem.col_upper_ = costs, lower, upper
    problem.row_lower_ = problem.row_upper_ = zeros
    problem.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    problem.a_matrix_.start_ = equations.starts
    problem.a_matrix_.index_ = equations.cells
    problem.a_matrix_.value_ = equations.coefficients.astype(np.float64)
    solver = new_solver()
    solver.passModel(problem)
    return solver


def new_solver() -> Any:
    """Return a solver without a model."""
    need_highs()
    # Its subclass prints a line when it is made, whatever its options.
    from highspy._core import _Highs  # noqa: PLC0415 (an extra)

    solver = _Highs()
    for option, value in _OPTIONS.items():
        solver.setOptionValue(option, value)
    return solver


def run_until_optimal(solver: Any, limit: WorkTime = UNLIMITED) -> bool:
    """Solve a model and return whether it has an optimum; start afresh where a warm start fails.

    Raises TimeUpError where that does not end within a limit.
    """
    statuses = need_highs().HighsModelStatus
    _run(solver, limit)
    if solver.getModelStatus() not in (statuses.kOptimal, statuses.kInfeasible):
        solver.clearSolver()
        _run(solver, limit)
    return bool(solver.getModelStatus() == statuses.kOptimal)


def _run(solver: Any, limit: WorkTime) -> None:
    limit.check()
    # Its clock is that of the wall, and the time of all its runs counts.
    solver.setOptionValue("time_limit", solver.getRunTime() + _CLOCK * limit.left)
    solver.run()
    if solver.getModelStatus() == need_highs().HighsModelStatus.kTimeLimit:
        raise TimeUpError


def set_bounds(solver: Any, columns: Ints, lower: Floats, upper: Floats) -> None:
    """Change the bounds of some columns of a model."""
    numbers = np.asarray(columns, dtype=np.int32)
    solver.changeColsBounds(len(numbers), numbers, lower, upper)


def set_costs(solver: Any, columns: Ints, costs: Floats) -> None:
    """Change the costs of some columns of a model."""
    numbers = np.asarray(columns, dtype=np.int32)
    solver.changeColsCost(len(numbers), numbers, costs)
