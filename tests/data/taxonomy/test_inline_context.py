import pytest

from policy_engine.data.taxonomy.concepts import SKOS
from policy_engine.data.taxonomy.inline_context import IGNORED, read_context
from policy_engine.data.taxonomy.problems import Problems

EX = "http://example.com/"


def context(*values):
    problems = Problems("x")
    vocabulary = read_context(list(values), None, problems)
    problems.refuse()
    return vocabulary


def pointers(value):
    problems = Problems("x")
    read_context(value, None, problems)
    return [(problem.code, problem.place.pointer) for problem in problems.noted]


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("up", f"{SKOS}broader"),
        ("again", f"{SKOS}broader"),
        ("broader", f"{SKOS}broader"),
        ("skos:x", f"{SKOS}x"),
        ("http://a/b", "http://a/b"),
        ("ex://a", "ex://a"),
        ("@id", "@id"),
        ("id", "@id"),
        ("dropped", IGNORED),
        ("unknown", ""),
        ("round", ""),
    ],
)
def test_what_a_key_stands_for(name, meaning):
    declared = {
        "skos": SKOS,
        "ex": EX,
        "up": "skos:broader",
        "again": "up",
        "id": "@id",
        "dropped": None,
        "round": "trip",
        "trip": "round",
    }
    assert context(declared).key(name) == meaning


def test_later_contexts_build_on_earlier_ones():
    vocabulary = context({"s": SKOS}, None, {"up": "s:broader"}, {"s": EX})
    assert vocabulary.key("up") == f"{SKOS}broader"
    assert vocabulary.key("s:a") == f"{EX}a"


def test_names_of_skos_stay_unknown_without_its_prefix():
    assert context({"ex": EX}).key("broader") == ""


@pytest.mark.parametrize(
    ("name", "iri"),
    [("a", f"{EX}b/a"), ("/a", f"{EX}a"), ("_:a", "_:a"), ("http://[", "http://[")],
)
def test_names_of_resources(name, iri):
    assert context({"@base": f"{EX}b/c"}).resource(name) == iri


def test_a_base_that_cannot_be_joined_is_left_out():
    assert context({"@base": "http://["}).resource("a") == "a"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, ("T001", "")),
        ([{}, [3]], ("T001", "/1")),
        ({"a": 3}, ("T001", "/a")),
        ({"a": {"@reverse": "ex:b"}}, ("T001", "/a")),
        ({"a": {"@id": 3}}, ("T001", "/a")),
        ({"a": {"@id": None}}, ("T001", "/a")),
        ({"a": {"@id": "ex:b", "@container": "@graph"}}, ("T001", "/a")),
        ({"a": {"@id": "ex:b", "@container": ["@list"]}}, ("T001", "/a")),
        ({"a": {"@id": "ex:b", "@language": 3}}, ("T001", "/a")),
        ({"@import": "x"}, ("T001", "/@import")),
        ({"@vocab": 3}, ("T001", "/@vocab")),
        ({"a": "x:" + "y" * 1_000}, ("T001", "/a")),
    ],
)
def test_what_a_context_may_not_hold(value, expected):
    assert pointers(value) == [expected]
