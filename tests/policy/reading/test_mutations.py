"""Whatever is done to a policy, reading it ends in a policy or in an error of ours."""

import copy
import json

import pytest
from everyday import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import POLICIES

from policy_engine.errors import PolicyEngineError
from policy_engine.plan.products import check_plannable
from policy_engine.policy import read_policy

CUSTOMER = json.loads((POLICIES / "customer.jsonld").read_text("utf-8"))
MARKET = {
    "@context": [*CUSTOMER["@context"], {"ex": "http://example.com/"}],
    "@graph": [
        {
            "@type": "Set",
            "uid": "ex:policy",
            "profile": {"@id": "mosaicrown:"},
            "conflict": {"@id": "odrl:prohibit"},
            "permission": [
                {
                    "uid": "ex:policy/read",
                    "assigner": {"uid": "ex:owner"},
                    "assignee": {"uid": "ex:alice", "belongsTo": {"uid": "ex:sales"}},
                    "target": {"@set": [{"uid": "ex:T", "partOf": {"uid": "ex:lake"}}]},
                    "action": [{"@id": "odrl:read"}, {"uid": "ex:glance", "includedIn": "read"}],
                    "purpose": {"@id": "ex:mail", "declinationOf": {"@id": "ex:contact"}},
                },
                {
                    "uid": "ex:policy/anonymize",
                    "target": "ex:T",
                    "action": {
                        "rdf:value": {"@id": "odrl:anonymize"},
                        "refinement": [
                            {
                                "leftOperand": {"@id": "mosaicrown:method"},
                                "operator": {"@id": "odrl:eq"},
                                "rightOperand": {"@id": "pe:k-anonymity"},
                            },
                            {
                                "leftOperand": "mosaicrown:k",
                                "operator": "eq",
                                "rightOperand": "2",
                                "dataType": {"@id": "xsd:integer"},
                            },
                            {
                                "leftOperand": "mosaicrown:quasi-identifier",
                                "operator": "isAllOf",
                                "rightOperand": {
                                    "@list": [{"@id": "ex:T/ZIP"}, "http://example.com/T/Age"]
                                },
                            },
                        ],
                    },
                    "output": {"uid": "ex:anonT"},
                },
            ],
            "prohibition": {"target": "ex:U", "action": {"rdf:value": {"@id": "odrl:sell"}}},
        },
        {"uid": "ex:bob", "belongsTo": ["ex:sales"]},
    ],
}
ODD = [None, True, 0, -1, 2.5, 10**40, "", "x", "http://a/", "odrl:read", "+-5", [], {}, [[]]]
KEYS = ["@id", "@type", "@value", "@list", "@set", "@graph", "@context", "@language", "uid"]
KEYS += ["permission", "action", "rdf:value", "refinement", "rightOperand", "includedIn", "x", ""]


def places(value, path=()):
    """Yield the path of every value inside another."""
    if not isinstance(value, dict | list):
        return
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, step)
        yield from places(inner, (*path, step))


def holder(policy, path):
    for step in path[:-1]:
        policy = policy[step]
    return policy


def mutate(draw, inside, step):
    """Drop, repeat, retype, nest, rename or extend the value of one step."""
    odd, key = copy.deepcopy(draw(st.sampled_from(ODD))), draw(st.sampled_from(KEYS))
    change = draw(st.sampled_from(["drop", "repeat", "retype", "nest", "rename", "extend"]))
    if change == "drop" or (change == "rename" and isinstance(inside, list)):
        del inside[step]
    elif change == "repeat":
        inside[step] = [inside[step], copy.deepcopy(inside[step])]
    elif change == "nest":
        inside[step] = draw(st.sampled_from([[inside[step]], {key: inside[step]}]))
    elif change == "rename":
        inside[key] = inside.pop(step)
    elif change == "extend" and isinstance(inside[step], dict):
        inside[step][key] = odd
    else:
        inside[step] = odd


@st.composite
def mutants(draw):
    policy = copy.deepcopy(draw(st.sampled_from([CUSTOMER, MARKET])))
    for _ in range(draw(st.integers(1, 4))):
        paths = list(places(policy))
        if paths:
            path = draw(st.sampled_from(paths))
            mutate(draw, holder(policy, path), path[-1])
    return json.dumps(policy)


@pytest.fixture
def _offline(monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket", refuse)


@pytest.mark.usefixtures("_offline")
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutants())
def test_mutated_policy_is_read_or_refused(text):
    try:
        policy = read_policy(text)
        check_plannable(policy)
    except PolicyEngineError as error:
        problems = error.problems
    else:
        problems = policy.hints
    assert "X001" not in {problem.code for problem in problems}
    assert {problem.place.line for problem in problems} <= {1}


def objects(policy):
    """Return the path of every object but those of the context."""
    found = [path for path in places(policy) if path[0] != "@context"]
    return [path for path in found if isinstance(holder(policy, path)[path[-1]], dict)]


@pytest.mark.parametrize("policy", [CUSTOMER, MARKET], ids=["customer", "market"])
def test_policy_is_fine_before_it_is_mutated(policy):
    check_plannable(read_policy(json.dumps(policy)))


def bounds(policy):
    """Return how many constraints and refinements the rules of a policy have."""
    rules = [inner for rule in policy.rules for inner in (rule, *rule.nested_rules)]
    parts = [part for rule in rules for part in (*rule.targets, *rule.assignees, *rule.actions)]
    return sum(len(rule.constraints) for rule in rules) + sum(len(one.refinements) for one in parts)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("key", ["constraint", "refinement", "duty", "http://e.org/only", "@index"])
@pytest.mark.parametrize("path", objects(MARKET), ids=lambda path: "/".join(map(str, path)))
def test_bound_is_read_or_refused_wherever_it_stands(path, key):
    policy = copy.deepcopy(MARKET)
    bound = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2030-01-01"}
    if holder(policy, path)[path[-1]].setdefault(key, bound) is not bound:
        return
    try:
        found = read_policy(json.dumps(policy))
    except PolicyEngineError:
        return
    assert bounds(found) == bounds(read_policy(json.dumps(MARKET))) + 1


@pytest.mark.parametrize("where", ["permission", "prohibition"])
def test_bound_is_read_where_one_may_stand(where):
    policy = copy.deepcopy(MARKET)
    bound = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2030-01-01"}
    rule = policy["@graph"][0][where]
    (rule[0] if isinstance(rule, list) else rule)["constraint"] = bound
    assert bounds(read_policy(json.dumps(policy))) == bounds(read_policy(json.dumps(MARKET))) + 1
