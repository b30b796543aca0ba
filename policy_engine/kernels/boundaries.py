"""Choose the boundary of one dimension that a node is cut at, for rows sorted by it."""

from typing import Any

import numpy as np

from policy_engine.kernels.axis import GREATEST, LEAST, are_apart
from policy_engine.kernels.compiled import compiled, inlined, linked
from policy_engine.kernels.constraint import STAMP, UNITS, count, forget, is_diverse
from policy_engine.kernels.extent import EVERY, sweep
from policy_engine.kernels.layout import BY_LOSS

# Typed, so that no function is compiled a second time for a constant.
FAR: Any = np.int64(2**63 - 1)
NONE: Any = np.int64(0)
_ANY, _DIVERSE, _ALL_TIES = False, True, True
_UP: Any = np.int64(1)
_DOWN: Any = np.int64(-1)

THROUGH_TIES = 64
"""Relaxed nodes of up to so many times k rows may be cut through ties; larger ones only where there
is no cut between values. Such cuts need the rows, which on a cluster are on several machines."""


@inlined
def best_boundary(table, scratch, dim, total, active, limit):  # type: ignore[no-untyped-def]
    """Return the score of the best valid boundary, and how many rows are left of it.

    The lowest score wins, of equals the boundary nearest the median, and of two as near the one
    with fewer rows on its left. Only boundaries with a score below `limit` count.
    """
    # Both ways once each: every prefix and every suffix of the sorted rows then has its price, and
    # all boundaries of the dimension are scored in time linear in the rows.
    if table.score == BY_LOSS:
        _sweep_losses(table, scratch, dim, total, active)
    if table.person > 0:
        _sweep_units(table, scratch, total)
    through_ties = table.is_relaxed and total <= THROUGH_TIES * table.size
    best, left = _best_valid(table, scratch, dim, total, through_ties, limit)
    if left == 0 and table.is_relaxed and not through_ties:
        best, left = _best_valid(table, scratch, dim, total, _ALL_TIES, limit)
    return best, left


@linked
def _best_valid(table, scratch, dim, total, through_ties, limit):  # type: ignore[no-untyped-def]
    """Return the lowest score of a valid boundary, and the rows left of it; 0 without one."""
    # Diversity costs a pass over the rows, scores are at hand: mostly the best boundary of all is
    # valid, and only where it is not are those looked at that could take its place.
    has_bounds = len(table.watched.bounds) > 0
    best, left = _lowest(table, scratch, dim, total, through_ties, limit, _ANY)
    if left > 0 and has_bounds and not is_valid(table, scratch.order, left, total):
        _sweep_diversity(table, scratch, dim, total, through_ties, limit)
        best, left = _lowest(table, scratch, dim, total, through_ties, limit, _DIVERSE)
    return best, left


@linked
def _lowest(table, scratch, dim, total, through_ties, limit, only_diverse):  # type: ignore[no-untyped-def]
    """Return the lowest score below a limit, and the rows left of its boundary; 0 without one."""
    best, best_left = limit, NONE
    for left in range(table.size, total - table.size + 1):
        if not through_ties and not _is_between_values(table.rows, scratch.order, dim, left):
            continue
        if table.keeps_apart and not _keeps_cells_apart(table, scratch, dim, left):
            continue
        score = _score(table, scratch, left, total)
        beats_best = is_better(score, left, best, best_left, total)
        if beats_best and (not only_diverse or scratch.fits[left]):
            best, best_left = score, left
    return best, best_left


@linked
def is_valid(table, order, left, total):  # type: ignore[no-untyped-def]
    """Return whether the first rows of `order` and the others are large and diverse enough."""
    # The callers have checked the number of rows: without persons nothing else can be too small.
    if table.person == 0 and len(table.watched.bounds) == 0:
        return True
    columns, state = len(table.watched.bounds), table.tally.state
    for side in range(2):
        forget(table.watched, table.tally)
        first, last = (NONE, left) if side == 0 else (left, total)
        tally_rows(table, order, first, last)
        if state[columns, UNITS] < table.size or not is_diverse(table.watched, table.tally):
            return False
    return True


