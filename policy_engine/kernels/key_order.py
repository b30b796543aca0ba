"""The order of rows by whole numbers."""

import numpy as np
from numpy.typing import NDArray

_MOST = 2**62


def order_of_keys(keys: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the rows in the order of their keys, (rows,), of equal ones the first first; all keys
    are from 0 to below `count`.

    The keys are used up: the order may take their place.
    """
    bits = len(keys).bit_length()
    if count > _MOST >> bits:
        return np.argsort(keys, kind="stable")
    # Numpy sorts numbers several times as fast as it finds their order, which so is a part of them.
    keys <<= bits
    keys |= np.arange(len(keys))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys
