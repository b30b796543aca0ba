import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.siphash import (
    BLOCK,
    absorb,
    derive_key,
    finish,
    hash_bytes,
    hash_rows,
    key_words,
    start_rows,
)

KEY = bytes(range(16))
KEY_WORDS = key_words(KEY)


def hashed(*strings, key=KEY_WORDS):
    """The hash of every byte string, as bytes."""
    offsets = np.cumsum([0, *map(len, strings)])
    hashes = hash_bytes(offsets, np.frombuffer(b"".join(strings), np.uint8), key)
    return [row.astype("<u8").tobytes() for row in hashes]


def naive(message, key, *, bits=128):
    """SipHash-2-4 as the paper and the authors' reference code have it."""
    low, high = (int.from_bytes(part, "little") for part in (key[:8], key[8:]))
    words = [b"uespemos", b"modnarod", b"arenegyl", b"setybdet"]
    v = [int.from_bytes(word, "little") for word in words]
    v = [v[0] ^ low, v[1] ^ high ^ (0xEE if bits == 128 else 0), v[2] ^ low, v[3] ^ high]
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for place in range(0, len(padded), 8):
        word = int.from_bytes(padded[place : place + 8], "little")
        v[3] ^= word
        rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xEE if bits == 128 else 0xFF
    rounds(v, 4)
    first = (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")
    v[1] ^= 0xDD
    rounds(v, 4)
    return first + ((v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little") if bits == 128 else b"")


def rounds(v, number):
    for _ in range(number):
        for one, other, bits in ((0, 1, 13), (2, 3, 16), (2, 1, 17), (0, 3, 21)):
            v[one] = (v[one] + v[other]) % 2**64
            v[other] = rotated(v[other], bits) ^ v[one]
            if bits in (13, 17):
                v[one] = rotated(v[one], 32)


def rotated(word, bits):
    return (word << bits | word >> (64 - bits)) % 2**64


@pytest.mark.parametrize(
    ("length", "bits", "expected"),
    [
        # The example of the paper's appendix A, then vectors of the authors' reference code.
        (15, 64, "e545be4961ca29a1"),
        (0, 64, "310e0edd47db6f72"),
        (8, 64, "6224939a79f5f593"),
        (0, 128, "a3817f04ba25a8e66df67214c7550293"),
        (1, 128, "da87c1d86b99af44347659119b22fc45"),
        (8, 128, "3b62a9ba6258f5610f83e264f31497b4"),
        (63, 128, "5150d1772f50834a503e069a973fbd7c"),
    ],
)
def test_hashes_are_the_published_ones(length, bits, expected):
    message = bytes(range(length))
    assert naive(message, KEY, bits=bits).hex() == expected
    if bits == 128:
        assert hashed(message)[0].hex() == expected


STRINGS = st.lists(st.binary(max_size=40), min_size=1, max_size=5)
KEYS = st.binary(min_size=16, max_size=16)


@given(STRINGS, KEYS)
def test_every_string_has_its_hash(strings, key):
    assert hashed(*strings, key=key_words(key)) == [naive(string, key) for string in strings]


def test_the_hash_of_a_long_string_ends_with_its_length_modulo_256():
    string = bytes(range(256)) * 2
    assert hashed(string, string[:300]) == [naive(string, KEY), naive(string[:300], KEY)]


def test_strings_may_lie_anywhere_in_the_data():
    hashes = hash_bytes(np.array([1, 3, 3]), np.frombuffer(b"xab!", np.uint8), KEY_WORDS)
    assert hashes[0].astype("<u8").tobytes() == naive(b"ab", KEY)
    assert hashes[1].astype("<u8").tobytes() == naive(b"", KEY)
    assert hash_bytes(np.array([0]), np.zeros(0, np.uint8), KEY_WORDS).shape == (0, 2)


def words(*numbers):
    return np.array(numbers, np.uint64)


@given(st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), min_size=1, max_size=5), KEYS)
def test_the_hash_of_a_row_is_that_of_its_words(rows, key):
    table = words(*rows)
    hashes = hash_rows([table[:, 0], table[:, 1:]], key_words(key))
    found = [row.astype("<u8").tobytes() for row in hashes]
    assert found == [naive(row.astype("<u8").tobytes(), key) for row in table]


def test_rows_are_hashed_alike_in_every_block():
    column = words(1, 2).repeat(BLOCK + 1)
    hashes = hash_rows([column], KEY_WORDS)
    assert {tuple(row) for row in hashes.tolist()} == {
        tuple(hash_rows([words(word)], KEY_WORDS)[0].tolist()) for word in (1, 2)
    }


def test_hashes_of_64_bits_are_those_of_the_paper():
    state = start_rows(KEY_WORDS, 2, is_wide=False)
    absorb(state, words(0x0706050403020100, 9))
    found = finish(state, 8, is_wide=False)
    assert found[0].astype("<u8").tobytes().hex() == "6224939a79f5f593"
    message = (9).to_bytes(8, "little")
    assert found[1].astype("<u8").tobytes() == naive(message, KEY, bits=64)


def test_a_derived_key_is_the_hash_of_its_numbers():
    numbers = (3).to_bytes(8, "little") + (2**64 - 1).to_bytes(8, "little")
    derived = derive_key(KEY_WORDS, 3, 2**64 - 1)
    assert derived.astype("<u8").tobytes() == naive(numbers, KEY)


def test_a_key_of_another_length_is_refused():
    with pytest.raises(ValueError, match="16 bytes"):
        key_words(bytes(15))
