"""Inequalities: no cell is suppressed where no circle of other cells is suppressed with it.

Fischetti and Salazar: Models and algorithms for the 2-dimensional cell suppression problem in
statistical disclosure control, Mathematical Programming 84, 1999, section 4: bridge-less
inequalities. In a pattern of which no cell can be left out, every cell differs from its true value
in some table that is possible. So in each equation about it, and in each sum of equations, another
suppressed cell has to differ as well.
"""

from dataclasses import replace

import numpy as np

from policy_engine.kernels.output_checks.protection_needs import ProtectionNeed
from policy_engine.kernels.output_checks.separation import (
    PatternAttack,
    ProtectionCut,
    is_reached,
    reduced_costs,
)
from policy_engine.kernels.output_checks.table_system import NOBODY, Floats, Ints, TableSystem
from policy_engine.kernels.output_checks.work_time import UNLIMITED, WorkTime

_VIOLATION = 1e-3
_NOTHING = 1e-7


def bridgeless_cuts(
    system: TableSystem, pattern: Floats, limit: WorkTime = UNLIMITED
) -> list[ProtectionCut]:
    """Return inequalities that a pattern, (n,), violates: of single equations if there are any.

    Raises TimeUpError at a limit.
    """
    return _line_cuts(system, pattern) or _circle_cuts(system, pattern, limit)


def _line_cuts(system: TableSystem, pattern: Floats) -> list[ProtectionCut]:
    equations, rows = system.equations, system.equations.rows
    is_movable = (system.up > 0) | (system.down > 0)
    shares = np.where(is_movable, pattern, 0.0)
    sums = np.bincount(rows, shares[equations.cells], minlength=equations.count)
    cells = equations.cells
    excess = 2 * pattern[cells] - sums[rows]
    is_violated = (excess > _VIOLATION) & ~system.first_pattern[cells]
    return [
        _cut(system, int(cells[term]), cells[rows == rows[term]])
        for term in np.flatnonzero(is_violated)
    ]


def _cut(system: TableSystem, cell: int, others: Ints) -> ProtectionCut:
    """Return that others in a sum of equations are suppressed where a cell is."""
    is_other = np.zeros(system.size, dtype=bool)
    is_other[others] = True
    is_other &= system.may_be_suppressed & ((system.up > 0) | (system.down > 0))
    is_other[cell] = True
    cells = np.flatnonzero(is_other)
    return ProtectionCut(cells, np.where(cells == cell, -1.0, 1.0), least=0.0)


def _circle_cuts(system: TableSystem, pattern: Floats, limit: WorkTime) -> list[ProtectionCut]:
    """Return inequalities of sums of equations: those of the prices of programmes of units."""
    values, up, down = system.values, system.up > 0, system.down > 0
    unit = replace(
        system,
        lower_bounds=values - down,
        upper_bounds=values + up,
        contributors=np.full(system.size, NOBODY),
    )
    attack, cuts = PatternAttack(unit, pattern, limit), []
    is_asked = ~system.first_pattern & (pattern > _VIOLATION)
    while is_asked.any():
        cell = int(is_asked.argmax())
        is_asked[cell] = False
        need = ProtectionNeed(cell, float(pattern[cell]) * (1.0 if up[cell] else -1.0), NOBODY)
        result = attack.attack(need)
        if is_reached(result.share):
            is_asked &= np.abs(result.differences) < pattern * (1 - _NOTHING)
            continue
        reduced = np.abs(reduced_costs(system, result.prices))
        if reduced[cell] > _NOTHING:
            cut = _cut(system, cell, np.flatnonzero(reduced > _NOTHING))
            if not system.first_pattern[cut.cells].any() and _excess(cut, pattern) > _VIOLATION:
                cuts.append(cut)
    return cuts


def _excess(cut: ProtectionCut, pattern: Floats) -> float:
    return -float(pattern[cut.cells] @ cut.coefficients)
