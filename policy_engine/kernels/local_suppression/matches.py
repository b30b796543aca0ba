"""Local suppression where a missing value matches any: each row suppressed as little as it needs.

Suppressing a cell takes no match from any row and gives matches to others. So rows are treated one
by one, each with the cheapest mask under which it matches k rows at that time: who is treated later
finds more matches. A row is suppressed for its own sake alone; the fewest cells of all would be
those of k - 1 empty rows, which match every row and protect none.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.local_suppression.budget import SuppressionBudget, fits, spend
from policy_engine.kernels.local_suppression.null_masks import Ints, MaskLattice, Pieces


class _Search(NamedTuple):
    """The rows as they are shown so far, counted by what they show.

    `union` (masks, masks) is the place of the union of two masks, -1 where it is not among them.
    `choice` (pieces,) is the mask of each piece, -1 where it is not among them. `complete`
    (groups,) counts the rows without a missing value by every group that they are in. All others
    are in a hash table, `times` by `keys`: a key is a mask that rows have and a group under the
    same or a larger one. `patterns` (masks,) lists the masks that rows have; `filled` holds how
    many keys and patterns there are. `total` is the number of all rows.
    """

    masks: Ints
    group: NDArray[np.int32]
    union: NDArray[np.int32]
    rows: Ints
    missing: Ints
    choice: Ints
    complete: Ints
    keys: Ints
    times: Ints
    patterns: Ints
    filled: Ints
    total: int


KEYS, PATTERNS = range(2)
_SMALLEST_TABLE = 1 << 14


def suppressed_matches(
    lattice: MaskLattice, pieces: Pieces, k: int, budget: SuppressionBudget
) -> Ints:
    """Return the mask of every piece by its place in the lattice, (pieces,), -1 where none is.

    Each piece that has a mask matches at least k rows.
    """
    search, counts = _search(lattice, pieces), np.zeros(len(pieces.rows), np.int64)
    search = _treat(search, np.flatnonzero(pieces.missing), _enter)
    _count(search, k, counts)
    # Who matches the fewest rows is treated first: what it shows then, more of the others match.
    needy = np.argsort(counts, kind="stable")[: np.count_nonzero(counts < k)]
    has_enough = counts >= k
    search = _treat(search, needy, lambda *where: _suppress(*where, budget, k, has_enough))
    _count(search, k, counts)
    return np.where(has_enough | (counts >= k), search.choice, -1)


def _search(lattice: MaskLattice, pieces: Pieces) -> _Search:
    masks, total = lattice.masks, len(lattice.masks)
    complete = np.zeros(lattice.groups, np.int64)
    for group in lattice.group[:, pieces.missing == 0]:
        np.add.at(complete, group, pieces.rows[pieces.missing == 0])
    return _Search(
        masks,
        lattice.group,
        _places(masks, masks[:, np.newaxis] | masks).astype(np.int32),
        pieces.rows,
        pieces.missing,
        _places(masks, pieces.missing),
        complete,
        keys=np.full(_SMALLEST_TABLE, -1),
        times=np.zeros(_SMALLEST_TABLE, np.int64),
        patterns=np.zeros(total, np.int64),
        filled=np.zeros(2, np.int64),
        total=int(pieces.rows.sum()),
    )


def _places(masks: Ints, sought: Ints) -> Ints:
    """Return where in `masks` others are, of any shape, -1 for those that are not."""
    order = np.argsort(masks)
    place = np.minimum(np.searchsorted(masks[order], sought), len(masks) - 1)
    return np.where(masks[order][place] == sought, order[place], -1)


def _treat(search: _Search, order: Ints, treat: Callable[[_Search, Ints, int], int]) -> _Search:
    """Treat pieces one after the other; return the search, its table as large as was needed."""
    at = 0
    while at < len(order):
        search = _with_room(search)
        at = treat(search, order, at)
    return search


def _with_room(search: _Search) -> _Search:
    """Return the search with a hash table that is at most a quarter full."""
    size = len(search.keys)
    while 4 * (search.filled[KEYS] + len(search.masks)) > size:
        size *= 2
    if size == len(search.keys):
        return search
    larger = search._replace(keys=np.full(size, -1), times=np.zeros(size, np.int64))
    larger.filled[KEYS] = 0
    kept = search.keys >= 0
    _insert(larger, search.keys[kept], search.times[kept])
    return larger


@compiled
def _insert(search, keys, times):  # type: ignore[no-untyped-def]
    for one in range(len(keys)):
        search.times[_slot(search, keys[one])] = times[one]


@compiled
def _slot(search, key):  # type: ignore[no-untyped-def]
    """Return the slot of a key, which becomes its own if it has none."""
    slot = _find(search.keys, key)
    if search.keys[slot] < 0:
        search.keys[slot] = key
        search.filled[KEYS] += 1
    return slot


@compiled
def _find(keys, key):  # type: ignore[no-untyped-def]
    """Return the slot of a key, or the empty one where it would be."""
    last = len(keys) - 1
    slot = (key * _SPREAD >> 20) & last
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


_SPREAD = 0x1E3779B97F4A7C15


@compiled
def _has_room(search):  # type: ignore[no-untyped-def]
    return 2 * (search.filled[KEYS] + len(search.masks)) <= len(search.keys)


@compiled
def _enter(search, order, at):  # type: ignore[no-untyped-def]
    """Count the rows of pieces as they are; return how far there was room in the table."""
    while at < len(order) and _has_room(search):
        if search.choice[order[at]] >= 0:
            _add(search, order[at], search.choice[order[at]], search.rows[order[at]])
        at += 1
    return at


@compiled
def _add(search, piece, mask, rows):  # type: ignore[no-untyped-def]
    """Count so many more rows that show what a piece does under a mask, of one value or more."""
    null, has_rows = search.masks[mask], False
    for larger in range(len(search.masks)):
        group = search.group[larger, piece]
        if null == 0:
            search.complete[group] += rows
        elif null & ~search.masks[larger] == 0:
            search.times[_slot(search, mask * len(search.complete) + group)] += rows
    for one in range(search.filled[PATTERNS]):
        has_rows |= search.patterns[one] == mask
    if null != 0 and not has_rows:
        search.patterns[search.filled[PATTERNS]] = mask
        search.filled[PATTERNS] += 1


@compiled
def _matches(search, piece, mask, k):  # type: ignore[no-untyped-def]
    """Return how many rows a piece would match under a mask, or k or more if it is as many.

    The last mask is that of all columns.
    """
    if mask == len(search.masks) - 1:
        return search.total
    count, groups = search.complete[search.group[mask, piece]], len(search.complete)
    for one in range(search.filled[PATTERNS]):
        if count >= k:
            break
        pattern = search.patterns[one]
        union = search.union[mask, pattern]
        # Without it, rows that match are not counted, which errs on the safe side.
        if union >= 0:
            key = pattern * groups + search.group[union, piece]
            slot = _find(search.keys, key)
            if search.keys[slot] == key:
                count += search.times[slot]
    return count


@compiled
def _count(search, k, counts):  # type: ignore[no-untyped-def]
    """Set in `counts` how many rows each piece matches as it is, as far as that matters for k."""
    for piece in range(len(counts)):
        mask = search.choice[piece]
        counts[piece] = _matches(search, piece, mask, k) if mask >= 0 else 0


@compiled
def _suppress(search, order, at, budget, k, has_enough):  # type: ignore[no-untyped-def]
    """Give pieces the cheapest mask that suffices; return how far there was room in the table."""
    while at < len(order) and _has_room(search):
        piece, rows = order[at], search.rows[order[at]]
        own, now = search.missing[piece], search.choice[piece]
        for mask in range(len(search.masks)):
            null = search.masks[mask]
            if own & ~null != 0 or not fits(budget, own, null, rows):
                continue
            if _matches(search, piece, mask, k) >= k:
                if mask != now:
                    spend(budget, own, null, rows)
                    if now >= 0:
                        _add(search, piece, now, -rows)
                    _add(search, piece, mask, rows)
                    search.choice[piece] = mask
                has_enough[piece] = True
                break
        at += 1
    return at
