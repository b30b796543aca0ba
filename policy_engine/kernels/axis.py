"""The quasi-identifiers as the kernels see them: codes in order, and what hiding them costs."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined

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

    `shape` tells what a cell costs, and `weight` how much that counts. Where `has_missing`,
    code 0 stands for the missing value: a class that mixes it with others costs everything,
    or, if it `is_wildcard`, what the others cost. In a set it is a member, or, if it
    `is_wildcard`, none.
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
    """All axes in few arrays, the prices of their cells included.

    `facts` (dimensions + 1, FACTS) holds a row for each dimension; what belongs to its code c
    stands in row OFFSET + c of `places` (codes, 2), what belongs to its node n in row ROOT + n
    of `nodes` (nodes, 4). SHARE is the price of one more member of a set, FULL that of a cell
    that hides everything; POSITION is priced likewise. `words` (2, dimensions) are about the sets
    whose members are told by the bits of one word: COUNTED has a 1 for each bit that counts, all
    bits but that of a missing value that matches any, and none of the other dimensions; PRICED
    is the price of a member.
    """

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


def flat(axes: list[Axis]) -> Axes:
    """Return the axes in the arrays that compiled code takes."""
    offset = np.cumsum([0, *(axis.size for axis in axes)])
    trees = [axis.shape if isinstance(axis.shape, Tree) else _NO_TREE for axis in axes]
    root = np.cumsum([0, *(len(tree.parent) for tree in trees)])
    facts = np.zeros((len(axes) + 1, 7), dtype=np.int64)
    facts[:, OFFSET], facts[:, ROOT] = offset, root
    places = np.zeros((offset[-1], 2), dtype=np.int64)
    nodes = np.zeros((root[-1], 4), dtype=np.int64)
    for dim, (axis, tree) in enumerate(zip(axes, trees, strict=True)):
        full = round(axis.weight * UNIT)
        wildcard = axis.has_missing and axis.is_wildcard
        facts[dim, [KIND, SHARE, FULL]] = _KINDS[type(axis.shape)], full // max(axis.size, 1), full
        facts[dim, [HAS_MISSING, IS_WILDCARD]] = axis.has_missing, wildcard
        here = slice(offset[dim], offset[dim + 1])
        places[here, POSITION] = _priced(_places(axis), full)
        if isinstance(axis.shape, Tree):
            places[here, LEAF] = axis.shape.leaf
        first, last = _span_of_nodes(tree)
        nodes[root[dim] : root[dim + 1]] = np.column_stack(
            [tree.parent, first, last, _priced(tree.loss, full)]
        )
    return Axes(facts, places, nodes, _words(facts[:-1], np.diff(offset)))


def _words(facts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    fits = (facts[:, KIND] == MEMBERS) & (sizes <= _BITS)
    counted = np.where(facts[:, IS_WILDCARD] > 0, np.int64(-2), np.int64(-1))
    return np.where(fits, np.stack([counted, facts[:, SHARE]]), np.int64(0))


_BITS = 64
_NO_TREE = Tree(np.array([-1], np.int32), np.zeros(0, np.int32), np.zeros(1))


def _priced(share: NDArray[np.float64], full: int) -> NDArray[np.int64]:
    return np.round(share * full).astype(np.int64)


def _places(axis: Axis) -> NDArray[np.float64]:
    if isinstance(axis.shape, Interval):
        return axis.shape.position
    blank = int(axis.has_missing)
    return np.concatenate([np.zeros(blank), np.linspace(0.0, 1.0, axis.size - blank)])


def _span_of_nodes(tree: Tree) -> tuple[Codes, Codes]:
    """Return the first and the last code below every node; none is (size, -1)."""
    first = np.full(len(tree.parent), len(tree.leaf), dtype=np.int32)
    last = np.full(len(tree.parent), -1, dtype=np.int32)
    nodes, codes = tree.leaf, np.arange(len(tree.leaf), dtype=np.int32)
    while len(nodes):
        np.minimum.at(first, nodes, codes)
        np.maximum.at(last, nodes, codes)
        nodes = tree.parent[nodes]
        codes, nodes = codes[nodes >= 0], nodes[nodes >= 0]
    return first, last


class Extent(NamedTuple):
    """What a growing set of rows covers: working memory.

    `state` (dimensions + 1, 5) holds a row for each dimension: LOW and HIGH, the least and
    greatest code that is not a missing value, -1 before the first; NODE, the lowest node above
    them; the COUNT of a set's members; and whether a value is MISSING. `seen` (codes,) holds
    the stamp of the last sweep that met a code; the STAMP itself stands behind the last
    dimension, and beside it what ALL rows of the node cost in the dimensions of `words`, -1
    where that is not known. `words` (dimensions,) holds a bit for each member met.
    """

    state: NDArray[np.int64]
    seen: NDArray[np.int64]
    words: NDArray[np.int64]


LOW, HIGH, NODE, COUNT, MISSING = range(5)
STAMP, ALL = range(2)
LEAST, GREATEST, ACTIVE, DISTINCT = range(4)
EVERY: Any = np.int64(-1)


def extent(axes: Axes) -> Extent:
    """Return an extent for the axes."""
    state, dims = np.zeros((len(axes.facts), 5), np.int64), len(axes.facts) - 1
    state[-1, ALL] = -1
    return Extent(state, np.zeros(len(axes.places), np.int64), np.zeros(dims, np.int64))


@compiled
def sweep(axes, extent, rows, order, total, step, node, active, cut, prices):  # type: ignore[no-untyped-def]
    """Set `prices` to what the first rows of `order` cost together, for each number to `total`.

    With a `step` of -1, the last rows. Only the first `active` dimensions listed in `node` are
    looked at; the others are known to cost nothing. Where the rows are in the order of a
    dimension `cut`, only the prices in front of another value of it are right; with EVERY, all
    are. What the rows cost can only grow with their number, so that a dimension is done with
    where they cover all that `node` says the node does.
    """
    for place in range(total):
        prices[place] = 0
    has_words = False
    for turn in range(active):
        dim = node[turn, ACTIVE]
        if axes.words[COUNTED, dim] != 0:
            has_words = True
        elif axes.facts[dim, KIND] == MEMBERS:
            _add_sets(axes, extent, rows, order, total, step, node, dim, prices)
        elif axes.facts[dim, KIND] == INTERVAL:
            _add_ranges(axes, rows, order, total, step, node, dim, prices)
        else:
            _add_nodes(axes, rows, order, total, step, node, dim, prices)
    if has_words:
        _add_words(axes, extent, rows, order, total, step, cut, prices)
    # What was added so far is by how much the price of a place is above that of the one before.
    for place in range(1, total):
        prices[place] += prices[place - 1]


@compiled
def count_members(axes, extent, rows, start, end, node, active):  # type: ignore[no-untyped-def]
    """Set what all rows of a node cover, for `sweep`: in each set, and in those in words."""
    words, seen, state = extent.words, extent.seen, extent.state
    for dim in range(len(words)):
        words[dim] = 0
    for row in range(start, end):
        _meet(words, rows, row)
    state[len(state) - 1, ALL] = _price_of_words(axes, words)
    for turn in range(active):
        dim = node[turn, ACTIVE]
        node[dim, DISTINCT] = 0
        if axes.facts[dim, KIND] == MEMBERS and axes.words[COUNTED, dim] == 0:
            offset, free = axes.facts[dim, OFFSET], axes.facts[dim, IS_WILDCARD]
            state[len(state) - 1, STAMP] += 1
            stamp, members = state[len(state) - 1, STAMP], 0
            for row in range(start, end):
                code = rows[row, dim]
                if seen[offset + code] != stamp:
                    seen[offset + code] = stamp
                    members += 1 if code > 0 or not free else 0
            node[dim, DISTINCT] = members


@inlined
def _meet(words, rows, row):  # type: ignore[no-untyped-def]
    """Set the bits of a row's values: in every dimension, so that many are set at once."""
    for dim in range(len(words)):
        words[dim] |= np.int64(1) << np.int64(rows[row, dim] & 63)


