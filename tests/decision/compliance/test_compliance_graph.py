"""The names of nodes and the lists of a text: each node has one name, and no list is in a list."""

import pytest
from compliance_texts import PARTS, PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyError, RequestError

EX = "http://example.com/"
LINE = PREFIXES.count("\n") + 1
LATER = limit("odrl:dateTime", "lt", '"2040-01-01"^^xsd:date')


def problem(kind, *texts):
    with pytest.raises(kind) as caught:
        compliance_report(*texts)
    [found] = caught.value.problems
    assert (found.code, found.place.pointer, found.place.line) == ("P007", "", LINE)
    return found.message


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("[ odrl:uid :nurse, :cook ]", f"one IRI. Given: '{EX}nurse' and '{EX}cook'."),
        ("[ odrl:uid :cook, :nurse ]", f"one IRI. Given: '{EX}cook' and '{EX}nurse'."),
        ("[ odrl:uid ( :cook :nurse ) ]", f"one IRI. Given: '{EX}cook' and '{EX}nurse'."),
        ("[ odrl:uid 'nurse' ]", "one IRI. Given: 'nurse'."),
        ("[ odrl:uid () ]", "one IRI. Given: nothing."),
        ("[ odrl:uid [] ]", "one IRI. Given: '_:{}-b1'."),
    ],
)
def test_nameless_node_has_one_uid_that_is_an_iri(said, message):
    words = f"The odrl:uid of a nameless object must be {message}"
    parts = PARTS.replace(":nurse", said)
    assert problem(PolicyError, policy(parts), request(), world()) == words.format("policy", EX=EX)
    member = world(f"{said} odrl:partOf :staff .")
    assert problem(RequestError, policy(), request(), member) == words.format("world", EX=EX)
    asked = request(party=said)
    assert problem(RequestError, policy(), asked, world()) == words.format("request", EX=EX)


@pytest.mark.parametrize("uid", [":nurse", ":cook, :nurse", "'cook'"])
def test_uid_of_a_named_node_is_its_name(uid):
    more = f":cook odrl:uid {uid} ."
    for kind, texts in (
        (PolicyError, (policy(more=more), request(), world())),
        (RequestError, (policy(), request(more=more), world())),
        (RequestError, (policy(), request(), world(more))),
    ):
        assert f"The odrl:uid of '{EX}cook' must be its own name. " in problem(kind, *texts)
    own = ":cook odrl:uid :cook, <HTTP://example.com/cook> ."
    assert compliance_report(policy(more=own), request(more=own), world(own))


@pytest.mark.parametrize(
    ("said", "prop"),
    [
        (f"{PARTS}, ( :bed ( :ward ) )", "odrl:target"),
        (f"{PARTS} ; odrl:constraint [ odrl:and ( :a ( :b ) ) ]", "odrl:and"),
        (f"{PARTS} ; odrl:constraint [ {limit('odrl:count', 'eq', '( 1 () )')} ]", None),
    ],
)
def test_list_in_a_list_is_refused_where_it_stands(said, prop):
    words = f"{prop or 'odrl:rightOperand'} may not have a list in a list."
    assert problem(PolicyError, policy(said), request(), world()) == words
    if prop == "odrl:target":
        asked = request(target=":bed, ( :bed ( :ward ) )")
        assert problem(RequestError, policy(), asked, world()) == words


@pytest.mark.parametrize("prop", ["odrl:assignee", "odrl:target", "sotw:context", "odrl:uid"])
def test_request_with_an_empty_list_is_refused(prop):
    asked = request(more=f":asked {prop} () .")
    with pytest.raises(RequestError, match="P007"):
        compliance_report(policy(), asked, world())


@pytest.mark.parametrize("prop", ["sotw:currentTime", "odrl:dateTime", "report:rule", "rdf:value"])
def test_world_with_an_empty_list_is_refused(prop):
    message = problem(RequestError, policy(), request(), world(f":w {prop} () ."))
    assert message.endswith("may not be an empty list.")


@pytest.mark.parametrize("kind", ["'http://www.w3.org/ns/odrl/2/Prohibition'", "( odrl:Duty )"])
def test_class_that_is_no_iri_is_refused(kind):
    said = f":n a {kind} ."
    for error, texts in (
        (PolicyError, (policy(more=said), request(), world())),
        (RequestError, (policy(), request(more=said), world())),
        (RequestError, (policy(), request(), world(said))),
    ):
        assert f"The class of '{EX}n' must be an IRI. Given: " in problem(error, *texts)


def test_class_that_is_a_text_is_refused_in_json_ld():
    said = f'{{"@id": "{EX}n", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type": "Party"}}'
    with pytest.raises(RequestError, match=r"P007 The class of .* Given: 'Party'"):
        compliance_report(policy(), request(), said)


def test_list_in_a_list_is_free_for_other_vocabularies():
    assert compliance_report(policy(), request(), world(":ward :shape ( ( 1 2 ) ( 3 4 ) ) ."))


def test_problem_of_a_member_of_a_list_has_a_place():
    with pytest.raises(PolicyError) as caught:
        compliance_report(constrained("odrl:and ( :a 'b' )", more=f":a {LATER} ."), request())
    assert {one.place.line for one in caught.value.problems} == {LINE}


def test_policy_and_its_parts_are_reported_by_their_uids():
    limits = f"odrl:constraint [ odrl:uid :limit ; {LATER} ]"
    rule = f"[ odrl:uid :rule ; {PARTS} ; {limits} ; odrl:duty [ odrl:uid :pay ] ]"
    text = f"{PREFIXES}[ a odrl:Set ; odrl:uid :policy ; odrl:permission {rule} ] ."
    told = ":pay odrl:action odrl:compensate ."
    [report] = compliance_report(text + told, request(), world()).policies
    [found] = report.rules
    assert (report.policy, found.rule) == (f"{EX}policy", f"{EX}rule")
    assert [one.rule for one in found.conditions] == [f"{EX}pay"]
    assert found.premises[-1].constraint == f"{EX}limit"
    assert [one.text for one in found.premises[-1].right] == ["2040-01-01"]


def test_constraint_that_is_first_named_elsewhere_shows_what_it_compares_with():
    text = policy(f"{PARTS} ; odrl:constraint [ odrl:uid :limit ]", more=f":limit {LATER} .")
    [report] = compliance_report(text, request(), world()).policies
    assert [one.text for one in report.rules[0].premises[-1].right] == ["2040-01-01"]


@pytest.mark.parametrize(("home", "is_active"), [("IT", True), ("FR", False)])
def test_what_the_world_names_by_a_uid_is_what_goes_by_it(home, is_active):
    text = constrained(limit("odrl:spatial", "eq", ":IT"))
    for told in (
        f":w a sotw:SotW ; odrl:spatial [ odrl:uid :{home} ] .",
        f"[ a sotw:SotW ; odrl:uid :w ] . :w odrl:spatial :{home} .",
    ):
        [report] = compliance_report(text, request(), world(told)).policies
        assert report.rules[0].active is is_active


def test_purpose_that_the_world_names_by_a_uid_is_of_its_kind():
    text = constrained(limit("odrl:purpose", "isA", ":care"))
    told = ":w a sotw:SotW ; odrl:purpose :shift . [ odrl:uid :shift ; a :care ] ."
    [report] = compliance_report(text, request(), world(told)).policies
    assert report.rules[0].active
