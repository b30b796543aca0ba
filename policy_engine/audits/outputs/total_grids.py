"""Tables of results with their totals, as equations between the cells of a grid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.key_lattices import MOST_KEYS, KeyLattice
from policy_engine.audits.outputs.model import TOTAL, Counts, ResultTable
from policy_engine.audits.outputs.nested_keys import Pairs, found_pairs
from policy_engine.kernels.output_checks.table_system import (
    NOBODY,
    LatticeDimension,
    TableLayout,
    lay_out,
)

MOST_CELLS = 50_000
"""Tables of more cells, totals included, are left to the ledger, which refuses what it must."""

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class TotalGrid:
    """A table with all its totals: the cell of each row, and the dimensions of all cells.

    Rows that are no cell, -1, are of nobody: keys of the table lie in others.
    """

    cells: Counts
    dimensions: tuple[LatticeDimension, ...]
    layout: TableLayout

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each dimension has."""
        return tuple(one.codes for one in self.dimensions)

    @property
    def is_cell(self) -> Cells:
        """Which rows are cells, (rows,)."""
        return np.asarray(self.cells >= 0, np.bool_)

    @property
    def is_part(self) -> Cells:
        """Which rows are parts that all totals are of, (rows,)."""
        is_part = self.is_cell
        codes = np.unravel_index(np.maximum(self.cells, 0), self.shape)
        for own, dimension in zip(codes, self.dimensions, strict=True):
            is_part &= ~np.isin(own, [line[-1] for line in dimension.lines])
        return np.asarray(is_part, np.bool_)

    def summed(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of all cells: those of the parts, (rows,), and totals of them."""
        table, is_part = np.zeros(self.shape), self.is_part
        table.flat[self.cells[is_part]] = sizes[is_part]
        with np.errstate(over="ignore"):
            self._add_up(table, np.add)
        return table.ravel()

    def contributors(self, lone: Counts, units: Counts) -> Counts:
        """Return who contributes alone to each cell, totals included: -1 for several, and nobody.

        `units` (rows,) say how many contribute, and `lone` who it is where that is one.
        """
        least = np.full(self.shape, np.iinfo(np.int64).max)
        most = np.full(self.shape, NOBODY)
        is_one, is_several = self.is_part & (units == 1), self.is_part & (units > 1)
        least.flat[self.cells[is_one]] = most.flat[self.cells[is_one]] = lone[is_one]
        least.flat[self.cells[is_several]] = NOBODY
        most.flat[self.cells[is_several]] = 0
        self._add_up(least, np.minimum)
        self._add_up(most, np.maximum)
        return np.where(least == most, least, NOBODY).ravel()

    def any_of(self, is_row: Cells) -> Cells:
        """Return which cells have a row of which something holds, (cells,)."""
        is_any = np.zeros(self.layout.cells, np.bool_)
        is_any[self.cells[is_row & self.is_cell]] = True
        return is_any

    def rows_of(self, is_chosen: Cells) -> Cells:
        """Return the rows of cells of which something holds, (rows,)."""
        return np.asarray(is_chosen[self.cells] & self.is_cell, np.bool_)

    def _add_up(self, table: NDArray[Any], function: np.ufunc) -> None:
        """Fill the totals of a table by a function, along one dimension after another."""
        for axis, dimension in enumerate(self.dimensions):
            lines = np.moveaxis(table, axis, 0)
            for line in _one_for_each_total(dimension):
                lines[line[-1]] = function.reduce(lines[line[:-1]], axis=0)


def _one_for_each_total(dimension: LatticeDimension) -> Iterator[Counts]:
    """Yield a line for each total of a dimension, after those of its parts."""
    left = {int(line[-1]): line for line in reversed(dimension.lines)}
    while left:
        is_left = np.zeros(dimension.codes, np.bool_)
        is_left[[*left]] = True
        for total, line in [*left.items()]:
            if not is_left[line[:-1]].any():
                yield line
                del left[total]


def grids_of(table: ResultTable) -> tuple[TotalGrid, ...]:
    """Return the grids of a table: by the keys that lie in others, if there are any, for who knows
    that they do; and by all keys as they are, for who does not.

    There is none where the table has no totals over rows that it has, too, and none of more than
    `MOST_CELLS`.
    """
    if not table.labels or not (table.codes == TOTAL).any():
        return ()
    grids = (_nested_grid(table), _flat_grid(table))
    return tuple(grid for grid in grids if grid is not None)


def _flat_grid(table: ResultTable) -> TotalGrid | None:
    sizes = [len(labels) for labels in table.labels]
    is_total = table.codes == TOTAL
    if not (~is_total).all(axis=1).any() or _is_too_large([size + 1 for size in sizes]):
        return None
    places = np.where(is_total, np.array(sizes), table.codes)
    return grid_by(places, [_flat(size) for size in sizes])


def _nested_grid(table: ResultTable) -> TotalGrid | None:
    joint = table.joint_codes
    pairs = () if joint is None else found_pairs(joint)
    if joint is None or not pairs:
        return None
    dimensions, places = [], []
    for keys in _linked_keys(len(table.keys), pairs):
        if len(keys) > MOST_KEYS or len(joint) > MOST_CELLS:
            return None
        if len(keys) == 1:
            size = len(table.labels[keys[0]])
            own = table.codes[:, keys[0]]
            dimensions.append(_flat(size))
            places.append(np.where(own == TOTAL, size, own))
        else:
            lattice = KeyLattice.of(keys, pairs, joint)
            dimensions.append(lattice.dimension)
            places.append(lattice.places(table.codes))
    if _is_too_large([one.codes for one in dimensions]):
        return None
    grid = grid_by(np.column_stack(places), dimensions)
    return grid if grid.is_part.any() else None


def _is_too_large(sizes: Sequence[int]) -> bool:
    return float(np.prod(np.array(sizes, np.float64))) > MOST_CELLS


def _flat(size: int) -> LatticeDimension:
    return LatticeDimension(size + 1, (np.arange(size + 1),))


def _linked_keys(count: int, pairs: Pairs) -> list[list[int]]:
    """Return the keys in sets of those that lie in each other, also by way of others."""
    sets = [{key} for key in range(count)]
    for pair in pairs:
        joined = set().union(*(one for one in sets if one & {*pair}))
        sets = [*(one for one in sets if not one & {*pair}), joined]
    return sorted(sorted(one) for one in sets)


def grid_by(places: Counts, dimensions: Sequence[LatticeDimension]) -> TotalGrid:
    """Return the grid of a table by the codes of its rows in each dimension, (rows, dimensions): -1
    where a row is of none."""
    is_cell = (places >= 0).all(axis=1)
    shape = tuple(one.codes for one in dimensions)
    cells = np.full(len(places), -1, np.int64)
    cells[is_cell] = np.ravel_multi_index(tuple(places[is_cell].T), shape)
    return TotalGrid(cells, tuple(dimensions), lay_out(dimensions))
