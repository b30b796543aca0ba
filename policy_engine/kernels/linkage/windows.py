"""The records that a person's may be after rank swapping, whose window is known: B_j and their
intersection.

Nin, Herranz and Torra: Rethinking rank swapping to decrease disclosure risk, Data and Knowledge
Engineering 64(1), 2008.
"""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.tree import STACK, PointTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def windows(known_values: Floats, masked: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the least and the greatest value that each known one may have become.

    `known_values` (persons, columns), values of the file before masking; `masked` (rows, columns).
    Where a value moved by at most `most` ranks, it became one that lies between those so many ranks
    before the first of its equals and behind the last; a value that no record has is between its
    neighbours. Returns two arrays (persons, columns).
    """
    ordered, last = np.sort(masked, axis=0), len(masked) - 1
    low, high = np.empty(known_values.shape), np.empty(known_values.shape)
    for column, values in enumerate(ordered.T):
        # What is looked for in ascending order is found in a sixth of the time.
        order = np.argsort(known_values[:, column])
        sorted_values = known_values[order, column]
        before = np.searchsorted(values, sorted_values, side="left") - most
        behind = np.searchsorted(values, sorted_values, side="right") - 1 + most
        low[order, column] = values[np.clip(before, 0, last)]
        high[order, column] = values[np.clip(behind, 0, last)]
    return low, high


def records_within(tree: PointTree, low: Floats, high: Floats, most: int | None = None) -> Ints:
    """Return how many points of a tree lie between `low` and `high`, (persons, columns) each.

    The ends belong to the boxes. Returns an array (persons,). Counting ends at `most`, if that is
    given: 2 tells whose record is the only one left, in a small part of the time.
    """
    counts, stack = np.zeros(len(low), dtype=np.int64), np.empty(STACK, dtype=np.int64)
    limit = len(tree.rows) if most is None else most
    _count(tree, np.ascontiguousarray(low), np.ascontiguousarray(high), limit, stack, counts)
    return np.minimum(counts, limit)


@compiled
def _count(tree, low, high, limit, stack, counts):  # type: ignore[no-untyped-def]
    half = len(tree.starts) // 2
    for person in range(len(low)):
        waiting = 1
        stack[0] = 1
        while waiting > 0 and counts[person] < limit:
            waiting -= 1
            node = stack[waiting]
            place = _place(tree.low[node], tree.high[node], low[person], high[person])
            if place == _INSIDE:
                counts[person] += tree.ends[node] - tree.starts[node]
            elif place == _ACROSS and node < half:
                stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
                waiting += 2
            elif place == _ACROSS:
                for row in range(tree.starts[node], tree.ends[node]):
                    point = tree.points[row]
                    counts[person] += _place(point, point, low[person], high[person]) == _INSIDE


_APART, _ACROSS, _INSIDE = 0, 1, 2


@inlined
def _place(least, greatest, low, high):  # type: ignore[no-untyped-def]
    """Return whether a box lies apart from another, across its border, or inside it."""
    place = _INSIDE
    for column in range(len(least)):
        if greatest[column] < low[column] or least[column] > high[column]:
            place = _APART
            break
        if least[column] < low[column] or greatest[column] > high[column]:
            place = _ACROSS
    return place
