"""What a rule asks of a release under differential privacy: bounds, exact, and no others."""

from decimal import Decimal

import pytest
from policy_texts import RULE, constraint_problems, ex, permission, problems, read, xsd

from policy_engine.errors import PolicyError
from policy_engine.policy.model import is_parameter

QUERY = {"uid": "ex:T/table", "pe:aggregate": {"pe:function": "count-units"}}
METHOD = ("mosaicrown:method", "eq", "differential-privacy")
SPENT = {
    "leftOperand": "pe:spentEpsilon",
    "operator": "lteq",
    "rightOperand": 4,
    "unit": "pe:perDataset",
}


def refined(*refinements):
    """Return the members of a policy whose rule makes a release with some refinements."""
    parts = [
        {"leftOperand": left, "operator": operator, "rightOperand": right}
        for left, operator, right in refinements
    ]
    action = {"rdf:value": {"@id": "odrl:anonymize"}, "refinement": parts}
    rule = {**RULE, "action": action, "output": "ex:Out"}
    return {"permission": rule, "pe:queries": QUERY}


def parameter(*refinement, method=METHOD):
    """Return what a refinement asks for, beside a method."""
    [rule] = read(**refined(method, refinement)).permissions
    return rule.actions[0].refinements[1]


def refinement_problems(*refinement, method=METHOD):
    found = problems(**refined(method, refinement))
    return [(code, pointer.rpartition("/refinement/1")[2]) for code, pointer in found]


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        ("pe:epsilon", {"@value": "0.1", "@type": xsd("decimal")}, Decimal("0.1")),
        ("pe:epsilon", 0.1, Decimal("0.1")),
        ("pe:epsilon", "2", Decimal(2)),
        ("pe:delta", {"@value": "1e-7", "@type": xsd("double")}, Decimal("1e-7")),
        ("pe:delta", 0, Decimal(0)),
    ],
)
def test_epsilon_and_delta_are_the_exact_numbers_that_were_written(left, right, value):
    [found] = parameter(left, "lteq", right).right_operands
    assert found.value == value
    assert isinstance(found.value, Decimal)


def test_a_double_that_no_float_is_keeps_its_digits():
    [found] = parameter(
        "pe:delta", "lteq", {"@value": "1.00000000000000000001e-7", "@type": xsd("double")}
    ).right_operands
    assert found.value == Decimal("1.00000000000000000001e-7")


def test_the_release_is_a_table_of_the_policy_by_its_iri():
    for written in ("ex:T/table", {"@id": "ex:T/table"}, "http://e.org/T/table"):
        [found] = parameter("pe:release", "eq", written).right_operands
        assert (found.value, found.is_iri) == (ex("T/table"), True)


def test_a_release_of_a_misspelt_table_is_mended_by_the_name_that_is_near():
    with pytest.raises(PolicyError) as caught:
        read(**refined(METHOD, ("pe:release", "eq", {"@id": "http://e.org/T/tabel"})))
    [problem] = caught.value.problems
    assert problem.hint == "Did you mean 'http://e.org/T/table'?"
    assert problem.fix.text == '"http://e.org/T/table"'


def test_a_release_under_differential_privacy_bounds_what_it_tells():
    policy = read(**refined(METHOD, ("pe:epsilon", "lteq", 1)))
    assert "W005" not in {one.code for one in policy.hints}


def test_mechanisms_are_words_or_terms():
    given = ["discrete-laplace", {"@id": "pe:discrete-gaussian"}]
    found = parameter("pe:mechanism", "isAnyOf", given).right_operands
    assert [one.value for one in found] == ["discrete-laplace", "discrete-gaussian"]


@pytest.mark.parametrize("operator", ["eq", "gteq", "gt", "lt", "neq"])
@pytest.mark.parametrize("left", ["pe:epsilon", "pe:delta"])
def test_epsilon_and_delta_are_bounds_and_nothing_else(left, operator):
    assert refinement_problems(left, operator, 0) in (
        [("P007", "/operator")],
        [("P007", "/operator"), ("P007", "/rightOperand")],
    )


