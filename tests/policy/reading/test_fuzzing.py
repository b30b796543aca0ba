"""Policies with anything done to them: read or refused, soon, offline, and nothing left out.

The nightly profile of hypothesis (`--hypothesis-profile=nightly`) takes twenty times as many.
"""

import copy
import json
import socket

import pytest
from everyday import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import POLICIES

from policy_engine.errors import CODES, PolicyEngineError
from policy_engine.policy import read_policies

SHIPPED = [json.loads(path.read_text("utf-8")) for path in sorted(POLICIES.glob("*.jsonld"))]
COUNT = {"leftOperand": "count", "operator": "lteq", "rightOperand": 5, "unit": "ex:times"}
BEFORE = {
    "uid": "ex:before",
    "leftOperand": "dateTime",
    "operator": "lt",
    "rightOperand": {"@value": "2030-01-01T00:00:00Z", "@type": "xsd:dateTime"},
    "status": 1,
}
LIMIT = {"leftOperand": "payAmount", "operator": "gt", "rightOperandReference": "ex:limit"}
LANGUAGES = {"leftOperand": "language", "operator": "isAnyOf", "rightOperand": ["en", "fr"]}
SEQUENCE = {"andSequence": {"@list": [copy.deepcopy(COUNT), {"or": [LIMIT, LANGUAGES]}]}}
STAFF = {"@type": "PartyCollection", "source": "ex:staff", "refinement": LANGUAGES}
PRINT = {"rdf:value": {"@id": "odrl:print"}, "refinement": [{"xone": [COUNT, LIMIT]}]}
RICH = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        {"ex": "http://e.org/"},
    ],
    "@graph": [
        {
            "@type": "Agreement",
            "uid": "ex:policy",
            "profile": {"@id": "mosaicrown:"},
            "conflict": "prohibit",
            "inheritFrom": "ex:parent",
            "dct:title": {"@value": "Example", "@language": "en"},
            "assigner": "ex:owner",
            "assignee": {"uid": "ex:alice", "belongsTo": {"uid": "ex:sales", "partOf": "ex:all"}},
            "permission": [
                {
                    "uid": "ex:read",
                    "target": {"source": "ex:lake", "refinement": {"and": [COUNT, LIMIT]}},
                    "action": [PRINT, "read", {"uid": "ex:glance", "includedIn": "display"}],
                    "purpose": ["marketing", {"@id": "dpv:Marketing"}],
                    "constraint": ["ex:before", SEQUENCE],
                    "duty": {
                        "uid": "ex:pay",
                        "action": {"rdf:value": {"@id": "odrl:compensate"}, "refinement": COUNT},
                        "compensatedParty": "ex:owner",
                        "constraint": "_:soon",
                        "consequence": {"action": "delete", "constraint": [LIMIT]},
                    },
                },
                {
                    "target": "ex:T",
                    "action": {
                        "rdf:value": {"@id": "odrl:anonymize"},
                        "refinement": [
                            {
                                "leftOperand": "mosaicrown:method",
                                "operator": "eq",
                                "rightOperand": "k-anonymity",
                            },
                            {
                                "leftOperand": "mosaicrown:k",
                                "operator": "eq",
                                "rightOperand": "2",
                                "dataType": "xsd:integer",
                            },
                            {
                                "leftOperand": "mosaicrown:quasi-identifier",
                                "operator": "isAllOf",
                                "rightOperand": [
                                    {"@id": "ex:T/ZIP", "pe:generalization": "prefix"},
                                    "http://e.org/T/Age",
                                ],
                            },
                        ],
                    },
                    "output": "ex:anonT",
                },
            ],
            "prohibition": {
                "target": "ex:T",
                "action": "sell",
                "assignee": STAFF,
                "remedy": [{"action": "inform", "informedParty": "ex:owner", "constraint": COUNT}],
            },
            "obligation": {
                "uid": "ex:clean",
                "action": "delete",
                "constraint": BEFORE["uid"],
                "consequence": {"action": "ex:glance"},
            },
        },
        BEFORE,
        {"uid": "_:soon", "or": [COUNT, LIMIT]},
        {"uid": "ex:limit", "rdfs:label": "the limit"},
        {
            "@type": "Set",
            "uid": "ex:parent",
            "conflict": "prohibit",
            "assigner": "ex:owner",
            "permission": {"target": "ex:U", "action": "display", "constraint": LIMIT},
        },
    ],
}
RICH = json.loads(json.dumps(RICH))  # no two parts of it are one object
ALL = [*SHIPPED, RICH, RICH]
ODD = [None, True, 0, -1, 2.5, 10**40, "", "x", "ex:b", "_:soon", "ex:before", "ex:policy", [], {}]
ODD += ["http://a/", "dcat:x", "odlr:read", "2030-01-01", [[]], {"@id": "ex:z"}, {"@value": 1}]
KEYS = [*{key: 0 for one in (RICH, *RICH["@graph"]) for key in one}, "@id", "@value", "@list"]
KEYS += ["@set", "leftOperand", "rightOperand", "refinement", "constraint", "source", "duty", "and"]
KEYS += ["or", "remedy", "consequence", "action", "rdf:value", "partOf", "unit", "x", "ex:x", ""]


