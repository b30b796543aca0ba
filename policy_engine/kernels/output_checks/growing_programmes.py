"""Linear programmes over many kinds of rows, of which those are taken in that are needed.

Column generation: a programme over some columns has the least costs of all where, by its duals, no
other column would lower them. Each solution on the way is one of the whole programme.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.highs_models import need_highs, new_model, set_costs
from policy_engine.kernels.output_checks.table_system import Equations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Columns = NDArray[np.int64]
_NEAR, _MULTIPLIER = 1e-6, 1e-9
_LEAST_ADDED = 50


class UndecidedError(Exception):
    """Raised where no world is found with the work that may be done, or none is possible."""


class SolverEffort:
    """The work that may still be done: steps of the simplex method, times the size of programmes.

    It is counted, not timed, so that what is decided does not depend on the machine.
    """

    def __init__(self, work: float) -> None:
        self.left = work

    def steps(self, size: int) -> int:
        """Return how many steps may be done with a programme of a size, at least one."""
        return int(min(max(self.left / size, 1.0), 2e9))

    def spend(self, steps: int, size: int) -> None:
        """Take what some steps cost, and one more for what is done besides."""
        self.left -= (steps + 1.0) * size


@dataclass(frozen=True, eq=False)
class FoundWorld:
    """How many rows there are of each kind, (kinds,), where a programme ends, and by which sums
    that is bounded, (sums,); whether no other world has lower costs."""

    rows: Floats
    used: Bools
    is_least: bool


class GrowingProgramme:
    """Sums of how many rows there are of each kind, from `lower` to `upper`, (sums,) each."""

    def __init__(self, sums: Equations, bounds: tuple[Floats, Floats], most: float) -> None:
        """Begin without any kind; of none there can be more than `most`."""
        self._sums, self._most = sums, most
        nothing = np.zeros(0)
        starts = np.zeros(sums.count + 1, np.int64)
        none = np.zeros(0, np.int64)
        self._solver = new_model(nothing, nothing, nothing, Equations(starts, none, none))
        numbers = np.arange(sums.count, dtype=np.int32)
        self._solver.changeRowsBounds(len(numbers), numbers, *bounds)
        in_order = np.argsort(sums.cells, kind="stable")
        self._sums_of, self._factors = sums.rows[in_order], sums.coefficients[in_order]
        self._starts = np.zeros(0, np.int64)
        self._in_order = sums.cells[in_order]
        self.columns = np.zeros(0, np.int64)

    def take(self, columns: Columns) -> None:
        """Take in some kinds, none of which is there."""
        starts = np.searchsorted(self._in_order, columns)
        sizes = np.searchsorted(self._in_order, columns, side="right") - starts
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(starts - ends + sizes, sizes)
        count, zeros = len(columns), np.zeros(len(columns))
        self._solver.addCols(
            *(count, zeros, zeros, np.full(count, self._most), len(places)),
            (ends - sizes).astype(np.int32),
            self._sums_of[places].astype(np.int32),
            self._factors[places].astype(np.float64),
        )
        self.columns = np.concatenate([self.columns, columns])

    def hide(self, sums: Columns) -> None:
        """Take back that some sums are bounded."""
        numbers, free = np.asarray(sums, np.int32), np.full(len(sums), np.inf)
        self._solver.changeRowsBounds(len(numbers), numbers, -free, free)

    def worlds(self, costs: Floats, effort: SolverEffort) -> Iterator[FoundWorld]:
        """Yield worlds of lower and lower costs, (kinds,), until there are none.

        Raises UndecidedError where none is possible, or there is no effort left.
        """
        is_there = np.zeros(len(costs), np.bool_)
        is_there[self.columns] = True
        while True:
            set_costs(self._solver, np.arange(len(self.columns)), costs[self.columns])
            if not self._is_solved(effort):
                if is_there.all() or effort.left <= 0:
                    raise UndecidedError
                self.take(np.flatnonzero(~is_there))
                is_there[:] = True
                continue
            solution = self._solver.getSolution()
            duals = np.array(solution.row_dual)
            rest = costs - np.bincount(
                self._sums.cells,
                self._sums.coefficients * duals[self._sums.rows],
                minlength=len(costs),
            )
            effort.spend(0, len(self._sums.cells) + len(costs))
            more = np.flatnonzero(~is_there & (rest < -_NEAR))
            rows = np.zeros(len(costs))
            rows[self.columns] = solution.col_value
            used = np.asarray(np.abs(duals) > _MULTIPLIER, np.bool_)
            yield FoundWorld(rows, used, not len(more))
            if not len(more):
                return
            most = max(_LEAST_ADDED, len(duals))
            more = more[np.argsort(rest[more], kind="stable")[:most]]
            self.take(more)
            is_there[more] = True

    def _is_solved(self, effort: SolverEffort) -> bool:
        size = 1 + len(self.columns) + int(self._solver.getNumNz())
        for is_fresh in (False, True):
            if is_fresh:
                self._solver.clearSolver()
            if effort.left <= 0:
                return False
            self._solver.setOptionValue("simplex_iteration_limit", effort.steps(size))
            self._solver.run()
            effort.spend(max(self._solver.getInfo().simplex_iteration_count, 0), size)
            statuses = need_highs().HighsModelStatus
            if self._solver.getModelStatus() == statuses.kOptimal:
                return True
            if self._solver.getModelStatus() == statuses.kInfeasible:
                return False
        return False


def whole_world(
    sums: Equations, bounds: tuple[Floats, Floats], most: Floats, costs: Floats, nodes: int
) -> Floats | None:
    """Return the world of least costs of whole numbers of rows, none of a kind more than `most`,
    (kinds,) each; None where there is none, or it is not found in so many branches."""
    highs, count = need_highs(), len(costs)
    solver: Any = new_model(costs, np.zeros(count), most, sums)
    numbers = np.arange(sums.count, dtype=np.int32)
    solver.changeRowsBounds(len(numbers), numbers, *bounds)
    kinds = np.full(count, int(highs.HighsVarType.kInteger), np.uint8)
    solver.changeColsIntegrality(count, np.arange(count, dtype=np.int32), kinds)
    solver.setOptionValue("mip_max_nodes", nodes)
    solver.run()
    if solver.getModelStatus() != highs.HighsModelStatus.kOptimal:
        return None
    return np.round(np.array(solver.getSolution().col_value))
