"""What a request and a world say of what is asked: understood, or refused in a sentence."""

import pytest
from compliance_texts import (
    PREFIXES,
    constrained,
    evaluation_request,
    for_purpose,
    limit,
    parameter,
    policy,
    request,
    world,
)

from policy_engine.data.rdf.statements import Literal
from policy_engine.decision.compliance import compliance_report, sizes
from policy_engine.decision.compliance.graph import read_graph
from policy_engine.decision.compliance.requested_rules import read_requests
from policy_engine.errors import RequestError

EX = "http://example.com/"
ODRL = "http://www.w3.org/ns/odrl/2/"
SOTW = "https://w3id.org/force/sotw#"
PURPOSE = "<https://www.mosaicrown.eu/ns/mosaicrown/1/purpose>"
NEEDS_IRI = "A party, an asset or an action in a request needs an IRI. Given: _:request-b0."
NO_REQUEST = "The text contains no request: nothing in it asks for permission."
WHAT_REQUESTS_ARE = (
    "A request is an odrl:Request with an odrl:permission, or a sotw:EvaluationRequest."
)
NEEDS_EQ = "_:request-b0 gives no value for its left operand: it needs the operator eq."
RULE_HAS_IT = f"is not allowed in a request. {EX}asked has it."
REQUEST_HAS_IT = f"is not allowed in a request. {EX}request has it."
CARE = "odrl:leftOperand odrl:purpose ; odrl:rightOperand :care"


def context(said):
    return f"; sotw:context [ {said} ]"


def refusal(request_text, world_text=None):
    with pytest.raises(RequestError) as caught:
        compliance_report(policy("odrl:duty :a"), request_text, world_text or world())
    [problem] = caught.value.problems
    assert problem.code == "D003"
    return f"{problem.message} {problem.hint}".rstrip()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (request(more=":request odrl:prohibition :not ."), f"{ODRL}prohibition {REQUEST_HAS_IT}"),
        (
            request(told="; odrl:constrant :some"),
            f"{ODRL}constrant {RULE_HAS_IT} Did you mean 'constraint'?",
        ),
        (request(told="; odrl:profile :some"), f"{ODRL}profile {RULE_HAS_IT}"),
        (evaluation_request("; odrl:permission :a"), f"{ODRL}permission {REQUEST_HAS_IT}"),
        (
            evaluation_request("; sotw:requestParamter :some"),
            f"{SOTW}requestParamter {REQUEST_HAS_IT} Did you mean 'requestParameter'?",
        ),
        (
            evaluation_request("; sotw:requestParameter [ sotw:unit :a ]"),
            f"{SOTW}unit is not allowed in a request. _:request-b0 has it.",
        ),
        (
            request(told=context(f"{CARE} ; odrl:unit :a")),
            f"{ODRL}unit is not allowed in a request. _:request-b0 has it.",
        ),
        (request(party='"nurse"'), f"The 'assignee' of {EX}asked must be an IRI. Given: 'nurse'."),
        (request('"read"'), f"The 'action' of {EX}asked must be an IRI. Given: 'read'."),
        (
            request(told='; sotw:context "care"'),
            f"The 'context' or 'constraint' of {EX}asked must be an IRI. Given: 'care'.",
        ),
        (
            request(told=f'; sotw:context "{"long" * 20}"'),
            (
                f"The 'context' or 'constraint' of {EX}asked must be an IRI. "
                f"Given: '{('long' * 20)[:39]}."
            ),
        ),
        (
            evaluation_request("; sotw:requestParameter [ sotw:describesFeature 'a' ]"),
            "The 'describesFeature' of _:request-b0 must be an IRI. Given: 'a'.",
        ),
        (request("[ rdf:value odrl:read ; odrl:refinement :some ]"), NEEDS_IRI),
        (request(":look", more=":look odrl:refinement :some ."), f"{NEEDS_IRI[:64]} {EX}look."),
        (request("[ rdf:value [] ]"), NEEDS_IRI),
        (request(party="[]"), NEEDS_IRI),
        (request(party="[ rdf:value :nurse ; odrl:uid :cook ]"), NEEDS_IRI),
        (request(told=context(limit("odrl:purpose", "isA", ":care"))), NEEDS_EQ),
        (request(told=context("odrl:rightOperand :care")), NEEDS_EQ),
        (
            evaluation_request(parameter("Purpse", ":care")),
            "sotw:Purpse is not a known feature. Did you mean 'Purpose'?",
        ),
        (
            evaluation_request(parameter("TemporalData", '"2031-05-06"^^xsd:date')),
            "The time must be an xsd:dateTime. Given: 2031-05-06.",
        ),
        (
            f"{PREFIXES}:other :is :here .",
            f"{NO_REQUEST} {WHAT_REQUESTS_ARE}",
        ),
    ],
)
def test_request_that_is_not_understood_is_refused_with_what_it_has(text, message):
    assert refusal(text) == message


