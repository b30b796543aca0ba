"""How many rows are unique on sets of columns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import row_keys

Codes = NDArray[np.int32]
Bools = NDArray[np.bool_]

_COUNTED = 1 << 22
"""Keys below this number are counted one by one, in 32 MiB; others are sorted."""


def count_unique_rows(columns: Sequence[Codes], sets: Sequence[tuple[int, ...]]) -> list[int]:
    """Return how many rows are unique on each set of columns: no other row has the same codes.

    `columns` are codes from 0, (rows,), `sets` the numbers of columns, of each one at least. A row
    that is unique on a column is unique on every set with it, so only the others are sorted.
    """
    alone = {number: _unique_in(columns[number]) for number in {one for s in sets for one in s}}
    return [_count(columns, numbers, alone) for numbers in sets]


def _unique_in(codes: Codes) -> Bools:
    """Return which rows have a code that no other row has, (rows,)."""
    unique: Bools = (np.bincount(codes, minlength=1) == 1)[codes]
    return unique


def _count(columns: Sequence[Codes], numbers: tuple[int, ...], alone: dict[int, Bools]) -> int:
    is_unique = np.logical_or.reduce([alone[one] for one in numbers])
    unique = int(np.count_nonzero(is_unique))
    if len(numbers) == 1 or unique == len(is_unique):
        return unique
    # Rows that equal one another on the set are all unique on none of its columns.
    others = slice(None) if unique == 0 else ~is_unique
    keys, width = row_keys([columns[one][others] for one in numbers])
    return unique + _unique_keys(keys, width)


def _unique_keys(keys: NDArray[np.int64], width: int) -> int:
    """Return how many keys, all below `width`, are there once."""
    if width <= _COUNTED:
        return int(np.count_nonzero(np.bincount(keys) == 1))
    # Sorting is several times as fast as the hash table of `np.unique`.
    keys = np.sort(keys)
    is_new = np.append(keys[1:] != keys[:-1], True)
    return int(np.count_nonzero(is_new & np.append(True, is_new[:-1])))
