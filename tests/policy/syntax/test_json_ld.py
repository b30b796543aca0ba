import copy
import json

import pytest
from places import POLICIES
from pyld import jsonld

from policy_engine import terms
from policy_engine.policy.syntax.json_ld import POINTER, expand
from policy_engine.policy.syntax.json_text import read_json

CUSTOMER = json.loads((POLICIES / "customer.jsonld").read_text("utf-8"))
MOSAICROWN = "https://www.mosaicrown.eu/ns/mosaicrown.jsonld"
CONTEXT = ["http://www.w3.org/ns/odrl.jsonld", MOSAICROWN]
GIVEN = {
    "http://example.com/mine": {
        "@context": {
            "ex": "http://example.com/",
            "boss": {"@id": "ex:boss", "@type": "@id"},
            "steps": {"@id": "ex:steps", "@container": "@list", "@type": "@vocab"},
            "age": {"@id": "ex:age", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
            "kind": "@type",
        }
    }
}


def graph(text):
    return expand(read_json(text if isinstance(text, str) else json.dumps(text)), GIVEN)


def node(**keys):
    found = graph({"@context": CONTEXT, "uid": "http://example.com/x", **keys})
    assert found.problems == ()
    return found.nodes[0].data


def problems(**keys):
    found = graph({"@context": CONTEXT, "uid": "http://example.com/x", **keys})
    assert found.nodes == ()
    return [(problem.code, problem.place.pointer) for problem in found.problems]


# -- strictness ----------------------------------------------------------------------------------


def test_key_that_no_context_defines_is_a_problem_at_the_key():
    text = '{"@context": "http://www.w3.org/ns/odrl.jsonld",\n "permission": {\n  "constrant": 1}}'
    [found] = graph(text).problems
    assert (found.code, found.place.line, found.place.column) == ("L002", 3, 3)
    assert found.message == "No context defines the key 'constrant'; JSON-LD would drop it."
    assert "'constraint'" in found.hint


def test_key_unlike_any_known_is_told_to_declare_or_remove():
    [found] = graph({"@context": CONTEXT, "zzzzzz": 1}).problems
    assert found.hint == "Declare a context for it, or remove it."


def test_key_that_is_an_iri_is_kept():
    assert node(**{"http://example.com/note": 1})["http://example.com/note"] == [{"@value": 1}]


@pytest.mark.parametrize("key", ["target", "@type", "uid", "@id", "dct:title"])
def test_null_is_a_problem_at_the_value(key):
    text = f'{{"@context": {json.dumps(CONTEXT)},\n "{key}": null}}'
    found = graph(text).problems[0]
    assert (found.code, found.place.line) == ("P007", 2)


def test_null_is_a_problem_in_a_list_and_in_a_value_object():
    assert problems(target=["http://a/", None]) == [("P007", "/target/1")]
    assert problems(rightOperand={"@value": None}) == [("P007", "/rightOperand/@value")]


@pytest.mark.parametrize(
    "key", ["@reverse", "@included", "@nest", "@index", "@direction", "@vocab", "@version", "@foo"]
)
def test_keyword_that_policies_may_not_use_is_a_problem(key):
    assert problems(permission={key: {}}) == [("L004", f"/permission/{key}")]


@pytest.mark.parametrize("key", ["@context", "@graph"])
def test_keyword_of_the_top_is_a_problem_below_it(key):
    assert problems(permission={key: {}}) == [("L004", f"/permission/{key}")]


def test_inline_redefinition_is_a_problem_at_its_key():
    found = graph({"@context": [*CONTEXT, {"read": f"{terms.ODRL}delete"}], "action": "read"})
    [problem] = found.problems
    assert (problem.code, problem.place.pointer) == ("L005", "/@context/2/read")


@pytest.mark.parametrize("keys", [{"@id": "http://example.com/y"}, {"@id": "http://example.com/x"}])
def test_uid_beside_id_is_a_problem(keys):
    assert [code for code, _ in problems(**keys)] == ["L003"]


@pytest.mark.parametrize(
    "keys",
    [
        {"type": "Set", "@type": "Set"},
        {"target": "http://a/", "odrl:target": "http://b/"},
        {"odrl:target": "http://a/", f"{terms.ODRL}target": "http://b/"},
        {"purpose": "marketing", "mosaicrown:purpose": "mosaicrown:statistical"},
        {"mosaicrown:k": 1, "http://localhost:8000/ns/mosaicrown/k": 2},
    ],
)
def test_two_spellings_of_one_key_are_a_problem(keys):
    assert [code for code, _ in problems(**keys)] == ["L003"]


@pytest.mark.parametrize(
    "value",
    [
        {"@value": "a", "@id": "http://a/"},
        {"@value": "a", "target": "http://a/"},
        {"@list": ["a"], "@type": "xsd:string"},
        {"@list": ["a"], "@set": ["a"]},
        {"@set": ["a"], "uid": "http://a/"},
        {"@language": "en"},
        {"@language": "en", "uid": "http://a/"},
    ],
)
def test_object_that_is_two_things_at_once_is_a_problem(value):
    assert problems(rightOperand=value) == [("L003", "/rightOperand")]


@pytest.mark.parametrize("value", [{}, [], [1], {"uid": "http://a/"}])
def test_value_of_a_literal_that_is_no_scalar_is_a_problem(value):
    assert problems(rightOperand={"@value": value}) == [("L003", "/rightOperand/@value")]


@pytest.mark.parametrize("key", ["assignee", "purpose", "prohibition", "conflict"])
@pytest.mark.parametrize("empty", [[], {"@set": []}, {"@list": []}], ids=str)
def test_an_empty_list_is_a_problem(key, empty):
    place = next(iter(empty), "") if empty else ""
    assert problems(**{key: empty}) == [("P007", f"/{key}/{place}".rstrip("/"))]


def test_graph_beside_other_keys_is_a_problem():
    assert ("L003", "") in problems(**{"@graph": []})


@pytest.mark.parametrize("value", [1, True, ["http://a/"], {"uid": "http://a/"}])
def test_uid_that_is_no_string_is_a_problem(value):
    assert problems(target={"uid": value}) == [("P007", "/target/uid")]


@pytest.mark.parametrize("value", [1, {}, ["Set", 1], [["Set"]]])
def test_type_that_is_no_name_is_a_problem(value):
    assert problems(**{"@type": value}) == [("P007", "/@type")]


@pytest.mark.parametrize("value", [1, "policy", True, None])
def test_text_that_is_no_object_is_a_problem(value):
    [found] = graph(json.dumps(value)).problems
    assert (found.code, found.place.column) == ("P001", 1)


def test_list_of_objects_has_each_with_a_context_of_its_own():
    found = graph([{"@context": CONTEXT, "uid": "http://a/"}, {"uid": "http://b/"}])
    assert [(problem.code, problem.place.pointer) for problem in found.problems] == [("L001", "/1")]


def test_every_problem_is_reported_at_once():
    assert problems(constrant=1, target=None, permission={"@index": "a"}) == [
        ("L002", "/constrant"),
        ("P007", "/target"),
        ("L004", "/permission/@index"),
    ]


def test_duplicate_keys_are_among_the_problems():
    found = graph(f'{{"@context": {json.dumps(CONTEXT)}, "uid": "http://a/", "uid": "http://b/"}}')
    assert [problem.code for problem in found.problems] == ["J002"]
    assert found.nodes == ()


# -- what is kept --------------------------------------------------------------------------------


def test_purpose_on_a_rule_is_the_profiles_and_as_an_operand_that_of_odrl():
    found = node(purpose="marketing", refinement={"leftOperand": "purpose"})
    assert found[f"{terms.MOSAICROWN}purpose"] == [{"@id": f"{terms.MOSAICROWN}marketing"}]
    [refinement] = found[f"{terms.ODRL}refinement"]
    assert refinement[f"{terms.ODRL}leftOperand"] == [{"@id": f"{terms.ODRL}purpose"}]


def test_node_holds_its_place_in_the_text():
    [rule] = node(permission=[{"action": {"uid": "odrl:read"}}])[f"{terms.ODRL}permission"]
    assert rule[POINTER] == "/permission/0"
    assert rule[f"{terms.ODRL}action"][0][POINTER] == "/permission/0/action"


def test_place_of_a_property_is_that_of_its_value_or_key():
    found = graph(
        f'{{"@context": {json.dumps(CONTEXT)},\n "target": [\n "http://a/", "http://b/"]}}'
    )
    place = found.place(found.nodes[0], f"{terms.ODRL}target", 1)
    assert (place.pointer, place.line, place.column) == ("/target/1", 3, 15)
    place = found.place(found.nodes[0], f"{terms.ODRL}target", of_key=True)
    assert (place.pointer, place.line, place.column) == ("/target", 2, 2)


# -- the same as another implementation ----------------------------------------------------------


def load(url, _options):
    document = {**terms.bundled_contexts(), **GIVEN}[url]
    kind = "application/ld+json"
    return {"contextUrl": None, "documentUrl": url, "document": document, "contentType": kind}


def without_pointers(value):
    if isinstance(value, list):
        return [without_pointers(item) for item in value]
    if isinstance(value, dict):
        return {key: without_pointers(item) for key, item in value.items() if key != POINTER}
    return value


def assert_expands_as_pyld_does(text):
    found = graph(text)
    assert found.problems == ()
    ours = [without_pointers(each.data) for each in found.nodes]
    theirs = jsonld.expand(text, {"documentLoader": load})
    assert json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def customer(**keys):
    return {**copy.deepcopy(CUSTOMER), **keys}


def with_rule(*contexts, **keys):
    policy = customer()
    policy["@context"] += contexts
    policy["permission"][0].update(keys)
    return policy


def in_graph():
    policy = customer()
    known = {"uid": "http://org/user", "belongsTo": "http://org/users"}
    return {"@context": policy.pop("@context"), "@graph": [policy, known]}


PREFIX = {"ex": "http://example.com/", "note": "ex:note"}
OPERAND = {"leftOperand": "purpose", "operator": "odrl:eq", "rightOperand": {"@id": "dpv:Purpose"}}
VARIANTS = {
    "as it is": customer(),
    "list of one": [customer()],
    "graph": in_graph(),
    "graph of one": {"@context": CONTEXT, "@graph": {"uid": "http://a/", "@type": "Set"}},
    "list": with_rule(target={"@list": ["http://example.com/A", "http://example.com/B"]}),
    "set": with_rule(target={"@set": ["http://example.com/A", {"uid": "http://example.com/B"}]}),
    "set in a list": with_rule(target=["http://a/", {"@set": ["http://b/", "http://c/"]}]),
    "nested lists": with_rule(target=["http://a/", ["http://b/", ["http://c/"]]]),
    "list container": with_rule(andSequence=["http://a/", {"@id": "http://b/"}]),
    "list in a list container": with_rule(andSequence={"@list": ["http://a/"]}),
    "typed literal": with_rule(**{"dct:issued": {"@value": "2020", "@type": "xsd:gYear"}}),
    "language": with_rule(**{"dct:title": {"@value": "Kunden", "@language": "de"}}),
    "plain literals": with_rule(rightOperand=[True, 0, -7, 2.5, 1e30, "", "http://a/"]),
    "number where an iri is": with_rule(target=5, assignee=True),
    "compact iris": with_rule(**{"action": "odrl:read", "odrl:remedy": {"@id": "dpv:x"}}),
    "whole iris": with_rule(**{f"{terms.ODRL}duty": {f"{terms.ODRL}action": "odrl:delete"}}),
    "terms of a vocabulary": with_rule(action=["read", {"uid": "odrl:use"}, "anonymize"]),
    "inline prefix": with_rule(PREFIX, target="ex:Customer", note=["ex:a", {"@id": "ex:b"}]),
    "inline type": with_rule(PREFIX, **{"@type": ["ex:T", "Permission"], "ex:note": 1}),
    "no prefix for lack of a delimiter": with_rule({"urn": "http://u"}, target="urn:Customer"),
    "given context": with_rule("http://example.com/mine", boss="ex:carol", kind="ex:T", age="7"),
    "given list": with_rule("http://example.com/mine", steps=["read", "http://a/"], age=7),
    "property-scoped context": with_rule(refinement=[OPERAND], purpose="marketing"),
    "property-scoped node": with_rule(leftOperand={"uid": "http://a/", "purpose": "x"}),
    "context in another order": customer(**{"@context": CONTEXT[::-1]}),
    "one context": {"@context": CONTEXT[0], "uid": "http://a/", "purpose": "x"},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_expansion_is_that_of_pyld(name):
    assert_expands_as_pyld_does(VARIANTS[name])


@pytest.mark.parametrize("path", sorted(POLICIES.glob("*.jsonld")), ids=lambda path: path.stem)
def test_expansion_of_a_shipped_policy_is_that_of_pyld(path):
    assert_expands_as_pyld_does(json.loads(path.read_text("utf-8")))


def test_a_text_of_unknown_keys_is_refused_in_a_moment():
    found = problems(**{f"key{n}": 1 for n in range(20_000)})
    assert len(found) == 100
    assert {code for code, _ in found} == {"L002"}
