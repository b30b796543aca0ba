"""What columns show once their values are those of classes: how many rows share them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def shared_tally(
    before: Floats, after: Floats, least: int, roundings: Sequence[float]
) -> Mapping[str, NDArray[np.int64]]:
    """Return what rows show before and after microaggregation, (rows, columns) each.

    `broken` counts the rows whose values are together those of fewer than `least` rows, or whose
    value in a column is further than its rounding from the mean of those rows, (columns,);
    `classes` those of different values, (columns,); `dominated` the classes with a value that is
    greater than all their others together.
    """
    groups, count = _groups(after)
    sizes = np.bincount(groups, minlength=count)
    columns, is_rare = after.shape[1], (sizes < least)[groups]
    pairs = zip(before.T, after.T, roundings, strict=True)
    others = [_is_other_mean(one, made, step, groups, sizes) for one, made, step in pairs]
    return {
        "broken": np.array([(is_rare | is_other).sum() for is_other in others], dtype=np.int64),
        "classes": np.full(columns, count, dtype=np.int64),
        "dominated": np.array([dominated_classes(column, groups, count) for column in before.T]),
    }


def _is_other_mean(
    before: Floats, after: Floats, rounding: float, groups: Ints, sizes: Ints
) -> NDArray[np.bool_]:
    """Return which values, (rows,), are not the mean of those before in their class."""
    # Shares of the largest value: no sum of them is infinite.
    scale = float(np.abs(before).max(initial=0)) or 1.0
    means = np.bincount(groups, before / scale, minlength=len(sizes)) / sizes * scale
    tolerance = rounding * (1 + _TOLERANCE) + scale * _TOLERANCE
    return np.abs(after - means[groups]) > tolerance


_TOLERANCE = 1e-9
"""Of the largest value, for the rounding of sums of floats."""


def dominated_classes(values: Floats, groups: Ints, count: int) -> int:
    """Return how many of `count` classes have a value that is greater than all their others
    together, without signs.

    As many times the mean as the class has values is nearer to that value than the value is to 0.
    `values` (rows,); `groups` (rows,) numbers the classes from 0.
    """
    sizes = np.abs(values)
    # By a power of 2 as large as the largest: no sum is infinite, and none is rounded for it.
    parts = np.ldexp(sizes, -np.frexp(sizes.max(initial=0))[1])
    largest = np.zeros(count)
    np.maximum.at(largest, groups, parts)
    return int(np.count_nonzero(2 * largest > np.bincount(groups, parts, minlength=count)))


def _groups(values: Floats) -> tuple[Ints, int]:
    """Return the number of every row's values among the different ones, and how many there are."""
    return classes_of([_numbers(column) for column in values.T])


def _numbers(column: Floats) -> NDArray[np.int32]:
    return np.unique(column, return_inverse=True)[1].astype(np.int32)