@compiled
def _price_of_words(axes, words):  # type: ignore[no-untyped-def]
    """Return what the sets in words cost together."""
    price = np.int64(0)
    for dim in range(len(words)):
        members = bits(np.uint64(words[dim] & axes.words[COUNTED, dim]))
        price += axes.words[PRICED, dim] * members if members > 1 else 0
    return price


@inlined
def _add_words(axes, extent, rows, order, total, step, cut, prices):  # type: ignore[no-untyped-def]
    """Add what the sets in words cost that the first rows make up, where that can be told."""
    words, every = extent.words, extent.state[len(extent.state) - 1, ALL]
    for dim in range(len(words)):
        words[dim] = 0
    last, before = 0 if step > 0 else total - 1, np.int64(0)
    for place in range(total):
        row = order[last + step * place]
        _meet(words, rows, row)
        is_end = cut < 0 or place + 1 == total
        if is_end or rows[row, cut] != rows[order[last + step * (place + 1)], cut]:
            price = _price_of_words(axes, words)
            prices[place] += price - before
            before = price
            if price == every:
                break


@inlined
def _add_sets(axes, extent, rows, order, total, step, node, dim, prices):  # type: ignore[no-untyped-def]
    """Add what the set costs that the first rows make up in a dimension, for each number."""
    facts, state, seen = axes.facts, extent.state, extent.seen
    offset, share, is_wildcard = facts[dim, OFFSET], facts[dim, SHARE], facts[dim, IS_WILDCARD]
    state[len(state) - 1, STAMP] += 1
    stamp, last = state[len(state) - 1, STAMP], 0 if step > 0 else total - 1
    members = 0
    for place in range(total):
        code = rows[order[last + step * place], dim]
        if seen[offset + code] != stamp:
            seen[offset + code] = stamp
            if code > 0 or not is_wildcard:
                members += 1
                prices[place] += 0 if members < 2 else share if members > 2 else 2 * share
                if members == node[dim, DISTINCT]:
                    break


