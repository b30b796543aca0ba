"""Ranks of values, where no order of rows breaks a tie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def sort_rows(values: NDArray[Any], words: Words) -> Ints:
    """Return the rows by their values, those of equal values by their words, (rows,).

    `words` (rows,) are random bits of each row. Rows that have both in common come in no order.
    """
    rows = np.argsort(values)
    ordered = values[rows]
    is_new = ordered[1:] != ordered[:-1]
    if is_new.all():
        return rows
    # By one number that holds the value's own number and as much of the word as there is room for:
    # several times faster than by two. Where that leaves a tie, the whole words decide.
    number_of = np.empty(len(rows), dtype=np.uint64)
    number_of[rows] = np.append(0, np.cumsum(is_new))
    bits = np.uint64(int(number_of[rows[-1]]).bit_length())
    key = number_of << np.uint64(64) - bits | words >> bits if bits else words
    rows = np.argsort(key)
    key = key[rows]
    return rows if (key[1:] > key[:-1]).all() else np.lexsort((words, number_of))
