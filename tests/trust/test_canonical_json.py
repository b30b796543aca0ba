import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.errors import SignatureError, TrustError
from policy_engine.trust.canonical_json import canonical_bytes, read_document

SPECIFICATION = r"""{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}"""
WRITTEN = (
    r'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
    r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}'
)


def test_the_example_of_the_specification_is_written_as_it_says():
    """RFC 8785, sections 3.2.2 to 3.2.4."""
    assert canonical_bytes(json.loads(SPECIFICATION)) == WRITTEN.encode()


def test_keys_are_sorted_by_their_utf_16_code_units():
    """RFC 8785, section 3.2.3."""
    keys = ["€", "\r", "\ufb33", "1", "😀", "\u0080", "ö"]
    text = canonical_bytes(dict.fromkeys(keys, 0)).decode()
    assert list(json.loads(text)) == ["\r", "1", "\u0080", "ö", "€", "😀", "\ufb33"]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("41b3de4355555555", "333333333.3333333"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(bits, text):
    """RFC 8785, appendix B."""
    number = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert canonical_bytes(number) == text.encode()


@pytest.mark.parametrize("value", [2**53, float("nan"), float("inf"), "\ud800", {"\udc00": 1}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(TrustError) as refused:
        canonical_bytes({"a": value})
    assert refused.value.code == "Y004"


def test_what_is_nested_too_deeply_is_refused():
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TrustError) as refused:
        canonical_bytes(value)
    assert refused.value.code == "Y004"


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b"{",
        b"[1]",
        b"1",
        b'{"a":1,"a":1}',
        b'{"a":{"b":1,"b":2}}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b"[" * 200_000,
        b'{"a":' + b"1" * 5000 + b"}",
        '{"a":1}'.encode("utf-16"),
        b'{"a":1}}',
    ],
)
def test_text_that_two_readers_could_understand_differently_is_refused(text):
    with pytest.raises(SignatureError) as refused:
        read_document(text)
    assert refused.value.code == "Y005"


NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15)
TEXTS = st.text('aé€\ufb33😀\n"\\', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_is_read_of_the_canonical_form_is_what_was_written(document):
    text = canonical_bytes(document)
    assert read_document(text) == document
    assert canonical_bytes(read_document(text)) == text
