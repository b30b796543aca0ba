"""One test per bug that reading a policy had."""

import json

import pytest

from policy_engine import terms
from policy_engine.errors import PlanError, PolicyError
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_hierarchy, read_policy
from policy_engine.policy.syntax.json_text import read_json

CONTEXT = [
    "http://www.w3.org/ns/odrl.jsonld",
    "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
]
RULE = {"target": "http://e.org/T", "action": "read"}
POLICY = {"@context": CONTEXT, "@type": "Set", "uid": "http://e.org/policy", "permission": RULE}
COLUMNS = ["http://e.org/T/ZIP"]


def problems(value, read=read_policy, **options):
    with pytest.raises((PolicyError, PlanError)) as error:
        check_plannable(read(json.dumps(value), **options))
    return [(found.code, found.place.pointer) for found in error.value.problems]


def rule_problems(**keys):
    found = problems({**POLICY, "permission": {**RULE, **keys}})
    return [(code, pointer.removeprefix("/permission")) for code, pointer in found]


def anonymize(k, columns=COLUMNS):
    parts = [
        ("mosaicrown:method", "eq", "k-anonymity"),
        ("mosaicrown:k", "eq", k),
        ("mosaicrown:quasi-identifier", "isAllOf", columns),
    ]
    keys = ("leftOperand", "operator", "rightOperand")
    refinement = [dict(zip(keys, part, strict=True)) for part in parts]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": refinement}
    return {"action": action, "output": "http://e.org/anonT"}


AT_K = "/action/refinement/1/rightOperand"


def test_constraint_on_an_action_is_not_dropped():
    action = {"@id": "odrl:read", "constraint": {"leftOperand": "dateTime"}}
    assert rule_problems(action=action) == [("P006", "/action/constraint")]


def test_constraint_inside_the_value_of_an_action_is_not_dropped():
    action = {"rdf:value": {"@id": "odrl:read", "constraint": {"leftOperand": "dateTime"}}}
    assert rule_problems(action=action) == [("P006", "/action/rdf:value/constraint")]


def test_property_of_a_column_in_a_right_operand_is_not_dropped():
    columns = [{"@id": "http://e.org/T/ZIP", "http://e.org/only": 1}]
    found = rule_problems(**anonymize(2, columns))
    assert found == [("P005", "/action/refinement/2/rightOperand/0/http:~1~1e.org~1only")]


def test_compact_iri_may_not_be_given_another_meaning():
    policy = {**POLICY, "@context": [*CONTEXT, {"odrl:delete": "odrl:read"}]}
    assert problems(policy) == [("L005", "/@context/2/odrl:delete")]


def test_prefix_built_upon_a_built_prefix_is_refused():
    chain = {"a": "http://a/", "b": "a:b/", "c": "b:c/"}
    assert problems({**POLICY, "@context": [*CONTEXT, chain]}) == [("L005", "/@context/2/c")]


@pytest.mark.parametrize("given", [{}, [], {"@context": [{}]}, {"@context": "http://a/"}, 1])
def test_given_context_that_is_no_context_is_refused(given):
    policy = {**POLICY, "@context": [*CONTEXT, "http://g/"]}
    assert problems(policy, contexts={"http://g/": given}) == [("L005", "/@context/2")]


@pytest.mark.parametrize("graph", ["x", 0, [{"@value": "x"}], [{"@list": [1]}], [[{}]]])
def test_graph_that_holds_no_objects_is_refused(graph):
    assert problems({"@context": CONTEXT, "@graph": graph}) == [("L003", "/@graph")]


@pytest.mark.parametrize(
    "keys",
    [
        {"@type": ["xsd:integer"]},
        {"@language": 5},
        {"@language": "en", "@type": "xsd:string"},
    ],
)
def test_literal_with_more_than_one_type_or_language_is_refused(keys):
    assert rule_problems(**anonymize({"@value": "10", **keys}))[0] == ("L003", AT_K)


@pytest.mark.parametrize("k", ["+-5", "++5", "9" * 5000, "1_0"])
def test_k_that_only_looks_like_an_integer_is_refused(k):
    assert rule_problems(**anonymize(k)) == [("M003", AT_K)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1_0", "integer"),
        ("\u0661\u0660", "integer"),
        ("nan", "decimal"),
        ("infinity", "double"),
        ("maybe", "boolean"),
    ],
)
def test_literal_that_is_not_of_its_type_is_refused(text, kind):
    assert rule_problems(**anonymize({"@value": text, "@type": f"xsd:{kind}"})) == [("P007", AT_K)]


def test_empty_list_is_no_value():
    assert rule_problems(**anonymize({"@list": []})) == [
        ("P007", "/action/refinement/1/rightOperand/@list")
    ]


