"""Rows of two tables that are the same, by the words of what they hold."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.siphash import Words


def match_rows(rows: Words, others: Words) -> NDArray[np.int64] | None:
    """Return for each row the row of another table with the same words, -1 for none, (rows,).

    None where two rows of a table have the same words (rows, 2), or a row of the other table is
    none of the rows.
    """
    both = np.concatenate([rows, others])
    order = np.lexsort((both[:, 1], both[:, 0]))  # of equal rows, those of the first table first
    is_next = (both[order[1:]] == both[order[:-1]]).all(axis=1)
    first, second = order[:-1][is_next], order[1:][is_next]
    if (first >= len(rows)).any() or (second < len(rows)).any() or len(second) < len(others):
        return None
    matched = np.full(len(rows), -1, dtype=np.int64)
    matched[first] = second - len(rows)
    return matched


def count_strange(rows: Words, others: Words) -> int:
    """Return how many rows of another table have words that no row has, or have them more often
    than the rows do; words are (rows, 2), by a key that nobody knows."""
    # The same words in another order have the same sum, and others have another one.
    sums = [words.sum(axis=0, dtype=np.uint64) for words in (rows, others)]
    if len(rows) == len(others) and (sums[0] == sums[1]).all():
        return 0
    both = np.concatenate([rows, others])
    order = np.argsort(both[:, 0])
    is_other, is_new = _changes(both[order])
    if (is_other != is_new).any():  # two words have one first half
        order = np.lexsort((both[:, 1], both[:, 0]))
        _, is_new = _changes(both[order])
    surplus = np.where(order < len(rows), -1, 1)
    return int(np.maximum(np.add.reduceat(surplus, np.flatnonzero(is_new)), 0).sum())


def _changes(words: Words) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which words have another first half than those before, and which are others at all."""
    is_other = np.append(True, words[1:, 0] != words[:-1, 0])
    is_new = is_other.copy()
    is_new[1:] |= words[1:, 1] != words[:-1, 1]
    return is_other, is_new
