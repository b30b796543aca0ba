"""Sort the rows of a node by one dimension, without allocating memory."""

import numpy as np

from policy_engine.kernels.axis import GREATEST, KIND, LEAST, MEMBERS
from policy_engine.kernels.compiled import inlined, linked
from policy_engine.kernels.layout import BY_LOSS, TIMES, TURN

_FEW = 4
"""With more codes than this for each row, clearing a counter for each would cost more than a sort
by comparison."""


@inlined
def sort_rows(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `scratch.order` to the node's rows in the order of their codes.

    Equal rows keep their order. Values of a set come in the order of their frequency.
    """
    rows, codes, order, low = table.rows, scratch.codes, scratch.order, scratch.node[dim, LEAST]
    turns = count_codes(table, scratch, start, end, dim)
    is_set = table.axes.facts[dim, KIND] == MEMBERS and table.score == BY_LOSS
    if is_set:
        # A set has no order of its own, and costs its number of members: with the most frequent
        # values first, boundaries have many rows with few members on their left.
        order_by_frequency(codes, turns)
    if is_set or scratch.node[dim, GREATEST] - low < _FEW * (end - start):
        # A counting sort: TIMES becomes the place of the next row with that code. It is stable, so
        # that a relaxed cut through equal rows depends on nothing but their order.
        before = 0
        for turn in range(turns):
            code = codes[turn, TURN]
            times = codes[code, TIMES]
            codes[code, TIMES] = before
            before += times
        for row in range(start, end):
            code = rows[row, dim] - low
            order[codes[code, TIMES]] = row
            codes[code, TIMES] += 1


@linked
def count_codes(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Count the rows of each code, list the codes that occur in ascending turns; return how many.

    Where they are few for the range of codes, the rows are sorted on the way.
    """
    rows, codes, order, low = table.rows, scratch.codes, scratch.order, scratch.node[dim, LEAST]
    values = scratch.node[dim, GREATEST] - low + 1
    if values <= _FEW * (end - start):
        for code in range(values):
            codes[code, TIMES] = 0
        for row in range(start, end):
            codes[rows[row, dim] - low, TIMES] += 1
        return list_codes(codes, values)
    _sort_by_comparison(rows, order, start, end, dim)
    turns = 0
    for place in range(end - start):
        code = rows[order[place], dim] - low
        if turns == 0 or codes[turns - 1, TURN] != code:
            codes[turns, TURN], codes[code, TIMES] = code, 0
            turns += 1
        codes[code, TIMES] += 1
    return turns


@linked
def list_codes(codes, values):  # type: ignore[no-untyped-def]
    """List the codes that occur in ascending turns, and return how many there are."""
    turns = 0
    for code in range(values):
        if codes[code, TIMES] > 0:
            codes[turns, TURN] = code
            turns += 1
    return turns


@linked
def order_by_frequency(codes, turns):  # type: ignore[no-untyped-def]
    """Put the codes in turns by falling frequency, of equals the lower first (Shell's sort)."""
    # Ties are broken by code: the order must not depend on that of the rows.
    gap = 1
    while gap < turns // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for last in range(gap, turns):
            code, place = codes[last, TURN], last
            while place >= gap and _comes_later(codes, codes[place - gap, TURN], code):
                codes[place, TURN] = codes[place - gap, TURN]
                place -= gap
            codes[place, TURN] = code
        gap //= 3


@inlined
def _comes_later(codes, one, other):  # type: ignore[no-untyped-def]
    ours, theirs = codes[one, TIMES], codes[other, TIMES]
    return ours < theirs or (ours == theirs and one > other)


@linked
def _sort_by_comparison(rows, order, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `order` to the rows by their codes, by Shell's sort of both in one number."""
    # numpy's sort would do, but takes the compiler five seconds. With the row in the lower half of
    # the number no two are equal, so that an unstable sort keeps equal codes in the order of rows.
    total = end - start
    for place in range(total):
        order[place] = np.int64(rows[start + place, dim]) << 32 | (start + place)
    gap = 1
    while gap < total // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for last in range(gap, total):
            key, place = order[last], last
            while place >= gap and order[place - gap] > key:
                order[place] = order[place - gap]
                place -= gap
            order[place] = key
        gap //= 3
    for place in range(total):
        order[place] &= 0xFFFFFFFF
