"""How many pairs of two sets of points are near each other, counted in two trees at once."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.linkage.tree import STACK, plant

Floats = NDArray[np.float64]

_LEAF = 64
"""The points of a leaf are compared side by side, so larger leaves than usual are faster."""


def pairs_within(points: Floats, centres: Floats, widths: Floats) -> int:
    """Return how many pairs of a point and a centre are so near in every column.

    `points` (points, columns), at least one, and `centres` (centres, columns), at least one, are
    finite, and `widths` (columns,) at least 0: a pair is near where the point lies from the centre
    less the width up to the centre plus the width, both ends included.
    """
    # Columns are cut where they are wide for what is looked for; by powers of 2, no comparison
    # changes.
    exponents = np.where(widths > 0, np.frexp(widths)[1], 0)
    points, centres, widths = (np.ldexp(one, -exponents) for one in (points, centres, widths))
    tree, other = plant(points, _LEAF), plant(centres, _LEAF)
    lows = other.low - widths, other.high - widths, other.points - widths
    highs = other.low + widths, other.high + widths, other.points + widths
    columns = np.ascontiguousarray(tree.points.T)
    near = np.empty(_LEAF, dtype=np.uint8)
    stack = np.empty((2 * STACK, 2), dtype=np.int64)
    return int(_count(tree, columns, other.starts, other.ends, lows, highs, near, stack))


@compiled
def _count(tree, columns, starts, ends, lows, highs, near, stack):  # type: ignore[no-untyped-def]
    """Add the pairs of nodes that are wholly near each other, and those of the leaves of others."""
    half, leaves = len(tree.starts) // 2, len(starts) // 2
    waiting, total = 1, 0
    stack[0] = 1
    while waiting > 0:
        waiting -= 1
        node, other = stack[waiting]
        apart, within = _compare(tree, node, other, lows, highs)
        if apart:
            continue
        if within:
            total += (tree.ends[node] - tree.starts[node]) * (ends[other] - starts[other])
        elif node < half and (node < other or other >= leaves):
            stack[waiting, 0], stack[waiting, 1] = 2 * node, other
            stack[waiting + 1, 0], stack[waiting + 1, 1] = 2 * node + 1, other
            waiting += 2
        elif other < leaves:
            stack[waiting, 0], stack[waiting, 1] = node, 2 * other
            stack[waiting + 1, 0], stack[waiting + 1, 1] = node, 2 * other + 1
            waiting += 2
        else:
            for at in range(starts[other], ends[other]):
                total += _count_in_leaf(tree, columns, node, lows[2][at], highs[2][at], near)
    return total


@inlined
def _compare(tree, node, other, lows, highs):  # type: ignore[no-untyped-def]
    """Return whether no point of a node is near a centre of the other, and whether all are."""
    apart, within = False, True
    for column in range(tree.low.shape[1]):
        least, greatest = tree.low[node, column], tree.high[node, column]
        if greatest < lows[0][other, column] or least > highs[1][other, column]:
            apart = True
            break
        if least < lows[1][other, column] or greatest > highs[0][other, column]:
            within = False
    return apart, within


@inlined
def _count_in_leaf(tree, columns, node, low, high, near):  # type: ignore[no-untyped-def]
    """Return how many points of a leaf lie within a box, looking at all in one column at a time."""
    start, size, count = tree.starts[node], tree.ends[node] - tree.starts[node], 0
    apart = False
    for column in range(len(low)):
        if tree.high[node, column] < low[column] or tree.low[node, column] > high[column]:
            apart = True
            break
    if not apart:
        near[:size] = 1
        for column in range(len(low)):
            from_, to = low[column], high[column]
            if tree.low[node, column] < from_ or tree.high[node, column] > to:
                for at in range(size):
                    value = columns[column, start + at]
                    near[at] &= (value >= from_) & (value <= to)
        for at in range(size):
            count += near[at]
    return count
