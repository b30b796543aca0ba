import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.data.taxonomy.json_text import Number, format_pointer, is_text, read_json
from policy_engine.data.taxonomy.problems import Problems, quote
from policy_engine.errors import DataError

VALUES = st.recursive(
    st.none() | st.booleans() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_read_json_gives_what_was_written(value):
    assert read_json(json.dumps(value), Problems("x")) == value


def test_numbers_stay_as_they_are_written():
    numbers = read_json("[1.50, -0, 1E400, 12345678901234567890]", Problems("x"))
    assert numbers == ["1.50", "-0", "1E400", "12345678901234567890"]
    assert all(isinstance(number, Number) for number in numbers)
    assert quote(numbers[0]) == "1.50"


def test_a_number_of_any_length_is_read():
    assert read_json("9" * 10_000, Problems("x")) == "9" * 10_000


def test_bad_json_is_placed():
    with pytest.raises(DataError, match=r"^x:2:3: J001 "):
        read_json('{"a":\n  }', Problems("x"))


def test_pointers_are_escaped():
    assert format_pointer(((None, "a/b"), "m~n")) == "/a~1b/m~0n"
    assert format_pointer(None) == ""


@pytest.mark.parametrize(("value", "expected"), [("é", True), ("\udfff", False), (1, False)])
def test_is_text(value, expected):
    assert is_text(value) is expected


def test_what_is_shown_is_short():
    assert len(quote("a" * 1_000_000)) < 100
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert quote(deep) == "[[[[[[[...]]]]]]]"
