"""Finished tables with their totals and subtotals, as equations between the cells of a grid."""

import numpy as np

from policy_engine.audits.outputs.reading_tables import FinishedTable
from policy_engine.audits.outputs.total_grids import MOST_CELLS, TotalGrid
from policy_engine.kernels.output_checks.released_bounds import can_solve


def finished_grids(table: FinishedTable) -> tuple[TotalGrid, ...]:
    """Return the grid of a table of which every figure is known, if it has totals or subtotals.

    There is none where a cell is withheld or rounded already, a total is not that of all its parts
    that are there, there are too many cells, or no programmes can be solved.
    """
    is_known = not table.is_blank.any() and not table.slack.any()
    if not is_known or table.size > MOST_CELLS or not can_solve():
        return ()
    grid = TotalGrid(table.places, table.dimensions, table.layout)
    has_totals = not grid.is_part.all()
    is_whole = has_totals and np.array_equal(grid.summed(table.values)[grid.cells], table.values)
    return (grid,) if is_whole else ()
