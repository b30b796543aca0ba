from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from policy_texts import constraint, constraint_problems, ex, permission_problems, xsd

from policy_engine.policy import Value
from policy_engine.policy.model import IRI
from policy_engine.policy.xsd.literals import Duration


@pytest.mark.parametrize("operator", ["isAllOf", "isAnyOf", "isNoneOf"])
def test_operator_about_sets_takes_several_right_operands(operator):
    found = constraint(operator=operator, rightOperand=[1, 2, 3])
    assert found.right_operands == (Value(1), Value(2), Value(3))
    ordered = constraint(operator=operator, rightOperand={"@list": [2, 1]})
    assert ordered.right_operands == (Value(2), Value(1))


@pytest.mark.parametrize(
    ("left", "given", "value"),
    [
        ("count", "5", 5),
        ("count", 5.0, 5),
        ("dateTime", "2030-01-01", date(2030, 1, 1)),
        ("dateTime", "2030-01-01T12:00:00Z", datetime(2030, 1, 1, 12, tzinfo=UTC)),
        ("elapsedTime", "P1D", Duration(0, Decimal(86400))),
        ("payAmount", "9.5", 9.5),
        ("percentage", 50, 50),
        ("percentage", {"@value": "1.25E1", "@type": "xsd:double"}, 12.5),
        ("recipient", "5", "5"),
        ("language", "en", "en"),
    ],
)
def test_right_operand_without_a_type_is_what_the_left_operand_takes(left, given, value):
    [found] = constraint(leftOperand=left, rightOperand=given).right_operands
    assert found.value == value


@pytest.mark.parametrize(
    ("left", "given"),
    [
        ("count", "five"),
        ("count", 2.5),
        ("count", True),
        ("count", {"@value": "true", "@type": "xsd:boolean"}),
        ("dateTime", "19/02/2020"),
        ("dateTime", 2020),
        ("dateTime", "2030-13-01"),
        ("elapsedTime", "1 day"),
        ("payAmount", "much"),
        ("payAmount", {"@value": "INF", "@type": "xsd:double"}),
        ("payAmount", {"@value": "1e399", "@type": "xsd:float"}),
        ("recipient", {"@value": "-1e309", "@type": "xsd:double"}),
        ("recipient", {"@value": "x", "@type": "xsd:date"}),
        ("recipient", {"@value": "x", "@type": "ex:type"}),
        ("dateTime", "2026-01-01T00:00:00.0000009Z"),
        ("ex:moment", {"@value": "2026-01-01T00:00:00.0000009Z", "@type": "xsd:dateTime"}),
    ],
)
def test_right_operand_of_the_wrong_kind_is_refused(left, given):
    found = constraint_problems(leftOperand=left, rightOperand=given)
    assert found == [("P007", "/rightOperand")]


def test_right_operand_of_the_wrong_kind_is_refused_at_its_place_among_others():
    keys = {"operator": "isAnyOf", "rightOperand": {"@list": [1, "two", 3]}}
    assert constraint_problems(**keys) == [("P007", "/rightOperand/@list/1")]


def test_right_operand_takes_the_type_said_beside_it_and_no_other():
    recipient = {"leftOperand": "recipient", "dataType": "xsd:integer"}
    assert constraint(**recipient, rightOperand="5").right_operands == (Value(5),)
    assert constraint(**recipient, rightOperand="5").data_type == xsd("integer")
    other = {"@value": "5", "@type": "xsd:string"}
    assert constraint_problems(**recipient, rightOperand=other) == [("P007", "/rightOperand")]


def test_right_operand_may_be_a_name():
    [found] = constraint(leftOperand="event", rightOperand={"@id": "ex:launch"}).right_operands
    assert (found.value, found.type, found.is_iri) == (ex("launch"), IRI, True)


@pytest.mark.parametrize("name", ["launch", "_:launch", ""])
def test_right_operand_that_is_a_relative_name_is_refused(name):
    found = constraint_problems(leftOperand="event", rightOperand={"@id": name})
    assert found == [("L006", "/rightOperand")]


@pytest.mark.parametrize(
    "text", [{"@value": "chat", "@language": "fr"}, {"@value": "chat", "@type": "rdf:langString"}]
)
def test_text_of_a_language_is_refused_since_it_compares_with_nothing(text):
    for left in ("language", "ex:word"):
        found = constraint_problems(leftOperand=left, rightOperand=[text], operator="isAnyOf")
        assert found == [("P007", "/rightOperand/0")]
    assert constraint_problems(status=text) == [("P007", "/status")]


@pytest.mark.parametrize(
    "members", [[["ex:a", "ex:b"]], [["ex:a"], "ex:b"], ["ex:a", {"@set": ["ex:b"]}]]
)
def test_list_in_a_list_is_refused_however_it_is_written(members):
    keys = {"leftOperand": "spatial", "operator": "isAnyOf", "rightOperand": {"@list": members}}
    [(code, _)] = constraint_problems(**keys)
    assert code == "P007"


def test_list_of_a_list_is_not_one_sequence():
    both = [{"leftOperand": "count", "operator": "lt", "rightOperand": n} for n in (2, 3)]
    for operands in ([both], [{"@list": both}], {"@list": [{"@set": both}]}):
        found = permission_problems(constraint={"andSequence": operands})
        assert [code for code, _ in found] == ["P014"]


@pytest.mark.parametrize(
    "keys",
    [
        {"target": "ex:V "},
        {"target": " http://e.org/V"},
        {"target": "ex:a b"},
        {"odrl:purpose ": "ex:a"},
    ],
)
def test_white_space_in_a_name_is_refused(keys):
    assert [code for code, _ in permission_problems(**keys)] == ["F001"]


def test_white_space_in_the_name_of_a_type_is_refused():
    moment = {"@value": "2030-01-01T12:00:00Z", "@type": "xsd:dateTime "}
    [(code, _)] = constraint_problems(leftOperand="dateTime", rightOperand=moment)
    assert code == "F001"
