"""What a growing set of rows covers in every dimension, and what that costs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import (
    ACTIVE,
    COUNTED,
    DISTINCT,
    FIRST,
    FULL,
    GREATEST,
    HAS_MISSING,
    INTERVAL,
    IS_WILDCARD,
    KIND,
    LAST,
    LEAF,
    LEAST,
    MEMBERS,
    OFFSET,
    PARENT,
    POSITION,
    PRICE,
    PRICED,
    ROOT,
    SHARE,
    Axes,
)
from policy_engine.kernels.compiled import compiled, inlined, linked


class Extent(NamedTuple):
    """What a growing set of rows covers: working memory.

    `state` (dimensions + 1, 5) has a row for each dimension: LOW and HIGH, the least and
    greatest code that is not a missing value, -1 before the first; NODE, the lowest node above
    them; the COUNT of a set's members; and whether a value is MISSING. `seen` (codes,) has the
    stamp of the last sweep that met a code. The last row of `state` has that STAMP and what ALL
    rows of the node cost in the dimensions of `words`, -1 if unknown. `words` (dimensions,) has a
    bit for each member met.
    """

    # Stamps, because clearing `seen` would cost a pass over all codes for every sweep.

    state: NDArray[np.int64]
    seen: NDArray[np.int64]
    words: NDArray[np.int64]


LOW, HIGH, NODE, COUNT, MISSING = range(5)
STAMP, ALL = range(2)
EVERY: Any = np.int64(-1)


def extent(axes: Axes) -> Extent:
    """Return an extent for the axes."""
    state, dims = np.zeros((len(axes.facts), 5), np.int64), len(axes.facts) - 1
    state[-1, ALL] = -1
    return Extent(state, np.zeros(len(axes.places), np.int64), np.zeros(dims, np.int64))


@compiled
def sweep(axes, extent, rows, order, total, step, node, active, cut, prices):  # type: ignore[no-untyped-def]
    """Set `prices` to what the first rows of `order` cost together, for 1 to `total` rows.

    With a `step` of -1, what the last rows cost. Only the first `active` dimensions listed in
    `node` are priced; in the others the rows do not differ. Where the rows are in the order of a
    dimension `cut`, only the prices in front of another value of it are right; with EVERY, all.
    """
    # Dimension by dimension, and of each only the places where its price rises: what rows cover
    # never shrinks, so a dimension is finished as soon as they cover all that the node does. In
    # small ranges that is after a few rows.
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
    # So far every place has its increase over the place before.
    for place in range(1, total):
        prices[place] += prices[place - 1]


@compiled
def count_members(axes, extent, rows, start, end, node, active):  # type: ignore[no-untyped-def]
    """Set what all rows of a node cover in sets, where `sweep` may stop."""
    words, seen, state = extent.words, extent.seen, extent.state
    for dim in range(len(words)):
        words[dim] = 0
    for row in range(start, end):
        _add_members(words, rows, row)
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
def _add_members(words, rows, row):  # type: ignore[no-untyped-def]
    """Set the bits of a row's values."""
    # In every dimension, whether its bits count or not: without a branch, the compiler sets those
    # of several dimensions in one instruction.
    for dim in range(len(words)):
        words[dim] |= np.int64(1) << np.int64(rows[row, dim] & 63)


@linked
def _price_of_words(axes, words):  # type: ignore[no-untyped-def]
    """Return what the sets in words cost together."""
    price = np.int64(0)
    for dim in range(len(words)):
        members = bits(np.uint64(words[dim] & axes.words[COUNTED, dim]))
        price += axes.words[PRICED, dim] * members if members > 1 else 0
    return price


@inlined
def _add_words(axes, extent, rows, order, total, step, cut, prices):  # type: ignore[no-untyped-def]
    """Add what the sets in words cost together, at every end of a value of `cut`."""
    words, every = extent.words, extent.state[len(extent.state) - 1, ALL]
    for dim in range(len(words)):
        words[dim] = 0
    last, before = 0 if step > 0 else total - 1, np.int64(0)
    for place in range(total):
        row = order[last + step * place]
        _add_members(words, rows, row)
        # Bits are counted only where a cut is possible: that costs more than to set them.
        is_end = cut < 0 or place + 1 == total
        if is_end or rows[row, cut] != rows[order[last + step * (place + 1)], cut]:
            price = _price_of_words(axes, words)
            prices[place] += price - before
            before = price
            if price == every:
                break


@inlined
def _add_sets(axes, extent, rows, order, total, step, node, dim, prices):  # type: ignore[no-untyped-def]
    """Add what the first rows cost in a dimension that is a set, for each number of rows."""
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
                # One member costs nothing; the second makes both cost their share.
                prices[place] += 0 if members < 2 else share if members > 2 else 2 * share
                if members == node[dim, DISTINCT]:
                    break


@inlined
def _add_ranges(axes, rows, order, total, step, node, dim, prices):  # type: ignore[no-untyped-def]
    """Add the width of the range of the first rows in a dimension, for each number of rows."""
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
    # The node only ever moves up, so that all rows together climb the tree once.
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


@linked
def bits(word):  # type: ignore[no-untyped-def]
    """Return how many bits of a word are set."""
    # In parallel in pairs, fours and bytes (Warren, Hacker's Delight, 5-1).
    pairs, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
    word = word - ((word >> np.uint64(1)) & pairs)
    word = (word & fours) + ((word >> np.uint64(2)) & fours)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@linked
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