DEONTIC = f"{EX}told must be one of 'Fulfilled', 'Violated' and 'NonSet'."
PERFORMED = f"{EX}told must be one of 'Performed', 'Unperformed' and 'Unknown'."


def state_told(said):
    return world(f":told a report:DutyReport ; report:rule :a ; report:{said} .")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            world('temp:currentTime dct:issued "2032-01-01T00:00:00Z"^^xsd:dateTime .'),
            "Several times are given: '2031-05-06T07:08:09Z' and '2032-01-01T00:00:00Z'.",
        ),
        (world(time="soon"), "'soon' is not a value of xsd:dateTime."),
        (
            f'{PREFIXES}:w sotw:currentTime "2031-05-06"^^xsd:date .',
            "The time must be an xsd:dateTime. Given: 2031-05-06.",
        ),
        (
            f"{PREFIXES}:w sotw:currentTime :now . :now dct:issued :day .",
            f"The time must be an xsd:dateTime. Given: {EX}day.",
        ),
        (
            state_told("deonticState :Done"),
            f"The deonticState of {DEONTIC} Given: '{EX}Done'.",
        ),
        (
            state_told("performanceState report:Fulfilled"),
            f"The performanceState of {PERFORMED} Given: 'Fulfilled'.",
        ),
        (
            state_told("performanceState report:Unknown, report:Performed"),
            f"The performanceState of {PERFORMED} Given: 'Performed' and 'Unknown'.",
        ),
    ],
)
def test_world_that_is_not_understood_is_refused_with_what_it_has(text, message):
    assert refusal(request(), text) == message


def test_file_of_a_request_that_is_not_understood_is_told(tmp_path):
    for name, text in (("none", PREFIXES), ("literal", request(party='"nurse"'))):
        file = tmp_path / f"{name}.ttl"
        file.write_text(text)
        with pytest.raises(RequestError) as caught:
            compliance_report(policy(), file, world())
        assert caught.value.source == str(file)
    file.write_text(world(time="soon"))
    with pytest.raises(RequestError) as caught:
        compliance_report(policy(), request(), file)
    assert caught.value.source == str(file)


# -- what is understood -----------------------------------------------------------------------


def asked(text):
    return read_requests(read_graph(text, "request", RequestError))


