"""SipHash-2-4: keyed hashes of byte strings, and of rows of words, many at a time.

Aumasson and Bernstein: SipHash: a fast short-input PRF, INDOCRYPT 2012; the 128-bit variant is that
of the authors' reference code. Without the key a hash cannot be told from random bits. Keys and
words are little-endian, as in the paper, on every machine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Words = NDArray[np.uint64]

BLOCK = 4096
"""So many rows at a time: their state stays in the processor's cache."""


def key_words(key: bytes) -> Words:
    """Return a key of 16 bytes as words, (2,). Raises ValueError for a key of another length."""
    if len(key) != 16:
        raise ValueError(f"A key has 16 bytes. Given: {len(key)}.")
    words: Words = np.frombuffer(key, "<u8").astype(np.uint64)
    return words


def derive_key(key: Words, *numbers: int) -> Words:
    """Return the key for one use, (2,), of a key, (2,): the hash of numbers below 2**64."""
    columns = [np.array([number], dtype=np.uint64) for number in numbers]
    return hash_rows(columns, key).reshape(2)


def hash_bytes(offsets: NDArray[np.int64], data: NDArray[np.uint8], key: Words) -> Words:
    """Return the 128-bit hash of every byte string, (strings, 2).

    String i is `data[offsets[i]:offsets[i + 1]]`; `offsets` (strings + 1,).
    """
    hashes = np.empty((len(offsets) - 1, 2), dtype=np.uint64)
    _hash_bytes(_frozen(offsets), _frozen(data), _frozen(key), hashes)
    return hashes


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written: of both kinds numba would compile a kernel twice."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def hash_rows(columns: Sequence[Words], key: Words) -> Words:
    """Return the 128-bit hash of every row of words, (rows, 2), 8 bytes a word.

    Columns, one or more, are (rows,), or (rows, words) where each row has several.
    """
    hashes = np.empty((len(columns[0]), 2), dtype=np.uint64)
    width = sum(1 if column.ndim == 1 else column.shape[1] for column in columns)
    for start in range(0, len(hashes), BLOCK):
        some = slice(start, start + BLOCK)
        state = start_rows(key, len(hashes[some]), is_wide=True)
        for column in columns:
            absorb(state, column[some])
        hashes[some, 0] = finish(state, 8 * width, is_wide=True)
        hashes[some, 1] = finish_second(state)
    return hashes


def start_rows(key: Words, rows: int, *, is_wide: bool) -> Words:
    """Return the state, (4, rows), of hashes of 128 bits, if wide, or 64."""
    state = _START ^ np.tile(key, 2)
    state[1] ^= _WIDE if is_wide else np.uint64(0)
    return np.repeat(state[:, np.newaxis], rows, axis=1)


def absorb(state: Words, words: Words) -> None:
    """Update the state, (4, rows), of hashes with the words of each row, (rows,) or (rows, m)."""
    for column in words.reshape(len(words), -1).T:
        _absorb(state, np.array(column))


def finish(state: Words, length: int, *, is_wide: bool) -> Words:
    """Return the first word of every hash, (rows,), of messages of `length` bytes, whole words."""
    _absorb(state, np.full(state.shape[1], length % 256 << 56, dtype=np.uint64))
    state[2] ^= _WIDE if is_wide else _NARROW
    return _finish(state)


def finish_second(state: Words) -> Words:
    """Return the second word of every hash of 128 bits, (rows,), once the first is told."""
    state[1] ^= _SECOND
    return _finish(state)


def _finish(state: Words) -> Words:
    hashes = np.empty(state.shape[1], dtype=np.uint64)
    _scramble(state, hashes)
    return hashes


@compiled
def _absorb(state: Words, words: Words) -> None:
    for row in range(len(words)):
        v0, v1, v2, v3 = state[0, row], state[1, row], state[2, row], state[3, row]
        v0, v1, v2, v3 = _update(v0, v1, v2, v3, words[row])
        state[0, row], state[1, row], state[2, row], state[3, row] = v0, v1, v2, v3


@compiled
def _scramble(state: Words, hashes: Words) -> None:
    for row in range(len(hashes)):
        v0, v1, v2, v3 = state[0, row], state[1, row], state[2, row], state[3, row]
        for _ in range(4):
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        state[0, row], state[1, row], state[2, row], state[3, row] = v0, v1, v2, v3
        hashes[row] = v0 ^ v1 ^ v2 ^ v3


@compiled
def _hash_bytes(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], key: Words, hashes: Words
) -> None:
    for string in range(len(hashes)):
        place, end = offsets[string], offsets[string + 1]
        length = np.uint64(end - place)
        v0, v1 = _START_0 ^ key[0], _START_1 ^ key[1] ^ _WIDE
        v2, v3 = _START_2 ^ key[0], _START_3 ^ key[1]
        while end - place >= 8:
            v0, v1, v2, v3 = _update(v0, v1, v2, v3, _whole_word(data, place))
            place += 8
        last = _part_of_word(data, place, end) | (length << _LAST_BYTE)
        v0, v1, v2, v3 = _update(v0, v1, v2, v3, last)
        v2 ^= _WIDE
        for half in range(2):
            for _ in range(4):
                v0, v1, v2, v3 = _round(v0, v1, v2, v3)
            hashes[string, half] = v0 ^ v1 ^ v2 ^ v3
            v1 ^= _SECOND


@compiled
def _whole_word(data: NDArray[np.uint8], place: int) -> Any:
    word = _NO_BITS
    for byte in range(8):
        word |= np.uint64(data[place + byte]) << np.uint64(8 * byte)
    return word


@compiled
def _part_of_word(data: NDArray[np.uint8], place: int, end: int) -> Any:
    word = _NO_BITS
    for byte in range(end - place):
        word |= np.uint64(data[place + byte]) << np.uint64(8 * byte)
    return word


@compiled
def _update(v0: int, v1: int, v2: int, v3: int, word: int) -> Any:
    v3 ^= word
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ word, v1, v2, v3


@compiled
def _round(v0: int, v1: int, v2: int, v3: int) -> Any:
    v0 += v1
    v2 += v3
    v1 = _rotated(v1, _BITS_13) ^ v0
    v3 = _rotated(v3, _BITS_16) ^ v2
    v0 = _rotated(v0, _BITS_32)
    v2 += v1
    v0 += v3
    v1 = _rotated(v1, _BITS_17) ^ v2
    v3 = _rotated(v3, _BITS_21) ^ v0
    v2 = _rotated(v2, _BITS_32)
    return v0, v1, v2, v3


@compiled
def _rotated(word: int, bits: int) -> Any:
    return (word << bits) | (word >> (_ALL_BITS - bits))


_BITS_13: Any = np.uint64(13)
_BITS_16: Any = np.uint64(16)
_BITS_17: Any = np.uint64(17)
_BITS_21: Any = np.uint64(21)
_BITS_32: Any = np.uint64(32)
_ALL_BITS: Any = np.uint64(64)
_LAST_BYTE: Any = np.uint64(56)
_NO_BITS: Any = np.uint64(0)

_START: Words = np.array(
    [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573], np.uint64
)
_START_0, _START_1, _START_2, _START_3 = _START
_NARROW: Any = np.uint64(0xFF)
_WIDE: Any = np.uint64(0xEE)
_SECOND: Any = np.uint64(0xDD)
