"""Which rows are linked by what they share: the connected components of a graph with two sides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def components(ones: Ints, others: Ints) -> Ints:
    """Return the component of each row, (n,), numbered as they first occur.

    Two rows are linked that have the same number from 0 on among the `ones`, or among the `others`,
    (n,) each; a component is all rows that links reach from one of them. Roots are hooked to the
    least neighbouring root, and all paths shortened, until nothing changes. A root that is the
    least of its neighbours keeps its place only if another was hooked to it, so that every two
    rounds halve their number (Shiloach and Vishkin, Journal of Algorithms 3(1), 1982).
    """
    if not len(ones):
        return np.zeros(0, np.int64)
    width = int(ones.max()) + 1
    roots = np.arange(width + int(others.max()) + 1)
    ends = ones, width + others
    while True:
        first, second = (roots[one] for one in ends)
        is_apart = first != second
        if not is_apart.any():
            break
        ends = ends[0][is_apart], ends[1][is_apart]
        first, second = first[is_apart], second[is_apart]
        np.minimum.at(roots, np.maximum(first, second), np.minimum(first, second))
        _shorten(roots)
    return first_numbers(roots[ones])


def first_numbers(values: NDArray[Any]) -> Ints:
    """Return the number of each value, (n,), from 0 on in the order in which they first occur."""
    _, firsts, inverse = np.unique(values, return_index=True, return_inverse=True)
    numbers = np.empty(len(firsts), np.int64)
    numbers[np.argsort(firsts)] = np.arange(len(firsts))
    drawn: Ints = numbers[inverse.reshape(-1)]
    return drawn


def _shorten(roots: Ints) -> None:
    """Point each node at its root, in place."""
    while True:
        above = roots[roots]
        if np.array_equal(above, roots):
            return
        roots[:] = above