def told(text):
    """Return what the one rule of a request tells of left operands, without their namespaces."""
    [rule] = asked(text)
    return {
        operand.removeprefix(ODRL): tuple(
            one.text if isinstance(one, Literal) else one.removeprefix(EX) for one in values
        )
        for operand, values in rule.values.items()
    }


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (request(told=context(CARE)), {"purpose": ("care",)}),
        (request(told=context(f"{CARE} ; odrl:operator odrl:eq")), {"purpose": ("care",)}),
        (request(told=context(f"{CARE} ; odrl:uid :a")), {"purpose": ("care",)}),
        (request(told=f"; odrl:constraint [ {CARE} ]"), {"purpose": ("care",)}),
        (request(told=f"; {PURPOSE} :care"), {"purpose": ("care",)}),
        (request(told=context(f"{CARE}, :study")), {"purpose": ("care", "study")}),
        (request(told=f"; {PURPOSE} :care {context(CARE)}"), {"purpose": ("care",)}),
        (
            request(told=context(CARE), more=f":request {PURPOSE} :study ."),
            {"purpose": ("care", "study")},
        ),
        (
            request(told=context("odrl:leftOperand :a, odrl:spatial ; odrl:rightOperand 5")),
            {f"{EX}a": ("5",), "spatial": ("5",)},
        ),
        (evaluation_request(parameter("Purpose", ":care")), {"purpose": ("care",)}),
        (evaluation_request(parameter("DeliveryChannel", ":net")), {"deliveryChannel": ("net",)}),
        (
            evaluation_request(parameter("TemporalData", "'t'").replace("a sotw:Req", "a :Req")),
            {"dateTime": ("t",)},
        ),
        (
            evaluation_request(
                "; sotw:requestParameter [ sotw:describesFeature :speed, "
                "sotw:Count ; sotw:value 5, 6 ]"
            ),
            {f"{EX}speed": ("5", "6"), "count": ("5", "6")},
        ),
        (evaluation_request(context(CARE)), {"purpose": ("care",)}),
        (request(told=parameter("Purpose", ":care")), {"purpose": ("care",)}),
    ],
)
def test_left_operands_are_what_a_request_tells_of_them(text, values):
    assert told(text) == values


def test_parts_of_a_request_are_those_of_its_rule_and_its_own_each_once():
    more = ":request odrl:assignee :cook, :nurse ; odrl:action odrl:print ; odrl:target :bed ."
    [rule] = asked(request(more=more, target=":ward, :bed"))
    assert (rule.request, rule.rule) == (f"{EX}request", f"{EX}asked")
    assert rule.parties == (f"{EX}nurse", f"{EX}cook")
    assert rule.actions == (f"{ODRL}read", f"{ODRL}print")
    assert rule.targets == (f"{EX}ward", f"{EX}bed")


def test_part_of_a_request_without_an_iri_goes_by_its_value_or_its_uid():
    [rule] = asked(request("[ rdf:value odrl:read ]", "[ odrl:uid :ward ]", "[ odrl:uid :nurse ]"))
    assert (rule.parties, rule.actions) == ((f"{EX}nurse",), (f"{ODRL}read",))
    assert rule.targets == (f"{EX}ward",)


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        (":q sotw:requestedAction odrl:read .", ["q"]),
        (":q sotw:requestedTarget :ward . :p sotw:requestingParty :nurse .", ["q", "p"]),
        (":q a sotw:EvaluationRequest .", ["q"]),
        (":q odrl:permission :a . :a odrl:action odrl:read .", ["q"]),
        (":q odrl:permission :a, :b .", ["q", "q"]),
        (":q a odrl:Request ; odrl:permission :a ; odrl:profile :x .", ["q"]),
        (":p a odrl:Request ; odrl:permission :b . :q a sotw:EvaluationRequest .", ["p", "q"]),
    ],
)
def test_requests_are_what_is_called_one_or_else_what_asks_for_something(text, requests):
    found = [one.request.removeprefix(EX) for one in asked(PREFIXES + text)]
    assert found == requests


