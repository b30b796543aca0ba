"""What searches for patterns of suppression share: attacks, repairs and the best pattern so far."""

from collections.abc import Iterator
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
from policy_engine.kernels.output_checks.protection_needs import (
    ProtectionNeed,
    ProtectionNeeds,
    protection_needs,
)
from policy_engine.kernels.output_checks.separation import (
    MoveResult,
    PatternAttack,
    Witnesses,
    is_reached,
)
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    Bools,
    Equations,
    Floats,
    Ints,
    TableSystem,
)
from policy_engine.kernels.output_checks.work_time import UNLIMITED, TimeUpError, WorkTime

_MOST_REPAIRS = 20
_FIRST_MOVES = 16
"""How many needs are met before all that are left are looked at again; twice as many each time."""


@dataclass(eq=False)
class SuppressionSearch:
    """A search for a cheap pattern that satisfies all needs that any pattern can satisfy.

    `best` is the cheapest pattern found, (n,), and `bound` what every pattern costs at the least.
    In its `time` it is improved; what has to be done anyway raises TimeUpError at the `limit`. It
    begins with the `first` pattern, (n,), if there is one.
    """

    system: TableSystem
    time: WorkTime
    limit: WorkTime = UNLIMITED
    first: Bools | None = None
    needs: ProtectionNeeds = field(init=False)
    witnesses: Witnesses = field(init=False)
    unprotectable: Ints = field(init=False)
    best: Bools = field(init=False)
    bound: float = 0.0

    def __post_init__(self) -> None:
        system = self.system
        self.needs = protection_needs(system)
        self.witnesses = Witnesses(system, self.needs)
        self.best = system.first_pattern | system.may_be_suppressed
        never = self._never_met()
        is_unprotectable = system.is_primary & ~system.may_be_suppressed
        is_unprotectable[[self.needs.need(number).cell for number in never]] = True
        self.unprotectable = np.flatnonzero(is_unprotectable)
        self.needs = self.needs.without(np.array(never, dtype=np.int64))
        self.witnesses = Witnesses(system, self.needs)

    def _never_met(self) -> list[int]:
        """Return the needs that not even the pattern satisfies that publishes the least."""
        first = self.system.first_pattern if self.first is None else self.first
        failures = self.failures(first.astype(np.float64), self.limit)
        is_asked = self._whole_moves(failures)
        never = self.failures(self.best.astype(np.float64), self.limit, is_asked)
        return [int(number) for number in np.flatnonzero(self._whole_moves(never))]

    def _whole_moves(self, failures: list[tuple[int, MoveResult]]) -> Bools:
        """Return the needs that failed, (moves, attackers), all of a move that fails for whoever
        knows only what is published."""
        is_failed = np.zeros(self.needs.is_void.shape, dtype=bool)
        is_failed.flat[[number for number, _ in failures]] = True
        return is_failed | is_failed[:, :1]

    @property
    def seconds_left(self) -> float:
        """How long the search may go on."""
        return self.time.left

    @property
    def cost(self) -> float:
        """What the best pattern costs."""
        return self.system.cost(self.best)

    def failures(
        self, pattern: Floats, limit: WorkTime, asked_needs: Bools | None = None
    ) -> list[tuple[int, MoveResult]]:
        """Return needs that a pattern, (n,) from 0 to 1, does not satisfy, with the attacks.

        Where a move fails for whoever knows only what is published, it fails for those who know
        more, and is returned for the former alone. Raises TimeUpError at a limit.
        """
        is_met = self.witnesses.satisfied(pattern)
        if asked_needs is not None:
            is_met = is_met | ~asked_needs
        if is_met.all():
            return []
        attack, failures = PatternAttack(self.system, pattern, limit), []
        for move in np.flatnonzero(~is_met.all(axis=1)).tolist():
            # Who knows no cell comes first, and then all others together.
            for some in (np.zeros(1, np.int64), np.arange(1, is_met.shape[1])):
                successes = [*self._failed(attack, move, some, is_met)]
                failures += successes
                if successes and some[0] == 0:
                    is_met[move] = True
        return failures

    def _failed(
        self, attack: PatternAttack, move: int, some: Ints, is_met: Bools
    ) -> Iterator[tuple[int, MoveResult]]:
        """Yield the needs of a move that fail, of some attackers by their places, with the attacks.

        They attack together first: what all of them cannot exclude, none of them can. If they can,
        halves of them are tried, down to single ones.
        """
        some = some[~is_met[move, some]]
        if not len(some):
            return
        number = move * len(self.needs.attackers) + int(some[0])
        result = attack.attack(self.needs.need(number), self.needs.attackers[some])
        if is_reached(result.share):
            is_met |= self.witnesses.add(result.differences, attack.pattern)
            is_met[move, some] = True
        elif len(some) == 1:
            yield number, result
        else:
            for half in np.array_split(some, 2):
                yield from self._failed(attack, move, half, is_met)

    def offer(self, pattern: Bools, *, is_last_resort: bool = False) -> None:
        """Repair a pattern, clean it, and keep it where it is the cheapest so far.

        A last resort is repaired even if that takes longer than there is time, up to the limit.
        Raises TimeUpError where that does not suffice.
        """
        repaired = self._repaired(pattern, self.limit if is_last_resort else self.time)
        if repaired is not None:
            cleaned = self.cleaned(repaired)
            if self.system.cost(cleaned) < self.cost:
                self.best = cleaned

    def _repaired(self, pattern: Bools, limit: WorkTime) -> Bools | None:
        """Return a pattern with more cells, for each need those of the cheapest way of moving its
        cell (Kelly, Golden and Assad: Cell suppression: disclosure protection for sensitive
        tabular data, Networks 22(4), 1992). None where that takes too many rounds."""
        result = pattern | self.system.first_pattern
        for repair in range(_MOST_REPAIRS):
            failures = self.failures(result.astype(np.float64), limit)
            if not failures:
                return result
            # The worst first, and few of them: what they need serves others, and to see that takes
            # less time than to find a cheapest way.
            numbers = [one for one, _ in sorted(failures, key=lambda pair: pair[1].share)]
            result = self._with_moves(result, numbers[: _FIRST_MOVES << repair], limit)
        return None

    def _with_moves(self, pattern: Bools, numbers: list[int], limit: WorkTime) -> Bools:
        flow = CheapestMove(self.system, pattern, limit)
        for number in numbers:
            if not self.witnesses.satisfied(flow.pattern.astype(np.float64)).flat[number]:
                moved = flow.moved(self.needs.need(number))
                self.witnesses.add(moved, flow.pattern.astype(np.float64))
                flow.suppress(np.flatnonzero(moved))
        return flow.pattern

    def cleaned(self, pattern: Bools) -> Bools:
        """Return a pattern without the cells that no need requires, the dearest left out first, so
        far as time suffices."""
        result = pattern.astype(np.float64)
        attack = PatternAttack(self.system, result.copy(), self.time)
        extra = np.flatnonzero(pattern & ~self.system.first_pattern)
        for cell in extra[np.argsort(-self.system.weights[extra], kind="stable")].tolist():
            result[cell] = 0.0
            attack.publish(cell)
            try:
                self.time.check()
                is_needed = not self._withstands(attack, result)
            except TimeUpError:
                result[cell] = 1.0
                break
            if is_needed:
                result[cell] = 1.0
                attack.suppress(cell)
        return np.asarray(result > 0)

    def _withstands(self, attack: PatternAttack, pattern: Floats) -> bool:
        is_met = self.witnesses.satisfied(pattern)
        every = np.arange(is_met.shape[1])
        for move in np.flatnonzero(~is_met.all(axis=1)).tolist():
            if next(self._failed(attack, move, every, is_met), None) is not None:
                return False
        return True


