"""Local suppression: k-anonymity by nulling few cells.

The task of localSuppression in sdcMicro (Templ, Kowarik, Meindl: Statistical Disclosure Control
for Micro-Data Using the R Package sdcMicro, Journal of Statistical Software 67(4), 2015).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_suppression.budget import SuppressionBudget
from policy_engine.kernels.local_suppression.classes import suppressed_classes
from policy_engine.kernels.local_suppression.matches import suppressed_matches
from policy_engine.kernels.local_suppression.null_masks import (
    Codes,
    Ints,
    MaskLattice,
    Pieces,
    bits,
    cut_in_pieces,
    lattice,
)
from policy_engine.kernels.match_counts import Missing


@dataclass(frozen=True)
class Suppression:
    """The cells that are suppressed: parts of tuples, all rows of a part alike.

    `tuple_of` (parts,) is ascending, `rows` (parts,) are the rows of each part, and `cells` (parts,
    columns) says which of their values are suppressed. `exposed` (parts,) are those that stay below
    k, as they are in the data: the caps allow no more, or the table has fewer than k rows.
    """

    tuple_of: Ints
    rows: Ints
    cells: NDArray[np.bool_]
    exposed: NDArray[np.bool_]

    @property
    def suppressed(self) -> Ints:
        """How many cells of each column are suppressed, (columns,)."""
        return self.rows @ self.cells

    @property
    def exposed_rows(self) -> int:
        """How many rows are below k."""
        return int(self.rows[self.exposed].sum())

    def part_of(self, tuple_of_row: Ints, words: NDArray[np.uint64]) -> Ints:
        """Return the part of every row, (rows,), given the number of its tuple, (rows,).

        Which rows of a tuple are suppressed is decided by `words` (rows,), random bits of each.
        """
        part = np.empty(len(tuple_of_row), dtype=np.int64)
        part[np.lexsort((words, tuple_of_row))] = np.repeat(np.arange(len(self.rows)), self.rows)
        return part


def suppress_cells(
    codes: Codes, counts: Ints, k: int, weights: Ints, most: Ints, missing: Missing
) -> Suppression:
    """Return few cells to suppress so that every row matches at least k rows, its own included.

    `codes` (tuples, columns) are distinct tuples of at most 62 columns, -1 for a value that is
    missing already, and `counts` (tuples,) the rows of each. Cells are chosen to cost little by
    `weights` (columns,), integers from 1; where two columns serve equally, the later one is
    suppressed, so the most important column comes first. `most` (columns,) bounds the cells that
    are suppressed in each column. `missing` is as for `match_counts`.

    Where missing values are wildcards, a third of the cells may suffice, but they protect less: a
    row with all its values counts as one of k as soon as k - 1 others could be the same, yet
    whoever knows these values has good reason to take it for the right one.
    """
    pieces = cut_in_pieces(codes, counts, k - 1 if missing == "category" else 0)
    search = suppressed_classes if missing == "category" else suppressed_matches
    trials, price = [], weights * _UNIT
    for step in _STEPS:
        masks = lattice(pieces, price)
        budget = SuppressionBudget(
            bits(len(weights)), np.zeros(len(weights), np.int64), most.copy()
        )
        trial = _suppression(pieces, masks, search(masks, pieces, k, budget))
        trials.append(trial)
        # At a higher price, a column is left to the rows that need it.
        is_scarce = (trial.suppressed + k > most) & (most > 0)
        if not trial.exposed_rows or not is_scarce.any():
            break
        price = price + weights * is_scarce * step
    return min(trials, key=lambda one: (one.exposed_rows, int(one.suppressed @ weights)))


_UNIT = 8
_STEPS = (1, 1, 2, 4, *[_UNIT] * 8)
"""By how much the price of a scarce column rises after each trial, in parts of its weight."""


def _suppression(pieces: Pieces, masks: MaskLattice, choice: Ints) -> Suppression:
    """Return what is suppressed if each piece has the mask at its place in the lattice."""
    width = len(masks.masks) + 1
    parts, first, part_of = np.unique(
        pieces.tuple_of * width + choice + 1, return_index=True, return_inverse=True
    )
    rows = np.zeros(len(parts), dtype=np.int64)
    np.add.at(rows, part_of, pieces.rows)
    null = np.where(choice < 0, 0, masks.masks[choice])[first] & ~pieces.missing[first]
    cells = null[:, np.newaxis] & bits(pieces.codes.shape[1]) != 0
    return Suppression(parts // width, rows, cells, choice[first] < 0)
