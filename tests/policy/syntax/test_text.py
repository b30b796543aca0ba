import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import Place, PolicyError
from policy_engine.policy.syntax.json_text import escape, read_json, unescape
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TWO_LINES = '{"a": [1,\n  {"b": true}]}'


def problem(text):
    with pytest.raises(PolicyError) as error:
        read_json(text)
    [found] = error.value.problems
    return found


def finite(text):
    if math.isinf(number := float(text)):
        raise ValueError
    return number


def failure(text):
    found = problem(text)
    return found.code, found.place.line, found.place.column, found.message


@given(VALUES)
def test_read_json_gives_what_json_dumps_was_given(value):
    assert read_json(json.dumps(value)).value == value


@given(VALUES)
def test_read_json_gives_the_same_for_indented_utf8_bytes(value):
    text = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    assert read_json(text).value == value


@given(st.text(alphabet='{}[]",:\\ \n\t0123-.eEtruefalsn', max_size=12))
def test_read_json_agrees_with_json_on_what_is_json(text):
    try:
        expected = json.loads(text, parse_float=finite)
    except ValueError:
        assert problem(text).code == "J001"
    else:
        assert read_json(text).value == expected


@given(VALUES)
def test_every_pointer_names_its_value_and_its_place(value):
    document = read_json(json.dumps(value, indent=1))
    for pointer, offset in document.values.items():
        found, _ = json.JSONDecoder().raw_decode(document.text[offset:])
        assert found == document.at(pointer)


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [("", 1, 1), ("/a", 1, 7), ("/a/0", 1, 8), ("/a/1", 2, 3), ("/a/1/b", 2, 9)],
)
def test_place_of_a_value_is_its_first_character(pointer, line, column):
    assert read_json(TWO_LINES).place(pointer) == Place(pointer, line, column)


def test_place_of_a_key_is_its_opening_quote():
    document = read_json(TWO_LINES)
    assert document.place("/a", of_key=True) == Place("/a", 1, 2)
    assert document.place("/a/1/b", of_key=True) == Place("/a/1/b", 2, 4)


def test_place_of_a_key_where_there_is_none_is_that_of_the_value():
    assert read_json(TWO_LINES).place("/a/0", of_key=True) == Place("/a/0", 1, 8)


def test_place_counts_characters_where_they_take_several_bytes():
    assert read_json('{"é": "😀", "b": 1}'.encode()).place("/b") == Place("/b", 1, 17)


def test_place_counts_lines_where_they_end_in_cr_lf():
    assert read_json('{\r\n  "a": 1}').place("/a") == Place("/a", 2, 8)


def test_at_gives_the_value_of_a_key_with_slash_and_tilde():
    document = read_json('{"http://a/~b": [1, {"": 2}]}')
    pointer = "/http:~1~1a~1~0b/1"
    assert document.at(pointer) == {"": 2}
    assert document.at(f"{pointer}/") == 2


@given(st.text())
def test_unescape_undoes_escape(step):
    assert unescape(escape(step)) == step
    assert "/" not in escape(step)


def test_duplicate_key_is_a_problem_where_it_stands_again():
    document = read_json('{"a": 1,\n "b": 2,\n "a": 3}')
    [found] = document.problems
    assert (found.code, found.place) == ("J002", Place("/a", 3, 2))
    assert found.message == "The key 'a' appears twice in one object, first in line 1."


def test_duplicate_key_is_found_where_one_is_written_with_escapes():
    [found] = read_json('{"uid": 1, "\\u0075id": 2}').problems
    assert (found.code, found.place.column) == ("J002", 12)


def test_same_key_is_no_duplicate_where_the_objects_differ():
    assert read_json('[{"a": 1}, {"a": {"a": 2}}]').problems == ()


def test_duplicate_keys_are_all_reported_where_there_are_several():
    found = read_json('{"a": 1, "a": 2, "a": 3, "b": {"c": 1, "c": 2}}').problems
    assert [problem.place.pointer for problem in found] == ["/a", "/a", "/b/c"]


def test_depth_is_allowed_up_to_the_limit():
    text = "[" * DEFAULT_LIMITS.depth + "1" + "]" * DEFAULT_LIMITS.depth
    assert len(read_json(text).values) == DEFAULT_LIMITS.depth + 1


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_beyond_the_limit_is_refused_at_its_place(opening):
    found = problem(opening * 100_000)
    assert (found.code, found.place.line) == ("J003", 1)
    assert found.place.column == (DEFAULT_LIMITS.depth + 1) * len(opening) + 1


def test_size_beyond_the_limit_is_refused():
    found = problem(b" " * DEFAULT_LIMITS.bytes + b"1")
    assert found.code == "J003"
    assert found.message == "The text is too large. It has 4,000,001 bytes. 4,000,000 are allowed."


def test_size_is_allowed_up_to_the_limit():
    assert read_json(b"1" + b" " * (DEFAULT_LIMITS.bytes - 1)).value == 1


