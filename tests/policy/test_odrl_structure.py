"""The reader, the JSON Schema and the SHACL shapes have one table of ODRL's structure."""

import json

import pytest
from building import permission, policy
from places import ROOT

from policy_engine import policy_schema, terms
from policy_engine.errors import PolicyError
from policy_engine.policy import read_policy
from policy_engine.policy.structure import (
    INNER_KINDS,
    NEEDED,
    party_functions,
    policy_properties,
    required_properties,
    rule_properties,
)

ODRL = terms.ODRL
EVERY = sorted(policy_properties().union(*map(rule_properties, INNER_KINDS)))
OLD = {iri for iri, term in terms.vocabulary().items() if "deprecated" in term.facts}
"""What is read, and no editor proposes."""
ABOVE = {
    "duty": ("permission",),
    "remedy": ("prohibition",),
    "consequence": ("permission", "duty"),
}


def holding(kind, rule):
    """Return a policy with a rule of a kind in it, however deep that stands."""
    for outer in reversed(ABOVE.get(kind, ())):
        rule, kind = {"action": "read", "target": "http://e.org/T", kind: [rule]}, outer
    parts = {"permission": [permission()], kind: [rule]} if kind != "permission" else {kind: [rule]}
    return json.dumps({**json.loads(policy([])), **parts})


def is_read(text, prop):
    """Tell whether a property is one that may stand where it does."""
    try:
        read_policy(text)
    except PolicyError as error:
        name = terms.local_name(prop)
        told = [one.message for one in error.problems if one.code in ("P005", "P006", "P013")]
        return not any(name in one.split(".")[0] for one in told)
    return True


@pytest.mark.parametrize("kind", INNER_KINDS)
def test_a_rule_is_read_with_what_the_table_has_and_nothing_else(kind):
    for prop in EVERY:
        text = holding(kind, {"action": "read", "target": "http://e.org/T", prop: [{}]})
        assert is_read(text, prop) == (prop in rule_properties(kind)), (kind, prop)


def test_a_policy_is_read_with_what_the_table_has_and_nothing_else():
    for prop in EVERY:
        text = json.dumps({**json.loads(policy([permission()])), prop: [{}]})
        assert is_read(text, prop) == (prop in policy_properties()), prop


def written(prop):
    """Return the keys under which a property is written."""
    return {terms.local_name(prop), terms.compact(prop), prop}


def names_in(definition):
    """Return the properties that the closed object in a definition may have, as IRIs."""
    if isinstance(definition, list):
        return set().union(*map(names_in, definition))
    if not isinstance(definition, dict):
        return set()
    if definition.get("additionalProperties") is False and "patternProperties" in definition:
        return {prop for prop in EVERY if not written(prop).isdisjoint(definition["properties"])}
    return set().union(*map(names_in, definition.values()))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("kind", INNER_KINDS)
def test_the_schema_of_a_rule_has_what_the_table_has(kind):
    assert names_in(policy_schema()["$defs"][f"{kind}Rules"]) == rule_properties(kind) - OLD


def test_the_schema_of_a_policy_has_what_the_table_has():
    assert names_in(policy_schema()["$defs"]["policy"]) == policy_properties() - OLD


def test_the_shapes_refuse_the_duties_that_the_table_has_not():
    rdflib = pytest.importorskip("rdflib")
    from rdflib.collection import Collection
    from rdflib.namespace import SH

    graph = rdflib.Graph().parse(ROOT / "vocab" / "shapes.ttl")
    refused = {kind: set() for kind in INNER_KINDS}
    for shape in set(graph.subjects(SH.targetObjectsOf)):
        kinds = [str(one).removeprefix(ODRL) for one in graph.objects(shape, SH.targetObjectsOf)]
        for part in graph.objects(shape, SH.property):
            code = graph.value(part, rdflib.URIRef(f"{terms.PE}code"))
            path = graph.value(part, SH.path)
            either = graph.value(path, SH.alternativePath)
            for kind in kinds if str(code) == "P013" else ():
                refused[kind] |= {*map(str, Collection(graph, either) if either else [path])}
    duties = {f"{ODRL}{kind}" for kind in ("duty", "remedy", "consequence")}
    for kind in INNER_KINDS:
        inner = duties if kind != "obligation" else duties - {f"{ODRL}consequence"}
        assert refused[kind] == inner - rule_properties(kind), kind


def test_what_a_rule_needs_is_what_the_information_model_says():
    target, action, assigner, assignee = (part for part, _, _ in NEEDED)
    assert required_properties("obligation", f"{ODRL}Set") == (action,)
    assert required_properties("permission", "") == (target, action)
    assert required_properties("prohibition", f"{ODRL}Offer") == (target, action, assigner)
    assert required_properties("permission", f"{ODRL}Agreement") == (
        target,
        action,
        assigner,
        assignee,
    )


def test_the_functions_of_parties_are_those_of_the_vocabulary():
    assert len(party_functions()) > 10
    assert {f"{ODRL}assigner", f"{ODRL}assignee"}.isdisjoint(party_functions())
