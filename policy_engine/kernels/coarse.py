"""Axes of very many values in few parts of neighbours, so that briefs of nodes stay small."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import Axis, Codes, Interval, Members, Tree

Ints = NDArray[np.int64]


def neighbour_parts(axis: Axis, counts: Ints, parts: int) -> Codes:
    """Return the part of every code, (codes,): neighbours, of about as many rows each.

    `counts` (codes,) are the rows of each code. The missing value is a part of its own. A set
    has no neighbours: each of its values is a part.
    """
    if isinstance(axis.shape, Members) or len(counts) <= parts:
        return np.arange(len(counts), dtype=np.int32)
    blank = int(axis.has_missing)
    # Twice the middle of each code's rows: integers, so that no rounding moves a boundary. By its
    # middle, a code with very many rows does not take those that follow into its part.
    middle = 2 * np.cumsum(counts[blank:]) - counts[blank:]
    quantile = middle * (parts - blank) // (2 * int(counts[blank:].sum()))
    part = np.unique(quantile, return_inverse=True)[1] + blank
    return np.concatenate([np.zeros(blank), part]).astype(np.int32)


def coarsen(axis: Axis, part: Codes) -> Axis:
    """Return an axis whose codes are parts; a part costs what its first value does.

    Under a taxonomy, its node is the lowest above all of its values.
    """
    # Prices of parts only choose the first cuts: within a node, the real values are priced again.
    first = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    if isinstance(axis.shape, Interval):
        return replace(axis, shape=Interval(axis.shape.position[first]))
    if isinstance(axis.shape, Tree):
        ends = np.append(first[1:], len(part)) - 1
        leaf = lowest_above(axis.shape.parent, axis.shape.leaf[first], axis.shape.leaf[ends])
        return replace(axis, shape=replace(axis.shape, leaf=leaf.astype(np.int32)))
    return axis


def lowest_above(parent: Codes, low: Codes, high: Codes) -> Ints:
    """Return the lowest node above each pair of nodes, (pairs,), however nodes are numbered."""
    depth = _depths(parent)
    one, other = low.astype(np.int64), high.astype(np.int64)
    # Of two different nodes the deeper one cannot be above the other: it moves up.
    while (apart := one != other).any():
        deeper = apart & (depth[one] >= depth[other])
        lower = apart & ~deeper
        one[deeper], other[lower] = parent[one[deeper]], parent[other[lower]]
    return one


def _depths(parent: Codes) -> Ints:
    depth, nodes = np.zeros(len(parent), dtype=np.int64), np.arange(len(parent))
    above = parent.astype(np.int64)
    while len(nodes):
        nodes, above = nodes[above >= 0], above[above >= 0]
        depth[nodes] += 1
        above = parent[above].astype(np.int64)
    return depth