def places(value, path=()):
    """Yield the path of every value inside another."""
    for step, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    ):
        yield (*path, step)
        yield from places(inner, (*path, step))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def change(draw, whole):
    """Drop, double, retype, nest, swap, rename or add somewhere in a policy."""
    paths = list(places(whole))
    if not paths:
        return
    path, other = draw(st.sampled_from(paths)), draw(st.sampled_from(paths))
    holder, step = at(whole, path[:-1]), path[-1]
    odd, key = copy.deepcopy(draw(st.sampled_from(ODD))), draw(st.sampled_from(KEYS))
    kind = draw(st.sampled_from(["drop", "double", "retype", "nest", "swap", "rename", "add"]))
    if kind == "drop":
        del holder[step]
    elif kind == "double":
        holder[step] = [holder[step], copy.deepcopy(holder[step])]
    elif kind == "nest":
        holder[step] = draw(st.sampled_from([[holder[step]], {key: holder[step]}]))
    elif kind == "swap":
        holder[step] = copy.deepcopy(at(whole, other))
    elif kind == "rename" and isinstance(holder, dict):
        holder[key] = holder.pop(step)
    elif kind == "add" and isinstance(holder[step], dict):
        holder[step][key] = odd
    else:
        holder[step] = odd


@st.composite
def mutants(draw):
    whole = copy.deepcopy(draw(st.sampled_from(ALL)))
    for _ in range(draw(st.integers(1, 3))):
        change(draw, whole)
    return json.dumps(whole)


@pytest.fixture
def sockets(monkeypatch):
    """The arguments of every socket that was opened: none may be."""
    opened = []

    def refuse(*arguments, **_options):
        opened.append(arguments)
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    return opened


CHECKED = settings(
    max_examples=examples(250),
    deadline=5_000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@CHECKED
@given(text=mutants())
def test_mutant_is_read_or_refused_soon_and_offline(sockets, text):
    try:
        policies = read_policies(text)
    except PolicyEngineError as error:
        found = error.problems
        assert found
    else:
        assert isinstance(policies, tuple)
        assert policies
        found = tuple(hint for policy in policies for hint in policy.hints)
    assert {problem.code for problem in found} <= CODES.keys() - {"X001"}
    assert len(set(found)) == len(found)
    assert {problem.place.line for problem in found} <= {1}
    assert sockets == []


@settings(CHECKED, max_examples=examples(80))
@given(text=st.text(alphabet='{}[]",:\\ae1.- \n\u00e9\ud800', max_size=40) | st.binary(max_size=40))
def test_any_text_is_refused_soon(text):
    with pytest.raises(PolicyEngineError) as error:
        read_policies(text)
    assert {problem.code for problem in error.value.problems} <= CODES.keys() - {"X001"}


# -- nothing is ignored -------------------------------------------------------------------------


CONDITIONS = {"constraint", "refinement", "duty", "remedy", "consequence", "obligation"}
CONDITIONS |= {"permission", "prohibition", "inheritFrom", "@graph", "profile"}


DESCRIPTIONS = {"dct:title", "rdfs:label"}


def leaves(conditions):
    return sum(1 for condition in conditions for _ in condition.constraints())


def bounds(rule):
    """Return how many constraints, refinements and duties a rule has, those of duties too."""
    parties = [party for of in rule.functions.values() for party in of]
    parts = [*rule.targets, *rule.assignees, *rule.assigners, *rule.actions, *parties]
    inner = sum(1 + bounds(one) for one in rule.nested_rules)
    return leaves(rule.constraints) + sum(leaves(part.refinements) for part in parts) + inner


def conditions(policies):
    return sum(1 + bounds(rule) for policy in policies for rule in policy.rules)


def droppable(whole):
    """Return the path of every key of a constraint, a refinement or a duty, but of whole ones."""
    found = []
    for path in places(whole):
        keys = [step for step in path if isinstance(step, str)]
        inside = CONDITIONS & set(keys[:-1]) - {"permission", "prohibition", "@graph"}
        referenced = path[:2] in (("@graph", 1), ("@graph", 2))
        is_whole = path[-1] != keys[-1] or keys[-1] in CONDITIONS
        if not is_whole and (inside or referenced):
            found.append(path)
    return found


@pytest.mark.one_in(6)
@pytest.mark.parametrize("whole", [*SHIPPED, RICH], ids=lambda one: one.get("uid", "rich"))
def test_dropping_a_key_never_loosens_a_policy(whole):
    before = conditions(read_policies(json.dumps(whole)))
    paths = droppable(whole)
    assert len(paths) > 10
    for path in paths:
        less = copy.deepcopy(whole)
        del at(less, path[:-1])[path[-1]]
        try:
            after = conditions(read_policies(json.dumps(less)))
        except PolicyEngineError:
            continue
        assert after >= before, path


@pytest.mark.one_in(6)
@pytest.mark.parametrize("whole", [*SHIPPED, RICH], ids=lambda one: one.get("uid", "rich"))
def test_misspelling_a_key_is_refused(whole):
    for path in places(whole):
        if isinstance(path[-1], str) and not {"@context", *DESCRIPTIONS} & set(path):
            other = copy.deepcopy(whole)
            holder = at(other, path[:-1])
            holder[f"{path[-1]}x"] = holder.pop(path[-1])
            with pytest.raises(PolicyEngineError):
                read_policies(json.dumps(other))


def test_rich_policy_uses_what_the_language_has():
    policy, parent = read_policies(json.dumps(RICH))
    assert [len(of) for of in (policy.permissions, policy.prohibitions, policy.obligations)] == [
        *(3, 1, 1)
    ]
    assert parent.rules[0].constraints == policy.permissions[2].constraints
    assert conditions((policy,)) == 28
