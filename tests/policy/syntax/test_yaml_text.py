import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import PolicyError
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS
from policy_engine.policy.syntax.yaml_text import plain_value, read_yaml, write_yaml

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def read(text):
    return read_yaml(text, "", DEFAULT_LIMITS).root


def failure(text):
    with pytest.raises(PolicyError) as error:
        read(text)
    [problem] = error.value.problems
    return problem.code, problem.place.line, problem.place.column


@given(st.dictionaries(st.text(min_size=1), VALUES, min_size=1, max_size=4))
def test_read_yaml_gives_what_write_yaml_was_given(value):
    assert read(write_yaml(value)).plain() == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("2030-01-01", "2030-01-01"),
        ("1:30", "1:30"),
        ("010", 10),
        ("1e-6", 1e-6),
        (".5", 0.5),
        ("~", None),
        ("", None),
        ("True", True),
        ("0x1F", "0x1F"),
        (".inf", ".inf"),
    ],
)
def test_scalar_is_read_by_the_core_schema(text, value):
    assert plain_value(text) == value


def test_quoted_number_is_a_text():
    assert read('a: "10"\nb: 10').plain() == {"a": "10", "b": 10}


def test_part_knows_where_it_stands():
    part = read("é: \U0001d4b3\nlist: [one, two]").members["list"].items[1]
    assert (part.pointer, part.text, part.end - part.start) == ("/list/1", "two", 3)
    assert "é: \U0001d4b3\nlist: [one, two]"[part.start : part.end] == "two"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: }", ("J001", 1, 4)),
        ("a: &b 1\nc: *b", ("J001", 1, 4)),
        ("a: !!python/object:os.system x", ("J001", 1, 4)),
        ("[a]: 1", ("J001", 1, 1)),
        ("a: 1\n---\nb: 2", ("J001", 2, 1)),
        ("# nothing", ("J001", 0, 0)),
        ("[" * 100 + "]" * 100, ("J003", 1, 65)),
        (b"a: \xff", ("J004", 1, 4)),
    ],
)
def test_text_that_is_not_plain_yaml_is_refused(text, expected):
    assert failure(text) == expected


def test_key_that_appears_twice_is_a_problem():
    [problem] = read_yaml("k: 1\nl: 2\nk: 3", "", DEFAULT_LIMITS).problems
    assert (problem.code, problem.place.line) == ("J002", 3)
    assert "first in line 1" in problem.message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_problem_is_at_the_line_that_editors_show(end):
    with pytest.raises(PolicyError) as caught:
        read_yaml(f'a: "\u2028\u2029x"{end}b: [1{end}c: }}', "", DEFAULT_LIMITS)
    assert caught.value.problems[0].place.line == 3
