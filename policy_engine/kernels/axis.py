"""Quasi-identifiers as the kernels see them: ordered codes, and the price of hiding them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Codes = NDArray[np.int32]

UNIT = 1 << 24
"""The penalty of a cell that hides everything. Penalties are integers, so that sums of them are
exact, and a tie is a tie on any machine and in any order of rows."""


@dataclass(frozen=True)
class Interval:
    """Values on a line: a cell costs its width. `position` (m,) places the codes, from 0 to 1."""

    position: NDArray[np.float64]


@dataclass(frozen=True)
class Members:
    """Values without an order: a cell costs its share of the `size` values, one value nothing."""

    size: int


@dataclass(frozen=True)
class Tree:
    """Values under a taxonomy: a cell is the lowest node above its values, and costs `loss`.

    `parent` (nodes,) is -1 at the root; `leaf` (m,) is the node of every code, with none below
    it. The codes below a node follow each other. `loss` (nodes,) lies between 0 and 1, 0 at
    the leaves.
    """

    parent: NDArray[np.int32]
    leaf: NDArray[np.int32]
    loss: NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier: `codes` (rows,) holds 0 .. m-1 in the order of the values.

    `shape` determines what a cell costs, and `weight` how much that counts. Where `has_missing`,
    code 0 is the missing value: a class that mixes it with others costs everything, or, if it
    `is_wildcard`, what the others cost. In a set it is a member, unless it `is_wildcard`.
    """

    codes: Codes
    shape: Interval | Members | Tree
    has_missing: bool = False
    is_wildcard: bool = False
    weight: float = 1.0

    @property
    def size(self) -> int:
        """How many codes there are."""
        match self.shape:
            case Interval(position):
                return len(position)
            case Members(size):
                return size
            case Tree(leaf=leaf):
                return len(leaf)


class Axes(NamedTuple):
    """All axes in a few arrays, with the prices of their cells.

    `facts` (dimensions + 1, 7) has a row for each dimension; row OFFSET + c of `places` (codes, 2)
    is about its code c, row ROOT + n of `nodes` (nodes, 4) about its node n. SHARE is the price of
    one more member of a set, FULL that of a cell that hides everything; POSITION is a price too.
    `words` (2, dimensions) is about the sets of up to 64 values, whose members are the bits of one
    word: COUNTED has a 1 for each bit that counts, which is every bit but that of a missing value
    that matches any, and is 0 for the other dimensions; PRICED is the price of a member.
    """

    # Not one object for each axis: compiled code takes arrays of one type, and would be compiled
    # anew for every combination of shapes.

    facts: NDArray[np.int64]
    places: NDArray[np.int64]
    nodes: NDArray[np.int64]
    words: NDArray[np.int64]


KIND, OFFSET, SHARE, FULL, HAS_MISSING, IS_WILDCARD, ROOT = range(7)
POSITION, LEAF = range(2)
PARENT, FIRST, LAST, PRICE = range(4)
COUNTED, PRICED = range(2)
INTERVAL, MEMBERS, TREE = 0, 1, 2
_KINDS = {Interval: INTERVAL, Members: MEMBERS, Tree: TREE}


