"""Values that are permuted within classes, each column by itself, and how many stay.

Soria-Comas, Domingo-Ferrer: Probabilistic k-anonymity through microaggregation and data swapping,
FUZZ-IEEE 2012.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def permutations(class_of: Ints, words: Words) -> Ints:
    """Return for every row and column the row of its class whose value it gets, (rows, columns).

    `class_of` (rows,) are the classes. `words` (rows, columns + 1) are random bits, independent of
    one another: the first put the rows of a class in an order, in which they hand their values on,
    and those of a column in one in which its values are taken. So all permutations of a class are
    equally likely, whatever those of other columns.
    """
    givers = np.lexsort((words[:, 0], class_of))
    sources = np.empty((len(class_of), words.shape[1] - 1), dtype=np.int64)
    for column in range(sources.shape[1]):
        sources[np.lexsort((words[:, column + 1], class_of)), column] = givers
    return sources


def displaced(class_of: Ints, before: Ints, after: Ints) -> NDArray[np.bool_]:
    """Tell of each column whether some class has other values than before, (columns,).

    `before` and `after` (rows, columns) number the values of every column.
    """
    orders = (
        [numbers[np.lexsort((numbers, class_of))] for numbers in pair]
        for pair in zip(before.T, after.T, strict=True)
    )
    return np.array([not np.array_equal(*pair) for pair in orders], dtype=np.bool_)


class Unmoved(NamedTuple):
    """Of so many `rows`, how many have every value that they had before, how many chance lets
    expect, and a bound on the variance of that."""

    rows: int
    unmoved: int
    expected: float
    variance: float

    @property
    def is_by_chance(self) -> bool:
        """Whether chance can explain that no more values have moved."""
        return self.unmoved <= self.expected + _DEVIATIONS * math.sqrt(self.variance) + _FEW


_DEVIATIONS = 10
_FEW = 10


def unmoved(class_of: Ints, before: Ints, after: Ints) -> Unmoved:
    """Return how many rows have kept all their values, and how many do if all are permuted.

    Arguments as for `displaced`. A value that f of the n rows of a class have is kept by one of
    them with the probability f/n, in every column by itself.
    """
    sizes = np.bincount(class_of)
    likely = np.ones(len(class_of))
    for numbers in before.T:
        likely *= _repeats(class_of, numbers) / sizes[class_of]
    # Two rows of a class of n both keep the values of a column with a probability that is at most
    # n/(n - 1) times that of independent rows.
    each = np.bincount(class_of, weights=likely)
    factor = (sizes / np.maximum(sizes - 1, 1)) ** before.shape[1] - 1
    variance = np.minimum(each + each**2 * factor, sizes.astype(np.float64) ** 2)
    return Unmoved(
        len(class_of),
        int((before == after).all(axis=1).sum()),
        math.fsum(each.tolist()),
        math.fsum(variance.tolist()),
    )


def _repeats(class_of: Ints, numbers: Ints) -> Ints:
    """Return how many rows of its class have the value of each row, itself included, (rows,)."""
    width = int(numbers.max(initial=0)) + 1
    _, place, counts = np.unique(
        class_of * width + numbers, return_inverse=True, return_counts=True
    )
    repeats: Ints = counts[place]
    return repeats
