"""The bits of a status list, as Bitstring Status List 1.0 encodes them."""

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.trust.status_bits import LEAST_BITS, MOST_BITS, StatusBits

EXAMPLE = "uH4sIAAAAAAAAA-3BMQEAAADCoPVPbQwfoAAAAAAAAAAAAAAAAAAAAIC3AYbSVKsAQAAA"
"""131,072 bits that are not set: Bitstring Status List 1.0, example 4."""


def encoded(content):
    return "u" + base64.urlsafe_b64encode(gzip.compress(content, mtime=0)).decode().rstrip("=")


def test_the_example_of_the_specification_has_no_bit_set():
    bits = StatusBits.decoded(EXAMPLE)
    assert len(bits) == 131_072
    assert bits == StatusBits()


def test_the_first_bit_is_the_highest_of_the_first_byte():
    assert StatusBits().with_bit(0).content[:2] == b"\x80\x00"
    assert StatusBits().with_bit(9).content[:2] == b"\x00\x40"


@given(st.sets(st.integers(0, LEAST_BITS - 1), max_size=5), st.integers(0, LEAST_BITS - 1))
def test_bits_are_set_as_they_were_written(indexes, other):
    bits = StatusBits()
    for index in indexes:
        bits = bits.with_bit(index)
    read = StatusBits.decoded(bits.encoded())
    assert all(read[index] for index in indexes)
    assert read[other] == (other in indexes)


@pytest.mark.parametrize("index", [-1, LEAST_BITS])
def test_an_index_beside_the_list_is_none_of_it(index):
    with pytest.raises(IndexError):
        StatusBits()[index]
    with pytest.raises(IndexError):
        StatusBits().with_bit(index)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is not base64url"),
        (EXAMPLE[1:], "is not base64url"),
        ("u+/==", "is not base64url"),
        ("uAAAA", "is not a compressed list"),
        (EXAMPLE[:-8], "is not a compressed list"),
    ],
    ids=range(5),
)
def test_what_is_not_a_list_is_refused(text, fault):
    with pytest.raises(ValueError, match=fault):
        StatusBits.decoded(text)


@pytest.mark.parametrize("size", [LEAST_BITS // 8 - 1, MOST_BITS // 8 + 1, 2**26])
def test_a_list_that_is_too_short_or_too_long_is_refused(size):
    with pytest.raises(ValueError, match="does not have 131,072 to"):
        StatusBits.decoded(encoded(bytes(size)))
