"""Generalisations by nested groups of values, whose cells are nodes of a tree over the values."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import write_value
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    hull_cells,
    level_labels,
    make_ladder,
    value_labels,
)
from policy_engine.kernels.axis import Tree
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition


def climb(parent: NDArray[np.int32], low: NDArray[Any], high: NDArray[Any]) -> Ints:
    """Return the lowest common ancestors of pairs of nodes, (pairs,).

    Every parent must have a smaller number than its children.
    """
    low, high = low.astype(np.int64), high.astype(np.int64)
    apart = np.flatnonzero(low != high)
    while len(apart):
        # The node with the greater number cannot be an ancestor of the other, so it moves up.
        first, second = low[apart], high[apart]
        low[apart], high[apart] = np.minimum(first, second), parent[np.maximum(first, second)]
        apart = apart[low[apart] != high[apart]]
    return low


def price_pieces(start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.float64]:
    """Return the loss of groups that are pieces of a line, (cells,), given all of a column's.

    A piece costs its length relative to the extent of the column, 1 at most. The extent is from
    the start of the piece that ends first to the end of the piece that starts last, so that a
    piece much longer than the column does not make the others cheaper.
    """
    if not len(start):
        return np.zeros(0)
    first, last = np.lexsort((-start, end))[0], np.lexsort((end, -start))[0]
    return relative_lengths(end - start, end[last] - start[first])


def relative_lengths(length: NDArray[Any], whole: float) -> NDArray[np.float64]:
    """Return lengths over a whole, 1 at most; over 0, a length of 0 is 0 and any other 1."""
    if not whole:
        return (length > 0).astype(np.float64)
    return np.minimum((length / whole).astype(np.float64), 1.0)


@dataclass(frozen=True)
class Nested(Generalizer):
    """Sorted values in nested groups, which grow wider with the height.

    `joins` (values - 1,) holds the lowest height, from 1, at which each value and the next are in
    one group. At the height `top`, all values are.
    """

    joins: Ints
    top: int

    @abstractmethod
    def labels(self, height: int, values: Ints) -> list[str]:
        """Return the labels of the groups of values at a height above 0, (values,).

        Values are counted from 0, without the missing one.
        """

    @abstractmethod
    def penalties(self, height: int, values: Ints) -> NDArray[np.float64]:
        """Return the losses of the groups of values at a height above 0, from 0 to 1, (values,)."""

    def shape(self) -> Tree:
        """Return the tree of the groups, without those that hold only one smaller group."""
        leaf = self._nodes.leaf
        hidden = np.zeros(int(self.column.has_missing), dtype=np.int32)
        loss = np.zeros(len(self._nodes.parent))
        for height, nodes in self._group_by_height(np.arange(len(loss))):
            loss[nodes] = self.penalties(height, self._nodes.value[nodes]) if height else 0.0
        return Tree(self._nodes.parent, np.concatenate([hidden, leaf]), loss)

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the smallest group that holds each class, or its single value."""
        return hull_cells(self.column, classes, self._bodies)

    def ladder(self) -> Ladder:
        """Return the groups of every height."""
        first = [self._firsts(height) for height in range(self.top + 1)]
        levels = [
            np.searchsorted(starts, np.arange(self._size), side="right").astype(np.int32) - 1
            for starts in first
        ]
        losses = [np.zeros(self._size)]
        losses += [self.penalties(height, first[height]) for height in range(1, self.top + 1)]
        return make_ladder(self.column, levels, losses)

    def labels_at(self, height: int) -> list[str | None]:
        """Return the cell of every group of a height."""
        level = min(height, self.top)
        labels = self._labels(level, self._firsts(level))
        is_top = height == max(self.top, int(self.column.has_missing))
        return level_labels(self.column, labels, is_top=is_top)

    @property
    def _size(self) -> int:
        return len(value_labels(self.column))

    @cached_property
    def _nodes(self) -> "TreeNodes":
        return make_tree_nodes(self.joins, self._size)

    def _firsts(self, height: int) -> Ints:
        """Return the first value of every group of a height."""
        starts = np.flatnonzero(self.joins > height) + 1
        return np.concatenate([np.zeros(min(self._size, 1), np.int64), starts])

    def _labels(self, height: int, values: Ints) -> list[str]:
        if height:
            return self.labels(height, values)
        return list(map(write_value, value_labels(self.column)[values]))

    def _bodies(self, low: Ints, high: Ints) -> list[str]:
        nodes, blank = self._nodes, int(self.column.has_missing)
        ancestors, pair = np.unique(
            climb(nodes.parent, nodes.leaf[low - blank], nodes.leaf[high - blank]),
            return_inverse=True,
        )
        bodies = np.empty(len(ancestors), dtype=object)
        for height, places in self._group_by_height(ancestors):
            bodies[places] = self._labels(height, nodes.value[ancestors[places]])
        return bodies[pair].tolist()  # type: ignore[no-any-return]

    def _group_by_height(self, nodes: Ints) -> list[tuple[int, Ints]]:
        """Return the places of nodes by their height."""
        heights = self._nodes.height[nodes]
        return [(h, np.flatnonzero(heights == h)) for h in np.unique(heights).tolist()]


@dataclass(frozen=True)
class TreeNodes:
    """The nodes of nested groups: the root is 0, and a parent's number below its children's.

    `leaf` (values,) is the node of every value; `height` (nodes,) that of every node, 0 for a
    value; `value` (nodes,) the first value below every node.
    """

    parent: NDArray[np.int32]
    leaf: NDArray[np.int32]
    height: Ints
    value: Ints


def make_tree_nodes(joins: Ints, size: int) -> TreeNodes:
    """Return the tree of `size` values, given the heights at which neighbours join."""
    count = max(size, 1)
    parent = np.full(2 * count - 1, -1, dtype=np.int64)
    height, value = np.zeros_like(parent), np.zeros_like(parent)
    value[:size] = nodes = np.arange(size)
    for level in np.unique(joins).tolist():
        starts = np.concatenate([[True], joins > level])
        group = np.cumsum(starts) - 1
        is_joined = np.bincount(group) > 1
        number = nodes[starts]
        first = value[number[is_joined]]
        number[is_joined] = np.arange(count, count + len(first))
        has_moved = is_joined[group]
        parent[nodes[has_moved]] = number[group[has_moved]]
        value[number[is_joined]], height[number[is_joined]] = first, level
        count += len(first)
        nodes, joins = number, joins[joins > level]
    last = count - 1
    up = np.where(parent[:count] < 0, -1, last - parent[:count])[::-1].astype(np.int32)
    leaf = (last - np.arange(size)).astype(np.int32)
    return TreeNodes(up, leaf, height[:count][::-1], value[:count][::-1])
