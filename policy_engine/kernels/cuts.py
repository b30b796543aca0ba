"""Choose where a node is cut: by the least loss, the widest range or the greatest entropy."""

from typing import Any

import numpy as np

from policy_engine.kernels.axis import (
    ACTIVE,
    EVERY,
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
    count_members,
    sweep,
)
from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.constraint import (
    STAMP,
    UNITS,
    count,
    forget,
    is_diverse,
)
from policy_engine.kernels.layout import TIMES, TURN
from policy_engine.kernels.summary import price_codes, summarise

# Typed, so that no function is compiled a second time for a constant.
_FAR: Any = np.int64(2**63 - 1)
_NONE: Any = np.int64(0)
_FIRST: Any = np.int64(0)
_ANY, _FITTING, _ALL_TIES = False, True, True
_UP: Any = np.int64(1)
_DOWN: Any = np.int64(-1)
_FEW = 4  # so many codes for each row are sorted rather than counted one by one
_SMALL = 64  # nodes of up to so many times k rows may cut through ties


@inlined
def choose_cut(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Return how many rows of `scratch.best` go to the left side of the cut, 0 for no cut."""
    total = end - start
    if total < 2 * table.size:
        return _NONE
    active, left = _measure_extent(table, scratch, start, end), _NONE
    if table.score > 0:
        left = _part_missing(table, scratch, start, end, active)
    elif total >= table.large and len(scratch.summary.times) > 0:
        left = _cut_by_summary(table, scratch, start, end)
    if left > 0:
        return left
    if table.score == 0:
        count_members(table.axes, scratch.extent, table.rows, start, end, scratch.node, active)
    best, best_left = _FAR, _NONE
    for turn in range(active):
        if table.score > 0:
            _next_first(table, scratch, start, end, turn, active)
        dim = scratch.node[turn, ACTIVE]
        _sort(table, scratch, start, end, dim)
        score, left = _best_boundary(table, scratch, dim, total, active, best)
        if score < best:
            best, best_left = score, left
            for place in range(total):
                scratch.best[place] = scratch.order[place]
            if table.score > 0:
                break
    return best_left


@inlined
def _cut_by_summary(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Choose the cut of a large node between values; 0 where there is none that is valid."""
    brief, node, total = scratch.summary, scratch.node, end - start
    summarise(table.axes, brief, table.rows, start, end, node)
    best, best_dim, best_turn = _FAR, _FIRST, _FIRST
    for dim in range(len(node)):
        if node[dim, LEAST] == node[dim, GREATEST]:
            continue
        turns = _take_turns(table, scratch, dim)
        for side in range(2):
            state, codes = scratch.extent.state, scratch.codes
            price_codes(table.axes, brief, state, node, dim, codes, turns, side)
        left, best_left = _NONE, _NONE
        for turn in range(turns - 1):
            left += scratch.codes[scratch.codes[turn, TURN], TIMES]
            if table.size <= left <= total - table.size and _may_part(table, scratch, dim, turn):
                one, other = brief.prices[0, turn], brief.prices[1, turns - 2 - turn]
                score = _weighed(table, left, total, left, total - left, total, one, other)
                if _is_better(score, left, best, best_left, total):
                    best, best_dim, best_turn, best_left = score, dim, turn, left
    if best == _FAR:
        return _NONE
    left = _sides(table, scratch, start, end, best_dim, best_turn)
    return left if _is_valid(table, scratch.best, left, total) else _NONE


@compiled
def _may_part(table, scratch, dim, turn):  # type: ignore[no-untyped-def]
    """Tell whether a cut may stand behind a turn, for what the cells of its sides can be."""
    if not table.keeps_apart:
        return True
    node, codes = scratch.node, scratch.codes
    low = node[dim, LEAST]
    last, first = low + codes[turn, TURN], low + codes[turn + 1, TURN]
    return are_apart(table.axes, dim, low, last, first, node[dim, GREATEST])


@compiled
def _take_turns(table, scratch, dim):  # type: ignore[no-untyped-def]
    """List the codes that occur in the order of cuts; return how many there are."""
    codes, low = scratch.codes, scratch.node[dim, LEAST]
    for code in range(scratch.node[dim, GREATEST] - low + 1):
        codes[code, TIMES] = scratch.summary.times[table.axes.facts[dim, OFFSET] + low + code]
    turns = _list_codes(codes, scratch.node[dim, GREATEST] - low + 1)
    if table.axes.facts[dim, KIND] == MEMBERS:
        _order_by_frequency(codes, turns)
    return turns


@inlined
def _sides(table, scratch, start, end, dim, turn):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows left of a cut, then those right of it, as they stand."""
    codes = scratch.codes
    turns = _take_turns(table, scratch, dim)
    for place in range(turns):
        codes[codes[place, TURN], TIMES] = place <= turn
    return _part(table, scratch, start, end, dim)


@compiled
def _part(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows whose codes have a 1 for TIMES, then those with a 0.

    Rows of a side stay as they stand. Return how many are on the left.
    """
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


@compiled
def _is_valid(table, order, left, total):  # type: ignore[no-untyped-def]
    """Tell whether the first rows of `order` and the others are large and diverse enough."""
    if table.person == 0 and len(table.watched.bounds) == 0:
        return True
    columns, state = len(table.watched.bounds), table.tally.state
    for side in range(2):
        forget(table.watched, table.tally)
        first, last = (_NONE, left) if side == 0 else (left, total)
        _count(table, order, first, last)
        if state[columns, UNITS] < table.size or not is_diverse(table.watched, table.tally):
            return False
    return True


@compiled
def _count(table, order, start, end):  # type: ignore[no-untyped-def]
    """Take the rows order[start] .. order[end - 1] into the tally."""
    watched, tally = table.watched, table.tally
    count(watched, tally, table.rows, order, start, end, table.sensitive, table.person)


@inlined
def _measure_extent(table, scratch, start, end):  # type: ignore[no-untyped-def]
    """Set the node's least and greatest codes; return how many dimensions have two, listed."""
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
def _part_missing(table, scratch, start, end, active):  # type: ignore[no-untyped-def]
    """Set `scratch.best` to the rows without a value in a dimension, then those with one.

    Return how many have none; 0 where there is no dimension in which both sides are valid.
    """
    facts, total = table.axes.facts, end - start
    for turn in range(active):
        dim = scratch.node[turn, ACTIVE]
        if scratch.node[dim, LEAST] > 0 or not facts[dim, HAS_MISSING] or facts[dim, IS_WILDCARD]:
            continue
        for code in range(scratch.node[dim, GREATEST] + 1):
            scratch.codes[code, TIMES] = code == 0
        left = _part(table, scratch, start, end, dim)
        if table.size <= left <= total - table.size and _is_valid(table, scratch.best, left, total):
            return left
    return _NONE


@inlined
def _next_first(table, scratch, start, end, turn, active):  # type: ignore[no-untyped-def]
    """Bring the dimension with the greatest measure, of those not tried, to its turn."""
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
    facts, places = table.axes.facts, table.axes.places
    base, low, high = facts[dim, OFFSET], scratch.node[dim, LEAST], scratch.node[dim, GREATEST]
    if table.score == 1:
        return float(places[base + high, POSITION] - places[base + low, POSITION])
    entropy = 0.0
    for turn in range(_count_codes(table, scratch, start, end, dim)):
        share = scratch.codes[scratch.codes[turn, TURN], TIMES] / (end - start)
        entropy -= share * np.log(share)
    return entropy / np.log(facts[dim + 1, OFFSET] - base) * facts[dim, FULL]


@compiled
def _count_codes(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Count the codes that occur, put them in turns as they are, and return their number."""
    rows, codes, order, low = table.rows, scratch.codes, scratch.order, scratch.node[dim, LEAST]
    values = scratch.node[dim, GREATEST] - low + 1
    if values <= _FEW * (end - start):
        for code in range(values):
            codes[code, TIMES] = 0
        for row in range(start, end):
            codes[rows[row, dim] - low, TIMES] += 1
        return _list_codes(codes, values)
    _sort_few(rows, order, start, end, dim)
    turns = 0
    for place in range(end - start):
        code = rows[order[place], dim] - low
        if turns == 0 or codes[turns - 1, TURN] != code:
            codes[turns, TURN], codes[code, TIMES] = code, 0
            turns += 1
        codes[code, TIMES] += 1
    return turns


@compiled
def _list_codes(codes, values):  # type: ignore[no-untyped-def]
    """Put the codes that occur in turns as they are, and return their number."""
    turns = 0
    for code in range(values):
        if codes[code, TIMES] > 0:
            codes[turns, TURN] = code
            turns += 1
    return turns


@inlined
def _sort(table, scratch, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `scratch.order` to the node's rows by their codes, equal ones as they stand.

    Values of a set are put in the order of how often they occur, the most frequent first.
    """
    rows, codes, order, low = table.rows, scratch.codes, scratch.order, scratch.node[dim, LEAST]
    turns = _count_codes(table, scratch, start, end, dim)
    is_set = table.axes.facts[dim, KIND] == MEMBERS and table.score == 0
    if is_set:
        _order_by_frequency(codes, turns)
    if is_set or scratch.node[dim, GREATEST] - low < _FEW * (end - start):
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


@compiled
def _order_by_frequency(codes, turns):  # type: ignore[no-untyped-def]
    """Put the codes in turns by falling frequency, of equals the lower first (Shell's sort)."""
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


@compiled
def _sort_few(rows, order, start, end, dim):  # type: ignore[no-untyped-def]
    """Set `order` to the rows by their codes, by Shell's sort of both in one number.

    (numpy's sort would serve, but takes the compiler five seconds.)
    """
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


@inlined
def _best_boundary(table, scratch, dim, total, active, limit):  # type: ignore[no-untyped-def]
    """Return the score of the best valid boundary and how many rows lie left of it.

    The lowest score wins, of equals the boundary nearest the median, and of two as near the one
    with fewer rows on its left. Boundaries that do not come below `limit` are not looked at.
    """
    if table.score == 0:
        _sweep_losses(table, scratch, dim, total, active)
    if table.person > 0:
        _sweep_units(table, scratch, total)
    through_ties = table.is_relaxed and total <= _SMALL * table.size
    best, left = _lowest(table, scratch, dim, total, through_ties, limit)
    if left == 0 and table.is_relaxed and not through_ties:
        best, left = _lowest(table, scratch, dim, total, _ALL_TIES, limit)
    return best, left


@compiled
def _lowest(table, scratch, dim, total, through_ties, limit):  # type: ignore[no-untyped-def]
    """Return the lowest score of a valid boundary, and the rows left of it; 0 without one.

    Where the best of all boundaries leaves both sides diverse, no other need be looked at.
    """
    has_bounds = len(table.watched.bounds) > 0
    best, left = _lowest_of(table, scratch, dim, total, through_ties, limit, _ANY)
    if left > 0 and has_bounds and not _is_valid(table, scratch.order, left, total):
        _sweep_diversity(table, scratch, dim, total, through_ties, limit)
        best, left = _lowest_of(table, scratch, dim, total, through_ties, limit, _FITTING)
    return best, left


@compiled
def _lowest_of(table, scratch, dim, total, through_ties, limit, only_fits):  # type: ignore[no-untyped-def]
    best, best_left = limit, _NONE
    for left in range(table.size, total - table.size + 1):
        if not through_ties and not _is_between(table.rows, scratch.order, dim, left):
            continue
        if table.keeps_apart and not _leaves_apart(table, scratch, dim, left):
            continue
        score = _score(table, scratch, left, total)
        is_better = _is_better(score, left, best, best_left, total)
        if is_better and (not only_fits or scratch.fits[left]):
            best, best_left = score, left
    return best, best_left


@inlined
def _leaves_apart(table, scratch, dim, left):  # type: ignore[no-untyped-def]
    rows, order, node = table.rows, scratch.order, scratch.node
    last, first = np.int64(rows[order[left - 1], dim]), np.int64(rows[order[left], dim])
    return are_apart(table.axes, dim, node[dim, LEAST], last, first, node[dim, GREATEST])


@inlined
def _is_better(score, left, best, best_left, total):  # type: ignore[no-untyped-def]
    """Tell whether a boundary beats the best so far; of none yet, `best_left` is 0.

    A tie goes to the middle: else a table of nothing but ties would be cut k rows at a time.
    """
    if score < best:
        return True
    return score == best and best_left > 0 and abs(2 * left - total) < abs(2 * best_left - total)


@inlined
def _is_between(rows, order, dim, left):  # type: ignore[no-untyped-def]
    return rows[order[left - 1], dim] != rows[order[left], dim]


@inlined
def _score(table, scratch, left, total):  # type: ignore[no-untyped-def]
    """Return what a boundary costs, the greatest number there is where a side is too small."""
    units, rest, whole = left, total - left, total
    if table.person > 0:
        units, rest = scratch.units[0, left - 1], scratch.units[1, total - left - 1]
        whole = scratch.units[0, total - 1]
    if units < table.size or rest < table.size:
        return _FAR
    if table.score > 0:
        return abs(2 * left - total)
    one, other = scratch.left[left - 1], scratch.right[total - left - 1]
    return _weighed(table, left, total, units, rest, whole, one, other)


@inlined
def _weighed(table, left, total, units, rest, whole, one, other):  # type: ignore[no-untyped-def]
    """Return the loss of both sides, and of the rows that they leave over.

    Those are counted where the sides could hold one class less than the whole node.
    """
    score, size = left * one + (total - left) * other, table.size
    if units // size + rest // size < whole // size:
        score += table.left_over * size * (one + other) // 10
    return score


@inlined
def _sweep_losses(table, scratch, dim, total, active):  # type: ignore[no-untyped-def]
    """Set the loss of the first rows in order, and of the last, by their number.

    Of a strict partition only where it can be cut, between values.
    """
    axes, extent, rows, order = table.axes, scratch.extent, table.rows, scratch.order
    node, cut = scratch.node, EVERY if table.is_relaxed else dim
    sweep(axes, extent, rows, order, total, _UP, node, active, cut, scratch.left)
    sweep(axes, extent, rows, order, total, _DOWN, node, active, cut, scratch.right)


@inlined
def _sweep_units(table, scratch, total):  # type: ignore[no-untyped-def]
    """Set the number of persons among the first rows in order, and among the last."""
    columns, persons = len(table.watched.bounds), table.tally.persons
    for side in range(2):
        forget(table.watched, table.tally)
        stamp, found = table.tally.state[columns, STAMP], 0
        for place in range(total):
            at = place if side == 0 else total - 1 - place
            person = table.rows[scratch.order[at], table.person]
            if persons[columns, person] != stamp:
                persons[columns, person] = stamp
                found += 1
            scratch.units[side, place] = found


@inlined
def _sweep_diversity(table, scratch, dim, total, through_ties, limit):  # type: ignore[no-untyped-def]
    """Set for every boundary that could win whether both of its sides are diverse."""
    for side in range(2):
        forget(table.watched, table.tally)
        counted = _NONE
        for taken in range(1, total):
            left = taken if side == 0 else total - taken
            if side == 0:
                scratch.fits[left] = (
                    table.size <= left <= total - table.size
                    and (through_ties or _is_between(table.rows, scratch.order, dim, left))
                    and _score(table, scratch, left, total) < limit
                )
            if scratch.fits[left]:
                first = counted if side == 0 else total - taken
                _count(table, scratch.order, first, first + taken - counted)
                counted = taken
                scratch.fits[left] = is_diverse(table.watched, table.tally)
    forget(table.watched, table.tally)
