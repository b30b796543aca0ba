"""Names with a prefix on the right of a constraint mean what they mean elsewhere in the policy."""

import json

import pytest
from policy_texts import CONTEXT

from policy_engine.decision.compliance.graph import read_graph
from policy_engine.errors import PolicyError
from policy_engine.plan.reading_anonymization import transformations
from policy_engine.policy import read_policy
from policy_engine.policy.model import IRI
from policy_engine.policy.syntax.rdf import convert_text

PURPOSE = {"leftOperand": "purpose", "operator": "isAnyOf"}


def text(right, **constraint):
    rule = {"target": "ex:T", "action": "read"}
    bound = {**PURPOSE, **constraint, "rightOperand": right}
    policy = {"@context": CONTEXT, "@type": "Set", "uid": "ex:p"}
    return json.dumps({**policy, "permission": {**rule, "constraint": bound}})


def right(given, **constraint):
    [rule] = read_policy(text(given, **constraint)).permissions
    return [(value.value, value.type) for value in rule.constraints[0].right_operands]


def test_a_declared_prefix_is_read_in_a_string():
    names = [(f"http://e.org/{name}", IRI) for name in "ab"]
    assert right(["ex:a", {"@id": "ex:b"}]) == names
    assert right({"@list": ["ex:a", "ex:b"]}, operator="isAnyOf") == names


@pytest.mark.parametrize(
    "given",
    [
        "http://e.org/a",
        "a text: of words",
        "urn:x:y",
        "EU",
        {"@value": "ex:a"},
        {"@value": "ex:a", "@type": "http://www.w3.org/2001/XMLSchema#string"},
    ],
)
def test_any_other_text_stays_what_it_is(given):
    plain = given["@value"] if isinstance(given, dict) else given
    assert [value for value, _ in right([given])] == [plain]
    assert all(kind != IRI for _, kind in right([given]))


@pytest.mark.parametrize(
    ("left", "data_type"),
    [("language", {}), ("http://e.org/T/column", {}), ("purpose", {"dataType": "xsd:string"})],
)
def test_texts_beside_what_names_nothing_stay_texts(left, data_type):
    found = right("ex:a", leftOperand=left, operator="eq", **data_type)
    assert [value for value, _ in found] == ["ex:a"]


def test_a_prefix_that_nothing_declares_is_refused_with_the_nearest():
    with pytest.raises(PolicyError) as error:
        read_policy(text("exx:a"))
    [problem] = error.value.problems
    assert problem.code == "L007"
    assert problem.place.pointer == "/permission/constraint/rightOperand"
    assert "Did you mean 'ex'?" in problem.hint
    assert problem.fix.text == '"ex:a"'


@pytest.mark.parametrize("syntax", ["turtle", "n-triples", "rdf-xml", "json-ld"])
@pytest.mark.parametrize("given", [["ex:a"], [{"@value": "ex:a"}]])
def test_the_same_is_meant_in_every_syntax(syntax, given):
    again = convert_text(text(given), "json-ld", syntax)
    [rule] = read_policy(again, syntax=syntax).permissions
    [value] = rule.constraints[0].right_operands
    assert [(value.value, value.type)] == [(one, kind and IRI) for one, kind in right(given)]


TURTLE = """@prefix odrl: <http://www.w3.org/ns/odrl/2/> . @prefix ex: <http://e.org/> .
ex:p a odrl:Set ; odrl:permission [ odrl:target ex:A ; odrl:action odrl:read ; odrl:constraint [
    odrl:leftOperand odrl:%s ; odrl:operator odrl:isNoneOf ; odrl:rightOperand %s
  ] ] .
"""


@pytest.mark.parametrize("given", ['"ex:a"', "'ex:a', ex:b", 'ex:b, ( ex:b "ex:a" )'])
def test_a_text_in_turtle_with_a_declared_prefix_is_refused_where_names_are_compared(given):
    for read in (read_policy, lambda text, syntax: convert_text(text, syntax, "n-triples")):
        with pytest.raises(PolicyError) as error:
            read(TURTLE % ("purpose", given), syntax="turtle")
        [problem] = error.value.problems
        assert (problem.code, problem.place.line) == ("L007", 3)


@pytest.mark.parametrize(
    ("left", "given"),
    [
        ("language", '"ex:a"'),
        ("purpose", '"fx:a"'),
        ("purpose", '"ex: a"'),
        ("purpose", '"ex:a" ; odrl:dataType <http://www.w3.org/2001/XMLSchema#string>'),
        ("purpose", "ex:a"),
    ],
)
def test_other_texts_in_turtle_are_read(left, given):
    assert read_policy(TURTLE % (left, given), syntax="turtle").permissions


def test_a_compliance_report_reads_the_same():
    graph = read_graph(text("ex:a"), "policy", PolicyError)
    [node] = graph.subjects("http://www.w3.org/ns/odrl/2/rightOperand", "http://e.org/a")
    assert node


def test_columns_are_named_with_a_prefix():
    def refinement(left, right, operator="isAllOf"):
        return {"leftOperand": left, "operator": operator, "rightOperand": right}

    parts = [
        refinement("mosaicrown:method", "k-anonymity", "eq"),
        refinement("mosaicrown:k", 2, "eq"),
        refinement("mosaicrown:identifier", ["ex:T/Name"]),
        refinement("mosaicrown:quasi-identifier", ["ex:T/ZIP", "http://e.org/T/Age"]),
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": parts}
    rule = {"target": "ex:T", "action": [action], "output": "ex:out"}
    whole = {"@context": CONTEXT, "@type": "Set", "uid": "ex:p", "permission": rule}
    [made] = transformations(read_policy(json.dumps(whole)))
    asked = made.anonymization
    assert asked.columns.identifier == ("Name",)


@pytest.mark.parametrize(
    "left",
    [
        ["spatial"],
        [["spatial"]],
        {"uid": "odrl:spatial"},
        {"@id": "odrl:spatial"},
        [{"uid": "http://www.w3.org/ns/odrl/2/spatial"}],
        {"@set": ["spatial"]},
        {"@set": [{"@set": "spatial"}]},
    ],
)
def test_names_are_names_however_the_left_operand_is_written(left):
    assert right("ex:EU", leftOperand=left, operator="eq") == [("http://e.org/EU", IRI)]


TEXT_TYPES = ["anyURI", "token", "normalizedString"]


@pytest.mark.parametrize(
    ("given", "more"),
    [
        *(({"@value": "ex:a", "@type": f"xsd:{kind}"}, {}) for kind in TEXT_TYPES),
        ({"@set": [{"@value": "ex:a", "@language": "en"}]}, {}),
        ("ex:a", {"dataType": "xsd:anyURI"}),
        ({"@value": "ex:a"}, {"dataType": ["xsd:token"]}),
    ],
)
def test_text_of_another_type_is_refused_that_looks_like_a_name(given, more):
    with pytest.raises(PolicyError) as error:
        read_policy(text(given, **more))
    assert [problem.code for problem in error.value.problems] == ["L007"]


@pytest.mark.parametrize(
    "given",
    [
        '"ex:a"@en',
        *(f'"ex:a"^^<http://www.w3.org/2001/XMLSchema#{kind}>' for kind in TEXT_TYPES),
        '"ex:a" ; odrl:dataType <http://www.w3.org/2001/XMLSchema#anyURI>',
    ],
)
def test_text_of_another_type_in_turtle_is_refused_that_looks_like_a_name(given):
    with pytest.raises(PolicyError) as error:
        read_policy(TURTLE % ("spatial", given), syntax="turtle")
    assert [problem.code for problem in error.value.problems] == ["L007"]
