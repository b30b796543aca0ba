import json

import pytest
from reading import codes_of, outline, problems_of

from policy_engine.data.taxonomy import problems, read_taxonomy


def read(value):
    return read_taxonomy(json.dumps(value).encode(), "x.json")


def found(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return [(problem.code, problem.place.pointer) for problem in problems_of(text, "x.json")]


def leaf(label):
    return {"cat": label, "subcats": None}


# The example tree of mosaicrown/mondrian (taxonomies/category_example.json).
EXAMPLE = {
    "cat": "parent",
    "subcats": [
        {"cat": "son", "subcats": leaf("grandchild s1")},
        {
            "cat": "daughter",
            "subcats": {
                "cat": "grandchild d1",
                "subcats": [leaf("d"), {"cat": "e", "subcats": []}],
            },
        },
    ],
}


def test_subcats_may_be_a_list_a_lone_category_or_nothing():
    assert outline(read(EXAMPLE)) == (
        "parent",
        ("son", "grandchild s1"),
        ("daughter", ("grandchild d1", "d", "e")),
    )


def test_numbers_are_labels_as_they_are_written():
    text = b'{"cat": 1e2, "subcats": [{"cat": 1.50}, {"cat": -3}, {"cat": "07"}]}'
    assert outline(read_taxonomy(text, "x.json")) == ("1e2", "1.50", "-3", "07")


def test_a_lone_category_is_a_tree():
    assert outline(read(leaf("a"))) == "a"


def test_inner_labels_may_come_again():
    tree = {"cat": "a", "subcats": [{"cat": "x", "subcats": leaf("a")}, leaf("x")]}
    assert outline(read(tree)) == ("a", ("x", "a"), "x")


def test_every_problem_is_found_at_once():
    inner = [
        3,
        leaf(None),
        {"cat": "a"},
        {"cat": "a"},
        {"cat": "b", "subcat": []},
        {"cat": "c", "subcats": "d"},
        {"subcats": []},
        {"cat": "\ud800"},
    ]
    value = {"cat": "", "subcats": inner}
    assert found(value) == [
        ("T005", "/cat"),
        ("T001", "/subcats/0"),
        ("T001", "/subcats/1/cat"),
        ("T006", "/subcats/3"),
        ("T001", "/subcats/4/subcat"),
        ("T001", "/subcats/5/subcats"),
        ("T001", "/subcats/6/cat"),
        ("T001", "/subcats/7/cat"),
    ]


@pytest.mark.parametrize("value", [[], [leaf("a")], 3, True, None])
def test_what_is_no_category_at_the_top_is_refused(value):
    assert found(value) == [("T001", "")]


def test_a_key_that_stands_twice_is_named():
    assert found('{"cat": "a", "subcats": {"cat": "b", "cat": "c"}}') == [("J002", "/subcats")]


def test_a_misspelt_key_has_a_hint():
    [problem] = problems_of('{"cat": "a", "subcat": []}', "x.json")
    assert problem.hint.startswith("Did you mean 'subcats'")


@pytest.mark.parametrize(
    "text", ["{", '{"cat": NaN}', '{"cat": "a"} {}', "\x00", "{'cat': 1}", '{"cat": "\n"}']
)
def test_what_is_no_json_is_refused(text):
    assert codes_of(text, "x.json") == ["J001"]


def nested(levels):
    return '{"cat": "a", "subcats": ' * levels + "null" + "}" * levels


def test_depth_is_limited():
    deepest = read_taxonomy(nested(problems.MAX_DEPTH + 1).encode(), "x.json")
    assert deepest.height[0] == problems.MAX_DEPTH
    assert codes_of(nested(problems.MAX_DEPTH + 2), "x.json") == ["T003"]


@pytest.mark.parametrize("text", [nested(100_000), "[" * 200_000, '{"a":' * 200_000])
def test_depth_beyond_what_json_reads_is_no_recursion_error(text):
    assert codes_of(text, "x.json") == ["T003"]


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(problems, "MAX_NODES", 4)
    assert found({"cat": "a", "subcats": [leaf(str(n)) for n in range(4)]}) == [("T003", "")]
    assert len(read({"cat": "a", "subcats": [leaf(str(n)) for n in range(3)]}).leaves) == 3


def test_too_many_values_are_refused():
    assert codes_of("[" + "[]," * 8_000_000, "x.json") == ["T003"]


def test_reading_stops_at_many_problems():
    codes = codes_of('{"cat": "a", "subcats": [' + "3," * 1_000 + "3]}", "x.json")
    assert codes == ["T001"] * problems.MAX_PROBLEMS + ["T012"]
