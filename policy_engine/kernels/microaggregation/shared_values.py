"""What columns show once their values are those of classes: how many rows share them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def shared_tally(before: Floats, after: Floats, least: int) -> Mapping[str, NDArray[np.int64]]:
    """Return what rows show before and after microaggregation, (rows, columns) each.

    `broken` counts the rows whose values are together those of fewer than `least` rows, in every
    column, (columns,); `classes` those of different values, (columns,); `dominated` the classes
    with a value that is greater than all their others together.
    """
    groups, count = _groups(after)
    sizes = np.bincount(groups, minlength=count)
    columns = after.shape[1]
    return {
        "broken": np.full(columns, sizes[sizes < least].sum(), dtype=np.int64),
        "classes": np.full(columns, count, dtype=np.int64),
        "dominated": np.array([dominated_classes(column, groups, count) for column in before.T]),
    }


def dominated_classes(values: Floats, groups: Ints, count: int) -> int:
    """Return how many of `count` classes have a value that is greater than all their others
    together, without signs.

    As many times the mean as the class has values is nearer to that value than the value is to 0.
    `values` (rows,); `groups` (rows,) numbers the classes from 0.
    """
    sizes = np.abs(values)
    # Shares of the largest value: no sum of them is infinite.
    parts = sizes / (sizes.max(initial=0) or 1.0)
    largest = np.zeros(count)
    np.maximum.at(largest, groups, parts)
    return int(np.count_nonzero(2 * largest > np.bincount(groups, parts, minlength=count)))


def _groups(values: Floats) -> tuple[Ints, int]:
    """Return the number of every row's values among the different ones, and how many there are."""
    return classes_of([_numbers(column) for column in values.T])


def _numbers(column: Floats) -> NDArray[np.int32]:
    return np.unique(column, return_inverse=True)[1].astype(np.int32)
