"""Cells of counts that are withheld: all tables of a session together must not tell them.

A ledger of who was counted knows whom figures are about, and compares these. It has nothing to say
of cells of nobody: that these are shown tells of a withheld cell beside them that all of a group
are in it, and where zeros disclose, so does what tells that a withheld one is of nobody. Here cells
are known by their keys: what tables show are equations over all combinations of the values of all
keys, and an attack looks for worlds that satisfy them, in which withheld cells have other values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.kernels.output_checks.growing_programmes import SolverEffort, UndecidedError
from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.kernels.output_checks.world_sums import WorldAttack
from policy_engine.release.count_readings import CellGoal, CountReading, count_readings
from policy_engine.release.judged_tables import JudgedTable
from policy_engine.release.key_combinations import KeyCombinations, key_combinations
from policy_engine.release.linked_counts import linked_counts
from policy_engine.release.shown_worlds import Cell, ShownWorld, shown_world

_WORK = 4e9
"""How much may be computed of one table: some twenty seconds, where its tables are large."""
_LINKED = ""
_NEAR = 1e-6


def protect_cells(own: JudgedTable, earlier: Sequence[JudgedTable], rows: int) -> TableVerdict:
    """Return the verdict on a table without cells that would tell, with what it and earlier tables
    about some of so many `rows` show, what is withheld of counts (K044).

    Where that cannot be computed, all of the table is for a person (K046).
    """
    verdict = own.verdict
    if verdict.check.secondary == "none":
        return verdict
    systems = dict.fromkeys(one.system for one in count_readings(own))
    for system in (*systems, _LINKED):
        tables = (*earlier, replace(own, verdict=verdict))
        every = [one for table in tables for one in count_readings(table)]
        readings = linked_counts(every, own.made) if system == _LINKED else _of(every, system)
        hidden = _hidden_from_all(readings, own, rows)
        if hidden is None:
            bit = np.uint32(Reason.BEYOND_LEDGER.bit)
            return replace(verdict, reasons=verdict.reasons | bit)
        verdict = _without(verdict, hidden)
    return verdict


def _of(readings: Iterable[CountReading], system: str) -> list[CountReading]:
    return [one for one in readings if one.system == system]


def _without(verdict: TableVerdict, hidden: Iterable[Cell]) -> TableVerdict:
    """Return the verdict with further cells withheld."""
    reasons = verdict.reasons.copy()
    for row, number in hidden:
        reasons[row, number] |= np.uint32(Reason.REVEALS_SUPPRESSED.bit)
    return replace(verdict, reasons=reasons)


def _hidden_from_all(
    readings: Sequence[CountReading], own: JudgedTable, rows: int
) -> list[Cell] | None:
    """Return which cells of the last table must be withheld from who infers counts, and from who
    knows those alone that are shown, to whom they are secret still; None if nobody knows."""
    counts = [one for one in readings if not one.are_inferred]
    is_own = any(one.table.made is own.made for one in counts)
    hidden: set[Cell] = set()
    for some in (readings, counts) if is_own and len(counts) < len(readings) else (readings,):
        if any(one.has_secrets for one in some):
            if (cells := _hidden(some, own, rows)) is None:
                return None
            hidden |= {*cells}
    return sorted(hidden)


def _hidden(readings: Sequence[CountReading], own: JudgedTable, rows: int) -> list[Cell] | None:
    """Return which cells of the last table must be withheld; None if nobody knows."""
    grid = key_combinations(readings, rows, own.made) if can_solve() else None
    if grid is None:
        return None
    hidden: set[Cell] = set()
    effort = SolverEffort(_WORK)
    try:
        for is_used in _readers(grid):
            world = shown_world(readings, grid, is_used, own.made)
            search = _Search(world, {*hidden}, effort, are_all=grid.is_whole)
            hidden |= search.run()
    except UndecidedError:
        return None
    return sorted(hidden)


def _readers(grid: KeyCombinations) -> Iterator[NDArray[np.bool_]]:
    """Yield the combinations that are possible for who knows hierarchies, and for who does not."""
    if not grid.is_possible.all():
        yield grid.is_possible
    yield np.ones_like(grid.is_possible)


@dataclass(eq=False)
class _Search:
    """A search for cells to hide from one reader, by what the `world` is that the reader sees.

    `places` are the sums that are cells of the own table and shown, and no more than the `effort`
    is spent. Where the combinations of the world are not all that there are, earlier tables may
    tell less than they do of these.
    """

    world: ShownWorld
    hidden: set[Cell]
    effort: SolverEffort
    are_all: bool
    places: dict[int, Cell] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {**self.world.places}

    def run(self) -> set[Cell]:
        """Return the cells that are hidden. Raises UndecidedError."""
        if not self.world.secrets or not self.places:
            return self.hidden
        attack, before = self._attack(), self._attack(is_doubted=True)
        before.hide(self.world.own_sums)
        gone = [place for place, cell in self.places.items() if cell in self.hidden]
        attack.hide(np.array([gone], np.int64).ravel())
        for place in gone:
            del self.places[place]
        for secret in self.world.secrets:
            while self.places and (telling := _told_by(secret, attack, before)) is not None:
                if not telling.are_new and not self.are_all:
                    raise UndecidedError
                if not telling.are_new:
                    break
                self._hide(attack, telling.used)
        return self.hidden

    def _attack(self, *, is_doubted: bool = False) -> WorldAttack:
        own = self.world.sums, self.world.targets, self.effort
        return WorldAttack(*own, is_doubted=is_doubted)

    def _hide(self, attack: WorldAttack, used: NDArray[np.bool_]) -> None:
        """Hide the smallest cell that a target is told by, or all, where none of them is."""
        near = [place for place in self.places if used[place]]
        smallest = sorted(near, key=lambda place: (self.world.sums.upper[place], place))[:1]
        attack.hide(np.array(smallest, np.int64) if near else self.world.own_sums)
        self.hidden |= {self.places.pop(place) for place in smallest or [*self.places]}


@dataclass(frozen=True, eq=False)
class _Telling:
    """The sums that tell a secret, (sums,), and whether more is known of it than before a table."""

    used: NDArray[np.bool_]
    are_new: bool


def _told_by(
    secret: Sequence[tuple[int, CellGoal]], attack: WorldAttack, before: WorldAttack
) -> _Telling | None:
    """Return what tells a secret; None where one of its goals is possible."""
    reaches = []
    for number, goal in secret:
        reaches.append(attack.reach(number, goal.low, goal.high))
        if not goal.is_missed(reaches[-1]):
            return None
    formers = [before.reach(number, goal.low, goal.high) for number, goal in secret]
    is_new = [
        reach.low > max(goal.low, former.low) + _NEAR
        or reach.high < min(goal.high, former.high) - _NEAR
        for (_, goal), reach, former in zip(secret, reaches, formers, strict=True)
    ]
    return _Telling(np.logical_or.reduce([one.used for one in reaches]), any(is_new))
