"""Cells of counts that are withheld: all tables of a session together must not tell them.

A ledger of who was counted knows whom figures are about, and compares these. It has nothing to say
of cells of nobody: that these are shown tells of a withheld cell beside them that all of a group
are in it, and where zeros disclose, so does what tells that a withheld one is of nobody. Here cells
are known by their keys: what tables show are equations over all combinations of the values of all
keys, and an attack looks for worlds that satisfy them, in which withheld cells have other values.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.kernels.output_checks.world_sums import UndecidedError, WorldAttack
from policy_engine.release.count_readings import CellGoal, CountReading, count_readings
from policy_engine.release.judged_tables import JudgedTable
from policy_engine.release.key_combinations import KeyCombinations, key_combinations
from policy_engine.release.linked_counts import linked_counts
from policy_engine.release.shown_worlds import Cell, ShownWorld, shown_world

_SECONDS, _LINKED_SECONDS = 20.0, 5.0
_NEAR = 1e-6


def protect_cells(own: JudgedTable, earlier: Sequence[JudgedTable], rows: int) -> TableVerdict:
    """Return the verdict on a table without cells that would tell, with what it and earlier tables
    about some of so many `rows` show, what is withheld of counts (K044).

    Where that cannot be computed, all of the table is for a person (K046).
    """
    verdict = own.verdict
    if verdict.check.secondary == "none":
        return verdict
    for system in dict.fromkeys(one.system for one in count_readings(own)):
        readings = [one for table in (*earlier, replace(own, verdict=verdict))
                    for one in count_readings(table) if one.system == system]  # fmt: skip
        hidden = _hidden_from_all(readings, own, rows)
        if hidden is None:
            bit = np.uint32(Reason.BEYOND_LEDGER.bit)
            return replace(verdict, reasons=verdict.reasons | bit)
        verdict = _without(verdict, hidden)
    return _without(verdict, _hidden_by_links(replace(own, verdict=verdict), earlier, rows))


def _without(verdict: TableVerdict, hidden: Iterable[Cell]) -> TableVerdict:
    """Return the verdict with further cells withheld."""
    reasons = verdict.reasons.copy()
    for row, number in hidden:
        reasons[row, number] |= np.uint32(Reason.REVEALS_SUPPRESSED.bit)
    return replace(verdict, reasons=reasons)


def _hidden_by_links(own: JudgedTable, earlier: Sequence[JudgedTable], rows: int) -> set[Cell]:
    """Return which cells of the last table must be withheld from who compares counts of rows with
    those of values; none where that takes too long."""
    if not any(one.are_counts for one in count_readings(own)) or not can_solve():
        return set()
    readings = [one for table in (*earlier, own) for one in count_readings(table) if one.are_counts]
    is_any_secret = any(one.goals or one.rests for one in readings)
    linked = linked_counts(readings, own.made, rows) if is_any_secret else None
    if linked is None:
        return set()
    some, grid = linked
    world = shown_world(some, grid, grid.is_possible, own.made)
    try:
        return _Search(world, set(), _LINKED_SECONDS).run()
    except UndecidedError:
        return set()


def _hidden_from_all(
    readings: Sequence[CountReading], own: JudgedTable, rows: int
) -> list[Cell] | None:
    """Return which cells of the last table must be withheld from who infers counts, and from who
    knows those alone that are shown, to whom they are secret still; None if nobody knows."""
    counts = [one for one in readings if not one.are_inferred]
    is_own = any(one.table.made is own.made for one in counts)
    hidden: set[Cell] = set()
    for some in (readings, counts) if is_own and len(counts) < len(readings) else (readings,):
        if any(one.goals or one.rests for one in some):
            if (cells := _hidden(some, own, rows)) is None:
                return None
            hidden |= {*cells}
    return sorted(hidden)


def _hidden(readings: Sequence[CountReading], own: JudgedTable, rows: int) -> list[Cell] | None:
    """Return which cells of the last table must be withheld; None if nobody knows."""
    comparable = _comparable(readings, own, rows)
    if comparable is None or not can_solve():
        return None if own.verdict.check.profile.zeros_disclosive or not can_solve() else []
    some, grid = comparable
    hidden: set[Cell] = set()
    try:
        for is_used in _readers(grid):
            hidden |= _Search(shown_world(some, grid, is_used, own.made), {*hidden}).run()
    except UndecidedError:
        return None
    return sorted(hidden)


def _comparable(
    readings: Sequence[CountReading], own: JudgedTable, rows: int
) -> tuple[list[CountReading], KeyCombinations] | None:
    """Return readings that can be compared, with their combinations: all, or where zeros do not
    disclose, without those that have most keys of their own; None where there are too many."""
    some = [*readings]
    while True:
        if (grid := key_combinations(some, rows)) is not None:
            return some, grid
        keys = {*own.made.table.keys}
        others = [one for one in some if one.table.made is not own.made]
        if own.verdict.check.profile.zeros_disclosive or not others:
            return None
        far = max(others, key=lambda one: len({*one.table.made.table.keys} - keys))
        some = [one for one in some if one.table.made is not far.table.made]


def _readers(grid: KeyCombinations) -> Iterator[NDArray[np.bool_]]:
    """Yield the combinations that are possible for who knows hierarchies, and for who does not."""
    if not grid.is_possible.all():
        yield grid.is_possible
    yield np.ones_like(grid.is_possible)


@dataclass(eq=False)
class _Search:
    """A search for cells to hide from one reader, by what the `world` is that the reader sees.

    `places` are the sums that are cells of the own table and shown.
    """

    world: ShownWorld
    hidden: set[Cell]
    seconds: float = _SECONDS
    places: dict[int, Cell] = field(init=False)
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.places = {**self.world.places}
        self.deadline = time.monotonic() + self.seconds

    def run(self) -> set[Cell]:
        """Return the cells that are hidden. Raises UndecidedError."""
        if not self.world.secrets or not self.places:
            return self.hidden
        attack, before = self._attack(), self._attack()
        before.hide(self.world.own_sums)
        gone = [place for place, cell in self.places.items() if cell in self.hidden]
        attack.hide(np.array([gone], np.int64).ravel())
        for place in gone:
            del self.places[place]
        for secret in self.world.secrets:
            while self.places and (used := _told_by(secret, attack, before)) is not None:
                self._hide(attack, used)
        return self.hidden

    def _attack(self) -> WorldAttack:
        return WorldAttack(self.world.sums, self.world.targets, self.deadline)

    def _hide(self, attack: WorldAttack, used: NDArray[np.bool_]) -> None:
        """Hide the smallest cell that a target is told by, or all, where none of them is."""
        near = [place for place in self.places if used[place]]
        smallest = sorted(near, key=lambda place: (self.world.sums.upper[place], place))[:1]
        attack.hide(np.array(smallest, np.int64) if near else self.world.own_sums)
        self.hidden |= {self.places.pop(place) for place in smallest or [*self.places]}


def _told_by(
    secret: Sequence[tuple[int, CellGoal]], attack: WorldAttack, before: WorldAttack
) -> NDArray[np.bool_] | None:
    """Return the sums that tell a secret, (sums,): of which no goal is possible, and more is known
    of one of them than before the table; None where that is not so."""
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
    return np.logical_or.reduce([one.used for one in reaches]) if any(is_new) else None