@inlined
def _add_ranges(axes, rows, order, total, step, node, dim, prices):  # type: ignore[no-untyped-def]
    """Add the width of the range that holds the first rows in a dimension, for each number."""
    facts, places = axes.facts, axes.places
    offset, full = facts[dim, OFFSET], facts[dim, FULL]
    missing = -1 if facts[dim, HAS_MISSING] == 0 else 0
    is_free = facts[dim, IS_WILDCARD] > 0
    low = high = np.int64(-1)
    is_missing, before = False, np.int64(0)
    last = 0 if step > 0 else total - 1
    for place in range(total):
        code = np.int64(rows[order[last + step * place], dim])
        if code < low or code > high:
            if code == missing:
                is_missing = not is_free
            else:
                low, high = code if low < 0 else min(low, code), max(high, code)
            if low >= 0:
                width = places[offset + high, POSITION] - places[offset + low, POSITION]
                cost = full if is_missing else width
                prices[place] += cost - before
                before = cost
            if low < high and low == node[dim, LEAST] and high == node[dim, GREATEST]:
                break


@inlined
def _add_nodes(axes, rows, order, total, step, node, dim, prices):  # type: ignore[no-untyped-def]
    """Add what the lowest node above the first rows costs in a dimension, for each number."""
    facts, places, nodes = axes.facts, axes.places, axes.nodes
    offset, full, root = facts[dim, OFFSET], facts[dim, FULL], facts[dim, ROOT]
    missing = -1 if facts[dim, HAS_MISSING] == 0 else 0
    is_free = facts[dim, IS_WILDCARD] > 0
    low = high = above = np.int64(-1)
    is_missing, before = False, np.int64(0)
    last = 0 if step > 0 else total - 1
    for place in range(total):
        code = np.int64(rows[order[last + step * place], dim])
        if code < low or code > high:
            if code == missing:
                is_missing = not is_free
            else:
                if low < 0:
                    low, above = code, root + places[offset + code, LEAF]
                low, high = min(low, code), max(high, code)
                while nodes[above, FIRST] > low or nodes[above, LAST] < high:
                    above = root + nodes[above, PARENT]
            if low >= 0:
                cost = full if is_missing else nodes[above, PRICE]
                prices[place] += cost - before
                before = cost
            if low < high and low == node[dim, LEAST] and high == node[dim, GREATEST]:
                break


@compiled
def bits(word):  # type: ignore[no-untyped-def]
    """Return how many bits of a word are set."""
    pairs, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    word = word - ((word >> np.uint64(1)) & pairs)
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def are_apart(axes, dim, low, last, first, high):  # type: ignore[no-untyped-def]
    """Tell whether no cell over codes low .. last can be that of codes first .. high.

    `last` and `first` occur, with no code between them. Ranges and sets of other values differ.
    Under a taxonomy, none of one side may stand below the node that is above all of the other.
    """
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


@compiled
def cost_of_node(facts, places, nodes, state, dim):  # type: ignore[no-untyped-def]
    """Return the price of the cell of a dimension that is not a set."""
    low, high = state[dim, LOW], state[dim, HIGH]
    if low < 0:
        return 0
    if state[dim, MISSING] and not facts[dim, IS_WILDCARD]:
        return facts[dim, FULL]
    if facts[dim, KIND] == INTERVAL:
        offset = facts[dim, OFFSET]
        return places[offset + high, POSITION] - places[offset + low, POSITION]
    node = state[dim, NODE]
    while nodes[node, FIRST] > low or nodes[node, LAST] < high:
        node = facts[dim, ROOT] + nodes[node, PARENT]
    state[dim, NODE] = node
    return nodes[node, PRICE]
