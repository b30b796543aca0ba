"""What others would conclude memberships from, and is refused, since nothing here does."""

import pytest
from compliance_texts import constrained, for_purpose, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyEngineError

OWL = "http://www.w3.org/2002/07/owl#"
SUB_PROPERTY = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
LOST = r"(P006|D003) What .* says of .* would be lost"


def texts(said):
    return (
        (policy(more=said), request(), world()),
        (policy(), request(more=said), world()),
        (policy(), request(), world(said)),
    )


@pytest.mark.parametrize(
    "said",
    [
        f":nurse <{OWL}sameAs> :banned .",
        f":nurse <{OWL}sameas> :banned .",
        f":ads <{OWL}equivalentClass> :sales .",
        ":ads skos:exactMatch :sales .",
        ":ads skos:broadMatch :sales .",
        ":ads skos:broaderTransitive :sales .",
        ":sales skos:narrower :ads .",
        ":sales skos:narrower :ads . :sales skos:broader :ads .",
        f":memberOf {SUB_PROPERTY} odrl:partOf .",
        f":hasMember <{OWL}inverseOf> odrl:partOf .",
        f"skos:broader <{OWL}equivalentProperty> :kindOf .",
    ],
)
def test_what_says_by_other_words_what_belongs_to_what_is_refused(said):
    for given in texts(said):
        with pytest.raises(PolicyEngineError, match=LOST):
            compliance_report(*given)


@pytest.mark.parametrize(
    "said",
    [
        "( :nurse ) odrl:partOf :banned .",
        ":nurse odrl:partOf [ rdf:value :banned ] .",
        "[ rdf:value :nurse ] odrl:partOf :banned .",
        ":nurse odrl:partOf [ a rdf:Bag ; rdf:_1 :banned ] .",
        "[ a rdf:Bag ; rdf:_1 :nurse ] odrl:partOf :banned .",
    ],
)
def test_membership_of_nameless_things_that_stand_for_others_is_refused(said):
    with pytest.raises(PolicyEngineError, match=LOST):
        compliance_report(policy(), request(), world(said))


@pytest.mark.parametrize(
    "said",
    [
        ":sales skos:narrower :ads . :ads skos:broader :sales .",
        ":ads skos:closeMatch :sales ; skos:related :shift .",
        f":memberOf {SUB_PROPERTY} :knows .",
        ":nurse odrl:partOf [ odrl:partOf :staff ] .",
        ":nurse odrl:partOf ( :staff :night ) .",
    ],
)
def test_what_is_read_or_concludes_nothing_is_not_refused(said):
    assert compliance_report(policy(), request(), world(said))


@pytest.mark.parametrize(
    "said",
    [
        ":nurse odrl:partOf [ a odrl:PartyCollection ; odrl:source :banned ] .",
        ":nurse odrl:partOf :some . :some odrl:source :banned .",
        "[ odrl:source :nurse ] odrl:partOf :banned .",
    ],
)
def test_member_of_a_collection_is_a_member_of_its_source(said):
    text = policy("odrl:assignee :banned", "prohibition")
    [report] = compliance_report(text, request(), world(said)).policies
    assert report.rules[0].active


@pytest.mark.parametrize("kind", ["permission", "prohibition"])
@pytest.mark.parametrize(("told", "right"), [("'x'@fr", "'x'@en"), ("'x'@en", "'x'")])
def test_text_of_a_language_compares_with_nothing(told, right, kind):
    text = constrained(limit(":word", "eq", right), kind)
    said = world(f":w a sotw:SotW ; :word {told} .")
    [report] = compliance_report(text, request(), said).policies
    assert report.rules[0].active is (kind == "prohibition")
    assert report.rules[0].premises[-1].state == "unknown"


def test_class_of_a_purpose_is_read_beside_what_is_not():
    text = constrained(limit("odrl:purpose", "isA", ":care"), "prohibition")
    said = world(":shift a :care ; skos:prefLabel 'shift'@en .")
    [report] = compliance_report(text, for_purpose(":shift"), said).policies
    assert report.rules[0].active
