"""Which rows of each unit are counted: at most so many groups, and so many rows of each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.siphash import Words, derive_key, hash_rows, key_words

Bools = NDArray[np.bool_]
_UNIT, _PAIR, _ROW = range(3)


def bound_contributions(
    units: Words, groups: Words, rows: Words, key: bytes, max_groups: int, max_rows: int
) -> Bools:
    """Return which rows are kept, (rows,): of every unit at most `max_groups` groups, and of each
    of these at most `max_rows` rows, chosen by keyed hashes.

    `units`, `groups` and `rows` are words, (rows,) or (rows, m), that tell contents apart and are
    the same wherever the contents are: integers as they are, or 128-bit digests of bytes (of
    `rows`, of all the values that are used). What is kept of a unit depends on the key and its own
    rows alone, so that another unit more or less changes nothing, and not on the order of rows: of
    equal rows any may be kept. The key has 16 bytes. Raises ValueError for a bound below 1.
    """
    if min(max_groups, max_rows) < 1:
        raise ValueError(f"Bounds are at least 1. Given: {max_groups} and {max_rows}.")
    if not len(units):
        return np.zeros(0, dtype=bool)
    keys = [derive_key(key_words(key), use) for use in (_UNIT, _PAIR, _ROW)]
    hashes = [
        hash_rows(columns, one)
        for columns, one in zip(
            ([units], [units, groups], [units, groups, rows]), keys, strict=True
        )
    ]
    order = _ordered(hashes)
    unit_starts, pair_starts = (_starts(one[order]) for one in hashes[:2])
    is_kept = np.empty(len(units), dtype=bool)
    is_kept[order] = _is_within(unit_starts, pair_starts, max_groups, max_rows)
    return is_kept


def _ordered(hashes: list[Words]) -> NDArray[np.intp]:
    """Return the order of rows by units, within them by groups, within them by rows.

    One word in two tells nearly all hashes apart; by both it takes twice as long.
    """
    order = np.lexsort([one[:, 0] for one in reversed(hashes)])
    if any(_is_mixed(one[order]) for one in hashes):
        return np.lexsort([one[:, word] for one in reversed(hashes) for word in (1, 0)])
    return order


def _is_mixed(hashes: Words) -> bool:
    """Return whether hashes, in order, are the same in their first word but not in the second."""
    is_same = hashes[1:, 0] == hashes[:-1, 0]
    return bool((is_same & (hashes[1:, 1] != hashes[:-1, 1])).any())


def _starts(hashes: Words) -> Bools:
    return np.concatenate([[True], (hashes[1:] != hashes[:-1]).any(axis=1)])


def _is_within(unit_starts: Bools, pair_starts: Bools, max_groups: int, max_rows: int) -> Bools:
    pair_starts = pair_starts | unit_starts
    group = _since(np.cumsum(pair_starts), unit_starts)
    row = _since(np.arange(len(pair_starts)), pair_starts)
    return np.asarray((group < max_groups) & (row < max_rows))


def _since(count: NDArray[Any], starts: Bools) -> NDArray[Any]:
    """Return how much a count has grown since the last start, at every place."""
    places = np.flatnonzero(starts)
    return np.asarray(count - np.repeat(count[places], np.diff(places, append=len(count))))