@compiled
def tally_rows(table, order, start, end):  # type: ignore[no-untyped-def]
    """Add the rows order[start] .. order[end - 1] to the tally."""
    watched, tally = table.watched, table.tally
    count(watched, tally, table.rows, order, start, end, table.sensitive, table.person)


@inlined
def _keeps_cells_apart(table, scratch, dim, left):  # type: ignore[no-untyped-def]
    rows, order, node = table.rows, scratch.order, scratch.node
    last, first = np.int64(rows[order[left - 1], dim]), np.int64(rows[order[left], dim])
    return are_apart(table.axes, dim, node[dim, LEAST], last, first, node[dim, GREATEST])


@inlined
def is_better(score, left, best, best_left, total):  # type: ignore[no-untyped-def]
    """Return whether a boundary beats the best so far; `best_left` is 0 where there is none."""
    # A tie goes to the middle: else a table of nothing but ties would be cut k rows at a time.
    if score < best:
        return True
    return score == best and best_left > 0 and abs(2 * left - total) < abs(2 * best_left - total)


@inlined
def _is_between_values(rows, order, dim, left):  # type: ignore[no-untyped-def]
    return rows[order[left - 1], dim] != rows[order[left], dim]


@inlined
def _score(table, scratch, left, total):  # type: ignore[no-untyped-def]
    """Return what a boundary costs; FAR where a side has too few persons."""
    left_units, rest_units, all_units = left, total - left, total
    if table.person > 0:
        left_units, rest_units = scratch.units[0, left - 1], scratch.units[1, total - left - 1]
        all_units = scratch.units[0, total - 1]
    if left_units < table.size or rest_units < table.size:
        return FAR
    if table.score != BY_LOSS:
        return abs(2 * left - total)
    left_loss, right_loss = scratch.left[left - 1], scratch.right[total - left - 1]
    return weighted_loss(
        table, left, total, left_units, rest_units, all_units, left_loss, right_loss
    )


@inlined
def weighted_loss(table, left, total, left_units, rest_units, all_units, left_loss, right_loss):  # type: ignore[no-untyped-def]
    """Return the loss of both sides, and a charge where the cut leaves rows over."""
    # With 2k - 1 rows on one side, k - 1 of them can never form a class of their own. A cut that
    # leaves room for one class fewer than the node had is charged for them (`LEFT_OVER`), in
    # integers like all prices, so that the order of additions cannot matter.
    score, size = left * left_loss + (total - left) * right_loss, table.size
    if left_units // size + rest_units // size < all_units // size:
        score += table.left_over * size * (left_loss + right_loss) // 10
    return score


@inlined
def _sweep_losses(table, scratch, dim, total, active):  # type: ignore[no-untyped-def]
    """Set the loss of the first rows in order, and of the last, by their number.

    In a strict partition only the losses between values are right: there alone it is cut.
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
        stamp, persons_so_far = table.tally.state[columns, STAMP], 0
        for place in range(total):
            index = place if side == 0 else total - 1 - place
            person = table.rows[scratch.order[index], table.person]
            if persons[columns, person] != stamp:
                persons[columns, person] = stamp
                persons_so_far += 1
            scratch.units[side, place] = persons_so_far


@inlined
def _sweep_diversity(table, scratch, dim, total, through_ties, limit):  # type: ignore[no-untyped-def]
    """Set for every boundary that could win whether both of its sides are diverse."""
    # The rows between two such boundaries are tallied at once, so each row is met once a side.
    # Those whose left side is not diverse are not looked at again from the right.
    for side in range(2):
        forget(table.watched, table.tally)
        tallied = NONE
        for done in range(1, total):
            left = done if side == 0 else total - done
            if side == 0:
                scratch.fits[left] = (
                    table.size <= left <= total - table.size
                    and (through_ties or _is_between_values(table.rows, scratch.order, dim, left))
                    and _score(table, scratch, left, total) < limit
                )
            if scratch.fits[left]:
                first = tallied if side == 0 else total - done
                tally_rows(table, scratch.order, first, first + done - tallied)
                tallied = done
                scratch.fits[left] = is_diverse(table.watched, table.tally)
    forget(table.watched, table.tally)
