"""The classes of least loss in one column (Hansen and Mukherjee, IEEE TKDE 15(4), 2003)."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.microaggregation.scaling import shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def microaggregate_column(values: Floats, k: int, words: Words) -> Ints:
    """Return the class of every row, (rows,), numbered from 0 in the order of the values.

    Of all ways to make classes of k rows or more, one of the least sum of squared distances from
    the classes' means. It has classes of k to 2k - 1 rows with consecutive values; fewer than 2k
    rows are one class. O(k rows). `values` (rows,) are finite; `words` (rows,) decide which of
    the rows with equal values are in which class.
    """
    labels = np.zeros(len(values), dtype=np.int64)
    if len(values) >= 2 * k:
        order = np.lexsort((words, values))
        column = values[order, np.newaxis]
        sizes, losses = np.zeros(len(values) + 1, dtype=np.int64), np.zeros(len(values) + 1)
        _find_sizes(shares(column, column[0], column[-1])[:, 0], k, sizes, losses)
        labels[order] = _labels(sizes)
    return labels


@compiled
def _find_sizes(ordered, k, sizes, losses):  # type: ignore[no-untyped-def]
    """Set the size of the last class, and the loss, of the best classes of the first rows."""
    losses[1:] = np.inf
    for end in range(k, len(ordered) + 1):
        last, total, squares = ordered[end - 1], 0.0, 0.0
        # As distances from the class's last value: sums from the column's start would cancel out.
        for start in range(end - 1, max(end - 2 * k, -1), -1):
            distance, size = ordered[start] - last, end - start
            total += distance
            squares += distance * distance
            if size >= k:
                loss = losses[start] + (squares - total * total / size)
                if loss < losses[end]:
                    sizes[end], losses[end] = size, loss


def _labels(sizes: Ints) -> Ints:
    """Return the class of every row in order, given the size of the last class at every end."""
    ends, end = [], len(sizes) - 1
    while end:
        ends.append(end)
        end -= int(sizes[end])
    return np.repeat(np.arange(len(ends)), np.diff([0, *reversed(ends)]))
