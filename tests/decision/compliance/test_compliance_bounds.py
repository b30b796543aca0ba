"""Bounds that a policy seems to have and that nobody would hold: refused, with their place."""

import json

import pytest
from compliance_texts import PARTS, PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError

HTTPS = "https://www.w3.org/ns/odrl/2/"
HASH = "http://www.w3.org/ns/odrl/2#"
LATER = limit("odrl:dateTime", "lt", '"2040-01-01"^^xsd:date')
LIMIT = f":limit {LATER} ."
REFINED = f"odrl:action odrl:read ; odrl:target [ odrl:source :ward ; <%s> [ {LATER} ] ]"
FORBIDDEN = "[ odrl:target :ward ; odrl:action odrl:read ]"
CELL = f"_:l rdf:first [ {LATER} ]"


def problems(text):
    with pytest.raises(PolicyEngineError) as caught:
        compliance_report(text, request(), world())
    return caught.value.problems


def collection(parts):
    return f"odrl:action odrl:read ; odrl:target [ {parts} ]"


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        # Inverses of what nobody says anything of.
        (policy(more=":nurse odrl:assigneeOf :typo ."), "P006", "/typo"),
        (policy(more=":nurse odrl:hasPolicy :typo ."), "P006", "/typo"),
        (policy(more=':nurse odrl:assigneeOf "rule" .'), "P007", "odrl:assigneeOf takes an IRI"),
        (policy(more=":nurse odrl:assigneeOf () ."), "P007", "odrl:assigneeOf"),
        # Rules that are but a name.
        (policy(more=":policy odrl:permission :typo ."), "P007", "/typo"),
        (policy(more=":policy odrl:prohibition [] ."), "P007", "odrl:prohibition"),
        (policy('<http://www.w3.org/2000/01/rdf-schema#label> "read"'), "P007", "/rule"),
        # What no policy holds.
        (policy(more=":typo odrl:target :ward ; odrl:action odrl:use ."), "P006", "odrl:target"),
        (policy(more=f":typo {LATER} ."), "P006", "odrl:leftOperand"),
        (policy(more=":a odrl:duty :b . :b odrl:duty :a ."), "P006", "odrl:duty"),
        (policy(more=":a odrl:refinement :limit . :limit :of :a ."), "P006", "odrl:refinement"),
        (policy(more=f":ward :only [ {LATER} ] ."), "P006", "odrl:leftOperand"),
        (policy(more=":typo odrl:conflict odrl:prohibit ."), "P006", "odrl:conflict"),
        # Empty lists.
        *((policy(f"{PARTS} ; odrl:{prop} ()"), "P007", prop) for prop in ("assignee", "target")),
        *((policy(f"{PARTS} ; odrl:{prop} ()"), "P007", prop) for prop in ("constraint", "duty")),
        (policy(more=":policy odrl:conflict () ."), "P007", "odrl:conflict"),
        (policy(more=":policy odrl:prohibition () ."), "P007", "odrl:prohibition"),
        # Almost the names of ODRL.
        (policy(REFINED % f"{HTTPS}refinement"), "P005", f"{HTTPS}refinement"),
        (policy(REFINED % f"{HASH}refinement"), "P005", f"{HASH}refinement"),
        (policy(more=f":ward <{HASH}refinement> [ {LATER} ] ."), "P005", f"{HASH}refinement"),
        (policy(more=f":policy <{HTTPS}prohibition> {FORBIDDEN} ."), "P005", "prohibition"),
        (policy(more=f":policy <{HTTPS}conflict> odrl:prohibit ."), "P005", "conflict"),
        (policy(more=f":other a <{HTTPS}Set> ; <{HTTPS}prohibition> :not ."), "P005", "Set"),
        (policy(f"odrl:action <{HTTPS}read>", "prohibition"), "P005", f"{HTTPS}read"),
        (
            policy("odrl:action :look", more=f":look rdf:value odrl:read ; <{HASH}refinement> 1 ."),
            "P005",
            f"{HASH}refinement",
        ),
        (policy(collection("odrl:source :ward ; :only :adults")), "P005", "/only"),
        # A collection of two.
        (policy(collection("odrl:source :ward, :other")), "P015", "one source"),
        # Lists that are none.
        (constrained("odrl:and _:l", more=f"{CELL} ; rdf:rest rdf:nil, _:m ."), "F001", "list"),
        (constrained("odrl:and _:l", more=f"{CELL} ; rdf:rest :absent ."), "F001", "list"),
        (constrained("odrl:and _:l", more=f"{CELL} ."), "F001", "list"),
        (constrained("odrl:and _:l", more=f"{CELL} ; rdf:rest _:l ."), "F001", "list"),
        (constrained("odrl:and _:l", more=f"{CELL}, :b ; rdf:rest () ."), "F001", "list"),
        # Two of one name.
        (
            policy(more=":policy odrl:permission [ odrl:uid :rule ; odrl:action odrl:use ] ."),
            "P008",
            "/rule",
        ),
        (
            constrained(LATER, more=f":rule odrl:constraint [ odrl:uid :limit ; {LATER} ] ."),
            "P007",
            "/limit",
        ),
        (
            policy(more="[ a odrl:Set ; odrl:uid :policy ; odrl:target :ward ] ."),
            "D002",
            "/policy",
        ),
        # What is a policy and a request.
        (policy(more=f":r a odrl:Request ; odrl:prohibition {FORBIDDEN} ."), "P001", "Request"),
        (
            policy(more=":policy a odrl:Request ; odrl:target :ward ."),
            "P001",
            "Request",
        ),
    ],
)
def test_bound_that_nobody_would_hold_is_refused(text, code, part):
    problem, *others = problems(text)
    assert {problem.code, *(one.code for one in others)} == {code}
    assert part.removeprefix("/") in str(problem)
    assert problem.place.line


def test_assignee_of_a_rule_that_says_no_more_is_its_assignee():
    parts = "odrl:target :ward ; odrl:action odrl:read ; odrl:permission :rule"
    text = f"{PREFIXES}:policy a odrl:Set ; {parts} . :nurse odrl:assigneeOf :rule ."
    for party, is_active in ((":nurse", True), (":visitor", False)):
        [report] = compliance_report(text, request(party=party), world()).policies
        assert [rule.active for rule in report.rules] == [is_active]


def test_what_a_request_in_the_same_text_says_is_not_loose():
    context = f"; <https://w3id.org/force/sotw#context> [ {LATER} ]"
    both = policy(more=request(told=context).removeprefix(PREFIXES))
    [report] = compliance_report(both, request(), world()).policies
    assert [rule.active for rule in report.rules] == [True]


def test_two_constraints_of_one_uid_are_refused_in_json():
    limits = [
        {"uid": "ex:c", "leftOperand": "spatial", "operator": "eq", "rightOperand": {"@id": place}}
        for place in ("ex:IT", "ex:FR")
    ]
    rules = [{"target": "ex:A", "action": "read", "constraint": one} for one in limits]
    context = ["http://www.w3.org/ns/odrl.jsonld", {"ex": "http://example.com/"}]
    text = {"@context": context, "@type": "Set", "uid": "ex:p", "permission": rules}
    [problem] = problems(json.dumps(text))
    assert (problem.code, problem.place.line) == ("P007", 1)
