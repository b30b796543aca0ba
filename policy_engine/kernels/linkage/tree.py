"""A tree of points, in which what is near or within a box is found without looking at all."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAF = 16
_LOOKED_AT = 1024
"""Of so many points of a node, about, it is seen which of its columns is the widest."""
STACK = 128
"""More than the nodes that wait while a tree of any depth is searched."""


class PointTree(NamedTuple):
    """Points in the order of a k-d tree (Bentley, 1975), halved by the widest side of each part.

    `points` (rows, columns) and `rows` (rows,), the number of each before. Node 1 has all of them,
    and node i is halved into 2i and 2i + 1; its points are those from `starts` to before `ends`,
    (2 * leaves,) each. `low` and `high` (2 * leaves, columns) are the least and the greatest values
    of each node.
    """

    points: Floats
    rows: Ints
    starts: Ints
    ends: Ints
    low: Floats
    high: Floats

    def places(self, rows: Ints) -> Ints:
        """Return where rows are among the points, (rows,), -1 for -1."""
        places = np.full(len(self.rows) + 1, -1, dtype=np.int64)
        places[self.rows] = np.arange(len(self.rows))
        point_places: Ints = places[rows]
        return point_places


def plant(points: Floats, leaf: int = _LEAF) -> PointTree:
    """Return the tree of finite points, (rows, columns), at least one.

    A leaf has at most `leaf` of them: fewer boxes to visit, or fewer points to compare.
    """
    points = np.ascontiguousarray(points)
    rows = len(points)
    leaves = 1
    while leaves * leaf < rows:
        leaves *= 2
    starts, ends = np.zeros(2 * leaves, dtype=np.int64), np.zeros(2 * leaves, dtype=np.int64)
    for first in (2**level for level in range(leaves.bit_length())):
        edges = np.arange(first + 1) * rows // first
        starts[first : 2 * first], ends[first : 2 * first] = edges[:-1], edges[1:]
    order, low = np.arange(rows), np.empty((2 * leaves, points.shape[1]))
    high = np.empty_like(low)
    _grow(points, order, np.empty(rows), starts, ends)
    points = points[order]
    _bound(points, starts, ends, low, high)
    return PointTree(points, order, starts, ends, low, high)


@compiled
def _grow(points, order, values, starts, ends):  # type: ignore[no-untyped-def]
    """Order the rows by node."""
    nodes = len(starts)
    for node in range(1, nodes // 2):
        widest = _widest(points, order, starts[node], ends[node])
        _halve(points, order, values, starts[node], ends[node], ends[2 * node], widest)


@inlined
def _widest(points, order, start, end):  # type: ignore[no-untyped-def]
    """Return the widest column of a node, by some of its points where these are many."""
    step = 1 + (end - start) // _LOOKED_AT
    widest, width = 0, -1.0
    for column in range(points.shape[1]):
        least = greatest = points[order[start], column]
        for at in range(start + step, end, step):
            value = points[order[at], column]
            least, greatest = min(least, value), max(greatest, value)
        if greatest - least > width:
            widest, width = column, greatest - least
    return widest


@compiled
def _bound(points, starts, ends, low, high):  # type: ignore[no-untyped-def]
    """Find the boxes of the nodes, those of leaves first."""
    nodes = len(starts)
    for node in range(nodes - 1, 0, -1):
        if 2 * node < nodes:
            for column in range(points.shape[1]):
                low[node, column] = min(low[2 * node, column], low[2 * node + 1, column])
                high[node, column] = max(high[2 * node, column], high[2 * node + 1, column])
        else:
            for column in range(points.shape[1]):
                least = greatest = points[starts[node], column]
                for place in range(starts[node] + 1, ends[node]):
                    value = points[place, column]
                    least, greatest = min(least, value), max(greatest, value)
                low[node, column], high[node, column] = least, greatest


@inlined
def _halve(points, order, values, start, end, middle, column):  # type: ignore[no-untyped-def]
    """Move the rows with the least values of a column before the middle (Hoare's selection)."""
    # Side by side, values are at hand; those of points in any order are not.
    for at in range(start, end):
        values[at] = points[order[at], column]
    left, right = start, end - 1
    while left < right:
        pivot = values[(left + right) // 2]
        low, high = left, right
        while low <= high:
            while values[low] < pivot:
                low += 1
            while values[high] > pivot:
                high -= 1
            if low <= high:
                order[low], order[high] = order[high], order[low]
                values[low], values[high] = values[high], values[low]
                low, high = low + 1, high - 1
        if middle <= high:
            right = high
        elif middle >= low:
            left = low
        else:
            break


@inlined
def is_one_point(low, high):  # type: ignore[no-untyped-def]
    """Tell whether a box is a single point."""
    same = True
    for column in range(len(low)):
        if low[column] != high[column]:
            same = False
            break
    return same
