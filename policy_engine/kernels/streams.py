"""Random words for rows, that move with the rows: one stream, keyed by a secret key.

A word is a hash (SipHash-2-4) of what the row holds, of which of the rows that hold the same it is,
of what it is drawn for, and of its number. So neither the order of the rows nor how they are
split over machines decides any word, and without the key none can be told from a random one. Each
use of the key has a key of its own, derived from it: no word of one use is one of another.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.siphash import (
    BLOCK,
    Words,
    absorb,
    derive_key,
    finish,
    hash_bytes,
    hash_rows,
    start_rows,
)

_TEXTS, _ROWS, _DRAWS, _LISTS = range(4)
"""What the key is used for."""


def hash_texts(offsets: NDArray[np.int64], data: NDArray[np.uint8], key: Words) -> Words:
    """Return 128 bits for every byte string, (strings, 2), equal for equal ones.

    String i is `data[offsets[i]:offsets[i + 1]]`; `offsets` (strings + 1,), `key` (2,).
    """
    return hash_bytes(offsets, data, derive_key(key, _TEXTS))


def hash_lists(offsets: NDArray[np.int64], words: Words, key: Words) -> Words:
    """Return 128 bits for every list of elements, (lists, 2), equal for equal ones.

    Elements are 128 bits each, (elements, 2), and list i is those from offsets[i] to before
    offsets[i + 1]; `offsets` (lists + 1,), `key` (2,).
    """
    data = words.astype("<u8").reshape(-1).view(np.uint8)
    return hash_bytes(16 * offsets, data, derive_key(key, _LISTS))


def mix_rows(columns: Sequence[Words], key: Words) -> Words:
    """Return the 128-bit key of every row, (rows, 2), equal for rows equal in every column.

    Columns, one or more, have a word for each row, (rows,), or several, (rows, words). Their order
    counts.
    """
    return hash_rows(columns, derive_key(key, _ROWS))


def count_repeats(keys: Words) -> NDArray[np.int64]:
    """Return how many rows before each one have its key, (rows,); `keys` are (rows, 2).

    Which of the rows with one key has which number hangs on their order: they are alike.
    """
    # An open hash table, at most half full. The keys are hashes: their bits are slots as they are.
    slots = np.zeros(2 ** (2 * len(keys)).bit_length(), dtype=np.uint64)
    times = np.zeros(len(keys), dtype=np.int64)
    repeats = np.empty(len(keys), dtype=np.int64)
    _count_repeats(np.array(keys), slots, times, repeats)
    return repeats


def draw(keys: Words, repeats: NDArray[np.int64], key: Words, label: int, number: int) -> Words:
    """Return so many random words for every row, (rows, number).

    `keys` (rows, 2) and `repeats` (rows,) tell the rows apart, `label`, below 2**64, what the words
    are for. The first words of a longer draw are those of a shorter one.
    """
    own_key, words = derive_key(key, _DRAWS, label), np.empty((len(keys), number), np.uint64)
    for start in range(0, len(keys), BLOCK):
        some = slice(start, start + BLOCK)
        rows = start_rows(own_key, len(keys[some]), is_wide=False)
        absorb(rows, keys[some])
        absorb(rows, repeats[some].astype(np.uint64))
        for place in range(number):
            state = rows.copy()
            absorb(state, np.full(len(keys[some]), place, dtype=np.uint64))
            words[some, place] = finish(state, 32, is_wide=False)
    return words


@compiled
def _count_repeats(
    keys: Words, slots: Words, times: NDArray[np.int64], repeats: NDArray[np.int64]
) -> None:
    # A slot holds the number of the first row with a key, from 1, and above it bits of that key:
    # mostly they tell that it is another one, and its row need not be fetched.
    mask = np.uint64(len(slots) - 1)
    for row in range(len(keys)):
        high, low = keys[row, 0], keys[row, 1]
        mark, slot = low & _MARK, high & mask
        first = _find(keys, slots, slot, mask, mark, row)
        repeats[row] = times[first]
        times[first] += 1


@compiled
def _find(keys: Words, slots: Words, slot: int, mask: int, mark: int, row: int) -> Any:
    """Return the first row with a row's key, which takes the next free slot where it is itself."""
    while slots[slot] != _FREE:
        if slots[slot] & _MARK == mark:
            first = np.int64(slots[slot] & _NUMBER) - 1
            if keys[first, 0] == keys[row, 0] and keys[first, 1] == keys[row, 1]:
                return first
        slot = (slot + _NEXT) & mask
    slots[slot] = mark | np.uint64(row + 1)
    return row


_FREE: Any = np.uint64(0)
_NEXT: Any = np.uint64(1)
_NUMBER: Any = np.uint64(2**40 - 1)
_MARK: Any = np.uint64(2**64 - 2**40)
