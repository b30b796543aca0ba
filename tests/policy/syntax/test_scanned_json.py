import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import PolicyError
from policy_engine.policy.syntax.json_text import read_json
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.scanned_json import UnclearJsonError, scanned_json

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_what_is_scanned_is_what_was_written(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if ascii_only and max(map(ord, text)) < 0x1_0000:  # pairs of escapes are left to the reader
        text = json.dumps(value, indent=indent)
    assert scanned_json(text, DEFAULT_LIMITS) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '["\\ud800"]',
        '["\ud800"]',
        "[NaN]",
        "[-Infinity]",
        "[1e999]",
        f"[{'1' * 401}]",
        "[01]",
        '["a" "b"]',
        '["a\nb"]',
        "[1] 2",
        "",
        "[" * 100_000,
        "\ufeff[]",
    ],
)
def test_where_something_may_be_wrong_nothing_is_scanned(text):
    with pytest.raises(UnclearJsonError):
        scanned_json(text, DEFAULT_LIMITS)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"depth": 2}, '{"a": [[1]]}'),
        ({"depth": 1}, '{"a": [{}]}'),
        ({"values": 3}, '{"a": [1, 2, 3]}'),
        ({"key_characters": 5}, '{"abc": {"d": 1, "e": 2}}'),
        ({"key_characters": 6}, '{"a~/b": 1}'),
    ],
)
def test_what_is_beyond_limits_is_refused_as_it_was(limits, text):
    beyond = DEFAULT_LIMITS._replace(**limits)
    with pytest.raises(UnclearJsonError):
        scanned_json(text, beyond)
    with pytest.raises(PolicyError, match="J003"):
        read_json(text, "", beyond)


def test_a_number_that_no_float_is_keeps_its_text():
    assert scanned_json("[0.1000000000000000055]", DEFAULT_LIMITS)[0].text.endswith("55")


def test_places_of_a_scanned_text_are_found_when_asked_for():
    document = read_json(' {"a":\n [1, {"b": "x"}]}')
    assert "values" not in vars(document)
    assert (*document.place("/a/1/b"),) == ("/a/1/b", 2, 12)
    assert (*document.place("/a", of_key=True),) == ("/a", 1, 3)
    assert (*document.place(""),) == ("", 1, 2)
    assert (*document.opening(""),) == ("", 1, 3)
    assert document.string("/a/1/b") == "x"
