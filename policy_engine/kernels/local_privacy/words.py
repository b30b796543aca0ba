"""Random words of a mechanism: of the operating system, or the same again for the same person."""

import os

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.siphash import derive_key, hash_bytes, hash_rows, key_words

Words = NDArray[np.uint64]

_LABELS, _ANSWERS = range(2)
"""What the key is used for."""


def system_words(rows: int, number: int) -> Words:
    """Return so many words for every row, (rows, number), of the operating system's randomness."""
    words: Words = np.frombuffer(os.urandom(8 * rows * number), np.uint64)
    return words.reshape(rows, number)


def memoised_words(
    persons: Words, codes: NDArray[np.int64], key: bytes, label: str, number: int
) -> Words:
    """Return so many words for every row, (rows, number), the same for one person and value.

    `persons` are hashes, (rows, m); `codes` are what is answered, (rows,) or (rows, columns); `key`
    has 16 bytes, and is the owner's secret. The `label` says what is asked and how it is
    randomised: words that two mechanisms shared would tell more together than their epsilons say.
    """
    secret, text = key_words(key), label.encode()
    ends = np.array([0, len(text)], dtype=np.int64)
    data = np.frombuffer(text, np.uint8)
    own = hash_bytes(ends, data, derive_key(secret, _LABELS)).reshape(2)
    columns = [persons, codes.astype(np.uint64)]
    rows, own_key = len(codes), derive_key(own, _ANSWERS)
    words = np.empty((rows, number), dtype=np.uint64)
    for place in range(0, number, 2):
        hashes = hash_rows([*columns, np.full(rows, place, dtype=np.uint64)], own_key)
        words[:, place : place + 2] = hashes[:, : number - place]
    return words
