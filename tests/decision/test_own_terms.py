"""Decisions of policies that are read with vocabularies of one's own."""

import json

import pytest

from policy_engine import terms
from policy_engine.decision import Decider, Request, read_request, read_world
from policy_engine.policy import Hierarchy, Reading

CONTEXT = [
    "http://www.w3.org/ns/odrl.jsonld",
    "http://localhost:8000/ns/mosaicrown/namespace.jsonld",
    {"ex": "http://e.org/", "xsd": terms.XSD},
]
ANN, TABLE = "http://e.org/Ann", "http://e.org/T"
# As the original vocabulary is written: expanded, and its actions of the type odrl:action.
OLD = "http://localhost:8000/ns/mosaicrown/"
INCLUDED = f"{terms.ODRL}includedIn"


def action(name, wide=""):
    given = {"@id": f"{OLD}{name}", "@type": [f"{terms.ODRL}action", f"{terms.SKOS}Concept"]}
    return given | ({INCLUDED: [{"@id": f"{OLD}{wide}"}]} if wide else {})


MOSAICROWN = [
    action("write"),
    action("read", "write"),
    action("sell"),
    action("sellreport", "sell"),
]


def policy(name="p", **keys):
    whole = {"@context": CONTEXT, "@type": "Set", "uid": f"ex:{name}", **keys}
    return json.loads(json.dumps(whole))


def rule(verb, target="ex:T", **keys):
    return {"target": target, "action": verb, **keys}


def decide(verb, *policies, target=TABLE, vocabularies=(MOSAICROWN,), **parts):
    read = Reading(vocabularies=vocabularies).policies(*policies)
    request = read_request(ANN, verb, [target], parts.pop("purpose", ""), read)
    return Decider(read).decide(request, **parts).effect


def test_an_action_of_a_vocabulary_is_asked_for_by_its_name():
    given = policy(permission=rule("sell"))
    assert decide("sellreport", given) == "permit"
    assert decide("sell", policy(permission=rule("sellreport"))) == "deny"


@pytest.mark.parametrize("verb", ["read", "mosaicrown:read", f"{OLD}read", "odrl:read"])
def test_a_prohibition_to_write_a_column_forbids_to_read_it(verb):
    given = policy(
        permission=[rule("write"), rule("odrl:use")],
        prohibition=rule("write", "ex:T/Name"),
    )
    assert decide(verb, given, target="http://e.org/T/Zip") == "permit"
    assert decide(verb, given, target="http://e.org/T/Name") == "deny"
    assert decide(verb, given) == "deny"


def test_a_permission_of_odrls_is_none_of_an_action_that_is_defined():
    assert decide("read", policy(permission=rule("odrl:read"))) == "deny"
    assert decide("read", policy(permission=rule("odrl:read")), vocabularies=()) == "permit"


@pytest.mark.parametrize("other", ["read", "use"])
def test_a_vocabulary_lifts_no_prohibition_of_odrls_name(other):
    given = policy(permission=rule("write"), prohibition=rule(f"odrl:{other}"))
    assert decide("read", given) == "deny"


@pytest.mark.parametrize("top", ["use", "transfer"])
def test_an_action_that_is_included_in_nothing_is_forbidden_with_use_and_with_transfer(top):
    alone = [{"@id": "http://e.org/do", "@type": f"{terms.ODRL}Action"}]
    allowed = policy(permission=rule("ex:do"))
    assert decide("ex:do", allowed, vocabularies=[alone]) == "permit"
    forbidden = policy("q", prohibition=rule(f"odrl:{top}"))
    assert decide("ex:do", allowed, forbidden, vocabularies=[alone]) == "deny"
    assert decide("ex:do", policy(permission=rule(f"odrl:{top}")), vocabularies=[alone]) == "deny"


@pytest.mark.parametrize(
    ("allowed", "forbidden"),
    [
        ("write", "odrl:use"),
        ("odrl:use", "write"),
        ("odrl:use", "dpv:Query"),
        ("dpv:Use", "odrl:use"),
    ],
)
def test_such_rules_void_a_policy_whose_strategy_is_invalid(allowed, forbidden):
    given = policy(permission=rule(allowed), prohibition=rule(forbidden), conflict="invalid")
    with pytest.raises(Exception, match="P010"):
        Reading(vocabularies=[MOSAICROWN]).policies(given)


def test_a_vocabulary_binds_all_policies():
    groups = [{"@id": ANN, f"{terms.MOSAICROWN}belongsTo": [{"@id": "http://e.org/Staff"}]}]
    allowed = policy(permission=rule("odrl:read", assignee="ex:Staff"))
    forbidden = policy("q", prohibition=rule("odrl:read", assignee="ex:Staff"))
    assert decide("odrl:read", allowed, vocabularies=[groups]) == "permit"
    assert decide("odrl:read", allowed, vocabularies=()) == "deny"
    everybody = policy(permission=rule("odrl:read"))
    assert decide("odrl:read", everybody, forbidden, vocabularies=[groups]) == "deny"