def pack_axes(axes: list[Axis]) -> Axes:
    """Return the axes in the arrays that compiled code takes."""
    offset = np.cumsum([0, *(axis.size for axis in axes)])
    trees = [axis.shape if isinstance(axis.shape, Tree) else _NO_TREE for axis in axes]
    root = np.cumsum([0, *(len(tree.parent) for tree in trees)])
    facts = np.zeros((len(axes) + 1, 7), dtype=np.int64)
    facts[:, OFFSET], facts[:, ROOT] = offset, root
    places = np.zeros((offset[-1], 2), dtype=np.int64)
    nodes = np.zeros((root[-1], 4), dtype=np.int64)
    for dim, (axis, tree) in enumerate(zip(axes, trees, strict=True)):
        # The weight is part of the price: an integer like the others, no factor at run time.
        full = round(axis.weight * UNIT)
        wildcard = axis.has_missing and axis.is_wildcard
        facts[dim, [KIND, SHARE, FULL]] = _KINDS[type(axis.shape)], full // max(axis.size, 1), full
        facts[dim, [HAS_MISSING, IS_WILDCARD]] = axis.has_missing, wildcard
        here = slice(offset[dim], offset[dim + 1])
        places[here, POSITION] = _to_prices(_positions(axis), full)
        if isinstance(axis.shape, Tree):
            places[here, LEAF] = axis.shape.leaf
        first, last = _span_of_nodes(tree)
        nodes[root[dim] : root[dim + 1]] = np.column_stack(
            [tree.parent, first, last, _to_prices(tree.loss, full)]
        )
    return Axes(facts, places, nodes, _words(facts[:-1], np.diff(offset)))


def _words(facts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    fits = (facts[:, KIND] == MEMBERS) & (sizes <= _BITS)
    counted = np.where(facts[:, IS_WILDCARD] > 0, np.int64(-2), np.int64(-1))
    return np.where(fits, np.stack([counted, facts[:, SHARE]]), np.int64(0))


_BITS = 64
_NO_TREE = Tree(np.array([-1], np.int32), np.zeros(0, np.int32), np.zeros(1))


def _to_prices(share: NDArray[np.float64], full: int) -> NDArray[np.int64]:
    return np.round(share * full).astype(np.int64)


def _positions(axis: Axis) -> NDArray[np.float64]:
    if isinstance(axis.shape, Interval):
        return axis.shape.position
    # Codes without positions of their own lie at equal distances; those are only used to measure
    # how wide a dimension is, never to price a cell.
    blank = int(axis.has_missing)
    return np.concatenate([np.zeros(blank), np.linspace(0.0, 1.0, axis.size - blank)])


def _span_of_nodes(tree: Tree) -> tuple[Codes, Codes]:
    """Return the first and the last code below every node, (size, -1) where there is none."""
    # The codes below a node follow each other: two ends say whether it is above a range of codes.
    first = np.full(len(tree.parent), len(tree.leaf), dtype=np.int32)
    last = np.full(len(tree.parent), -1, dtype=np.int32)
    nodes, codes = tree.leaf, np.arange(len(tree.leaf), dtype=np.int32)
    while len(nodes):
        np.minimum.at(first, nodes, codes)
        np.maximum.at(last, nodes, codes)
        nodes = tree.parent[nodes]
        codes, nodes = codes[nodes >= 0], nodes[nodes >= 0]
    return first, last


LEAST, GREATEST, ACTIVE, DISTINCT = range(4)
"""The columns of `Scratch.node`: what is known of the node that is being cut."""


@compiled
def are_apart(axes, dim, low, last, first, high):  # type: ignore[no-untyped-def]
    """Return whether no cell over codes low .. last can equal one over codes first .. high.

    `last` and `first` occur, with no code between them.
    """
    # Ranges and sets of different values differ. Under a taxonomy two sides can have the same node:
    # then classes from both would be one class on the output. They cannot where no value of one
    # side is below the lowest node above all values of the other.
    facts, places, nodes = axes.facts, axes.places, axes.nodes
    has_missing = facts[dim, HAS_MISSING] > 0 and low == 0
    if facts[dim, KIND] != TREE or (has_missing and last == 0):
        return True
    offset, root = facts[dim, OFFSET], facts[dim, ROOT]
    right = above = root + places[offset + first, LEAF]
    while nodes[above, LAST] < high:
        above = root + nodes[above, PARENT]
    left = root + places[offset + last, LEAF]
    if nodes[left, LAST] >= first or nodes[right, FIRST] <= last:
        return False
    if nodes[above, FIRST] > last:
        return True
    above, low = left, low + has_missing
    while nodes[above, FIRST] > low:
        above = root + nodes[above, PARENT]
    return nodes[above, LAST] < first
