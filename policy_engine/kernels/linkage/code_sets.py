"""Cells that stand for any set of codes, such as every second one: how likely, or how near, each
cell is to a value, by a table of codes and cells."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.column_likelihood import CellTransitions, ColumnLikelihood
from policy_engine.kernels.spread import Spread

Floats = NDArray[np.float64]

_MOST_ENTRIES = 4_000_000
"""Of the table: half a GB with what is looked up in it."""


def has_gaps(released: Spread) -> bool:
    """Tell whether some cell leaves out codes between its first and its last: it is not a run."""
    first, last = released.low[released.starts[:-1]], released.high[released.starts[1:] - 1]
    return bool((last - first > released.widths).any())


def fits(known_codes: NDArray[np.integer], released: Spread) -> bool:
    """Tell whether a table of the known codes and the cells is of a size that serves."""
    return len(np.unique(known_codes)) * (len(released.starts) - 1) <= _MOST_ENTRIES


def set_distances(known_codes: NDArray[np.integer], released: Spread) -> ColumnLikelihood:
    """Return a column whose log-likelihoods are minus half the share of a cell's codes that differ
    from the known one, (persons,)."""
    return _by_set(known_codes, released, (1 / released.widths - 1) / 2, -0.5)


def set_likelihoods(known_codes: NDArray[np.integer], released: Spread) -> ColumnLikelihood:
    """Return a column of cells that a value is in, or cannot have become.

    Of several cells with the value in them, those that few of the known values are in are the
    likelier, in inverse proportion, as those of `intervals`.
    """
    present = np.bincount(known_codes, minlength=released.size).astype(np.float64)
    return _by_set(known_codes, released, -np.log(np.maximum(released.totals(present), 1)), -np.inf)


def _by_set(
    known_codes: NDArray[np.integer], released: Spread, inside: Floats, outside: float
) -> ColumnLikelihood:
    """Return a column by the logarithms of each cell, (cells,), for the codes inside, and for
    those outside."""
    codes, row = np.unique(known_codes, return_inverse=True)
    cells = len(released.starts) - 1
    logs = np.full((len(codes), cells), outside)
    cell_of_run = np.repeat(np.arange(cells), np.diff(released.starts))
    begins, ends = (np.searchsorted(codes, one) for one in (released.low, released.high))
    for cell, begin, end in zip(cell_of_run, begins, ends, strict=True):
        logs[begin:end, cell] = inside[cell]
    start = np.zeros(len(known_codes), dtype=np.int64)
    released_cells = released.cell_of.astype(np.int64)
    table = CellTransitions(
        logs.reshape(-1), np.arange(len(codes) + 1) * cells, np.full(len(codes), -np.inf),
        row.reshape(-1), start, released_cells, released_cells,
    )  # fmt: skip
    points = released_cells.astype(np.float64)
    return ColumnLikelihood("transitions", row.astype(np.float64), points, transitions=table)
