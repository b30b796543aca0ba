"""Attacks on a pattern that may be fractional, and the inequalities that follow where one succeeds.

Fischetti and Salazar (2001), sections 3 and 4: an attacker's programme is solved over the cells of
the pattern alone, and its dual prices make an inequality in all cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policy_engine.kernels.output_checks.highs_models import (
    new_model,
    run_until_optimal,
    set_bounds,
    set_costs,
)
from policy_engine.kernels.output_checks.protection_needs import ProtectionNeed, ProtectionNeeds
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    Bools,
    Equations,
    Floats,
    Ints,
    TableSystem,
)
from policy_engine.kernels.output_checks.work_time import UNLIMITED, WorkTime

_ENOUGH = 1 - 1e-7
_NOTHING = 1e-9
_DECIMALS = 9
_VIOLATION = 1e-6
_MOST_KEPT = 4_000
_MOST_LONE_CUTS = 10_000


@dataclass(frozen=True, eq=False)
class ProtectionCut:
    """An inequality: the coefficients, (cells,), times the pattern of these cells are so much at
    the least."""

    cells: Ints
    coefficients: Floats
    least: float = 1.0

    def is_violated(self, pattern: Floats) -> bool:
        """Return whether a pattern, (n,), does not satisfy it."""
        return bool(pattern[self.cells] @ self.coefficients < self.least - _VIOLATION)

    @property
    def key(self) -> bytes:
        """What two equal inequalities share."""
        return self.cells.tobytes() + self.coefficients.tobytes()


@dataclass(frozen=True, eq=False)
class MoveResult:
    """How far a cell can be moved, as a share of its level; how, (n,) differences; at which prices,
    (equations,)."""

    share: float
    differences: Floats
    prices: Floats


@dataclass(eq=False)
class PatternAttack:
    """An attacker's programme over the cells of a pattern, (n,) from 0 to 1, warm from one need
    to the next. Unlike the audit's it is about differences to the true table, scaled by the pattern
    and no farther than the level of the need. All of its programmes raise TimeUpError at a limit.
    """

    system: TableSystem
    pattern: Floats
    limit: WorkTime = UNLIMITED
    cells: Ints = field(init=False)
    _is_open: Bools = field(init=False)
    _solver: Any = field(init=False)
    _rows: Ints = field(init=False)

    def __post_init__(self) -> None:
        self._is_open = is_open = self.pattern > _NOTHING
        self.cells = np.flatnonzero(is_open)
        terms = self.system.equations.of_cells(is_open)
        narrow = Equations(
            terms.starts, np.searchsorted(self.cells, terms.cells), terms.coefficients
        )
        equations = self.system.equations
        self._rows = np.unique(equations.rows[is_open[equations.cells]])
        self._solver = new_model(np.zeros(len(self.cells)), *self._limits(self.cells), narrow)

    def _limits(self, cells: Ints) -> tuple[Floats, Floats]:
        share = self.pattern[cells]
        return -self.system.down[cells] * share, self.system.up[cells] * share

    def publish(self, cell: int) -> None:
        """Take a cell out of the pattern."""
        self._scale(cell, 0.0)

    def suppress(self, cell: int) -> None:
        """Put a cell back that was taken out."""
        self._scale(cell, 1.0)

    def _scale(self, cell: int, share: float) -> None:
        self.pattern[cell] = share
        column = np.array([cell])
        set_bounds(self._solver, np.searchsorted(self.cells, column), *self._limits(column))

    def attack(self, need: ProtectionNeed, together: Ints | None = None) -> MoveResult:
        """Return how far the cell of a need can be moved, up to its level.

        Several attackers may attack `together`, all of whose cells are known then, instead of that
        of the need: what they cannot exclude, none of them can.
        """
        attackers = np.array([need.attacker]) if together is None else together
        cell, sign, level, own = need.cell, need.sign, need.level, self._known(attackers)
        column, mine = np.searchsorted(self.cells, [cell]), np.searchsorted(self.cells, own)
        low, high = self._limits(np.array([cell]))
        low, high = np.maximum(low, -level), np.minimum(high, level)
        set_bounds(self._solver, mine, np.zeros(len(own)), np.zeros(len(own)))
        set_bounds(self._solver, column, low, high)
        set_costs(self._solver, column, np.array([-float(sign)]))
        is_found = run_until_optimal(self._solver, self.limit)
        solution = self._solver.getSolution()
        result = self._result(solution, cell, sign * level) if is_found else self._none()
        set_costs(self._solver, column, np.zeros(1))
        set_bounds(self._solver, column, *self._limits(np.array([cell])))
        set_bounds(self._solver, mine, *self._limits(own))
        return result

    def _known(self, attackers: Ints) -> Ints:
        lone = attackers[attackers != NOBODY]
        if not len(lone):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self._is_open & np.isin(self.system.contributors, lone))

    def _result(self, solution: Any, cell: int, level: float) -> MoveResult:
        differences, prices = np.zeros(self.system.size), np.zeros(self.system.equations.count)
        differences[self.cells] = np.array(solution.col_value)
        differences[np.abs(differences) < _NOTHING * abs(level)] = 0.0
        # Any prices make a valid inequality: those of few digits make one without tiny terms.
        prices[self._rows] = np.round(np.array(solution.row_dual), _DECIMALS)
        return MoveResult(differences[cell] / level, differences, prices)

    def _none(self) -> MoveResult:
        size, rows = self.system.size, self.system.equations.count
        return MoveResult(0.0, np.zeros(size), np.zeros(rows))


def is_reached(share: float) -> bool:
    """Return whether a share of a level is all of it, but for what the solver tolerates."""
    return share >= _ENOUGH


def reduced_costs(system: TableSystem, prices: Floats) -> Floats:
    """Return minus the sum of the equations at prices, (equations,): the factor of each cell."""
    equations = system.equations
    weights = equations.coefficients * prices[equations.rows]
    sums = np.bincount(equations.cells, weights, minlength=system.size)
    return np.asarray(-sums, dtype=np.float64)


def protection_cut(
    system: TableSystem, need: ProtectionNeed, prices: Floats
) -> ProtectionCut | None:
    """Return the inequality of a need that any prices of equations, (equations,), make.

    Whatever a cell moves by, others must move by in the equations that are priced; those of a
    pattern move no farther than their bounds. Cells of the first pattern are on the other side, and
    no coefficient is larger than what is left there (section 4.1, capacity constraints). None
    where nothing is left, and no cells where no pattern satisfies the need.
    """
    cell, level = need.cell, need.level
    reduced = reduced_costs(system, prices)
    capacity = np.maximum(-reduced, 0) * system.up + np.maximum(reduced, 0) * system.down
    if need.attacker != NOBODY:
        capacity[system.contributors == need.attacker] = 0.0
    rest = need.move * float(reduced[cell])
    is_forced = system.first_pattern.copy()
    is_forced[cell] = False
    rest -= float(capacity[is_forced].sum())
    capacity[system.first_pattern | ~system.may_be_suppressed] = 0.0
    capacity[cell] = 0.0
    if rest <= _NOTHING * level:
        return None
    cells = np.flatnonzero(capacity > _NOTHING * rest)
    coefficients = np.minimum(capacity[cells] / rest, 1.0)
    if coefficients.sum() < _ENOUGH:
        return ProtectionCut(cells[:0], coefficients[:0])
    return ProtectionCut(cells, coefficients)


def line_cuts(system: TableSystem, needs: ProtectionNeeds) -> list[ProtectionCut]:
    """Return the inequalities of every single equation about the cell of a need, each once.

    An attacker who is alone in no cell of an equation adds nothing to what all others know.
    """
    equations, cuts = system.equations, {}
    order = np.argsort(equations.cells, kind="stable")
    starts = np.searchsorted(equations.cells[order], np.arange(system.size + 1))
    for number, lines in _needs_of_lines(system, needs):
        need = needs.need(number)
        terms = order[starts[need.cell] : starts[need.cell + 1]]
        if lines is not None:
            terms = terms[np.isin(equations.rows[terms], lines)]
        for term in terms:
            prices = np.zeros(equations.count)
            prices[equations.rows[term]] = -need.sign / equations.coefficients[term]
            cut = protection_cut(system, need, prices)
            if cut is not None and len(cut.cells):
                cuts[cut.key] = cut
    return list(cuts.values())


def _needs_of_lines(
    system: TableSystem, needs: ProtectionNeeds
) -> Iterator[tuple[int, Ints | None]]:
    """Yield the numbers of needs with the equations that their attackers add something to, None for
    all: those of who knows no cell, and of lone contributors as many as make no difference to how
    long a search takes. Without an inequality, a bound is lower, and no pattern less safe."""
    equations, width = system.equations, len(needs.attackers)
    yield from ((move * width, None) for move in np.flatnonzero(~needs.is_void[:, 0]).tolist())
    contributors, count = system.contributors[equations.cells], 0
    for place, attacker in enumerate(needs.attackers[1:].tolist(), start=1):
        lines = np.unique(equations.rows[contributors == attacker])
        near = np.unique(equations.cells[np.isin(equations.rows, lines)])
        moves = np.flatnonzero(~needs.is_void[:, place] & np.isin(needs.cells, near))
        count += len(moves)
        if count > _MOST_LONE_CUTS:
            return
        yield from ((move * width + place, lines) for move in moves.tolist())


@dataclass(eq=False)
class Witnesses:
    """Tables that attackers found possible, kept to see which needs they satisfy in new patterns.

    Of each it is enough to know how its cells differ from the true ones, and by which share of
    that they may differ in a pattern, since what lies between two possible tables is possible.
    """

    system: TableSystem
    needs: ProtectionNeeds
    _kept: list["_Witness"] = field(init=False, default_factory=list)

    def add(self, differences: Floats, pattern: Floats) -> Bools:
        """Keep a table, by the differences of its cells, (n,), and the one on the other side.

        Returns which needs they satisfy in a pattern, (moves, attackers).
        """
        cells = np.flatnonzero(differences)
        if not len(cells):
            return self.needs.is_void.copy()
        pair = [self._witness(cells, differences), self._witness(cells, -differences)]
        if len(self._kept) >= _MOST_KEPT:
            self._kept = self._kept[len(self._kept) // 2 :]
        self._kept += pair
        return self._satisfied(pair, pattern)

    def _witness(self, cells: Ints, differences: Floats) -> "_Witness":
        gains = differences[self.needs.cells] / self.needs.moves
        is_same = ~np.isin(self.needs.attackers, self.system.contributors[cells])
        is_same[0] = True
        return _Witness(cells, differences[cells], gains, is_same)

    def satisfied(self, pattern: Floats) -> Bools:
        """Return which needs the tables satisfy in a pattern, (moves, attackers)."""
        return self._satisfied(self._kept, pattern)

    def _satisfied(self, tables: list["_Witness"], pattern: Floats) -> Bools:
        result = self.needs.is_void.copy()
        if not tables:
            return result
        cells = np.concatenate([one.cells for one in tables])
        differences = np.concatenate([one.differences for one in tables])
        limits = np.where(differences > 0, self.system.up[cells], self.system.down[cells])
        starts = np.cumsum([0, *(len(one.cells) for one in tables[:-1])])
        ratios = limits * pattern[cells] / np.abs(differences)
        shares = np.minimum.reduceat(ratios, starts)
        numbers = np.flatnonzero(shares > 0)
        if not len(numbers):
            return result
        gains = np.array([tables[number].gains for number in numbers])
        is_reached_by = (shares[numbers, np.newaxis] * gains >= _ENOUGH).astype(np.float32)
        is_same = np.array([tables[number].is_same for number in numbers], dtype=np.float32)
        return np.asarray(result | (is_reached_by.T @ is_same > 0))


@dataclass(frozen=True, eq=False)
class _Witness:
    """Cells that differ, by what, what share of each move that is, (moves,), and which attackers
    find it possible, (attackers,): those whose own cells are the same."""

    cells: Ints
    differences: Floats
    gains: Floats
    is_same: Bools
