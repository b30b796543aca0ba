"""Choose where a node is cut: by the least loss, the widest range or the greatest entropy."""

from typing import Any

import numpy as np

from policy_engine.kernels.axis import (
    ACTIVE,
    FULL,
    GREATEST,
    HAS_MISSING,
    IS_WILDCARD,
    KIND,
    LEAST,
    MEMBERS,
    OFFSET,
    POSITION,
    are_apart,
)
from policy_engine.kernels.boundaries import (
    FAR,
    NONE,
    best_boundary,
    is_better,
    is_valid,
    weighted_loss,
)
from policy_engine.kernels.compiled import inlined, linked
from policy_engine.kernels.extent import count_members
from policy_engine.kernels.layout import BY_LOSS, BY_SPAN, TIMES, TURN
from policy_engine.kernels.sorting import count_codes, list_codes, order_by_frequency, sort_rows
from policy_engine.kernels.summary import price_codes, summarise

_FIRST: Any = np.int64(0)  # typed, as in `boundaries`


@inlined
def choose_cut(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Return how many rows of `scratch.best` go to the left side of the cut, 0 for no cut."""
    total = end - start
    if total < 2 * table.size:
        return NONE
    active, left = _measure_extent(table, scratch, start, end), NONE
    if table.score != BY_LOSS:
        left = _split_missing(table, scratch, start, end, active)
    elif total >= table.large and len(scratch.summary.times) > 0:
        # Without sorting: one pass over the rows, then all boundaries by codes alone.
        left = _cut_by_summary(table, scratch, start, end)
    if left > 0:
        return left
    if table.score == BY_LOSS:
        count_members(table.axes, scratch.extent, table.rows, start, end, scratch.node, active)
    best, best_left = FAR, NONE
    for turn in range(active):
        if table.score != BY_LOSS:
            _bring_widest(table, scratch, start, end, turn, active)
        dim = scratch.node[turn, ACTIVE]
        sort_rows(table, scratch, start, end, dim)
        score, left = best_boundary(table, scratch, dim, total, active, best)
        if score < best:  # not `<=`: of equals the first dimension is cut, whatever the rows
            best, best_left = score, left
            for place in range(total):
                scratch.best[place] = scratch.order[place]
            if table.score != BY_LOSS:
                break  # the widest dimension that has a valid boundary (LeFevre et al., 2006)
    return best_left


@inlined
def _cut_by_summary(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Choose the cut of a large node between values; 0 where the best of them is not valid."""
    brief, node, total = scratch.summary, scratch.node, end - start
    summarise(table.axes, brief, table.rows, start, end, node)
    best, best_dim, best_turn = FAR, _FIRST, _FIRST
    for dim in range(len(node)):
        if node[dim, LEAST] == node[dim, GREATEST]:
            continue
        turns = _list_turns(table, scratch, dim)
        for side in range(2):
            state, codes = scratch.extent.state, scratch.codes
            price_codes(table.axes, brief, state, node, dim, codes, turns, side)
        left, best_left = NONE, NONE
        for turn in range(turns - 1):
            left += scratch.codes[scratch.codes[turn, TURN], TIMES]
            if table.size <= left <= total - table.size and _keeps_apart(table, scratch, dim, turn):
                one, other = brief.prices[0, turn], brief.prices[1, turns - 2 - turn]
                score = weighted_loss(table, left, total, left, total - left, total, one, other)
                if is_better(score, left, best, best_left, total):
                    best, best_dim, best_turn, best_left = score, dim, turn, left
    if best == FAR:
        return NONE
    left = _split_behind(table, scratch, start, end, best_dim, best_turn)
    return left if is_valid(table, scratch.best, left, total) else NONE


@linked
def _keeps_apart(table, scratch, dim, turn):  # type: ignore[no-untyped-def]
    """Return whether the cells of the two sides of a cut behind a turn are sure to differ."""
    if not table.keeps_apart:
        return True
    node, codes = scratch.node, scratch.codes
    low = node[dim, LEAST]
    last, first = low + codes[turn, TURN], low + codes[turn + 1, TURN]
    return are_apart(table.axes, dim, low, last, first, node[dim, GREATEST])


@linked
def _list_turns(table, scratch, dim):  # type: ignore[no-untyped-def]
    """List the codes that occur in the order of cuts; return how many there are."""
    codes, low = scratch.codes, scratch.node[dim, LEAST]
    for code in range(scratch.node[dim, GREATEST] - low + 1):
        codes[code, TIMES] = scratch.summary.times[table.axes.facts[dim, OFFSET] + low + code]
    turns = list_codes(codes, scratch.node[dim, GREATEST] - low + 1)
    if table.axes.facts[dim, KIND] == MEMBERS:
        order_by_frequency(codes, turns)
    return turns


@inlined
def _split_behind(table, scratch, start, end, dim, turn):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows left of a cut behind a turn, then those right of it."""
    codes = scratch.codes
    turns = _list_turns(table, scratch, dim)
    for place in range(turns):
        codes[codes[place, TURN], TIMES] = place <= turn
    return split_rows(table, scratch, start, end, dim)


@linked
def split_rows(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows whose codes have a 1 for TIMES, then those with a 0.

    Return how many have a 1.
    """
    # Two passes, each in the order of the rows: a cut must not reorder equal rows.
    codes, low = scratch.codes, scratch.node[dim, LEAST]
    left = middle = _FIRST
    for goes_left in range(1, -1, -1):
        for row in range(start, end):
            if codes[table.rows[row, dim] - low, TIMES] == goes_left:
                scratch.best[left] = row
                left += 1
        if goes_left:
            middle = left
    return middle


@inlined
def _measure_extent(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Set the node's least and greatest codes; list the dimensions in which they differ.

    Return how many those are.
    """
    # Row by row, not column by column: the codes of a row lie side by side in memory.
    rows, node = table.rows, scratch.node
    for dim in range(len(node)):
        node[dim, LEAST] = node[dim, GREATEST] = rows[start, dim]
    for row in range(start + 1, end):
        for dim in range(len(node)):
            code = rows[row, dim]
            if code < node[dim, LEAST]:
                node[dim, LEAST] = code
            elif code > node[dim, GREATEST]:
                node[dim, GREATEST] = code
    active = 0
    for dim in range(len(node)):
        if node[dim, LEAST] < node[dim, GREATEST]:
            node[active, ACTIVE] = dim
            active += 1
    return active


@inlined
def _split_missing(table, scratch, start, end, active):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows without a value in a dimension, then those with one.

    Return how many have none; 0 where there is no dimension in which both sides are valid.
    """
    # A cell of missing and other values hides everything, which no range and no median shows.
    facts, total = table.axes.facts, end - start
    for turn in range(active):
        dim = scratch.node[turn, ACTIVE]
        if scratch.node[dim, LEAST] > 0 or not facts[dim, HAS_MISSING] or facts[dim, IS_WILDCARD]:
            continue
        for code in range(scratch.node[dim, GREATEST] + 1):
            scratch.codes[code, TIMES] = code == 0
        left = split_rows(table, scratch, start, end, dim)
        if table.size <= left <= total - table.size and is_valid(table, scratch.best, left, total):
            return left
    return NONE


@inlined
def _bring_widest(table, scratch, start, end, turn, active):  # type: ignore[no-untyped-def]
    """Swap the dimension with the greatest measure, of those not tried, to its turn."""
    # One at a time: mostly the first has a valid boundary, and the others need no order.
    node, best, best_measure = scratch.node, turn, -1.0
    for place in range(turn, active):
        dim = node[place, ACTIVE]
        measure = _measure(table, scratch, start, end, dim)
        if measure > best_measure or (measure == best_measure and dim < node[best, ACTIVE]):
            best, best_measure = place, measure
    node[turn, ACTIVE], node[best, ACTIVE] = node[best, ACTIVE], node[turn, ACTIVE]


@inlined
def _measure(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Return the normalised range, or the normalised entropy, of a dimension in the node."""
    # POSITION is priced and FULL is the weight in the same unit, so that both count the weight.
    facts, places = table.axes.facts, table.axes.places
    base, low, high = facts[dim, OFFSET], scratch.node[dim, LEAST], scratch.node[dim, GREATEST]
    if table.score == BY_SPAN:
        return float(places[base + high, POSITION] - places[base + low, POSITION])
    entropy = 0.0
    for turn in range(count_codes(table, scratch, start, end, dim)):
        share = scratch.codes[scratch.codes[turn, TURN], TIMES] / (end - start)
        entropy -= share * np.log(share)
    return entropy / np.log(facts[dim + 1, OFFSET] - base) * facts[dim, FULL]
