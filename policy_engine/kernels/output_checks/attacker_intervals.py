"""What an attacker can conclude about suppressed cells: the least and the largest value of each.

An attacker knows all published cells, the equations, the bounds, and perhaps some suppressed cells:
those of which the attacker is the only contributor.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policy_engine.errors import InternalError
from policy_engine.kernels.output_checks.highs_models import (
    new_model,
    run_until_optimal,
    set_bounds,
    set_costs,
)
from policy_engine.kernels.output_checks.table_system import (
    Bools,
    Equations,
    Floats,
    Ints,
    TableSystem,
)
from policy_engine.kernels.output_checks.work_time import UNLIMITED, WorkTime

_NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class AttackerIntervals:
    """The least and the largest value that cells may have, (cells,) each, for all that is known."""

    cells: Ints
    lower: Floats
    upper: Floats


def attacker_intervals(
    system: TableSystem, is_suppressed: Bools, cells: Ints, known_cells: Sequence[int] = ()
) -> AttackerIntervals:
    """Return the intervals of some cells for an attacker who knows some suppressed ones as well.

    A cell that is known or published has its value as both bounds. Raises DataError (C011) without
    highspy.
    """
    is_unknown = is_suppressed.copy()
    is_unknown[list(known_cells)] = False
    attack = CellAttack(system, is_unknown)
    bounds = [attack.interval(int(cell)) for cell in cells]
    lower, upper = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
    return AttackerIntervals(np.asarray(cells), lower, upper)


@dataclass(eq=False)
class CellAttack:
    """Linear programmes over unknown cells, one after another, each from the basis of the last.

    All but the unknown cells are on the right-hand side. `tables` keeps the values of each vertex
    found, as witnesses of what an attacker cannot exclude: (unknown,) each. All of its programmes
    raise TimeUpError at a limit.
    """

    system: TableSystem
    is_unknown: Bools
    limit: WorkTime = UNLIMITED
    cells: Ints = field(init=False)
    tables: list[Floats] = field(init=False, default_factory=list)
    _solver: Any = field(init=False)

    def __post_init__(self) -> None:
        self.cells = np.flatnonzero(self.is_unknown)
        system, all_terms = self.system, self.system.equations
        terms = all_terms.of_cells(self.is_unknown)
        narrow = Equations(
            terms.starts, np.searchsorted(self.cells, terms.cells), terms.coefficients
        )
        values = system.values[self.cells]
        lower, upper = values - system.down[self.cells], values + system.up[self.cells]
        self._solver = new_model(np.zeros(len(self.cells)), lower, upper, narrow)
        # Of the unknown cells rather than of the published ones: totals of floats are not exact.
        sums = terms.sums(system.values)
        for row in np.flatnonzero(sums):
            self._solver.changeRowBounds(int(row), float(sums[row]), float(sums[row]))

    def interval(self, cell: int) -> tuple[float, float]:
        """Return the least and the largest value of a cell."""
        return self.least(cell), self.largest(cell)

    def least(self, cell: int) -> float:
        """Return the least value that a cell may have."""
        return self._extreme(cell, 1.0)

    def largest(self, cell: int) -> float:
        """Return the largest value that a cell may have."""
        return self._extreme(cell, -1.0)

    def _extreme(self, cell: int, cost: float) -> float:
        if not self.is_unknown[cell]:
            return float(self.system.values[cell])
        column = np.searchsorted(self.cells, [cell])
        set_costs(self._solver, column, np.array([cost]))
        is_found = run_until_optimal(self._solver, self.limit)
        set_costs(self._solver, column, np.zeros(1))
        if not is_found:
            raise InternalError.of("X001", "An attacker's programme has no optimum.")
        self.tables.append(np.array(self._solver.getSolution().col_value))
        return float(self.tables[-1][column[0]])

    def tables_with(self, cells: Ints) -> list[Floats]:
        """Return those of `tables` in which some unknown cells have their true values."""
        places, values = np.searchsorted(self.cells, cells), self.system.values[cells]
        slacks = _NEAR * np.maximum(np.abs(values), 1.0)
        return [one for one in self.tables if (np.abs(one[places] - values) <= slacks).all()]

    def forget(self, cells: Ints) -> None:
        """Let cells be unknown that `learn` made known."""
        values = self.system.values[cells]
        self._set(cells, values - self.system.down[cells], values + self.system.up[cells])

    def learn(self, cells: Ints) -> None:
        """Let the attacker know some of the cells, until `forget` is called for them."""
        self._set(cells, self.system.values[cells], self.system.values[cells])

    def _set(self, cells: Ints, lower: Floats, upper: Floats) -> None:
        set_bounds(self._solver, np.searchsorted(self.cells, cells), lower, upper)


def contributor_cells(system: TableSystem, is_suppressed: Bools) -> dict[int, Ints]:
    """Return, by contributor, the suppressed cells that it knows since it is alone in them, or in
    a total of them and others."""
    cells, contributors = system.lone_knowledge
    is_open = is_suppressed[cells]
    cells, contributors = cells[is_open], contributors[is_open]
    return {int(one): cells[contributors == one] for one in np.unique(contributors)}
