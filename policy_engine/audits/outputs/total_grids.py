"""Tables of results with their totals, as equations between the cells of a grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts, ResultTable
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    TableLayout,
    flat_dimension,
    lay_out,
)

MOST_CELLS = 12_000
"""Tables of more cells, totals included, are left to the ledger, which refuses what it must."""


@dataclass(frozen=True)
class TotalGrid:
    """A table with all its totals: the cell of each row, and the shape with a total of each key."""

    cells: Counts
    shape: tuple[int, ...]
    layout: TableLayout

    def summed(self, sizes: NDArray[np.float64], is_part: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the values of all cells: those of the parts, (rows,), and totals of them."""
        table = np.zeros(self.shape)
        table.flat[self.cells[is_part]] = sizes[is_part]
        for axis in range(table.ndim):
            parts = np.moveaxis(table, axis, 0)
            with np.errstate(over="ignore"):
                parts[-1] = parts[:-1].sum(axis=0)
        return table.ravel()

    def contributors(self, lone: Counts, units: Counts, is_part: NDArray[np.bool_]) -> Counts:
        """Return who contributes alone to each cell, totals included: -1 for several, and nobody.

        `units` (rows,) say how many contribute, and `lone` who it is where that is one.
        """
        least = np.full(self.shape, np.iinfo(np.int64).max)
        most = np.full(self.shape, NOBODY)
        is_one, is_several = is_part & (units == 1), is_part & (units > 1)
        least.flat[self.cells[is_one]] = most.flat[self.cells[is_one]] = lone[is_one]
        least.flat[self.cells[is_several]] = NOBODY
        most.flat[self.cells[is_several]] = 0
        for axis in range(least.ndim):
            lower, upper = np.moveaxis(least, axis, 0), np.moveaxis(most, axis, 0)
            lower[-1], upper[-1] = lower[:-1].min(axis=0), upper[:-1].max(axis=0)
        return np.where(least == most, least, NOBODY).ravel()


def grid_of(table: ResultTable) -> TotalGrid | None:
    """Return the grid of a table, None if it has no totals over rows that it has, too, or more than
    `MOST_CELLS`."""
    codes = table.codes
    sizes = [len(labels) for labels in table.labels]
    is_total = codes == TOTAL
    has_parts = bool(sizes) and bool((~is_total).all(axis=1).any())
    if not has_parts or not is_total.any() or np.prod([size + 1 for size in sizes]) > MOST_CELLS:
        return None
    places = np.where(is_total, np.array(sizes), codes)
    shape = tuple(size + 1 for size in sizes)
    cells = np.ravel_multi_index(tuple(places.T), shape)
    return TotalGrid(cells, shape, lay_out([flat_dimension(size) for size in sizes]))