ANOTHER = ":other odrl:permission :b . :b odrl:action odrl:use ."
LOST = "so what it says would be lost"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (ANOTHER, f"'{EX}other', {LOST}: 'odrl:permission'"),
        (f":other a odrl:Set . {ANOTHER}", f"'{EX}other', {LOST}: 'odrl:permission'"),
        (f":other a odrl:request . {ANOTHER}", f"'{EX}other', {LOST}: 'odrl:permission'"),
        (":other a odrl:Set ; odrl:prohibition :b .", f"{LOST}: 'odrl:prohibition'"),
        (":other sotw:requestedAction odrl:use .", f"{LOST}: '{SOTW}requestedAction'"),
        (":other a odrl:Request .", f"{EX}other has no permission, and so says nothing"),
        (":b a odrl:Permission ; odrl:target :ward .", f"'{EX}b', {LOST}: 'odrl:target'"),
        (f":b {CARE} .", f"{LOST}: 'odrl:leftOperand' and 'odrl:rightOperand'"),
        ("[ odrl:uid :asked ; odrl:target :bed ] .", f"{LOST}: 'odrl:target'"),
        (":cook odrl:assigneeOf :asked .", f"'{EX}cook', {LOST}: 'odrl:assigneeOf'"),
        (":ward rdf:value :bed .", f"needs an IRI. Given: {EX}ward"),
        (":nurse odrl:partOf :staff .", f"'{EX}nurse', {LOST}: 'odrl:partOf'"),
        (":nurse odrl:spatial :IT .", f"'{EX}nurse', {LOST}: 'odrl:spatial'"),
        (":b odrl:duty :c .", f"'{EX}b', {LOST}: 'odrl:duty'"),
        (":b a odrl:Prohibition .", f"'{EX}b', {LOST}: 'odrl:Prohibition'"),
        ("[ odrl:uid :asked ; a odrl:Prohibition ] .", f"{LOST}: 'odrl:Prohibition'"),
        (":cook odrl:assigneeOf [ odrl:uid :asked ] .", f"{LOST}: 'odrl:assigneeOf'"),
        (
            ":asked a odrl:Prohibition .",
            f"Prohibition is not the class of a part of a request. {EX}asked",
        ),
        (":asked a odrl:Duty .", "Duty is not the class of a part of a request"),
        (":request a odrl:Set .", "Set is not the class of a part of a request"),
        (
            ":request sotw:context [ a odrl:Duty ; odrl:leftOperand :a ; odrl:rightOperand 1 ] .",
            "Duty is not the class of a part of a request",
        ),
    ],
)
def test_nothing_is_dropped_beside_a_request(more, words):
    for text in (request(more=more), PREFIXES + more + request()):
        assert words in refusal(text)


def test_request_and_its_parts_may_have_their_classes():
    said = ":request a odrl:Policy . :asked a odrl:Permission, odrl:Rule, :Wish ."
    constraint = f"; odrl:constraint [ a odrl:Constraint ; {CARE} ]"
    assert told(request(told=constraint, more=said)) == {"purpose": ("care",)}


def test_world_beside_a_request_tells_what_worlds_tell():
    told = ":nurse odrl:partOf :staff ; odrl:spatial :IT ."
    both = request(more=f":w a sotw:SotW . {told}")
    assert compliance_report(policy(), both, both)
    for more in (":other odrl:prohibition :b .", "[ odrl:uid :asked ; odrl:spatial :IT ] ."):
        with pytest.raises(RequestError, match=LOST):
            compliance_report(policy(), both + more, both + more)


def test_policies_beside_a_request_are_those_of_the_text_and_nothing_else():
    both = f"{policy()} {request().removeprefix(PREFIXES)}"
    assert len(compliance_report(both, both, both).policies) == 1
    for more in (
        ":other sotw:requestedAction odrl:use .",
        ":cook odrl:assigneeOf :asked .",
        ":cook odrl:assigneeOf [ odrl:uid :asked ] .",
    ):
        with pytest.raises(RequestError, match=LOST):
            compliance_report(both + more, both + more, world())


@pytest.mark.parametrize("value", ["'read'", "odrl:read ; odrl:uid :reading"])
def test_nameless_part_of_a_request_has_one_iri(value):
    assert "needs an IRI" in refusal(request(f"[ rdf:value {value} ]"))


