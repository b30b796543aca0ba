"""One quasi-identifier and the heights to which full-domain generalisation can raise it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ladder:
    """One quasi-identifier and the heights that it can be generalised to.

    `codes` (rows,) holds 0 .. m-1. `levels[h]` (m,) numbers the generalised value of every code
    at height h, from 0; `loss[h]` holds the penalty of every generalised value, from 0 (as it
    was) to 1 (hidden), see `leaf_shares`. `weight`, from 0, is how much this quasi-identifier
    counts in the measures that add up a figure for each.
    """

    codes: NDArray[np.int32]
    levels: tuple[NDArray[np.int32], ...]
    loss: tuple[Floats, ...]
    weight: float = 1.0

    def penalties(self, height: int) -> Floats:
        """Return the penalty of every code at a height, (m,)."""
        return self.loss[height][self.levels[height]]

    def is_nested(self) -> bool:
        """Return whether values that are equal at some height are equal at all heights above."""
        # Rolling up a table and ruling out nodes below a failing one are exact only then. Ranges
        # of a fixed width need not be nested: [0, 4) and [4, 8) do not unite to one of width 6.
        steps = zip(self.levels, self.levels[1:], strict=False)
        return all(_is_coarser(above, below) for below, above in steps)


def _is_coarser(above: NDArray[np.int32], below: NDArray[np.int32]) -> bool:
    image = np.zeros(int(below.max(initial=0)) + 1, dtype=above.dtype)
    image[below] = above
    return bool((image[below] == above).all())


def leaf_shares(levels: Sequence[NDArray[np.int32]]) -> tuple[Floats, ...]:
    """Return `Ladder.loss` of categories: (leaves below the value - 1) / (all leaves - 1).

    Iyengar, Transforming data to satisfy privacy constraints, KDD 2002. The leaves are those
    of the taxonomy, whether or not the table holds them.
    """
    leaves = max(len(levels[0]) - 1, 1)
    return tuple((np.bincount(level) - 1.0).clip(0) / leaves for level in levels)


def lattice_size(ladders: Sequence[Ladder]) -> int:
    """Return the number of nodes of the lattice: the product of the numbers of heights."""
    return reduce(lambda nodes, ladder: nodes * len(ladder.levels), ladders, 1)
