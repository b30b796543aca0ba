import pytest
from output_checked import TABLE, policy_with

from policy_engine.errors import PlanError
from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.plan.output_checks import checks_of, output_checks, unit_hints

NESTED = "pe:nestedColumns", "isAllOf"


def check_of(*refinements):
    [one] = output_checks(policy_with(*refinements))
    return one.check


def test_a_check_is_that_of_its_profile():
    assert check_of(("pe:outputCheck", "eq", "sacro")).profile == PROFILES["sacro"]


@pytest.mark.parametrize(
    ("operator", "value", "units"), [("eq", 3, 3), ("gteq", 3, 10), ("gteq", 20, 20)]
)
def test_a_bound_makes_a_profile_stricter_and_never_weaker(operator, value, units):
    check = check_of(("pe:outputCheck", "eq", "sacro"), ("pe:minUnits", operator, value))
    assert check.profile.min_units == units
    assert check.profile.notation == "sacro"


def test_a_ladder_of_the_policy_is_in_place_of_the_profiles():
    text = "0.5:30 0.25:60"
    check = check_of(("pe:outputCheck", "eq", "iab"), ("pe:percentileLadder", "eq", text))
    assert (check.profile.ladder_units(0.25), check.profile.ladder_units(0.1)) == (60, None)
    assert check.facts()["percentileLadder"] == text


def test_how_a_check_is_made_is_as_the_policy_says():
    check = check_of(
        ("pe:outputCheck", "eq", "abs"),
        ("pe:secondary", "eq", "exact"),
        ("pe:mitigation", "eq", "deny"),
        ("pe:ledgerScope", "eq", "organisation"),
        ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"}),
    )
    assert (check.secondary, check.mitigation, check.ledger_scope) == (
        *("exact", "deny"),
        "organisation",
    )
    assert check.unit == f"{TABLE}/person"


def test_nested_columns_are_of_one_hierarchy_each():
    lists = [["district", "region"], ["branch", "sector", "trade"]]
    refinements = [
        ("pe:nestedColumns", "isAllOf", [{"@id": f"{TABLE}/{name}"} for name in names])
        for names in lists
    ]
    check = check_of(("pe:outputCheck", "eq", "abs"), *refinements)
    assert [*map(sorted, check.nested)] == [
        sorted(f"{TABLE}/{name}" for name in names) for names in lists
    ]
    assert {*check.facts()["nestedColumns"]} == {one for names in check.nested for one in names}


def test_a_check_without_a_unit_is_hinted_at():
    check = ("pe:outputCheck", "eq", "abs")
    [hint] = unit_hints(policy_with(check))
    assert (hint.code, hint.place.line > 0) == ("H002", True)
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    assert [*unit_hints(policy_with(check, unit))] == []


@pytest.mark.parametrize(
    ("refinements", "code", "words"),
    [
        ([("pe:outputCheck", "eq", "sacrro")], "M001", "'sacrro'"),
        ([("pe:minUnits", "eq", 10)], "M002", "pe:outputCheck"),
        ([("pe:outputCheck", "neq", "sacro")], "M003", "operator 'eq'"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:minUnits", "eq", 1)], "M003", "pe:minUnits"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:minUnits", "lteq", 20)], "M003", "gteq"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:maxGroupShare", "eq", 1.5)], "M003", "1.5"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:secondary", "eq", "some")], "M003", "secondary"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:outputCheck", "eq", "iab")], "M003", "twice"),
        ([("pe:outputCheck", "eq", "abs"), ("pe:percentileLadder", "eq", "0.5")], "M003", "such"),
        (
            [("pe:outputCheck", "eq", "abs"), ("pe:percentileLadder", "gteq", "0.5:20")],
            "M003",
            "eq",
        ),
        (
            [
                ("pe:outputCheck", "eq", "abs"),
                ("pe:privacyUnit", "eq", {"@id": "http://example.com/Other/person"}),
            ],
            "M006",
            "pe:privacyUnit",
        ),
        (
            [
                ("pe:outputCheck", "eq", "abs"),
                (*NESTED, [{"@id": f"{TABLE}/region"}, {"@id": "http://example.com/Other/town"}]),
            ],
            "M006",
            "Other/town",
        ),
        (
            [("pe:outputCheck", "eq", "abs"), (*NESTED, [{"@id": f"{TABLE}/region"}])],
            "M003",
            "two columns",
        ),
        ([(*NESTED, [{"@id": f"{TABLE}/{name}"} for name in "ab"])], "M002", "pe:nestedColumns"),
    ],
)
def test_what_no_check_can_be_is_refused_with_its_place(refinements, code, words):
    with pytest.raises(PlanError, match=words) as caught:
        output_checks(policy_with(*refinements))
    assert [one.code for one in caught.value.problems] == [code]


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(PlanError) as caught:
        checks_of([policy_with(("pe:outputCheck", "eq", "no"), ("pe:roundBase", "eq", 0))])
    assert {one.code for one in caught.value.problems} == {"M001", "M003"}
