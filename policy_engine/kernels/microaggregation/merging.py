"""Merge classes that do not hold a bound, such as one on their diversity, with near ones."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.class_sums import class_sums
from policy_engine.kernels.microaggregation.nearest import nearest_classes
from policy_engine.kernels.microaggregation.scaling import scale, shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Holds = Callable[[Ints, int], NDArray[np.bool_]]
"""Whether each class holds, (classes,), given the class of every row and how many there are."""


def merge_until(groups: Ints, values: Floats, holds: Holds, *, is_scaled: bool = False) -> Ints:
    """Return classes that all hold, (rows,), numbered from 0 in the order of their first numbers.

    In rounds, each class that does not hold is merged with the one whose mean is nearest, by
    standardised values (rows, columns), or by the values themselves if they are scaled: the nearest
    pairs first, each class once a round. If even all rows together do not hold, they are one class:
    the caller checks the table beforehand. `groups` (rows,) numbers the classes from 0, each with a
    row, by what they hold: then nothing else decides what is merged.
    """
    if not len(values):
        return groups
    table = scale(values)
    sums = class_sums(shares(values, table.low, table.high), groups)
    factors = table.high - table.low if is_scaled else 1 / table.deviations
    while len(sums.sizes) > 1:
        broken = np.flatnonzero(~holds(groups, len(sums.sizes)))
        if not len(broken):
            break
        nearest, distances = nearest_classes(sums.means * factors, broken)
        class_of = _paired(len(sums.sizes), broken, nearest, distances)
        groups, sums = class_of[groups], sums.merged(class_of)
    return groups


def _paired(count: int, broken: Ints, nearest: Ints, distances: Floats) -> Ints:
    """Return the new number of every class, (count,), once the nearest pairs are merged."""
    first = list(range(count))
    is_merged = [False] * count
    for pair in np.lexsort((broken, distances)).tolist():
        one, other = sorted((int(broken[pair]), int(nearest[pair])))
        if not is_merged[one] and not is_merged[other]:
            first[other], is_merged[one], is_merged[other] = one, True, True
    return np.unique(first, return_inverse=True)[1]
