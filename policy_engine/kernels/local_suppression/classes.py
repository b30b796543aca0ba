"""Local suppression where a missing value is a value of its own: classes of equal rows.

Each piece gets the mask under which at least k rows show the same. A class that is opened under a
cheap mask leaves too few rows for another: to choose the classes is a facility location problem
with lower bounds, which is NP-hard (Karger and Minkoff, FOCS 2000), as optimal suppression is
(Meyerson and Williams, PODS 2004). Classes are opened under the cheapest masks first, and then
changed wherever that gains.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.local_suppression.budget import SuppressionBudget, fits, spend
from policy_engine.kernels.local_suppression.null_masks import Ints, MaskLattice, Pieces

_MOST_ROUNDS = 50


class _Search(NamedTuple):
    """The classes so far, and what they are made of.

    `members` (masks, pieces) are the pieces in the order of their groups; `choice` (pieces,) the
    mask of each, -1 for none; `size` (groups,) the rows of each class. `taken` and `before`
    (pieces,) are working memory: the pieces that move into a class, and where from.
    """

    masks: Ints
    cost: Ints
    group: NDArray[np.int32]
    members: NDArray[np.int32]
    rows: Ints
    missing: Ints
    choice: Ints
    size: Ints
    taken: Ints
    before: Ints


def suppressed_classes(
    lattice: MaskLattice, pieces: Pieces, k: int, budget: SuppressionBudget
) -> Ints:
    """Return the mask of every piece by its place in the lattice, (pieces,), -1 where none is.

    Pieces with the same group under their masks are a class of at least k rows.
    """
    search = _search(lattice, pieces)
    # Without a class, a row costs more than under any mask; in the end, more than all classes gain.
    costly, unbearable = int(lattice.cost[-1]) + 1, int(lattice.cost[-1] + 1) * (k + 1)
    _open_classes(search, budget, k, costly, has_donors=False)
    _improve(search, budget, k, costly)
    if (search.choice < 0).any():
        _improve(search, budget, k, unbearable)
        for piece in np.flatnonzero(search.choice < 0):
            _join(search, budget, piece)
        _improve(search, budget, k, unbearable)
    return search.choice


def _search(lattice: MaskLattice, pieces: Pieces) -> _Search:
    total = len(pieces.rows)
    return _Search(
        lattice.masks,
        lattice.cost,
        lattice.group,
        np.argsort(lattice.group, axis=1, kind="stable").astype(np.int32),
        pieces.rows,
        pieces.missing,
        choice=np.full(total, -1),
        size=np.zeros(lattice.groups, np.int64),
        taken=np.zeros(total, np.int64),
        before=np.zeros(total, np.int64),
    )


def _improve(search: _Search, budget: SuppressionBudget, k: int, stray: int) -> None:
    for _ in range(_MOST_ROUNDS):
        if not _open_classes(search, budget, k, stray, has_donors=True):
            return


@compiled
def _open_classes(search, budget, k, stray, has_donors):  # type: ignore[no-untyped-def]
    """Open or enlarge the class of every group wherever that gains; return how much it does."""
    gain, total = 0, len(search.rows)
    for mask in range(len(search.masks)):
        start = 0
        while start < total:
            end = _end(search, mask, start)
            first = search.members[mask, start]
            if search.missing[first] & ~search.masks[mask] == 0:
                gain += _open(search, budget, mask, start, end, k, stray, has_donors)
            start = end
    return gain


@compiled
def _end(search, mask, start):  # type: ignore[no-untyped-def]
    group, members = search.group[mask], search.members[mask]
    end = start + 1
    while end < len(members) and group[members[end]] == group[members[start]]:
        end += 1
    return end


@compiled
def _open(search, budget, mask, start, end, k, stray, has_donors):  # type: ignore[no-untyped-def]
    """Move into a group's class who gains by it, and donors up to k rows; return the gain.

    Nothing moves where nothing is gained. Without a class, a row costs `stray`.
    """
    choice, cost, members = search.choice, search.cost, search.members[mask]
    group = search.group[mask, members[start]]
    count = gain = 0
    for place in range(start, end):
        piece = np.int64(members[place])
        price = stray if choice[piece] < 0 else cost[choice[piece]]
        if price > cost[mask] and _can_leave(search, budget, piece, mask, k):
            _take(search, budget, count, piece, mask)
            count, gain = count + 1, gain + (price - cost[mask]) * search.rows[piece]
    while has_donors and gain > 0 and search.size[group] < k:
        piece = _donor(search, budget, mask, start, end, k)
        if piece < 0:
            break
        gain -= (cost[mask] - cost[choice[piece]]) * search.rows[piece]
        _take(search, budget, count, piece, mask)
        count += 1
    if gain > 0 and search.size[group] >= k:
        return gain
    for one in range(count - 1, -1, -1):
        _move(search, budget, search.taken[one], search.before[one])
    return 0


@compiled
def _donor(search, budget, mask, start, end, k):  # type: ignore[no-untyped-def]
    """Return the piece of the group that loses least by moving into its class, -1 for none."""
    best, least = np.int64(-1), 0
    for place in range(start, end):
        piece = np.int64(search.members[mask, place])
        now = search.choice[piece]
        if now < 0 or now == mask or search.cost[now] > search.cost[mask]:
            continue
        loss = search.cost[mask] - search.cost[now]
        if (best < 0 or loss < least) and _can_leave(search, budget, piece, mask, k):
            best, least = piece, loss
    return best


@compiled
def _can_leave(search, budget, piece, mask, k):  # type: ignore[no-untyped-def]
    """Return whether its class does without a piece, and the budget allows it another mask."""
    now = search.choice[piece]
    if now >= 0:
        rest = search.size[search.group[now, piece]] - search.rows[piece]
        if 0 < rest < k:
            return False
    return fits(budget, _null(search, piece, now), search.masks[mask], search.rows[piece])


@compiled
def _null(search, piece, choice):  # type: ignore[no-untyped-def]
    return search.missing[piece] if choice < 0 else search.masks[choice]


@compiled
def _take(search, budget, count, piece, mask):  # type: ignore[no-untyped-def]
    search.taken[count], search.before[count] = piece, search.choice[piece]
    _move(search, budget, piece, mask)


@compiled
def _move(search, budget, piece, mask):  # type: ignore[no-untyped-def]
    rows, now = search.rows[piece], search.choice[piece]
    spend(budget, _null(search, piece, now), _null(search, piece, mask), rows)
    if now >= 0:
        search.size[search.group[now, piece]] -= rows
    if mask >= 0:
        search.size[search.group[mask, piece]] += rows
    search.choice[piece] = mask


@compiled
def _join(search, budget, stray):  # type: ignore[no-untyped-def]
    """Give a stray piece and the class of another the mask under which both together cost least."""
    # Where no class has rows to spare.
    best, other, least = -1, np.int64(-1), 0
    for mask in range(len(search.masks)):
        null, lost = search.masks[mask], search.missing[stray]
        own = search.cost[mask] * search.rows[stray]
        if best >= 0 and own >= least:
            break
        if lost & ~null != 0 or not fits(budget, lost, null, search.rows[stray]):
            continue
        start = _start(search, mask, stray)
        for place in range(start, _end(search, mask, start)):
            piece = np.int64(search.members[mask, place])
            now = search.choice[piece]
            if now < 0 or search.masks[now] & ~null != 0:
                continue
            rows = search.size[search.group[now, piece]]
            loss = own + (search.cost[mask] - search.cost[now]) * rows
            if (best < 0 or loss < least) and _affords(search, budget, stray, piece, null):
                best, other, least = mask, piece, loss
    if best >= 0:
        _lift(search, budget, other, best)
        _move(search, budget, stray, best)


@compiled
def _affords(search, budget, stray, piece, null):  # type: ignore[no-untyped-def]
    """Return whether the budget allows a mask for the class of a piece besides a stray one."""
    now, rows = search.choice[piece], search.size[search.group[search.choice[piece], piece]]
    own = search.missing[stray]
    spend(budget, own, null, search.rows[stray])
    does_fit = fits(budget, search.masks[now], null, rows)
    spend(budget, null, own, search.rows[stray])
    return does_fit


@compiled
def _lift(search, budget, piece, mask):  # type: ignore[no-untyped-def]
    """Give the whole class of a piece a larger mask."""
    now = search.choice[piece]
    start = _start(search, now, piece)
    for place in range(start, _end(search, now, start)):
        member = np.int64(search.members[now, place])
        if search.choice[member] == now:
            _move(search, budget, member, mask)


@compiled
def _start(search, mask, piece):  # type: ignore[no-untyped-def]
    """Return where the group of a piece starts among the members under a mask."""
    group, members = search.group[mask], search.members[mask]
    low, high = 0, len(members)
    while low < high:
        middle = (low + high) // 2
        if group[members[middle]] < group[piece]:
            low = middle + 1
        else:
            high = middle
    return low