@dataclass(eq=False)
class CheapestMove:
    """The programme of the cheapest cells to suppress so that a cell can be moved by its level.

    It takes a cell's weight by the share of its reach that moves: 0 for cells suppressed already.
    """

    system: TableSystem
    pattern: Bools
    limit: WorkTime = UNLIMITED
    _solver: Any = field(init=False)

    def __post_init__(self) -> None:
        system, size = self.system, self.system.size
        terms = system.equations
        both = Equations(
            2 * terms.starts,
            np.concatenate([terms.cells, terms.cells + size]),
            np.concatenate([terms.coefficients, -terms.coefficients]),
        )
        order = np.argsort(np.concatenate([terms.rows, terms.rows]), kind="stable")
        both = Equations(both.starts, both.cells[order], both.coefficients[order])
        is_open = self.pattern | system.may_be_suppressed
        up, down = np.where(is_open, system.up, 0.0), np.where(is_open, system.down, 0.0)
        costs = np.zeros(2 * size)
        self._solver = new_model(costs, costs, np.concatenate([up, down]), both)

    def suppress(self, cells: Ints) -> None:
        """Add cells to the pattern."""
        self.pattern = self.pattern.copy()
        self.pattern[cells] = True

    def moved(self, need: ProtectionNeed) -> Floats:
        """Return the differences, (n,), of a cheapest way of satisfying a need."""
        system, size, cell, level = self.system, self.system.size, need.cell, need.level
        every = np.arange(size)
        is_known = (system.contributors == need.attacker) & (need.attacker != NOBODY)
        own = np.flatnonzero(is_known)
        weights = np.where(self.pattern, 0.0, system.weights + 1e-6 * system.weights.mean())
        costs = [
            weights / np.clip(reach, 1e-3 * level, level) for reach in (system.up, system.down)
        ]
        set_costs(self._solver, np.concatenate([every, every + size]), np.concatenate(costs))
        column = np.array([cell, cell + size])
        limits = np.array([level, 0.0]) if need.sign > 0 else np.array([0.0, level])
        both = np.concatenate([own, own + size])
        set_bounds(self._solver, both, np.zeros(len(both)), np.zeros(len(both)))
        set_bounds(self._solver, column, limits, limits)
        is_found = run_until_optimal(self._solver, self.limit)
        values = np.array(self._solver.getSolution().col_value)
        set_bounds(
            self._solver, column, np.zeros(2), np.array([system.up[cell], system.down[cell]])
        )
        set_bounds(self._solver, both, np.zeros(len(both)), self._reach(own))
        if not is_found:
            raise InternalError.of("X001", "A need that some pattern satisfies is not repaired.")
        difference = values[:size] - values[size:]
        difference[np.abs(difference) < 1e-7 * level] = 0.0
        return np.asarray(difference)

    def _reach(self, cells: Ints) -> Floats:
        is_open = self.pattern[cells] | self.system.may_be_suppressed[cells]
        up, down = self.system.up[cells], self.system.down[cells]
        return np.where(np.tile(is_open, 2), np.concatenate([up, down]), 0.0)
