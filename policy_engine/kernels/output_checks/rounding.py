"""Tables rounded to multiples of a base, cell by cell or so that they still add up.

Hundepool et al.: Statistical Disclosure Control, Wiley 2012, section 5.4. Rounding at random
without bias is `random_rounding.round_at_random`: of a table it rounds each cell by itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.highs_models import need_highs, new_model
from policy_engine.kernels.output_checks.table_system import Equations, Floats, Ints

_NEAR = 1e-6


def round_to_nearest(values: NDArray[Any], base: int) -> Ints:
    """Return the nearest multiple of a base for each value; of two, the even one.

    Totals are rounded by themselves: they are not the sums of the rounded parts.
    """
    return np.asarray(np.rint(np.asarray(values) / base).astype(np.int64) * base)


def round_to_totals(
    equations: Equations, values: Ints, base: int, seconds: float = 10.0
) -> Ints | None:
    """Return multiples of a base, (n,), beside whole numbers, (n,), that satisfy the equations.

    A multiple stays as it is, every other cell becomes the one below or above it, and the sum of
    all changes is the least. Of two-way tables with totals, and with one hierarchy, there always is
    one: the equations are those of a network, whose programme has whole solutions (Cox and Ernst:
    Controlled rounding, INFOR 20(4), 1982). Of three dimensions or more there may be none (Causey,
    Cox and Ernst: Applications of transportation theory to statistical problems, JASA 80(392),
    1985), or none may be found in time: then None. Raises ValueError for values that do not satisfy
    the equations, and DataError (C011) without highspy.
    """
    if equations.sums(values).any():
        raise ValueError("A table whose totals are not the sums of its parts cannot be rounded.")
    low = values // base
    is_between = values % base != 0
    model = _model(equations, low, is_between, 1.0 - 2.0 * (values % base) / base)
    model.run()
    rises = _whole(model)
    if rises is None:
        rises = _in_whole_numbers(model, len(values), seconds)
    return None if rises is None else (low + rises) * base


def _model(equations: Equations, low: Ints, is_between: NDArray[np.bool_], costs: Floats) -> Any:
    """Return the model of which cells are rounded up: 0 or 1, and 0 for multiples."""
    model = new_model(costs, np.zeros(len(low)), is_between.astype(np.float64), equations)
    for row, total in enumerate(equations.sums(low).tolist()):
        model.changeRowBounds(row, float(-total), float(-total))
    return model


def _whole(model: Any) -> Ints | None:
    """Return a model's solution if it has one in whole numbers."""
    is_optimal = model.getModelStatus() == need_highs().HighsModelStatus.kOptimal
    values = np.array(model.getSolution().col_value)
    rises = np.rint(values)
    is_whole = is_optimal and bool((np.abs(values - rises) < _NEAR).all())
    return rises.astype(np.int64) if is_whole else None


def _in_whole_numbers(model: Any, size: int, seconds: float) -> Ints | None:
    highs = need_highs()
    kinds = np.full(size, int(highs.HighsVarType.kInteger), dtype=np.uint8)
    model.changeColsIntegrality(size, np.arange(size, dtype=np.int32), kinds)
    model.setOptionValue("time_limit", seconds)
    model.run()
    feasible = int(highs.SolutionStatus.kSolutionStatusFeasible)
    if model.getInfo().primal_solution_status != feasible:
        return None
    return np.asarray(np.rint(model.getSolution().col_value), dtype=np.int64)