def test_an_operand_is_known_in_constraints_and_in_the_world():
    trust = {"@id": "http://e.org/trust", "@type": f"{terms.ODRL}LeftOperand"}
    trust["http://www.w3.org/2000/01/rdf-schema#range"] = [{"@id": f"{terms.XSD}integer"}]
    least = {"leftOperand": "ex:trust", "operator": "gteq", "rightOperand": "3"}
    [given] = Reading(vocabularies=[[trust]]).policies(
        policy(permission=rule("odrl:read", constraint=least))
    )
    request = read_request("ex:Ann", "odrl:read", ["ex:T"], "", [given])
    effects = [
        Decider([given])
        .decide(request, read_world({"values": {"ex:trust": one}}, "", [given]))
        .effect
        for one in (2, 3, "4")
    ]
    assert effects == ["deny", "permit", "permit"]


def test_without_a_vocabulary_the_old_names_of_actions_are_odrls():
    read = Reading().policies(policy(permission=rule("odrl:read")))
    request = Request(assignee=ANN, action=f"{OLD}read", targets=(TABLE,))
    assert Decider(read).decide(request).permitted
    members = Hierarchy(action=(("http://e.org/peek", f"{OLD}read"),))
    peek = Request(assignee=ANN, action="http://e.org/peek", targets=(TABLE,))
    assert Decider(read, hierarchy=members).decide(peek).permitted


# -- the Data Privacy Vocabulary ------------------------------------------------------------------


def dpv(purpose, *, to="permission", asked="dpv:AcademicResearch"):
    given = policy(permission=rule("odrl:read"))
    given[to] = rule("odrl:read", purpose=purpose)
    return decide("odrl:read", given, vocabularies=(), purpose=asked)


def test_a_wider_purpose_of_the_dpv_covers_the_narrower():
    assert dpv("dpv:ResearchAndDevelopment") == "permit"
    assert dpv("dpv:Purpose") == "permit"
    assert dpv("dpv:Marketing") == "deny"
    assert dpv("dpv:AcademicResearch", asked="dpv:ResearchAndDevelopment") == "deny"


def test_a_prohibition_of_a_purpose_of_the_dpv_holds_for_the_narrower():
    assert dpv("dpv:ResearchAndDevelopment", to="prohibition") == "deny"
    assert dpv("dpv:Marketing", to="prohibition") == "permit"


def test_a_constraint_knows_what_the_dpv_includes():
    for operator, purpose, effect in (
        ("isA", "dpv:ResearchAndDevelopment", "permit"),
        ("isA", "dpv:Marketing", "deny"),
        ("neq", "dpv:ResearchAndDevelopment", "deny"),
    ):
        bound = {"leftOperand": "odrl:purpose", "operator": operator}
        bound["rightOperand"] = {"@id": purpose}
        given = policy(permission=rule("odrl:read", constraint=bound))
        found = decide("odrl:read", given, vocabularies=(), purpose="dpv:AcademicResearch")
        assert found == effect, (operator, purpose)


def test_a_purpose_of_ones_own_may_be_narrower_than_one_of_the_dpv():
    trial = {"uid": "ex:Trial", "skos:broader": {"@id": "dpv:AcademicResearch"}}
    given = policy(permission=rule("odrl:read", purpose="dpv:ResearchAndDevelopment"))
    vocabularies = [{"@context": CONTEXT, **trial}]
    assert decide("odrl:read", given, vocabularies=vocabularies, purpose="ex:Trial") == "permit"


def test_operations_of_the_dpv_are_actions_and_bound_by_prohibitions_of_use():
    given = policy(permission=rule("dpv:Use"))
    assert decide("dpv:Query", given, vocabularies=()) == "permit"
    assert decide("dpv:Copy", given, vocabularies=()) == "deny"
    forbidden = policy("q", prohibition=rule("odrl:use"))
    assert decide("dpv:Query", given, forbidden, vocabularies=()) == "deny"
    assert (
        decide("dpv:Query", given, policy("q", prohibition=rule("odrl:print")), vocabularies=())
        == "permit"
    )


def test_a_misspelt_purpose_of_a_request_is_refused_with_the_nearest():
    with pytest.raises(
        Exception,
        match=r"D001 The purpose 'dpv:AcademicReserch' is not in .*Did you mean 'AcademicResearch'",
    ):
        dpv("dpv:Purpose", asked="dpv:AcademicReserch")


@pytest.mark.parametrize(("defined", "effect"), [(True, "permit"), (False, "deny")])
def test_an_operand_that_is_defined_is_no_column(defined, effect):
    trust = {"@id": "http://e.org/T/trust", "@type": f"{terms.ODRL}LeftOperand"}
    least = {"leftOperand": "ex:T/trust", "operator": "gteq", "rightOperand": 3}
    given = policy(permission=rule("odrl:read", constraint=least))
    known = read_world({"values": {"http://e.org/T/trust": 3}})
    vocabularies = [[trust]] if defined else []
    assert decide("odrl:read", given, vocabularies=vocabularies, world=known) == effect