def test_column_outside_the_target_is_not_called_missing_too():
    found = rule_problems(**anonymize(2, ["http://e.org/U/ZIP"]))
    assert found == [("M006", "/action/refinement/2/rightOperand/0")]


def test_misspelt_conflict_strategy_is_no_relative_iri():
    assert problems({**POLICY, "conflict": "prohibt"}) == [("P007", "/conflict")]


@pytest.mark.parametrize("uid", ["rule", ""])
def test_relative_uid_of_a_rule_is_refused(uid):
    assert rule_problems(uid=uid) == [("L006", "/uid")]


@pytest.mark.parametrize("kind", ["Prohibition", "Permision", ["Permission", "Duty"]])
def test_rule_of_another_type_than_its_place_is_refused(kind):
    [(code, pointer)] = rule_problems(**{"@type": kind})
    assert code == "P007"
    assert pointer.startswith("/@type")


def test_literal_among_actions_is_refused_at_its_place():
    assert rule_problems(action=["read", 5]) == [("P007", "/action/1")]


def test_list_of_actions_is_refused_at_its_place():
    assert rule_problems(action={"@list": ["read"]}) == [("P007", "/action")]


@pytest.mark.parametrize("uid", ["raed", "odrl:raed"])
def test_unknown_action_is_refused_though_it_says_what_it_is_included_in(uid):
    found = rule_problems(action={"uid": uid, "includedIn": "use"})
    assert "P005" in dict(found)


@pytest.mark.parametrize("keys", [{}, {"uid": "alice"}])
def test_node_without_an_absolute_uid_is_refused(keys):
    node = {"@context": CONTEXT, "belongsTo": "http://e.org/staff", **keys}
    with pytest.raises(PolicyError, match="L006"):
        read_hierarchy(json.dumps(node))


def test_policy_with_the_old_namespace_alone_is_under_the_profile():
    old = "http://localhost:8000/ns/mosaicrown/"
    policy = {**POLICY, "@context": [CONTEXT[0], {"mc": old}]}
    policy["permission"] = {**RULE, "mc:purpose": {"@id": "mc:marketing"}}
    assert read_policy(json.dumps(policy)).conflict == "prohibit"


def test_policy_with_escaped_slashes_is_under_the_profile_still():
    policy = {**POLICY, "@context": CONTEXT[0], "permission": RULE}
    policy["permission"] = {**RULE, f"{terms.MOSAICROWN}purpose": {"@id": "urn:a:b"}}
    assert read_policy(json.dumps(policy).replace("/", "\\/")).conflict == "prohibit"


def place(text):
    with pytest.raises(PolicyError) as error:
        read_json(text)
    [found] = error.value.problems
    return found.message, found.place.line, found.place.column


def test_half_of_a_surrogate_pair_is_refused_where_its_string_starts():
    assert place('{"a":\n "b\\ud800"}')[1:] == (2, 2)


def test_byte_that_is_not_utf8_is_the_right_one_after_a_byte_order_mark():
    text = b'\xef\xbb\xbf{"a":\n "\xff"}'
    assert place(text) == ("The text is not UTF-8. It has the byte 0xff here.", 2, 3)


def test_byte_that_is_not_utf8_is_placed_by_characters():
    assert place('{"é": "é'.encode() + b'\xff"}')[1:] == (1, 9)


def test_string_that_is_not_closed_is_said_to_be():
    message, line, column = place('{"a":\n "b}')
    assert (message, line, column) == ("The string that starts here has no closing quote.", 2, 2)


def test_settings_of_a_column_under_an_unknown_operand_are_refused_with_it():
    column = {"@id": "http://e.org/T/ZIP", "pe:weight": 2}
    operand = {"leftOperand": "mosaicrown:quasi", "operator": "isAllOf", "rightOperand": [column]}
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": operand}
    assert [code for code, _ in rule_problems(action=action)] == ["P005", "P005"]


def test_what_is_said_of_the_taxonomy_of_a_column_is_not_dropped():
    taxonomy = {"@id": "http://e.org/Zips", "skos:broader": "http://e.org/Places"}
    columns = [{"@id": "http://e.org/T/ZIP", "pe:taxonomy": taxonomy}]
    assert [code for code, _ in rule_problems(**anonymize(2, columns))] == ["P005"]


def test_taxonomy_of_a_column_is_no_relative_iri():
    columns = [{"@id": "http://e.org/T/ZIP", "pe:taxonomy": {"@id": "zips"}}]
    [(code, pointer)] = rule_problems(**anonymize(2, columns))
    assert (code, pointer.rpartition("rightOperand/")[2]) == ("L006", "0/pe:taxonomy")
