"""What the world tells of assets, parties and the time, which nobody's claim replaces."""

import json

import pytest
from compliance_texts import PREFIXES, constrained, limit, policy, request, world

from policy_engine.decision.compliance import compliance_report
from policy_engine.errors import PolicyError, RequestError

IN_ITALY = f"odrl:refinement [ {limit('odrl:spatial', 'eq', ':IT')} ]"
OF_NURSES = f"odrl:assignee [ odrl:source :nurse ; {IN_ITALY} ] ; odrl:action odrl:read"
DATE_TIME = "^^xsd:dateTime"
NOON = f'"2026-06-01T12:00:00Z"{DATE_TIME}'
FRANCE, ITALY = ":nurse odrl:spatial :FR .", "[ odrl:uid :nurse ; odrl:spatial :IT ] ."


def active(text, asked=None, told=None):
    """Return which rules of the first policy are active, by kind."""
    report = compliance_report(text, asked or request(), told or world()).policies[0]
    return {rule.kind: rule.active for rule in report.rules}


# -- assets that only the policy names --------------------------------------------------------


def test_prohibition_on_some_of_an_asset_applies_if_the_policy_names_parts_of_it():
    fine = {"leftOperand": "resolution", "operator": "eq", "rightOperand": 18}
    rules = {
        "permission": [{"target": one, "action": "read"} for one in ("ex:d", "ex:d/ward")],
        "prohibition": [{"target": {"source": "ex:d", "refinement": [fine]}, "action": "read"}],
    }
    context = ["http://www.w3.org/ns/odrl.jsonld", {"ex": "http://example.com/"}]
    head = {"@context": context, "@type": "Set", "uid": "ex:p", "conflict": "prohibit"}
    coarse = world(":d odrl:resolution 5 .")
    found = active(json.dumps(head | rules), request(target=":d"), coarse)
    assert found == {"Permission": False, "Prohibition": True}


# -- what cannot be read -----------------------------------------------------------------------

UNREADABLE = ('"600"^^:dpi', '"600 dpi"@en')


@pytest.mark.parametrize("told", UNREADABLE)
@pytest.mark.parametrize(
    ("kind", "operator", "is_active"), [("permission", "lteq", False), ("prohibition", "gt", True)]
)
def test_unreadable_value_of_an_action_is_not_replaced_by_the_requests(
    told, kind, operator, is_active
):
    fine = limit("odrl:resolution", operator, "300")
    action = f"odrl:action [ rdf:value odrl:print ; odrl:refinement [ {fine} ] ]"
    text = policy(f"odrl:assignee :nurse ; odrl:target :ward ; {action}", kind)
    claim = f"; odrl:constraint [ {limit('odrl:resolution', 'eq', '100')} ]"
    asked = request(action="odrl:print", told=claim)
    told = world(f"odrl:print odrl:resolution {told} .")
    assert active(text, asked, told) == {kind.capitalize(): is_active}


@pytest.mark.parametrize("value", ['"fr"^^:lang', '"fr"@en'])
@pytest.mark.parametrize(
    ("kind", "operator", "is_active"), [("permission", "eq", False), ("prohibition", "neq", True)]
)
def test_collection_of_an_unreadable_value_is_not_judged_by_its_members(
    value, kind, operator, is_active
):
    members = ":m odrl:partOf :ward, :nurse ; odrl:language 'de'"
    told = world(f"{members} . :ward odrl:language {value} . :nurse odrl:language {value} .")
    german = limit("odrl:language", operator, "'de'")
    refined = f"odrl:refinement [ {german} ]"
    of_asset = f"odrl:target [ odrl:source :ward ; {refined} ]"
    of_party = f"odrl:target :ward ; odrl:assignee [ odrl:source :nurse ; {refined} ]"
    for part in (of_asset, of_party):
        text = policy(f"odrl:action odrl:read ; {part}", kind)
        assert active(text, told=told) == {kind.capitalize(): is_active}


@pytest.mark.parametrize(
    "told",
    [
        ':quota "50 GB"@en . :quota rdf:value 5',
        ':quota 5 . :quota rdf:value "50 GB"@en',
        'odrl:language "de" . :quota rdf:value "50 GB"@en',
    ],
)
def test_unreadable_value_of_a_reference_is_unknown(told):
    text = constrained(limit(":quota", "lteq", "10"))
    assert active(text, told=world(f":w a sotw:SotW ; {told} .")) == {"Permission": False}


