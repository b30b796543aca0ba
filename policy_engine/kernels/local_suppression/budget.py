"""How many cells of each column are suppressed, and how many may be."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled


class SuppressionBudget(NamedTuple):
    """By column, (columns,): its bit, the cells suppressed, and the most that may be."""

    bits: NDArray[np.int64]
    used: NDArray[np.int64]
    most: NDArray[np.int64]


@compiled
def fits(budget, now, then, rows):  # type: ignore[no-untyped-def]
    """Return whether so many rows may have the mask `then` instead of `now`."""
    for column in range(len(budget.bits)):
        if then & ~now & budget.bits[column] and budget.used[column] + rows > budget.most[column]:
            return False
    return True


@compiled
def spend(budget, now, then, rows):  # type: ignore[no-untyped-def]
    """Count the cells of so many rows that get the mask `then` instead of `now`."""
    for column in range(len(budget.bits)):
        bit = budget.bits[column]
        if then & ~now & bit:
            budget.used[column] += rows
        elif now & ~then & bit:
            budget.used[column] -= rows
