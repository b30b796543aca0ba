"""Bloom filters of Parquet files: the bits that some values set, and no other.

https://parquet.apache.org/docs/file-format/bloomfilter/ with xxHash (XXH64, seed 0). There is a
library for the hash, which nothing else here needs.
"""

import struct
from collections.abc import Iterable

_BITS, _HALF = (1 << 64) - 1, (1 << 32) - 1
_PRIMES = (
    *(0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
    *(0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5),
)
_SALTS = (
    *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
    *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
)
_BLOCK = 32


def bloom_filter(values: Iterable[bytes], size: int) -> bytes:
    """Return the filter of some values, as they are stored, in so many bytes."""
    words, blocks = [0] * (size // 4), size // _BLOCK
    for value in values:
        number = xxh64(value)
        first = (((number >> 32) * blocks) >> 32) * 8
        for place, salt in enumerate(_SALTS):
            words[first + place] |= 1 << (((number & _HALF) * salt & _HALF) >> 27)
    return struct.pack(f"<{len(words)}I", *words)


def xxh64(data: bytes) -> int:
    """Return the XXH64 of some bytes, of seed 0."""
    one, two, three, four, five = _PRIMES
    place, size = 0, len(data)
    if size >= _BLOCK:
        lanes = [(one + two) & _BITS, two, 0, -one & _BITS]
        while place + _BLOCK <= size:
            words = struct.unpack_from("<4Q", data, place)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            place += _BLOCK
        number = sum(_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            number = ((number ^ _round(0, lane)) * one + four) & _BITS
    else:
        number = five
    number = (number + size) & _BITS
    while place + 8 <= size:
        (word,) = struct.unpack_from("<Q", data, place)
        number = (_turned(number ^ _round(0, word), 27) * one + four) & _BITS
        place += 8
    if place + 4 <= size:
        (word,) = struct.unpack_from("<I", data, place)
        number = (_turned(number ^ (word * one & _BITS), 23) * two + three) & _BITS
        place += 4
    for byte in data[place:]:
        number = _turned(number ^ (byte * five & _BITS), 11) * one & _BITS
    number = (number ^ number >> 33) * two & _BITS
    number = (number ^ number >> 29) * three & _BITS
    return number ^ number >> 32


def _round(lane: int, word: int) -> int:
    return _turned((lane + word * _PRIMES[1]) & _BITS, 31) * _PRIMES[0] & _BITS


def _turned(number: int, by: int) -> int:
    number &= _BITS
    return (number << by | number >> (64 - by)) & _BITS
