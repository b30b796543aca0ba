"""A report as it is written down: all of it, as Turtle and as JSON."""

import json
import re

import pytest
from compliance_texts import PARTS, PREFIXES, constrained, limit, policy, request, world

from policy_engine import terms
from policy_engine.decision.compliance import compliance_report
from policy_engine.decision.compliance.graph import read_graph
from policy_engine.errors import PolicyEngineError

EX = "http://example.com/"
DAY = '"2040-01-01"^^xsd:date'
LATER = limit("odrl:dateTime", "lt", DAY)
TELLS = ":told a report:DutyReport ; report:rule :pay ; report:performanceState report:Performed ."
VOID = "The conflict strategy 'invalid' overrides it: "
VOID += "a permission and a prohibition of the policy conflict: it is void."

EVERYTHING = f"""{PREFIXES}
:policy a odrl:Set ; odrl:permission :rule ; odrl:prohibition :not ; odrl:obligation :inform .
:rule {PARTS} ; odrl:constraint :both ; odrl:duty :pay, :log .
:both odrl:or :later, :home .
:later {LATER} .
:home {limit("odrl:spatial", "eq", '"home"@en')} .
:not odrl:target :ward ; odrl:action odrl:use .
:inform odrl:action odrl:inform ; odrl:constraint [ {limit("odrl:count", "lt", "3")} ] .
"""
"""A policy with a rule of every kind, and a constraint of every kind."""

TURTLE = f"""\
@prefix dct: <http://purl.org/dc/terms/> .
@prefix odrl: <http://www.w3.org/ns/odrl/2/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix report: <https://w3id.org/force/compliance-report#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<n0> a report:PolicyReport ;
    dct:created "2031-05-06T07:08:09Z"^^xsd:dateTime ;
    report:policy <{EX}policy> ;
    report:policyRequest <{EX}request> ;
    report:ruleReport <n1>, <n2>, <n3> .

<n1> a report:PermissionReport ;
    report:attemptState report:Attempted ;
    report:rule <{EX}rule> ;
    report:ruleRequest <{EX}asked> ;
    report:premiseReport <n4>, <n5>, <n6>, <n7> ;
    report:conditionReport <{EX}told>, <n8> ;
    report:activationState report:Inactive ;
    rdfs:comment "{VOID}" .

<n4> a report:TargetReport ;
    report:satisfactionState report:Satisfied .

<n5> a report:PartyReport ;
    report:satisfactionState report:Satisfied .

<n6> a report:ActionReport ;
    report:satisfactionState report:Satisfied .

<n7> a report:ConstraintReport ;
    report:constraint <{EX}both> ;
    report:constraintLogicalOperand odrl:or ;
    report:premiseReport <n9>, <n10> ;
    report:satisfactionState report:Satisfied .

<n9> a report:ConstraintReport ;
    report:constraint <{EX}later> ;
    report:constraintLeftOperand "2031-05-06T07:08:09Z"^^xsd:dateTime ;
    report:constraintOperator odrl:lt ;
    report:constraintRightOperand "2040-01-01"^^xsd:date ;
    report:satisfactionState report:Satisfied .

<n10> a report:ConstraintReport ;
    report:constraint <{EX}home> ;
    report:satisfactionState report:Unsatisfied ;
    rdfs:comment "odrl:spatial is not known." .

<n8> a report:DutyReport ;
    report:rule <{EX}log> ;
    report:activationState report:Active ;
    report:performanceState report:Unknown ;
    report:deonticState report:NonSet .

<n2> a report:ProhibitionReport ;
    report:attemptState report:Attempted ;
    report:rule <{EX}not> ;
    report:ruleRequest <{EX}asked> ;
    report:premiseReport <n11>, <n12> ;
    report:activationState report:Active .

<n11> a report:TargetReport ;
    report:satisfactionState report:Satisfied .

<n12> a report:ActionReport ;
    report:satisfactionState report:Satisfied .

<n3> a report:DutyReport ;
    report:rule <{EX}inform> ;
    report:premiseReport <n13> ;
    report:activationState report:Active ;
    report:performanceState report:Unknown ;
    report:deonticState report:NonSet .

<n13> a report:ConstraintReport ;
    report:constraint _:policy-b0 ;
    report:satisfactionState report:Unsatisfied ;
    rdfs:comment "odrl:count is not known." .
"""


def numbered(text):
    """Return a report with the names that it gives its nodes as n0, n1 and so on."""
    names = {}
    return re.sub(
        r"urn:uuid:[-0-9a-f]{36}", lambda m: names.setdefault(m[0], f"n{len(names)}"), text
    )


def part(kind, node):
    return {"report": node, "type": f"{kind}Report", "satisfactionState": "Satisfied"}


def duty(node, rule, performance="Unknown", deontic="NonSet", premises=()):
    return {
        "report": node,
        "type": "DutyReport",
        "rule": EX + rule,
        "premiseReports": [*premises],
        "activationState": "Active",
        "performanceState": performance,
        "deonticState": deontic,
    }


def compared(node, constraint, left, operator, right, state):
    return {
        "report": node,
        "type": "ConstraintReport",
        "constraint": constraint,
        "constraintLeftOperand": left,
        "constraintOperator": operator,
        "constraintRightOperand": right,
        "satisfactionState": state,
    }


def unknown(node, constraint, operand, operator, right):
    said = {"comment": f"{operand} is not known."}
    return compared(node, constraint, [], operator, [right], "Unsatisfied") | said


