"""The cells of a contingency table, and the means of a hierarchical log-linear model in them.

`codes` (records, columns) are the values of key variables, -1 for a missing one, which is a value
of its own. A model is given by its margins, sets of columns: the fitted means agree with the counts
in all of them, and are the maximum likelihood estimates under Poisson sampling (Birch, 1963).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Margins = Sequence[tuple[int, ...]]

MOST_CELLS = 2**22
_MOST_ROUNDS = 1000
_CLOSE = 0.05


def main_effects(columns: int) -> Margins:
    """Return the margins of the model in which all columns are independent."""
    return tuple(combinations(range(columns), 1))


def two_way_interactions(columns: int) -> Margins:
    """Return the margins of the model with all interactions of two columns."""
    return tuple(combinations(range(columns), min(2, columns)))


@dataclass(frozen=True)
class ContingencyTable:
    """The cells that a model does not exclude, in the order of their codes.

    `codes` (cells, columns) are numbered from 0 in each column, `widths` (columns,) are how many
    there are. `counts` (cells,) are the records of each cell, and `cell_of` (records,) the cell of
    each record.
    """

    codes: NDArray[np.int32]
    widths: tuple[int, ...]
    counts: Ints
    cell_of: Ints

    @classmethod
    def of(cls, codes: Ints, margins: Margins) -> "ContingencyTable | NotApplicable":
        """Return the cells in which the means of a model are not 0 because those of a margin are.

        `NotApplicable` if there are more than four million.
        """
        numbered = np.column_stack([np.unique(one, return_inverse=True)[1] for one in codes.T])
        widths = tuple(int(width) for width in numbered.max(axis=0) + 1)
        cells = _possible_cells(numbered, widths, margins)
        if isinstance(cells, NotApplicable):
            return cells
        # Every record is in a possible cell: so the cells are all classes of both.
        both = np.concatenate([numbered, cells]).astype(np.int32)
        classes, _ = classes_of(list(both.T))
        cell_of = classes[: len(codes)]
        return cls(cells, widths, np.bincount(cell_of, minlength=len(cells)), cell_of)

    def margin(self, columns: tuple[int, ...]) -> tuple[Ints, int]:
        """Return the number of each cell's part of a margin, (cells,), and how many it may have."""
        parts, count = np.zeros(len(self.codes), dtype=np.int64), 1
        for column in columns:
            parts = parts * self.widths[column] + self.codes[:, column]
            count *= self.widths[column]
        return parts, count


def _possible_cells(
    codes: Ints, widths: tuple[int, ...], margins: Margins
) -> NDArray[np.int32] | NotApplicable:
    cells = np.zeros((1, 0), dtype=np.int32)
    for column, width in enumerate(widths):
        # Extended by one column at a time, so that what a margin excludes is never laid out.
        checked = [one for one in margins if max(one) == column and len(one) > 1]
        seen = [_Seen.of(codes, one, widths) for one in checked]
        parts, total = [], 0
        for code in range(width):
            kept = np.ones(len(cells), dtype=bool)
            for one in seen:
                kept &= one.has(cells, code)
            chosen = cells[kept]
            total += len(chosen)
            if total > MOST_CELLS:
                return NotApplicable(reason=f"the table has more than {MOST_CELLS:,} cells")
            parts.append(np.column_stack([chosen, np.full(len(chosen), code, dtype=np.int32)]))
        cells = np.concatenate(parts)
    return cells[np.lexsort(cells.T[::-1])]


@dataclass(frozen=True)
class _Seen:
    """Which combinations of a margin's columns some record has; the last one is given apart."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    keys: Ints

    @classmethod
    def of(cls, codes: Ints, margin: tuple[int, ...], widths: tuple[int, ...]) -> "_Seen":
        columns = tuple(sorted(margin))
        of_columns = tuple(widths[column] for column in columns)
        return cls(columns, of_columns, np.unique(_keys(codes[:, columns].T, of_columns)))

    def has(self, cells: NDArray[np.int32], code: int) -> Bools:
        others = cells[:, self.columns[:-1]].T.astype(np.int64)
        last = np.full((1, len(cells)), code, dtype=np.int64)
        is_present: Bools = np.isin(_keys(np.concatenate([others, last]), self.widths), self.keys)
        return is_present


def _keys(columns: Ints, widths: tuple[int, ...]) -> Ints:
    keys = np.zeros(columns.shape[1], dtype=np.int64)
    for codes, width in zip(columns, widths, strict=True):
        keys = keys * width + codes
    return keys


def fitted_means(
    table: ContingencyTable, margins: Margins, close: float = _CLOSE
) -> Floats | NotApplicable:
    """Return the mean of every cell, (cells,), by iterative proportional fitting.

    Deming and Stephan (1940). No mean of a margin differs from its count by more than `close`, a
    part of a record. `NotApplicable` if one still does after a thousand rounds.
    """
    wanted = [_Margin.of(table, columns) for columns in margins]
    means = np.full(len(table.counts), table.counts.sum() / len(table.counts))
    for _ in range(_MOST_ROUNDS):
        if max(one.fit(means) for one in wanted) < close:
            return means
    return NotApplicable(reason=f"the model has not converged after {_MOST_ROUNDS:,} rounds")


@dataclass(frozen=True)
class _Margin:
    """The part of a margin that each cell is in, (cells,), and their counts, (parts,)."""

    part_of: NDArray[np.int32]
    counts: Floats

    @classmethod
    def of(cls, table: ContingencyTable, columns: tuple[int, ...]) -> "_Margin":
        part_of, parts = table.margin(columns)
        counts = np.bincount(part_of, weights=table.counts, minlength=parts).astype(float)
        return cls(part_of.astype(np.int32), counts)

    def fit(self, means: Floats) -> float:
        """Scale the means, in place, to the margin, and return how far off a part of it was."""
        sums = np.bincount(self.part_of, weights=means, minlength=len(self.counts))
        ratios = np.divide(self.counts, sums, out=np.zeros_like(sums), where=sums > 0)
        means *= ratios[self.part_of]
        return float(np.abs(self.counts - sums).max())


def interactions(codes: Ints) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns whose interaction the data support, the strongest first.

    By the likelihood ratio of their two-way table against independence less twice its degrees of
    freedom, where that is positive: by Akaike's criterion (1974).
    """
    gains = {pair: _gain(codes[:, pair]) for pair in combinations(range(codes.shape[1]), 2)}
    supported = [pair for pair in gains if gains[pair] > 0]
    return tuple(sorted(supported, key=lambda pair: (-gains[pair], pair)))


def _gain(codes: Ints) -> float:
    first, second = (np.unique(one, return_inverse=True)[1] for one in codes.T)
    rows, columns = np.bincount(first), np.bincount(second)
    cells, counts = np.unique(first * len(columns) + second, return_counts=True)
    expected = rows[cells // len(columns)] * columns[cells % len(columns)] / len(codes)
    ratio = 2 * float((counts * np.log(counts / expected)).sum())
    return ratio - 2 * (len(rows) - 1) * (len(columns) - 1)
