"""Means of classes, each rounded once: the same for any order of the rows."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.microaggregation.blocks import default_block_size
from policy_engine.kernels.microaggregation.multivariate import microaggregate
from policy_engine.kernels.microaggregation.scaling import Scale
from policy_engine.kernels.microaggregation.univariate import microaggregate_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def aggregate(
    values: Floats, k: int, words: Words, part_of: tuple[int, Scale] | None = None
) -> Floats:
    """Return values (rows, columns) as the means of classes of k rows or more.

    One column has the classes of least loss, several have those of MDAV. `words` (rows,) tell
    rows with equal values apart, and decide nothing else: neither does the order of the rows. Of
    several columns, rows can be one of the parts that `cut_far` makes, `part_of` a table with so
    many rows on such a scale.
    """
    if values.shape[1] == 1:
        return class_means(values, microaggregate_column(values[:, 0], k, words))
    order = np.lexsort((words, *values.T))
    ranks = np.empty(len(values), dtype=np.uint64)
    ranks[order] = np.arange(len(values), dtype=np.uint64)
    rows, scale = part_of or (len(values), None)
    most = default_block_size(rows, k)
    return class_means(values, microaggregate(values, k, ranks, most, scale))


def class_means(values: Floats, groups: Ints) -> Floats:
    """Return for every row the mean of its class in every column, (rows, columns).

    `values` (rows, columns) are finite; `groups` (rows,) numbers the classes from 0.
    """
    means = np.empty(values.shape)
    for place, column in enumerate(values.T):
        # Halves of large numbers a power of 2 smaller: no sum of them is infinite.
        factor = 2.0**-64 if np.abs(column).max(initial=0) > _LARGE else 1.0
        order = np.lexsort((column, groups))
        made = np.empty(len(column))
        _average(column[order] * factor, groups[order], made)
        means[order, place] = made / factor
    return means


_LARGE = 1e280


@inlined
def _quotient(total, lost, count):  # type: ignore[no-untyped-def]
    """Return the sum of a number and a far smaller one divided by a count, rounded once.

    A half is returned of exact halves only: so the integer that is nearest to a mean of integers is
    nearest to what is returned.
    """
    # The halves of the quotient times the count are exact, and so is what it leaves of the sum:
    # three times a number, divided by 3, is that number.
    first = total / count
    scaled = first * _SPLIT
    high = scaled - (scaled - first)
    left = (total - high * count) - (first - high) * count
    rest = (left + lost) / count
    mean = first + rest
    if np.abs(mean - np.trunc(mean)) == _HALF:
        beyond = (first - mean) + rest
        if beyond != 0:
            mean = np.nextafter(mean, np.inf if beyond > 0 else -np.inf)
    return mean


_SPLIT = 2.0**27 + 1
_HALF = 0.5


@compiled
def _average(ordered, groups, means):  # type: ignore[no-untyped-def]
    """Set the means of classes, whose rows lie one after another, each in the order of values."""
    start, size = 0, len(ordered)
    while start < size:
        end, total, lost = start, 0.0, 0.0
        while end < size and groups[end] == groups[start]:
            # What rounding loses of a sum is itself a float, and is summed up beside it (Neumaier,
            # Zeitschrift fuer Angewandte Mathematik und Mechanik 54, 1974).
            value = ordered[end]
            sum_ = total + value
            if abs(total) >= abs(value):
                lost += (total - sum_) + value
            else:
                lost += (value - sum_) + total
            total = sum_
            end += 1
        mean = _quotient(total, lost, end - start)
        for place in range(start, end):
            means[place] = mean
        start = end