def test_unreadable_value_of_one_of_several_references_is_unknown():
    of = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:isNoneOf"
    text = constrained(f"{of} ; odrl:rightOperandReference :here, :there")
    told = ':w a sotw:SotW ; odrl:spatial :IT . :here rdf:value :FR . :there rdf:value "IT"@en .'
    assert active(text, told=world(told)) == {"Permission": False}


@pytest.mark.parametrize("operand", ["odrl:purpose", "odrl:deliveryChannel"])
def test_reference_to_what_a_request_gives_does_not_erase_it(operand):
    of = "odrl:leftOperand :z ; odrl:operator odrl:neq ; odrl:rightOperandReference"
    other = f"odrl:target :other ; odrl:action odrl:read ; odrl:constraint [ {of} {operand} ]"
    text = constrained(limit(operand, "neq", ":x"), more=f":policy odrl:permission [ {other} ] .")
    claim = f"; odrl:constraint [ {limit(operand, 'eq', ':x')} ]"
    told = world(":w a sotw:SotW ; :z :y .")
    assert active(text, request(told=claim), told) == {"Permission": False}


@pytest.mark.parametrize("operand", ["odrl:purpose", "odrl:deliveryChannel"])
@pytest.mark.parametrize("claim", [":x", ""])
def test_no_request_says_what_a_reference_to_its_purpose_stands_for(operand, claim):
    of = "odrl:leftOperand :z ; odrl:operator odrl:neq ; odrl:rightOperandReference"
    text = constrained(f"{of} {operand}")
    asked = request(told=f"; odrl:constraint [ {limit(operand, 'eq', claim)} ]" if claim else "")
    assert not active(text, asked, world(":w a sotw:SotW ; :z :y ."))["Permission"]
    told = world(f":w a sotw:SotW ; :z :y ; {operand} :x .")
    assert active(text, asked, told)["Permission"]


@pytest.mark.parametrize("word", ['":word"', '"fx:IT"', '"fx:IT"^^xsd:anyURI'])
@pytest.mark.parametrize(("kind", "is_active"), [("permission", False), ("prohibition", True)])
def test_text_that_may_be_a_name_with_a_prefix_is_no_other_name(word, kind, is_active):
    for operator, right in (("eq", ":IT"), ("isAnyOf", ":IT, :FR"), ("isNoneOf", ":FR")):
        text = constrained(limit("odrl:spatial", operator, right), kind)
        told = world(f":w a sotw:SotW ; odrl:spatial {word} .")
        assert active(text, told=told) == {kind.capitalize(): is_active}


@pytest.mark.parametrize("word", ['"temp:a"', '"temp:a"^^xsd:anyURI', '"temp:a"@en'])
def test_request_that_tells_a_text_for_a_name_is_refused(word):
    asked = request(told=f"; odrl:constraint [ {limit('odrl:recipient', 'eq', word)} ]")
    with pytest.raises(RequestError) as error:
        active(constrained(limit("odrl:recipient", "eq", "temp:a")), asked)
    assert error.value.problems[0].code == "L007"


@pytest.mark.parametrize(("kind", "is_active"), [("permission", False), ("prohibition", True)])
def test_right_operand_of_a_language_compares_with_nothing(kind, is_active):
    told = world(":w a sotw:SotW ; :word 'chat' .")
    for operator, right in (
        ("eq", "'chat'@fr"),
        ("neq", "'chien'@fr"),
        ("isNoneOf", "'a', 'b'@fr"),
    ):
        text = constrained(limit(":word", operator, right), kind)
        assert active(text, told=told) == {kind.capitalize(): is_active}


# -- several descriptions of one thing --------------------------------------------------------


@pytest.mark.parametrize("told", [FRANCE + ITALY, ITALY + FRANCE])
def test_what_two_descriptions_of_a_party_say_is_several_values(told):
    assert active(policy(OF_NURSES), told=world(told)) == {"Permission": False}
    assert active(policy(OF_NURSES, "prohibition"), told=world(told)) == {"Prohibition": True}
    assert active(policy(OF_NURSES), told=world(ITALY)) == {"Permission": True}


