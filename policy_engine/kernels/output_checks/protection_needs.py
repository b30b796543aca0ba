"""What a pattern of suppression has to withstand: every attacker at every primary cell, two ways.

A need is that an attacker must find a table possible in which a primary cell is a level farther up,
or down; the attacker may be the lone contributor of some cells, which then are at their values.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    Bools,
    Floats,
    Ints,
    TableSystem,
)


class ProtectionNeed(NamedTuple):
    """That an attacker, -1 or a lone contributor, cannot exclude a cell's value plus a `move`."""

    cell: int
    move: float
    attacker: int

    @property
    def sign(self) -> int:
        """1 where the cell is to be moved up, -1 where down."""
        return 1 if self.move > 0 else -1

    @property
    def level(self) -> float:
        """How far the cell is to be moved."""
        return abs(self.move)


@dataclass(frozen=True, eq=False)
class ProtectionNeeds:
    """Moves of cells, (moves,) each, that are to be possible for each of `attackers`.

    Of `is_void`, (moves, attackers), are those that nobody asks for. Needs are numbered by move and
    attacker, in C order.
    """

    cells: Ints
    moves: Floats
    attackers: Ints
    is_void: Bools

    def need(self, number: int) -> ProtectionNeed:
        """Return a need by its number."""
        move, attacker = divmod(number, len(self.attackers))
        return ProtectionNeed(
            int(self.cells[move]), float(self.moves[move]), int(self.attackers[attacker])
        )

    def without(self, numbers: Ints) -> "ProtectionNeeds":
        """Return the needs without some."""
        is_void = self.is_void.copy()
        is_void.flat[numbers] = True
        return ProtectionNeeds(self.cells, self.moves, self.attackers, is_void)


def protection_needs(system: TableSystem) -> ProtectionNeeds:
    """Return the needs of a system: of an attacker who knows what is published, and of each lone
    contributor of a cell, from whom the primary cells that it does not know are to be protected."""
    cells = np.flatnonzero(system.is_primary & system.may_be_suppressed)
    moves = np.concatenate([system.upper_protection[cells], -system.lower_protection[cells]])
    lone = np.unique(system.contributors[system.contributors != NOBODY])
    attackers = np.concatenate([[NOBODY], lone])
    both = np.tile(cells, 2)[moves != 0]
    is_own = np.zeros((system.size, len(attackers)), np.bool_)
    of_cells, contributors = system.lone_knowledge
    is_own[of_cells, np.searchsorted(attackers, contributors)] = True
    return ProtectionNeeds(both, moves[moves != 0], attackers, is_own[both])
