"""What a lenient reader lets pass, and what it never does."""

import json

import pytest
from places import POLICIES, TESTS

from policy_engine.decision.compliance.graph import read_graph
from policy_engine.decision.compliance.reading import read_policies
from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.canonical import canonical_text

ODRL = "http://www.w3.org/ns/odrl/2/"
BAD = TESTS / "policies" / "bad"
LET_PASS = """
    action-that-is-no-way-to-use agreement-without-parties deprecated-action
    logical-constraint-of-one no-action no-rule prohibition-without-target
    refined-action-without-its-value refined-collection-with-a-uid
    refined-collection-without-source replaced-policy right-operand-and-reference
    sequence-without-a-list several-right-operands term-of-ones-own
    permission-against-prohibition obligation-of-nobody no-uid no-target
    party-that-is-a-term no-type
    unknown-profile
"""
NEVER = """
    consequence-of-a-consequence constraint-that-is-none date-of-no-such-form duty-on-a-prohibition
    logical-constraint-of-itself logical-constraint-with-a-left-operand misspelt-conflict-strategy
    misspelt-key misspelt-left-operand misspelt-parent no-left-operand no-operator no-right-operand
    parent-is-itself parents-in-a-circle part-out-of-place relative-target remedy-on-a-permission
    several-conflict-strategies two-left-operands two-rules-with-one-uid unknown-action
    unknown-context unknown-data-type unknown-operator derived-in-other-words misspelt-target
    misspelt-purpose misspelt-type-of-a-collection rule-without-object
    conflict-strategies-that-differ null undeclared-prefix duplicate-key count-in-words
"""


def read(path):
    [policy] = read_policies(read_graph(path, "policy", PolicyError))
    return policy


def read_text(said):
    prefixes = f"@prefix : <http://example.com/> . @prefix odrl: <{ODRL}> ."
    rule = ":p odrl:permission [ odrl:action odrl:read ] ."
    [policy] = read_policies(read_graph(f"{prefixes}\n{rule}\n{said}", "policy", PolicyError))
    return policy


def without_blank(form):
    """Return what a policy means without the names of blank nodes, which strict reading drops."""
    if isinstance(form, dict):
        kept = {key: without_blank(part) for key, part in form.items() if key != "hierarchy"}
        return {key: part for key, part in kept.items() if not str(part).startswith("_:")}
    if isinstance(form, list):
        return sorted(map(without_blank, form), key=json.dumps)
    return form


def meaning(policy):
    return without_blank(json.loads(canonical_text(policy)))


@pytest.mark.parametrize("name", ["customer", "model-release", "adult", "diabetes"])
def test_what_is_read_strictly_is_read_leniently_as_the_same(name):
    path = POLICIES / f"{name}.jsonld"
    assert meaning(read(path)) == meaning(read_policy(path.read_bytes()))


@pytest.mark.parametrize("name", LET_PASS.split())
def test_plain_odrl_is_let_pass(name):
    path = BAD / f"{name}.jsonld"
    with pytest.raises(PolicyError):
        read_policy(path.read_bytes())
    assert read(path).uid


@pytest.mark.parametrize("name", NEVER.split())
def test_what_would_mean_something_else_is_never_let_pass(name):
    with pytest.raises(PolicyError):
        read(BAD / f"{name}.jsonld")


def test_action_is_refined_under_its_own_name_or_has_a_value(tmp_path):
    path = tmp_path / "policy.ttl"
    text = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        @prefix ex: <http://example.com/> .
        ex:p a odrl:Set ; odrl:prohibition [ odrl:target ex:T ; odrl:action ex:look ] .
        ex:look odrl:refinement [ odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq ;
            odrl:rightOperand ex:IT ] ."""
    path.write_text(text, "utf-8")
    assert read(path).prohibitions[0].actions[0].iri == "http://example.com/look"
    path.write_text(text.replace("ex:look odrl:", "ex:look rdf:value odrl:read ; odrl:"), "utf-8")
    with pytest.raises(PolicyError, match="P006"):
        read(path)


@pytest.mark.parametrize("types", ["odrl:Offer, odrl:Agreement", "odrl:Agreement, odrl:Offer"])
def test_policy_of_two_types_is_refused_whatever_their_order(types):
    with pytest.raises(PolicyError, match=r"P001 A policy has one type. Given: .* and "):
        read_text(f":p a {types} .")


@pytest.mark.parametrize("types", ["odrl:Policy, odrl:Offer", ":Deal, odrl:Offer, odrl:Policy"])
def test_type_of_a_policy_is_the_narrower_one_whatever_their_order(types):
    for given in (types, ", ".join(reversed(types.split(", ")))):
        assert read_text(f":p a {given} .").type == f"{ODRL}Offer"


@pytest.mark.parametrize(("types", "name"), [(":Deal", "Set"), ("odrl:Policy", "Policy")])
def test_policy_of_no_narrower_type_is_a_set_or_what_it_says(types, name):
    assert read_text(f":p a {types} .").type == f"{ODRL}{name}"
