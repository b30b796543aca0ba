"""Programmes in parameters of a distance, linear and mixed-integer, on HiGHS.

Huangfu and Hall: Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10(1), 2018. On one thread and with a seed, so that equal programmes have equal answers
unless time ends them.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Floats
from policy_engine.kernels.linkage.learned.rivals import MARGIN

Ints = NDArray[np.int64]

NARROWER = 0.99
"""The margins of a programme, as a share of those of a link."""

_TOLERANCE = 1e-9
_OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 0,
    "primal_feasibility_tolerance": _TOLERANCE,
    "dual_feasibility_tolerance": _TOLERANCE,
    "mip_feasibility_tolerance": _TOLERANCE,
    "small_matrix_value": 1e-12,
    "mip_rel_gap": 0.0,
    # The number of records missed is whole.
    "mip_abs_gap": 0.999,
}


@dataclass(frozen=True, eq=False)
class FamilyMembers:
    """The parameters of a family: the constraints times them at least 0, the total times them 1."""

    constraints: Floats
    total: Floats


@dataclass(frozen=True, eq=False)
class Rows:
    """What distances say of some rivals: how much farther they are, linear in the parameters.

    `apart` is (rows, parameters), `persons` (rows,) whose rivals they are, and `least` (rows,) the
    least that any member makes of it. For a link it must be `margins`, (rows,), or more.
    """

    apart: Floats
    persons: Ints
    least: Floats
    margins: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """Parameters that miss the fewest found, and how many any parameters miss at the least."""

    parameters: Floats
    is_missed: NDArray[np.bool_]
    least_missed: float
    is_optimal: bool


def fewest_missed(
    rows: Rows, members: FamilyMembers, persons: int, start: Floats, seconds: float
) -> Solution:
    """Return the members by which all rivals of the most persons are farther by their margins.

    A person is missed, which costs 1, or all of the person's rows are at least their margins; those
    of the programme are a hundredth narrower, so that what the solver tolerates makes it miss no
    link. `start` is a member to begin with.
    """
    import highspy  # noqa: PLC0415 (an extra)

    size = len(members.total)
    margins = rows.margins * NARROWER
    problem = _problem(rows.apart, margins, members, rows.persons, margins - rows.least, persons)
    problem.col_cost_ = np.concatenate([np.zeros(size), np.ones(persons)])
    problem.col_lower_ = np.concatenate([np.full(size, -1.0), np.zeros(persons)])
    problem.col_upper_ = np.ones(size + persons)
    problem.integrality_ = [highspy.HighsVarType.kContinuous] * size + [
        highspy.HighsVarType.kInteger
    ] * persons
    is_short = rows.apart @ start < margins
    missed = np.bincount(rows.persons[is_short], minlength=persons) > 0
    deadline, first = time.monotonic() + seconds, np.append(start, missed.astype(np.float64))
    solution = _solved(problem, size, seconds, first, is_start=True)
    if solution.is_optimal and solution.is_missed.sum() > solution.least_missed + 0.5:
        # HiGHS 1.16 may improve a start while it simplifies the programme, and return it as it was.
        solution = _solved(
            problem, size, max(deadline - time.monotonic(), 0.0), first, is_start=False
        )
    return solution


def _solved(problem: Any, size: int, seconds: float, start: Floats, *, is_start: bool) -> Solution:
    """Return the solution found, or the known one where none is."""
    import highspy  # noqa: PLC0415 (an extra)

    solver = _solver(problem, seconds)
    if is_start:
        first = highspy.HighsSolution()
        first.col_value = start
        solver.setSolution(first)
    solver.run()
    info, feasible = solver.getInfo(), highspy.SolutionStatus.kSolutionStatusFeasible
    is_found = info.primal_solution_status == int(feasible)
    values = np.array(solver.getSolution().col_value) if is_found else start
    return Solution(
        parameters=values[:size],
        is_missed=values[size:] > 0.5,
        least_missed=max(info.mip_dual_bound, 0.0),
        is_optimal=solver.getModelStatus() == highspy.HighsModelStatus.kOptimal,
    )


def widest(rows: Rows, members: FamilyMembers, seconds: float) -> tuple[Floats, float] | None:
    """Return a member by which some rivals are farthest, in margins, and the least of these.

    None if time ends first.
    """
    import highspy  # noqa: PLC0415 (an extra)

    size = len(members.total)
    unit, zeros = -rows.margins / MARGIN, np.zeros_like(rows.persons)
    problem = _problem(rows.apart, np.zeros(len(unit)), members, zeros, unit, 1)
    problem.col_cost_ = np.append(np.zeros(size), -1.0)
    problem.col_lower_ = np.append(np.full(size, -1.0), -highspy.kHighsInf)
    problem.col_upper_ = np.append(np.ones(size), highspy.kHighsInf)
    solver = _solver(problem, seconds)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    values = np.array(solver.getSolution().col_value)
    return values[:size], float(values[size]) / MARGIN


def _problem(
    apart: Floats, least: Floats, members: FamilyMembers, columns: Ints, values: Floats, others: int
) -> Any:
    """Return a programme of some rows, each of at least so much, in parameters of a family.

    Each row has also a value in one of the `others` columns behind the parameters.
    """
    import highspy  # noqa: PLC0415 (an extra)

    size = len(members.total)
    matrix = np.vstack([apart, members.constraints, members.total])
    row, column = np.nonzero(matrix)
    rows = np.concatenate([row, np.arange(len(apart))])
    order = np.argsort(rows, kind="stable")
    zeros = np.zeros(len(members.constraints))
    problem = highspy.HighsLp()
    problem.num_row_, problem.num_col_ = len(matrix), size + others
    problem.row_lower_ = np.concatenate([least, zeros, [1.0]])
    problem.row_upper_ = np.append(np.full(len(least) + len(zeros), highspy.kHighsInf), 1.0)
    problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    problem.a_matrix_.start_ = np.searchsorted(rows[order], np.arange(len(matrix) + 1))
    problem.a_matrix_.index_ = np.concatenate([column, size + columns])[order]
    problem.a_matrix_.value_ = np.concatenate([matrix[row, column], values])[order]
    return problem


def _solver(problem: Any, seconds: float) -> Any:
    # Its subclass prints a line when it is made, whatever its options.
    from highspy._core import _Highs  # noqa: PLC0415 (an extra)

    solver = _Highs()
    for option, value in _OPTIONS.items():
        solver.setOptionValue(option, value)
    solver.setOptionValue("time_limit", seconds)
    solver.passModel(problem)
    return solver
