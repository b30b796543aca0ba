"""A summary of a large node: for every code, how many rows have it and what else they cover.

The best boundary of a dimension then follows from its codes alone, without sorting the rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import (
    HAS_MISSING,
    IS_WILDCARD,
    KIND,
    LEAF,
    MEMBERS,
    OFFSET,
    ROOT,
    SHARE,
    Axes,
)
from policy_engine.kernels.compiled import compiled, linked
from policy_engine.kernels.extent import COUNT, HIGH, LOW, MISSING, NODE, bits, cost_of_node

_BITS = 64
_MOST_CELLS = 16_000_000


class Summary(NamedTuple):
    """What the rows of a node cover, for each code of each dimension (OFFSET + code).

    `times` (codes,) counts rows. `extents` (codes, dimensions, 2) holds the least and greatest
    code in each other dimension, and `present` (codes, words) one bit for each member of its
    set, or one for a missing value. `word` (dimensions + 1,) is where a dimension's words start.
    `so_far` (words,) is what the first codes cover together; `prices` (2, codes) what the first
    and the last codes cost. All arrays are empty where they would take too much memory.
    """

    # What rows cover is a union, so that the price of many codes follows from what each covers.

    times: NDArray[np.int64]
    extents: NDArray[np.int32]
    present: NDArray[np.uint64]
    word: NDArray[np.int64]
    so_far: NDArray[np.uint64]
    prices: NDArray[np.int64]


def summary(axes: Axes) -> Summary:
    """Return working memory for `summarise`; empty where it would be too large."""
    # It grows with codes times dimensions, and is cleared for every node: nodes of fewer rows than
    # twice the codes are cheaper to sort (`layout`).
    sizes = np.diff(axes.facts[:, OFFSET])
    words = np.where(axes.facts[:-1, KIND] == MEMBERS, (sizes + _BITS - 1) // _BITS, 1)
    codes = len(axes.places)
    codes = codes if codes * (words.sum() + 2 * len(sizes)) <= _MOST_CELLS else 0
    return Summary(
        times=np.zeros(codes, np.int64),
        extents=np.zeros((codes, len(sizes), 2), np.int32),
        present=np.zeros((codes, words.sum()), np.uint64),
        word=np.cumsum([0, *words]),
        so_far=np.zeros(words.sum(), np.uint64),
        prices=np.zeros((2, sizes.max() if codes else 0), np.int64),
    )


@compiled
def summarise(axes, summary, rows, start, end, node):  # type: ignore[no-untyped-def]
    """Fill the summary with the rows of a node; `node` holds its least and greatest codes."""
    # Only the codes within the node's extents are cleared: deep in the tree those are few.
    facts, times, extents = axes.facts, summary.times, summary.extents
    present, word = summary.present, summary.word
    dims = len(facts) - 1
    for dim in range(dims):
        for at in range(facts[dim, OFFSET] + node[dim, 0], facts[dim, OFFSET] + node[dim, 1] + 1):
            times[at] = 0
            for other in range(dims):
                extents[at, other, 0] = extents[at, other, 1] = -1
            for place in range(present.shape[1]):
                present[at, place] = 0
    for row in range(start, end):
        for dim in range(dims):
            if node[dim, 0] == node[dim, 1]:
                continue
            at = facts[dim, OFFSET] + rows[row, dim]
            times[at] += 1
            for other in range(dims):
                code = rows[row, other]
                if other == dim or node[other, 0] == node[other, 1]:
                    continue
                if facts[other, KIND] == MEMBERS:
                    bit = np.uint64(1) << np.uint64(code & 63)
                    present[at, word[other] + (code >> 6)] |= bit
                elif code == 0 and facts[other, HAS_MISSING]:
                    present[at, word[other]] = 1
                elif extents[at, other, 0] < 0:
                    extents[at, other, 0] = extents[at, other, 1] = code
                elif code < extents[at, other, 0]:
                    extents[at, other, 0] = code
                elif code > extents[at, other, 1]:
                    extents[at, other, 1] = code


@compiled
def price_codes(axes, summary, state, node, dim, codes, turns, side):  # type: ignore[no-untyped-def]
    """Set the prices of the first codes (side 0) or of the last (side 1), by their number.

    The codes come in turns: the first `turns` of `codes[:, 1]`, counted from the node's least.
    """
    # Integers in the same units as those of `extent.sweep`, so that a node is cut alike whether it
    # is sorted or summarised.
    facts, dims = axes.facts, len(axes.facts) - 1
    for other in range(dims):
        state[other, LOW] = state[other, HIGH] = -1
        state[other, COUNT] = state[other, MISSING] = 0
    for place in range(len(summary.so_far)):
        summary.so_far[place] = 0
    for turn in range(turns):
        code = node[dim, 0] + codes[turn if side == 0 else turns - 1 - turn, 1]
        price = _own_cost(axes, state, dim, code)
        for other in range(dims):
            if other != dim and node[other, 0] < node[other, 1]:
                price += _others_cost(axes, summary, state, facts[dim, OFFSET] + code, other)
        summary.prices[side, turn] = price


@linked
def _own_cost(axes, state, dim, code):  # type: ignore[no-untyped-def]
    """Add a code and return the price of its own dimension."""
    facts = axes.facts
    if facts[dim, KIND] != MEMBERS:
        if code == 0 and facts[dim, HAS_MISSING]:
            state[dim, MISSING] = 1
        else:
            _widen(axes, state, dim, code, code)
        return cost_of_node(axes.facts, axes.places, axes.nodes, state, dim)
    if code > 0 or not facts[dim, IS_WILDCARD]:
        state[dim, COUNT] += 1
    return facts[dim, SHARE] * state[dim, COUNT] if state[dim, COUNT] > 1 else 0


@linked
def _others_cost(axes, summary, state, at, other):  # type: ignore[no-untyped-def]
    """Add what the rows of a code cover in another dimension, and return its price."""
    facts, word, so_far = axes.facts, summary.word, summary.so_far
    if facts[other, KIND] != MEMBERS:
        if summary.present[at, word[other]]:
            state[other, MISSING] = 1
        if summary.extents[at, other, 0] >= 0:
            low, high = summary.extents[at, other, 0], summary.extents[at, other, 1]
            _widen(axes, state, other, np.int64(low), np.int64(high))
        return cost_of_node(axes.facts, axes.places, axes.nodes, state, other)
    members = 0
    for place in range(word[other], word[other + 1]):
        so_far[place] |= summary.present[at, place]
        members += bits(so_far[place])
    if facts[other, IS_WILDCARD]:
        members -= int(so_far[word[other]] & np.uint64(1))
    return facts[other, SHARE] * members if members > 1 else 0


@linked
def _widen(axes, state, dim, low, high):  # type: ignore[no-untyped-def]
    if state[dim, LOW] < 0:
        state[dim, LOW], state[dim, HIGH] = low, high
        facts = axes.facts
        state[dim, NODE] = facts[dim, ROOT] + axes.places[facts[dim, OFFSET] + low, LEAF]
    else:
        state[dim, LOW] = min(state[dim, LOW], low)
        state[dim, HIGH] = max(state[dim, HIGH], high)
