"""An attack on a finished pattern of suppression, by code that the search of it does not use.

All that is computed here are an attacker's intervals and an elimination: nothing depends on cuts,
capacities or witnesses of a search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from policy_engine.kernels.output_checks.attacker_intervals import CellAttack, contributor_cells
from policy_engine.kernels.output_checks.recoverability import determined
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    Bools,
    Floats,
    Ints,
    TableSystem,
)
from policy_engine.kernels.output_checks.work_time import UNLIMITED, WorkTime

_TOLERANCE = 1e-6
_MOST_COEFFICIENTS = 4e6


@dataclass(frozen=True)
class UnprotectedCell:
    """A primary cell of which an attacker learns too much, and what: from `lower` to `upper`.

    `contributor` is the attacker's number, or -1 for one who knows no suppressed cell.
    """

    cell: int
    contributor: int
    lower: float
    upper: float

    @property
    def is_exact(self) -> bool:
        """Whether the attacker learns its value, but for what the solver tolerates."""
        return self.upper - self.lower <= _TOLERANCE * max(abs(self.lower), 1.0)


def attack_pattern(
    system: TableSystem, is_suppressed: Bools, limit: WorkTime = UNLIMITED
) -> tuple[UnprotectedCell, ...]:
    """Return the primary cells that a pattern, (n,), does not protect, each once for each attacker.

    Attackers are one who knows only what is published, and each lone contributor of suppressed
    cells, of whom the others' cells are to be protected. Raises TimeUpError at a limit.
    """
    attack, primaries = CellAttack(system, is_suppressed, limit), np.flatnonzero(system.is_primary)
    unknown = primaries[is_suppressed[primaries]]
    failures = [_published(system, cell) for cell in primaries[~is_suppressed[primaries]].tolist()]
    failures += _failures(attack, NOBODY, unknown, [])
    own = contributor_cells(system, is_suppressed)
    failures += _lone_failures(attack, own, [*own], unknown)
    return (*failures, *_determined_others(system, is_suppressed, failures, limit))


def _lone_failures(
    attack: CellAttack, own: Mapping[int, Ints], some: Sequence[int], unknown: Ints
) -> list[UnprotectedCell]:
    """Return which unknown cells some lone contributors learn too much of, who know their own.

    What all of them together do not learn, none of them learns: only of the cells that they learn,
    halves of them are tried, down to single ones.
    """
    if not some:
        return []
    failures = _failures_of(attack, own, some, unknown)
    if len(some) == 1 or not failures:
        return failures
    exposed = np.array(sorted({one.cell for one in failures}), np.int64)
    middle = len(some) // 2
    halves = some[:middle], some[middle:]
    return [one for half in halves for one in _lone_failures(attack, own, half, exposed)]


def _failures_of(
    attack: CellAttack, own: Mapping[int, Ints], some: Sequence[int], unknown: Ints
) -> list[UnprotectedCell]:
    """Return which unknown cells contributors learn too much of together; and what all but one of
    them learn of the cells of that one."""
    cells = np.unique(np.concatenate([own[one] for one in some]))
    attack.learn(cells)
    others = unknown[~np.isin(unknown, cells)]
    failures = _failures(attack, some[0], others, attack.tables_with(cells))
    for contributor in some if len(some) > 1 else ():
        mine = own[contributor]
        targets = unknown[np.isin(unknown, mine)]
        if len(targets):
            attack.forget(mine)
            rest = np.setdiff1d(cells, mine)
            failures += _failures(attack, some[0], targets, attack.tables_with(rest))
            attack.learn(mine)
    attack.forget(cells)
    return failures


def _failures(
    attack: CellAttack, contributor: int, cells: Ints, tables: list[Floats]
) -> list[UnprotectedCell]:
    """Return which unknown cells an attacker learns too much of.

    Some tables are known to be possible for the attacker, and every programme finds another: only
    cells that none of them shows to be protected are attacked.
    """
    system, places = attack.system, np.searchsorted(attack.cells, cells)
    values = system.values[cells]
    slacks = _TOLERANCE * np.maximum(system.lower_protection, system.upper_protection)[cells]
    lowest = values - system.lower_protection[cells] + slacks
    highest = values + system.upper_protection[cells] - slacks
    lower, upper = _extremes([system.values[attack.cells], *tables], places)
    for at, cell in enumerate(cells.tolist()):
        for is_exposed, extreme in (
            (lower[at] > lowest[at], attack.least),
            (upper[at] < highest[at], attack.largest),
        ):
            if is_exposed:
                extreme(cell)
                table = attack.tables[-1][places]
                lower, upper = np.minimum(lower, table), np.maximum(upper, table)
    is_failure = (lower > lowest) | (upper < highest)
    return [
        UnprotectedCell(int(cells[at]), contributor, lower[at], upper[at])
        for at in np.flatnonzero(is_failure)
    ]


def _extremes(tables: list[Floats], places: Ints) -> tuple[Floats, Floats]:
    values = np.array([table[places] for table in tables])
    return values.min(axis=0), values.max(axis=0)


def _published(system: TableSystem, cell: int) -> UnprotectedCell:
    return UnprotectedCell(cell, NOBODY, float(system.values[cell]), float(system.values[cell]))


def _determined_others(
    system: TableSystem,
    is_suppressed: Bools,
    failures: list[UnprotectedCell],
    limit: WorkTime,
) -> list[UnprotectedCell]:
    """Return the primary cells that elimination finds and the programmes did not; of many cells,
    only the programmes tell."""
    exact = determined(
        system.equations, is_suppressed, limit, system.is_primary, _MOST_COEFFICIENTS
    )
    exact &= system.is_primary
    exact[[one.cell for one in failures]] = False
    return [_published(system, int(cell)) for cell in np.flatnonzero(exact)]