def test_bytes_other_than_utf8_are_refused_at_their_place():
    found = problem(b'{"a": 1,\n "b": "x\xffy"}')
    assert (found.code, found.place) == ("J004", Place("", 2, 9))
    assert found.message == "The text is not UTF-8. It has the byte 0xff here."


def test_utf16_is_refused_at_its_first_byte():
    assert failure('{"a": 1}'.encode("utf-16"))[:3] == ("J004", 1, 1)


def test_byte_order_mark_is_skipped_in_bytes():
    document = read_json(b'\xef\xbb\xbf{"a": 1}')
    assert document.value == {"a": 1}
    assert document.place("/a", of_key=True) == Place("/a", 1, 2)


@pytest.mark.parametrize("half", ['"b\\ud800"', '"b\\udc00c"', '"\ud800"'])
def test_half_of_a_surrogate_pair_is_refused(half):
    code, line, _, message = failure(f'{{"a":\n {half}}}')
    assert (code, line) == ("J001", 2)
    assert message == "The string holds half of a surrogate pair."


def test_surrogate_pair_is_one_character():
    assert read_json('"\\ud83d\\ude00"').value == "😀"


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("-0", 0), ("10", 10), ("-1", -1), ("1.50", 1.5), ("2e3", 2000.0), ("1E-2", 0.01)],
)
def test_number_is_read_as_json_has_it(text, value):
    found = read_json(text).value
    assert found == value
    assert isinstance(found, type(value))


@pytest.mark.parametrize(
    "text", ["01", "+1", ".5", "1.", "1e", "-", "NaN", "Infinity", "0x1", "\u0661"]
)
def test_number_in_another_notation_is_refused(text):
    assert problem(text).code == "J001"


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 401])
def test_number_too_large_is_refused(text):
    assert failure(f"[{text}]") == ("J001", 1, 2, "The number is too large.")


def test_number_of_many_digits_keeps_them_all():
    assert read_json("9" * 400).value == 10**400 - 1


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "Expected a value here, found the end of the text."),
        ("{'a': 1}", 1, 2, 'Expected a key in double quotes here, found "\'".'),
        ('{"a" 1}', 1, 6, "Expected ':' after the key 'a', found '1'."),
        ('{"a": }', 1, 7, "Expected a value here, found '}'."),
        ('{"a": 1,}', 1, 9, "Expected a key in double quotes here, found '}'."),
        ('{"a": 1\n"b": 2}', 2, 1, "Expected ',' or '}' here, found '\"'."),
        ('{"a": 1', 1, 8, "Expected ',' or '}' here, found the end of the text."),
        ("[1,\n]", 2, 1, "Expected a value here, found ']'."),
        ("[1 2]", 1, 4, "Expected ',' or ']' here, found '2'."),
        ("{} 1", 1, 4, "The JSON text ends here, but more follows."),
        ("tru", 1, 1, "Expected a value here, found 't'."),
    ],
)
def test_text_that_is_no_json_fails_where_it_stops_being_json(text, line, column, message):
    assert failure(text) == ("J001", line, column, message)


@pytest.mark.parametrize("text", ['"a', '"a\tb"', '"a\nb"', '"\\x"', '"\\u12"', '"\\'])
def test_string_that_is_not_well_formed_is_refused(text):
    assert problem(text).code == "J001"


def test_hint_points_to_the_brace_that_closed_a_rule_too_early():
    found = problem('{"permission": [{\n  "target": "a"\n},\n  "output": "b"\n}]}')
    assert found.place == Place("", 4, 11)
    assert "in line 3, column 1, may have been closed too early" in found.hint


def test_hint_points_to_the_brace_that_closed_the_text_too_early():
    found = problem('{"a": {"b": 1}},\n "c": 2}')
    assert found.place == Place("", 1, 16)
    assert "in line 1, column 15, may have been closed too early" in found.hint


def test_hint_is_left_out_where_nothing_was_closed():
    assert problem("[1 2]").hint == ""


def test_error_names_the_source_it_was_given():
    with pytest.raises(PolicyError, match=r"^customer\.jsonld:2:1: J001 "):
        read_json("[1\n2]", "customer.jsonld")


@pytest.mark.parametrize("key", ["a", "é", '"', "\\", "\n", "a/~b", "\U0001f600"])
def test_key_is_read_with_blanks_around_it_however_it_is_written(key):
    text = f' {{ {json.dumps(key)} \n:\t"x" }}'
    document = read_json(text)
    assert document.value == {key: "x"}
    assert document.place(f"/{escape(key)}", of_key=True).column == 4


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_of_editors(end):
    with pytest.raises(PolicyError) as caught:
        read_json(f'{{{end}"a": "\u0085\u2028",{end}"b": ?}}')
    place = caught.value.problems[0].place
    assert (place.line, place.column) == (3, 6)
