"""Finished tables beside each other: cells that two of them have in common make them one.

A cell is known by its labels, wherever they stand: the total of region C in one table is the cell
of C in another. What follows exactly from all that the tables show is revealed: by elimination, and
by what is added up not being negative.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.matching_keys import CellName, match_keys
from policy_engine.audits.outputs.reading_tables import FinishedTable
from policy_engine.kernels.output_checks.fixed_zeros import zeros_of
from policy_engine.kernels.output_checks.recoverability import determined
from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.kernels.output_checks.table_system import TableLayout, link

Cells = NDArray[np.bool_]
MOST_CELLS = 4_000
"""Tables with more cells together are not compared: a person has to."""
_ONE_BY_ONE = 150


def are_small(tables: Sequence[FinishedTable]) -> bool:
    """Tell whether tables can be compared: before any of their cells that are absent is made."""
    return sum(one.size for one in tables) <= MOST_CELLS


class LinkedTables:
    """Tables of counts, or totals of one column, and the cells that they share."""

    def __init__(self, tables: Sequence[FinishedTable]) -> None:
        """Number the cells of all tables, which `are_small`."""
        self.tables = tuple(tables)
        numbers: dict[CellName, int] = {}
        self.numbers = []
        matches = match_keys(self.tables)
        for match in matches:
            own = [numbers.setdefault(name, len(numbers)) for name in match.names]
            self.numbers.append(np.array(own, np.int64))
        self.layout: TableLayout = link([one.layout for one in self.tables], self.numbers)

        self.values = np.full(self.layout.cells, np.nan)
        self.slack = np.zeros(self.layout.cells)
        for table, cells in zip(self.tables, self.numbers, strict=True):
            places = cells[table.places]
            former = self.values[places]
            self.values[places] = np.where(np.isnan(former), table.values, former)
            self.slack[places] = np.maximum(self.slack[places], table.slack)
        self.clashes = tuple(not one.is_fit for one in matches)
        """Which tables have another figure in a cell than one before them, or keys of which it is
        open whether they are those of others."""

    @property
    def is_blank(self) -> Cells:
        """Which cells a table withholds that none shows, (cells,)."""
        is_there = np.zeros(self.layout.cells, np.bool_)
        for table, cells in zip(self.tables, self.numbers, strict=True):
            is_there[cells[table.places]] = True
        return np.asarray(is_there & np.isnan(self.values), np.bool_)

    def safe_cells(self, displayed: Sequence[Cells]) -> list[Cells]:
        """Return which cells of each table may be shown, of those that it shows.

        Tables are taken in order: a cell is left out where it would reveal one that it or an
        earlier table withholds.
        """
        is_secret = np.zeros(self.layout.cells, np.bool_)
        is_public = np.zeros(self.layout.cells, np.bool_)
        result = []
        for table, numbers, cells in zip(self.tables, self.numbers, displayed, strict=True):
            own = numbers[table.places]
            secret = is_secret.copy()
            secret[own[~cells]] = True
            secret &= ~is_public
            kept = self._kept(is_public, secret, own, cells & ~secret[own])
            is_public[own[kept]] = True
            is_secret = secret | is_secret
            is_secret[own[cells & ~kept]] = True
            is_secret &= ~is_public
            result.append(kept)
        return result

    def _kept(self, is_public: Cells, secret: Cells, own: NDArray[np.int64], cells: Cells) -> Cells:
        """Return which cells of a table may be shown without revealing a secret."""
        if not self._reveals(is_public, secret, own[cells]):
            return cells
        kept = np.zeros_like(cells)
        if cells.sum() > _ONE_BY_ONE:
            return kept
        for cell in np.flatnonzero(cells).tolist():
            trial = kept.copy()
            trial[cell] = True
            if not self._reveals(is_public, secret, own[trial]):
                kept = trial
        return kept

    def _reveals(self, is_public: Cells, secret: Cells, more: NDArray[np.int64]) -> bool:
        is_unknown = ~is_public
        is_unknown[more] = False
        if (determined(self.layout.equations, is_unknown) & secret).any():
            return True
        is_negative = bool((self.values < 0).any())
        if not secret.any() or is_negative or not can_solve():
            return False
        zeros = zeros_of(self.layout.equations, self.values, self.slack, is_unknown)
        if not zeros.any():
            return False
        is_unknown &= ~zeros
        fixed = zeros | determined(self.layout.equations, is_unknown)
        return bool((fixed & secret).any())