def test_requests_and_rules_are_named_by_their_uids():
    parts = "odrl:assignee :nurse ; odrl:action odrl:read ; odrl:target :ward"
    rule = f"[ odrl:uid :asked ; {parts} ]"
    text = f"{PREFIXES}[] a odrl:Request ; odrl:uid :request ; odrl:permission {rule} ."
    [found] = asked(text)
    assert (found.request, found.rule) == (f"{EX}request", f"{EX}asked")


def test_two_rules_of_one_uid_are_refused():
    rules = "[ odrl:uid :a ; odrl:action odrl:use ], [ odrl:uid :a ; odrl:target :ward ]"
    text = f"{PREFIXES}:request a odrl:Request ; odrl:permission {rules} ."
    assert refusal(text) == f"Two parts of requests have the uid '{EX}a'."


def test_value_of_a_request_without_a_name_goes_by_its_uid():
    assert told(request(told=context(CARE.replace(":care", "[ odrl:uid :care ]")))) == {
        "purpose": ("care",)
    }


# -- the moment -------------------------------------------------------------------------------

NOON, ONE = '"2031-05-06T12:00:00Z"^^xsd:dateTime', '"2031-05-06T13:00:00Z"^^xsd:dateTime'


@pytest.mark.parametrize(
    ("said", "time"),
    [
        (f":w sotw:currentTime {NOON} .", "12:00"),
        (f":w sotw:currentTime :now . :now dct:issued {NOON} .", "12:00"),
        (f":w sotw:currentTime {NOON} . temp:currentTime dct:issued {NOON} .", "12:00"),
        (f":w sotw:currentTime {NOON} . :v sotw:currentTime {NOON} .", "12:00"),
        (f":w :includes temp:currentTime . temp:currentTime dct:issued {ONE} .", "13:00"),
        (":w a sotw:SotW .", ""),
    ],
)
def test_time_is_what_a_world_says_of_it_and_else_the_clocks(said, time):
    found = compliance_report(policy(), request(), PREFIXES + said)
    assert found.by_clock is not bool(time)
    assert not time or found.policies[0].created.text == f"2031-05-06T{time}:00Z"


def test_each_request_has_the_time_that_it_tells():
    other = f":other a sotw:EvaluationRequest {parameter('TemporalData', ONE)} ."
    text = evaluation_request(parameter("TemporalData", NOON), other)
    found = compliance_report(constrained(limit("odrl:dateTime", "lt", NOON)), text)
    assert [one.created.text[11:16] for one in found.policies] == ["12:00", "13:00"]
    assert not found.by_clock
    clock = compliance_report(policy(), text.replace("TemporalData", "Count", 1))
    assert clock.by_clock


def test_report_is_on_as_many_pairs_of_rules_as_are_allowed(monkeypatch):
    monkeypatch.setattr(sizes, "MAX_REPORTS", 2)
    text = policy(more=":policy odrl:prohibition :not . :not odrl:action odrl:sell .")
    [found] = compliance_report(text, request(), world()).policies
    assert len(found.rules) == 2
    both = request(more=":request odrl:permission :second . :second odrl:action odrl:use .")
    with pytest.raises(RequestError) as caught:
        compliance_report(text, both, world())
    [problem] = caught.value.problems
    assert problem.message == "The report would cover 4 pairs of rules. Allowed are 2."


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (for_purpose(":mine", ":mine rdf:value :ads ."), "rdf:value says of .*/mine"),
        (for_purpose("[ rdf:value :ads ]"), "rdf:value says of '_:"),
        (evaluation_request(parameter("Purpose", ":mine"), ":mine rdf:value 5 ."), "rdf:value"),
        (request(more=":nurse rdf:value 'nurse' ."), "needs an IRI"),
        (request(more=":nurse rdf:value :doctor ."), "needs an IRI"),
    ],
)
def test_request_tells_values_themselves_and_not_what_stands_for_them(asked, words):
    with pytest.raises(RequestError, match=rf"D003 .*{words}"):
        compliance_report(policy(), asked, world())
