"""The different numbers of an array."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def distinct_numbers(numbers: Ints) -> Ints:
    """Return each of some numbers, (n,), once, in their order.

    By sorting: of a million different ones, the hashes of NumPy take many times as long.
    """
    in_order = np.sort(numbers)
    is_first = np.ones(len(in_order), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    return in_order[is_first]
