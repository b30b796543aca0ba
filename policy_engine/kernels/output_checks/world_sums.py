"""What counts are possible by what is shown of their sums: an attack by linear programmes.

A world says how many rows there are of each kind, and is possible if all sums that are shown are
those of it. Of a withheld sum, an intruder knows that it is one of a possible world: the least and
the largest are found by linear programmes, and by integer ones where these end between whole
numbers. Each world that is found is kept as a witness, so that few programmes are solved.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.growing_programmes import (
    FoundWorld,
    GrowingProgramme,
    SolverEffort,
    whole_world,
)
from policy_engine.kernels.output_checks.table_system import Equations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_NEAR, _ROOM, _HALF = 1e-6, 10.0, 0.5
_MOST_NODES, _MOST_WHOLE = 100, 300
"""So far, worlds of whole numbers are looked for: in so many branches, and first among few kinds,
then among all, if there are no more than so many."""


@dataclass(frozen=True, eq=False)
class WorldSums:
    """Sums over so many `kinds` of rows, each at least `lower` and at most `upper`, (sums,): kinds
    have whole numbers of rows if they `are_whole`, and none less than 0 in any case. In the world
    that is the case, there are rows of the `usual` kinds, (kinds,), if these are known."""

    rows: Equations
    kinds: int
    lower: Floats
    upper: Floats
    are_whole: bool = True
    usual: Bools | None = None


@dataclass(frozen=True)
class SumReach:
    """What a sum is known to lie between, and by which of the sums that are shown, (sums,)."""

    low: float
    high: float
    used: Bools


class WorldAttack:
    """What can be concluded of some `targets`, which are sums, too, from those that are shown.

    `least` and `most`, (targets,), are what worlds that were found have of them. Where sums are
    hidden, less is known, so that these worlds stay possible. Where it is not decided what whole
    numbers tell, it is taken to be known, or with `is_doubted` not to be.
    """

    def __init__(
        self, sums: WorldSums, targets: Equations, effort: SolverEffort, *, is_doubted: bool = False
    ) -> None:
        """Begin an attack on sums, with no more than some effort."""
        self._sums, self._targets, self._effort = sums, targets, effort
        self._is_doubted = is_doubted
        self._usual = np.zeros(sums.kinds, np.bool_) if sums.usual is None else sums.usual.copy()
        self._lower, self._upper = sums.lower.copy(), sums.upper.copy()
        finite = sums.upper[np.isfinite(sums.upper)]
        self._scale = 1.0 if sums.are_whole else max(float(finite.max(initial=1.0)), 1.0)
        # No world needs more of any kind: what is not bounded has room enough for all that is asked
        self._most = _ROOM * (float(finite.max(initial=1.0)) / self._scale + 1.0)
        self._programme = GrowingProgramme(sums.rows, self._bounds, self._most)
        self._programme.take(np.flatnonzero(self._usual))
        self.least = np.full(targets.count, np.inf)
        self.most = np.full(targets.count, -np.inf)

    def hide(self, places: NDArray[np.int64]) -> None:
        """Take back that some sums are shown."""
        self._lower[places], self._upper[places] = -np.inf, np.inf
        self._programme.hide(places)

    @property
    def _bounds(self) -> tuple[Floats, Floats]:
        return self._lower / self._scale, self._upper / self._scale

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
        aim = sign * goal / self._scale
        for world in self._programme.worlds(costs, self._effort):
            end = float(costs @ world.rows)
            if end > aim + _NEAR and not world.is_least:
                continue
            if not self._sums.are_whole or _is_whole(world.rows):
                self._see(world.rows)
            elif end > aim + _NEAR:
                # Worlds of whole numbers go no farther than this.
                self._keep(number, sign * np.ceil(end - _NEAR))
            elif (whole := self._whole(costs, world, aim)) is not None:
                self._see(whole)
            elif not world.is_least:
                continue
            elif self._is_doubted:
                self._keep(number, sign * end)
            return world.used
        raise AssertionError

    def _see(self, world: Floats) -> None:
        """Keep a world as a witness."""
        values = self._targets.sums(world) * self._scale
        self.least, self.most = np.minimum(self.least, values), np.maximum(self.most, values)

    def _whole(self, costs: Floats, world: FoundWorld, aim: float) -> Floats | None:
        """Return a world of whole numbers in which costs are as low as is aimed at, or as low as
        can be; None where none is found that has the kinds of known worlds and of one that is not
        whole, nor one of all kinds, if there are few."""
        every = np.full(self._sums.kinds, self._most)
        near = np.where(self._usual | (world.rows > _NEAR), every, 0.0)
        is_small = world.is_least and len(every) <= _MOST_WHOLE
        for most in (near, every) if is_small else (near,):
            kinds = np.flatnonzero(most)
            own = self._sums.rows.of_kinds(kinds)
            some = whole_world(own, self._bounds, most[kinds], costs[kinds], _MOST_NODES)
            self._effort.spend(_MOST_NODES, len(own.cells) + len(kinds))
            if some is not None and (most is every or costs[kinds] @ some <= aim + _NEAR):
                rows = np.zeros(self._sums.kinds)
                rows[kinds] = some
                self._usual |= rows > _HALF
                return rows
        return None

    def _keep(self, number: int, value: float) -> None:
        self.least[number] = min(self.least[number], value)
        self.most[number] = max(self.most[number], value)


def _is_whole(world: Floats) -> bool:
    return bool((np.abs(world - np.round(world)) < _NEAR).all())
