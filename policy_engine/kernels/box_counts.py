"""How many points lie within boxes, counted in a tree without looking at all."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.linkage.tree import STACK, plant

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def box_counts(points: Floats, weights: Ints, low: Floats, high: Floats) -> Ints:
    """Return the weight of all points in each box, (boxes,); its faces belong to it.

    `points` (points, columns), at least one, and the ends `low` and `high` of boxes, (boxes,
    columns) each, are finite. `weights` (points,) are how many a point stands for.
    """
    tree = plant(points)
    before = np.append(0, np.cumsum(weights[tree.rows]))
    totals, stack = np.zeros(len(low), dtype=np.int64), np.empty(STACK, dtype=np.int64)
    ends = np.ascontiguousarray(low), np.ascontiguousarray(high)
    _count(tree.points, before, tree.starts, tree.ends, tree.low, tree.high, *ends, stack, totals)
    return totals


@compiled
def _count(points, before, starts, ends, least, greatest, low, high, stack, totals):  # type: ignore[no-untyped-def]
    """Add the weights of nodes that are wholly within a box, and of points in the others."""
    half, columns = len(starts) // 2, points.shape[1]
    for box in range(len(low)):
        waiting, total = 1, 0
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            apart, within = False, True
            for column in range(columns):
                from_, to = low[box, column], high[box, column]
                if greatest[node, column] < from_ or least[node, column] > to:
                    apart = True
                    break
                if least[node, column] < from_ or greatest[node, column] > to:
                    within = False
            if apart:
                continue
            if within:
                total += before[ends[node]] - before[starts[node]]
            elif node < half:
                stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
                waiting += 2
            else:
                for at in range(starts[node], ends[node]):
                    inside = True
                    for column in range(columns):
                        value = points[at, column]
                        if value < low[box, column] or value > high[box, column]:
                            inside = False
                            break
                    if inside:
                        total += before[at + 1] - before[at]
        totals[box] = total
