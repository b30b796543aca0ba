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
