"""What counts are possible by what is shown of their sums: an attack by linear programmes.

A world says how many rows there are of each kind, and is possible if all sums that are shown are
those of it. Of a withheld sum, an intruder knows that it is one of a possible world: the least and
the largest are found by linear programmes, and by integer ones where these end between whole
numbers. Each world that is found is kept as a witness, so that few programmes are solved.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.highs_models import need_highs, new_model, set_costs
from policy_engine.kernels.output_checks.table_system import Equations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_NEAR, _MULTIPLIER, _ROOM = 1e-6, 1e-9, 10.0
_WHOLE_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class WorldSums:
    """Sums over so many `kinds` of rows, each at least `lower` and at most `upper`, (sums,): kinds
    have whole numbers of rows if they `are_whole`, and none less than 0 in any case."""

    rows: Equations
    kinds: int
    lower: Floats
    upper: Floats
    are_whole: bool = True


@dataclass(frozen=True)
class SumReach:
    """What a sum is known to lie between, and by which of the sums that are shown, (sums,)."""

    low: float
    high: float
    used: Bools


class UndecidedError(Exception):
    """Raised where no world is found in time, or none is possible."""


class WorldAttack:
    """What can be concluded of some `targets`, which are sums, too, from those that are shown.

    `least` and `most`, (targets,), are what worlds that were found have of them. Where sums are
    hidden, less is known, so that these worlds stay possible.
    """

    def __init__(self, sums: WorldSums, targets: Equations, deadline: float) -> None:
        """Begin an attack on sums. Raises UndecidedError if no world is possible, or in time."""
        self._sums, self._targets, self._deadline = sums, targets, deadline
        self._lower, self._upper = sums.lower.copy(), sums.upper.copy()
        finite = sums.upper[np.isfinite(sums.upper)]
        self._scale = 1.0 if sums.are_whole else max(float(finite.max(initial=1.0)), 1.0)
        # No world needs more of any kind: what is not bounded has room enough for all that is asked
        self._most = _ROOM * (float(finite.max(initial=1.0)) / self._scale + 1.0)
        self._solver = self._started(is_whole=False)
        self.least = np.full(targets.count, np.inf)
        self.most = np.full(targets.count, -np.inf)

    def hide(self, places: NDArray[np.int64]) -> None:
        """Take back that some sums are shown."""
        self._lower[places], self._upper[places] = -np.inf, np.inf
        numbers = np.asarray(places, np.int32)
        free = np.full(len(numbers), np.inf)
        self._solver.changeRowsBounds(len(numbers), numbers, -free, free)

    def reach(self, number: int, low: float, high: float) -> SumReach:
        """Return what a target is known to lie between: exactly where that is more than `low` or
        less than `high`, else as far as worlds show. Raises UndecidedError."""
        used = np.zeros(len(self._lower), np.bool_)
        if self.least[number] > low + _NEAR:
            used |= self._extreme(number, 1.0, low)
        if self.most[number] < high - _NEAR:
            used |= self._extreme(number, -1.0, high)
        return SumReach(float(self.least[number]), float(self.most[number]), used)

    def _extreme(self, number: int, sign: float, goal: float) -> Bools:
        """Look for the world in which a target is least or largest, and return the sums that bound
        it there; none where a world goes as far as the goal."""
        costs = np.zeros(self._sums.kinds)
        own = slice(*self._targets.starts[number : number + 2])
        costs[self._targets.cells[own]] = sign * self._targets.coefficients[own]
        world, duals = self._solved(self._solver, costs, self._deadline)
        end = float(costs @ world)
        if self._sums.are_whole and not _is_whole(world):
            if sign * goal - end < -_NEAR:
                # Worlds of whole numbers go no farther than this.
                self._keep(number, sign * np.ceil(end - _NEAR))
                return duals
            solver, until = self._started(is_whole=True), time.monotonic() + _WHOLE_SECONDS
            try:
                world, _ = self._solved(solver, costs, min(self._deadline, until))
            except UndecidedError:
                return duals
            world = np.round(world)
        values = self._targets.sums(world) * self._scale
        self.least, self.most = np.minimum(self.least, values), np.maximum(self.most, values)
        return duals

    def _keep(self, number: int, value: float) -> None:
        self.least[number] = min(self.least[number], value)
        self.most[number] = max(self.most[number], value)

    def _solved(self, solver: Any, costs: Floats, deadline: float) -> tuple[Floats, Bools]:
        """Return the world of least costs, and which sums bound it."""
        set_costs(solver, np.arange(len(costs)), costs)
        for is_fresh in (False, True):
            if is_fresh:
                solver.clearSolver()
            solver.setOptionValue("time_limit", max(deadline - time.monotonic(), 0.01))
            solver.run()
            if solver.getModelStatus() == need_highs().HighsModelStatus.kOptimal:
                solution = solver.getSolution()
                duals = np.abs(np.array(solution.row_dual)) > _MULTIPLIER
                return np.array(solution.col_value), np.asarray(duals, np.bool_)
        raise UndecidedError

    def _started(self, *, is_whole: bool) -> Any:
        highs, count = need_highs(), self._sums.kinds
        free, most = np.zeros(count), np.full(count, self._most)
        solver = new_model(free, free, most, self._sums.rows)
        numbers = np.arange(len(self._lower), dtype=np.int32)
        bounds = self._lower / self._scale, self._upper / self._scale
        solver.changeRowsBounds(len(numbers), numbers, *bounds)
        if is_whole:
            columns = np.arange(count, dtype=np.int32)
            kinds = np.full(count, int(highs.HighsVarType.kInteger), np.uint8)
            solver.changeColsIntegrality(count, columns, kinds)
        return solver


def _is_whole(world: Floats) -> bool:
    return bool((np.abs(world - np.round(world)) < _NEAR).all())
