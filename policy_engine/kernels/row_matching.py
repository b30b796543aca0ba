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
    than the rows do; words are (rows, 2)."""
    both = np.concatenate([rows, others])
    _, which = np.unique(both, axis=0, return_inverse=True)
    which = which.reshape(-1)
    kinds = int(which.max(initial=-1)) + 1
    times, other_times = (
        np.bincount(part, minlength=kinds) for part in (which[: len(rows)], which[len(rows) :])
    )
    return int(np.maximum(other_times - times, 0).sum())
