"""A column whose cells may stand for several values, without a matrix of rows and values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """The cells of a column, where a row's mass is spread evenly over the values of its cell.

    `cell_of` (rows,) numbers the cells 0 .. c-1. Cell i may stand for the codes from `low[r]`
    up to but without `high[r]`, for every run r from `starts[i]` up to `starts[i + 1]`; each
    cell has a run at least, and its runs share no code. `size` is the number of all codes. Of a
    sample, `weights` (rows,) tell how many rows each row stands for.
    """

    cell_of: NDArray[np.integer]
    starts: Ints
    low: Ints
    high: Ints
    size: int
    weights: Floats | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.cell_of)

    @cached_property
    def widths(self) -> Ints:
        """How many codes every cell may stand for, (c,)."""
        return np.add.reduceat(self.high - self.low, self.starts[:-1])

    @cached_property
    def is_exact(self) -> bool:
        """Whether every cell stands for one code."""
        return bool((self.widths == 1).all())

    @cached_property
    def is_of_codes(self) -> bool:
        """Whether every code has a cell of its own, of the same number."""
        return self.is_exact and np.array_equal(self.low, np.arange(self.size))

    def totals(self, weights: Floats | NDArray[np.bool_]) -> Floats:
        """Return the sum of the weights (size,) of the codes of every cell, (c,)."""
        before = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
        return np.add.reduceat(before[self.high] - before[self.low], self.starts[:-1])

    def means(self, weights: Floats | NDArray[np.bool_]) -> Floats:
        """Return the mean weight of the codes of every cell, (c,), from weights (size,)."""
        return self.totals(weights) / self.widths

    @cached_property
    def masses(self) -> Floats:
        """The mass of every code over all rows, (size,); they add up to the rows, or weights."""
        counts = np.bincount(self.cell_of, self.weights, minlength=len(self.starts) - 1)
        # As differences at the ends of runs, summed up once: a wide cell costs no more than an
        # exact one. Rounding could leave a mass just below 0, hence the clip.
        run_mass = np.repeat(counts / self.widths, np.diff(self.starts))
        steps = np.bincount(self.low, run_mass, self.size + 1)
        steps -= np.bincount(self.high, run_mass, self.size + 1)
        return np.cumsum(steps[:-1]).clip(0)

    def taken(self, rows: Ints) -> "Spread":
        """Return the spread of the rows with these numbers, in this order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, cell_of=self.cell_of[rows], weights=weights)

    def weighted(self, weights: Floats | None) -> "Spread":
        """Return the spread of the same rows, each of which stands for so many."""
        return replace(self, weights=weights)


def exact(codes: NDArray[np.integer], size: int) -> Spread:
    """Return the spread of exact codes, (rows,), from 0 to size-1."""
    every = np.arange(size + 1, dtype=np.int64)
    return Spread(codes, every, every[:-1], every[1:], size)


def spread(
    cell_of: NDArray[np.integer], covered: Sequence[NDArray[np.integer]], size: int
) -> Spread:
    """Return the spread of cells, given the codes that each may stand for.

    Raises ValueError where a cell stands for no code.
    """
    runs = [_runs(codes) for codes in covered]
    starts = np.cumsum([0, *(len(low) for low, _ in runs)], dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    low = np.concatenate([none, *(low for low, _ in runs)])
    high = np.concatenate([none, *(high for _, high in runs)])
    return Spread(cell_of, starts, low, high, size)


def _runs(codes: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return where the runs of consecutive codes start, and where they have ended."""
    if not len(codes):
        raise ValueError("A cell stands for one code at least.")
    ordered = np.unique(codes).astype(np.int64)
    ends = np.flatnonzero(np.diff(ordered) > 1)
    return ordered[np.append(0, ends + 1)], ordered[np.append(ends, -1)] + 1