@pytest.mark.parametrize(
    ("left", "operator", "right", "code"),
    [
        ("pe:epsilon", "lteq", 0, "P007"),
        ("pe:epsilon", "lteq", -0.5, "P007"),
        ("pe:epsilon", "lteq", "INF", "P007"),
        ("pe:epsilon", "lteq", "1e-120", "P007"),
        ("pe:epsilon", "lteq", f"0.{'9' * 101}", "P007"),
        ("pe:epsilon", "lteq", {"@value": "INF", "@type": xsd("double")}, "P007"),
        ("pe:epsilon", "lteq", "much", "P007"),
        ("pe:epsilon", "lteq", True, "P007"),
        ("pe:delta", "lteq", -1e-7, "P007"),
        ("pe:delta", "lteq", 0.0001, "P007"),
        ("pe:maxGroupsPerUnit", "lteq", 0, "P007"),
        ("pe:maxRowsPerGroup", "lteq", 2.5, "P007"),
        ("pe:neighbours", "eq", "add", "P005"),
        ("pe:mechanism", "isAnyOf", "laplace", "P005"),
        ("pe:selection", "isAnyOf", "flip", "P005"),
        ("pe:release", "eq", "table", "L006"),
        ("pe:release", "eq", "ex:T/tabel", "P023"),
    ],
)
def test_a_refinement_out_of_its_range_is_refused(left, operator, right, code):
    assert refinement_problems(left, operator, right) == [(code, "/rightOperand")]


def test_delta_is_a_bound_in_differential_privacy_and_a_value_in_delta_disclosure():
    other = ("mosaicrown:method", "eq", "delta-disclosure")
    assert parameter("pe:delta", "eq", 2, method=other).right_operands[0].value == 2
    assert refinement_problems("pe:delta", "lteq", 1e-7, method=other) == [("P007", "/operator")]
    assert refinement_problems("pe:delta", "lteq", [0, 1e-7]) == [("P007", "")]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"operator": "eq"}, ("P007", "/operator")),
        ({"unit": "pe:perDatset"}, ("P005", "/unit")),
        ({"unit": "ex:Account"}, ("P005", "/unit")),
        ({"rightOperand": -1}, ("P007", "/rightOperand")),
        ({"rightOperand": "4 or so"}, ("P007", "/rightOperand")),
        ({"rightOperand": "1e10"}, ("P007", "/rightOperand")),
        ({"leftOperand": "pe:spentDelta", "rightOperand": 0.5}, ("P007", "/rightOperand")),
    ],
)
def test_a_condition_on_what_was_spent_is_a_bound_on_an_account(keys, expected):
    found = constraint_problems(**{**SPENT, **keys})
    assert [(code, pointer.removeprefix("/constraint")) for code, pointer in found] == [expected]


@pytest.mark.parametrize("operand", ["pe:spentEpsilon", "pe:spentDelta"])
@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ({"rightOperandReference": {"@id": "ex:bound"}}, ("P007", "/rightOperandReference")),
        ({"rightOperand": {"@id": "ex:bound"}}, ("P007", "/rightOperand")),
        ({"rightOperand": []}, ("P007", "/rightOperand")),
        ({}, ("P004", "")),
    ],
)
def test_a_condition_on_what_was_spent_has_its_number(operand, bound, expected):
    parts = {key: one for key, one in SPENT.items() if key != "rightOperand"}
    rule = {**RULE, "constraint": {**parts, "leftOperand": operand, **bound}}
    [(code, pointer)] = problems(permission=rule)
    assert (code, pointer.removeprefix("/permission/constraint")) == expected


def test_a_condition_on_what_was_spent_needs_an_account():
    rule = {**RULE, "constraint": {key: SPENT[key] for key in SPENT if key != "unit"}}
    assert problems(permission=rule) == [("P023", "/permission/constraint")]


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ({"assignee": {"@type": "PartyCollection", "source": "ex:A"}}, "/assignee"),
        ({"target": {"@type": "AssetCollection", "source": "ex:T"}}, "/target"),
    ],
)
def test_what_was_spent_bounds_no_party_and_no_asset(rule, place):
    [(part, collection)] = rule.items()
    found = problems(permission={**RULE, part: {**collection, "refinement": SPENT}})
    assert ("P007", f"/permission{place}/refinement") in found


def test_what_was_spent_is_no_condition_of_a_duty():
    duty = {"action": "odrl:inform", "constraint": SPENT}
    assert problems(permission={**RULE, "duty": duty}) == [("P007", "/permission/duty/constraint")]


def test_what_was_spent_is_a_condition_and_no_parameter():
    [found] = permission(constraint=SPENT).constraints
    assert found.unit.endswith("#perDataset")
    assert not is_parameter(found)
    assert is_parameter(parameter("pe:epsilon", "lteq", 1))
