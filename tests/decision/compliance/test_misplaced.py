"""Memberships told by properties that are not for things of their kind are refused."""

import pytest
from compliance_texts import PARTS, constrained, for_purpose, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError

MC = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
LOST = r"(P006|D003) .* is not in .* by .*, which would be lost"


@pytest.mark.parametrize(
    "said",
    [
        ":nurse a :banned .",
        f":nurse {SUBCLASS} :banned .",
        ":nurse skos:broader :banned .",
        f":nurse <{MC}declinationOf> :banned .",
        ":nurse odrl:includedIn :banned .",
        ":nurse odrl:implies :banned .",
        ":nurse odrl:partOf :staff . :staff a :banned .",
        ":nurse a :staff . :staff odrl:partOf :banned .",
        f":ward <{MC}belongsTo> :files .",
        ":ward a :files .",
        ":ward skos:broader :files .",
        ":look odrl:partOf odrl:read .",
        f":look {SUBCLASS} odrl:read .",
        ":nurse dct:isPartOf :banned .",
        ":banned dct:hasPart :nurse .",
        ":banned skos:member :nurse .",
        ":nurse <http://www.w3.org/ns/org#memberOf> :banned .",
        ":banned <http://www.w3.org/2006/vcard/ns#hasMember> :nurse .",
    ],
)
def test_membership_by_a_property_for_other_things_is_refused(said):
    banned = "odrl:assignee :banned ; odrl:target :files ; odrl:action odrl:read"
    for texts in (
        (policy(banned, "prohibition", said), request(), world()),
        (policy(banned, "prohibition"), request(), world(said)),
    ):
        with pytest.raises(PolicyEngineError, match=LOST) as caught:
            compliance_report(*texts)
        assert caught.value.problems[0].place.line


def test_request_says_no_membership_of_its_party_by_a_class():
    text = policy(PARTS.replace(":nurse", ":banned"), "prohibition")
    with pytest.raises(PolicyEngineError, match=LOST):
        compliance_report(text, request(more=":nurse a :banned ."), world())


@pytest.mark.parametrize(
    "said",
    [
        ":nurse a :Person . :ward a :Dataset . :banned a odrl:PartyCollection .",
        f":Person {SUBCLASS} :Agent .",
        ":nurse odrl:partOf :banned . :ward odrl:partOf :files .",
        ":ward dct:isPartOf :catalog . :catalog dct:hasPart :ward .",
        ":look odrl:includedIn odrl:read .",
        ":ads a :Purpose . :ads skos:broader :sales .",
    ],
)
def test_memberships_of_things_of_their_kind_and_of_others_are_no_problem(said):
    banned = "odrl:assignee :banned ; odrl:target :files ; odrl:action odrl:read"
    assert compliance_report(policy(banned, "prohibition"), request(), world(said))


def test_what_is_a_purpose_and_a_party_as_well_may_have_kinds():
    text = policy(f"odrl:assignee :sales ; odrl:action odrl:read ; <{MC}purpose> :sales")
    assert compliance_report(text, for_purpose(":ads"), world(":ads skos:broader :sales ."))


def test_names_that_other_operands_are_compared_with_may_be_of_any_kind():
    text = constrained(limit("odrl:spatial", "isA", ":Country"))
    told = ":w a sotw:SotW ; odrl:spatial :IT . :IT a :Country ."
    assert compliance_report(text, request(), world(told))


@pytest.mark.parametrize(
    "said",
    [
        ":IT a :Country .",
        ":IT skos:broader :Country .",
        f":IT {SUBCLASS} :Country .",
        ":IT skos:broader :Land . :Land skos:broader :Country .",
    ],
)
def test_request_says_what_kind_its_purposes_are_of_and_nothing_else(said):
    text = constrained(limit("odrl:spatial", "isA", ":Country"), "prohibition")
    told = f"; odrl:constraint [ {limit('odrl:spatial', 'eq', ':IT')} ]"
    with pytest.raises(PolicyEngineError, match=r"D003 The request says that .* is a kind of"):
        compliance_report(text, request(told=told, more=said), world())
    [report] = compliance_report(text, request(told=told), world(said)).policies
    assert [rule.active for rule in report.rules] == [True]


def test_request_may_say_what_kind_something_of_no_rule_is_of():
    assert compliance_report(policy(), request(more=":nurse a :Person . :a a :b ."), world())