def literal(text, kind):
    return {"value": text, "type": terms.XSD + kind}


MOMENT = literal("2031-05-06T07:08:09Z", "dateTime")
IN_ENGLISH = {"value": "home", "type": f"{terms.RDF}langString", "language": "en"}
BOTH = [
    compared("n6", f"{EX}later", [MOMENT], "odrl:lt", [literal("2040-01-01", "date")], "Satisfied"),
    unknown("n7", f"{EX}home", "odrl:spatial", "odrl:eq", IN_ENGLISH),
]
PERMISSION = {
    "report": "n1",
    "type": "PermissionReport",
    "attemptState": "Attempted",
    "rule": f"{EX}rule",
    "ruleRequest": f"{EX}asked",
    "premiseReports": [
        part("Target", "n2"),
        part("Party", "n3"),
        part("Action", "n4"),
        {
            "report": "n5",
            "type": "ConstraintReport",
            "constraint": f"{EX}both",
            "constraintLogicalOperand": "odrl:or",
            "premiseReports": BOTH,
            "satisfactionState": "Satisfied",
        },
    ],
    "conditionReports": [
        duty(f"{EX}told", "pay", "Performed", "Fulfilled"),
        duty("n8", "log"),
    ],
    "activationState": "Inactive",
    "comment": VOID,
}
PROHIBITION = {
    "report": "n9",
    "type": "ProhibitionReport",
    "attemptState": "Attempted",
    "rule": f"{EX}not",
    "ruleRequest": f"{EX}asked",
    "premiseReports": [part("Target", "n10"), part("Action", "n11")],
    "conditionReports": [],
    "activationState": "Active",
}
OF_COUNT = unknown("n13", "_:policy-b0", "odrl:count", "odrl:lt", literal("3", "integer"))
JSON = {
    "timeByClock": False,
    "policyReports": [
        {
            "report": "n0",
            "created": MOMENT,
            "policy": f"{EX}policy",
            "policyRequest": f"{EX}request",
            "ruleReports": [
                PERMISSION,
                PROHIBITION,
                duty("n12", "inform", premises=[OF_COUNT]),
            ],
        }
    ],
}


def test_report_is_written_whole():
    report = compliance_report(EVERYTHING, request(), world(TELLS))
    assert numbered(report.to_turtle()) == TURTLE
    assert json.loads(numbered(json.dumps(report.to_json()))) == JSON


def test_prefixes_are_those_of_the_names_in_the_report():
    text = compliance_report(policy("a odrl:Permission"), request(), world()).to_turtle()
    prefixes = re.findall("@prefix ([a-z]+):", text)
    assert prefixes == ["dct", "report", "xsd"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('"home"', '"home"'),
        ('"home"@en', '"home"@en'),
        ("5", '"5"^^xsd:integer'),
        (f"'{EX}'^^xsd:anyURI", f'"{EX}"^^xsd:anyURI'),
        (":home", f"<{EX}home>"),
        ("odrl:read", "odrl:read"),
        ("<http://www.w3.org/ns/odrl/2/>", "<http://www.w3.org/ns/odrl/2/>"),
        ("<http://www.w3.org/ns/odrl/2/a.b>", "<http://www.w3.org/ns/odrl/2/a.b>"),
        ("<http://www.w3.org/ns/odrl/2/a:b>", "<http://www.w3.org/ns/odrl/2/a:b>"),
        ("<http://www.w3.org/ns/odrl/2/1a>", "<http://www.w3.org/ns/odrl/2/1a>"),
        ("odrl:a-b_c1", "odrl:a-b_c1"),
        ("_:there", "_:request-b1"),
    ],
)
def test_value_is_written_in_a_report_as_turtle_has_it(written, shown):
    assert_shown(written, shown)


def test_characters_that_turtle_has_no_place_for_are_escaped():
    assert_shown(r'"a\\b\"c\nd\re\tf"', r'"a\\b\"c\nd\re\tf"')
    assert_shown(r'"\u0007\u007F"', r'"\u0007\u007F"')


def assert_shown(written, shown):
    told = f"; sotw:context [ odrl:leftOperand odrl:spatial ; odrl:rightOperand {written} ]"
    constraint = limit("odrl:spatial", "eq", ":home")
    text = compliance_report(constrained(constraint), request(told=told), world()).to_turtle()
    assert f"report:constraintLeftOperand {shown} ;" in text
    assert read_graph(text, "report", PolicyEngineError).about


def test_value_that_is_told_twice_is_shown_once():
    told = "; sotw:context [ odrl:leftOperand odrl:spatial ; odrl:rightOperand :home ]"
    world_text = world(
        ":w a sotw:SotW ; odrl:spatial :home . :v a sotw:SotW ; odrl:spatial :home ."
    )
    constraint = limit("odrl:spatial", "eq", ":home")
    found = compliance_report(constrained(constraint), request(told=told), world_text)
    assert f"constraintLeftOperand <{EX}home> ;" in found.to_turtle()


def test_premise_of_a_duty_that_is_told_of_twice_is_described_once():
    tells = "".join(
        f"[ a report:DutyReport ; report:rule :rule ; report:performanceState report:{one} ] . "
        for one in ("Performed", "Unperformed")
    )
    found = compliance_report(constrained(LATER, "obligation"), request(), world(tells)).to_turtle()
    assert found.count("a report:DutyReport") == 2
    assert found.count("a report:ConstraintReport") == 1