@pytest.mark.parametrize("first", ["IT", "FR"])
def test_what_two_descriptions_of_a_reference_say_is_several_values(first):
    second = {"IT": "FR", "FR": "IT"}[first]
    of = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq"
    text = constrained(f"{of} ; odrl:rightOperandReference :here")
    told = f":here rdf:value :{first} . [ odrl:uid :here ; rdf:value :{second} ] ."
    home = ":w a sotw:SotW ; odrl:spatial :IT ."
    assert active(text, told=world(f"{home} {told}")) == {"Permission": False}
    assert active(text, told=world(f"{home} :here rdf:value :IT ."))["Permission"]


# -- the time and the state of the world ------------------------------------------------------


def claimed(operand, value):
    return request(
        told=f"; sotw:context [ odrl:leftOperand {operand} ; odrl:rightOperand {value} ]"
    )


def refusal(text, asked, told):
    with pytest.raises(RequestError) as caught:
        compliance_report(text, asked, told)
    [problem] = caught.value.problems
    assert problem.code == "D003"
    return str(problem)


SOON = f'"2031-01-01T00:00:00Z"{DATE_TIME}'
LATE = f'"2050-01-01T00:00:00Z"{DATE_TIME}'
BEFORE_2032 = limit("odrl:dateTime", "lt", f'"2032-01-01T00:00:00Z"{DATE_TIME}')


@pytest.mark.parametrize(("time", "is_active"), [(LATE, False), (SOON, True)])
@pytest.mark.parametrize("prop", ["odrl:dateTime", "<HTTPS://w3id.org/force/sotw#currentTime>"])
def test_time_that_the_world_tells_comes_before_the_requests(prop, time, is_active):
    told = f"{PREFIXES}:w a sotw:SotW ; {prop} {time} ."
    for asked in (request(), claimed("odrl:dateTime", SOON)):
        assert active(constrained(BEFORE_2032), asked, told) == {"Permission": is_active}


def test_two_times_that_the_world_tells_are_refused():
    told = f"{PREFIXES}:w a sotw:SotW ; sotw:currentTime {SOON} ; odrl:dateTime {LATE} ."
    assert "Several times" in refusal(constrained(BEFORE_2032), request(), told)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (f":w sotw:currentTime :t . :t dct:date {LATE} .", "/t' of the world tells no time"),
        (f":w sotw:currentTime [ rdf:value {LATE} ] .", "tells no time"),
        (":w sotw:currentTime :now .", "/now' of the world tells no time"),
        (f":w sotw:currentTime {SOON}, :now .", "/now' of the world tells no time"),
        (f"temp:currentTime dct:date {LATE} .", "tells no time"),
        (f"temp:currentTime dct:created {LATE} .", "tells no time"),
        (":w a sotw:SotW ; :includes temp:currentTime .", "tells no time"),
        (f"temp:now dct:issued {LATE} .", "is not read as a time"),
        (f":w a sotw:SotW ; dct:date {LATE} .", "is not read as a time"),
        (f"temp:now dct:Issued {LATE} .", "almost the same"),
        (f"temp:currentTime <https://purl.org/dc/terms/issued> {LATE} .", "almost one"),
        (f"temp:currentTime <http://purl.org/dc/elements/1.1/issued> {LATE} .", "almost one"),
    ],
)
def test_time_that_the_world_tells_otherwise_is_refused(told, words):
    for asked in (request(), claimed("odrl:dateTime", SOON)):
        assert words in refusal(constrained(BEFORE_2032), asked, f"{PREFIXES}{told}")


def test_dates_of_known_things_are_not_the_time():
    told = f":ward dct:created {LATE} . :w a :Book ; dct:issued {LATE} ."
    assert active(constrained(BEFORE_2032), None, world(told)) == {"Permission": True}


@pytest.mark.parametrize("kind", ["", "a :World ;", "a sotw:Sotw ;", "a :SotW ;"])
def test_claim_is_not_believed_where_it_is_unclear_if_the_world_tells_otherwise(kind):
    told = world(f":w {kind} odrl:spatial :FR .")
    text = constrained(limit("odrl:spatial", "eq", ":IT"))
    assert "D003" in refusal(text, claimed("odrl:spatial", ":IT"), told)


@pytest.mark.parametrize("part", ["target", "party", "action"])
def test_what_a_request_names_is_no_known_thing_by_that(part):
    text = constrained(limit("odrl:spatial", "eq", ":IT"))
    other = request(**{part: ":w"}).removeprefix(PREFIXES)
    other = other.replace(":request", ":second").replace(":asked", ":also")
    asked, told = claimed("odrl:spatial", ":IT") + other, ":w odrl:spatial :FR ."
    assert "says what that is" in refusal(text, asked, world(told))
    for thing in (":w a odrl:Party .", ":w odrl:partOf :all ."):
        assert active(text, asked, world(f"{told} {thing}")) == {"Permission": True}


