"""The records that a person's may be after rank swapping, whose window is known: B_j and their
intersection.

Nin, Herranz and Torra: Rethinking rank swapping to decrease disclosure risk, Data and Knowledge
Engineering 64(1), 2008.
"""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.linkage.tree import STACK, PointTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def windows(known: Floats, masked: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the least and the greatest value that each known one may have become.

    `known` (persons, columns), values of the file before masking; `masked` (rows, columns). Where a
    value moved by at most `most` ranks, it became one that lies between those so many ranks
    before the first of its equals and behind the last; a value that no record has is between its
    neighbours. Returns two arrays (persons, columns).
    """
    ordered, last = np.sort(masked, axis=0), len(masked) - 1
    low, high = np.empty(known.shape), np.empty(known.shape)
    for column, values in enumerate(ordered.T):
        # What is looked for in ascending order is found in a sixth of the time.
        order = np.argsort(known[:, column])
        asked = known[order, column]
        before = np.searchsorted(values, asked, side="left") - most
        behind = np.searchsorted(values, asked, side="right") - 1 + most
        low[order, column] = values[np.clip(before, 0, last)]
        high[order, column] = values[np.clip(behind, 0, last)]
    return low, high


def records_within(tree: PointTree, low: Floats, high: Floats) -> Ints:
    """Return how many points of a tree lie between `low` and `high`, (persons, columns) each.

    The ends belong to the boxes. Returns an array (persons,).
    """
    found, stack = np.zeros(len(low), dtype=np.int64), np.empty(STACK, dtype=np.int64)
    _count(tree, np.ascontiguousarray(low), np.ascontiguousarray(high), stack, found)
    return found


@compiled
def _count(tree, low, high, stack, found):  # type: ignore[no-untyped-def]
    half, columns = len(tree.starts) // 2, tree.points.shape[1]
    for person in range(len(low)):
        waiting = 1
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            apart, inside = False, True
            for column in range(columns):
                least, greatest = tree.low[node, column], tree.high[node, column]
                apart |= greatest < low[person, column] or least > high[person, column]
                inside &= least >= low[person, column] and greatest <= high[person, column]
            if apart:
                continue
            if inside:
                found[person] += tree.ends[node] - tree.starts[node]
            elif node < half:
                stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
                waiting += 2
            else:
                for place in range(tree.starts[node], tree.ends[node]):
                    within = True
                    for column in range(columns):
                        value = tree.points[place, column]
                        within &= low[person, column] <= value <= high[person, column]
                    found[person] += within