@pytest.mark.parametrize("operand", ["odrl:purpose", "odrl:deliveryChannel", "odrl:dateTime"])
def test_what_is_assumed_where_nobody_tells_it_is_told_by_a_node_of_a_known_class(operand):
    text = constrained(limit(operand, "neq", ":ads"))
    assert "says what that is" in refusal(text, request(), world(f":w {operand} :ads ."))


@pytest.mark.parametrize(
    "kind", ["a <HTTPS://w3id.org/force/sotw#SotW>", f"sotw:currentTime {SOON}"]
)
def test_state_of_the_world_has_its_class_or_the_time(kind):
    told = f"{PREFIXES}:w {kind} ; odrl:spatial :FR ."
    text = constrained(limit("odrl:spatial", "eq", ":IT"))
    assert active(text, claimed("odrl:spatial", ":IT"), told) == {"Permission": False}


@pytest.mark.parametrize("told", [FRANCE, ":a a odrl:Party ; odrl:spatial :FR .", ":w :age 5 ."])
def test_world_may_tell_of_others_what_a_request_tells_of_itself(told):
    text = constrained(limit("odrl:spatial", "eq", ":IT"))
    assert active(text, claimed("odrl:spatial", ":IT"), world(told)) == {"Permission": True}


@pytest.mark.parametrize("told", ["", ":here rdf:value :FR ."])
def test_no_request_says_what_a_reference_of_the_policy_stands_for(told):
    of = "odrl:leftOperand odrl:spatial ; odrl:operator odrl:eq"
    text = constrained(f"{of} ; odrl:rightOperandReference :here")
    known = world(f":w a sotw:SotW ; odrl:spatial :IT . {told}")
    assert active(text, claimed(":here", ":IT"), known) == {"Permission": False}


@pytest.mark.parametrize(
    "told",
    [":w a sotw:SotW .", f":w sotw:currentTime {SOON} .", f"temp:currentTime dct:issued {SOON} ."],
)
def test_state_of_the_world_in_another_text_is_refused(told):
    with pytest.raises(RequestError, match=r"D003 .* tells the state of the world, which only"):
        compliance_report(policy(), request(more=told), world())
    with pytest.raises(PolicyError, match=r"P006 .* tells the state of the world, which only"):
        compliance_report(policy(more=told), request(), world())
    all_of_it = f"{policy(more=told)} {request().removeprefix(PREFIXES)}"
    assert compliance_report(all_of_it, all_of_it, all_of_it)


@pytest.mark.parametrize(
    "said",
    [
        f":w a sotw:SotW ; <http://www.w3.org/2006/time#inXSDDateTimeStamp> {NOON} .",
        f":w a sotw:SotW ; <http://www.w3.org/2006/time#hasTime> :t . :t :at {NOON} .",
        f":w a sotw:SotW ; :currentTime {NOON} .",
        ":w a sotw:SotW ; :CurrentTime 'noon' .",
        f":w a sotw:SotW ; :moment {NOON} .",
    ],
)
def test_time_that_a_world_tells_by_another_property_is_refused(said):
    with pytest.raises(RequestError, match=r"D003 .* tells a time by .*, which is not read"):
        compliance_report(policy(), request(), f"{PREFIXES}{said}")


def test_time_of_a_left_operand_that_is_used_is_not_that_of_the_world():
    text = constrained(limit(":audited", "lt", NOON))
    said = f":w a sotw:SotW ; :audited {NOON} ."
    assert compliance_report(text, request(), f"{PREFIXES}{said}").by_clock


@pytest.mark.parametrize("kind", ["^^xsd:dateTime", ""])
def test_time_finer_than_microseconds_is_refused(kind):
    fine, exact = "2026-06-01T00:00:00.0000001Z", "2026-06-01T00:00:00.0000000Z"
    with pytest.raises(PolicyError, match=r"P007 .* is finer than microseconds"):
        compliance_report(constrained(limit("odrl:dateTime", "lt", f'"{fine}"{kind}')), request())
    assert compliance_report(
        constrained(limit("odrl:dateTime", "lt", f'"{exact}"{kind}')), request()
    )
    with pytest.raises(RequestError, match=r"P007 .* is finer than microseconds"):
        compliance_report(policy(), request(), world(time=fine))
