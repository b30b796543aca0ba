"""For which purposes a rule may hold."""

import pytest
from ruling import NOON, rule, where

from policy_engine.decision.closures import Closures
from policy_engine.decision.purposes import may_be_for, rule_purposes
from policy_engine.policy import Hierarchy

STUDY, TRIAL, SALE = (f"http://p/{name}" for name in ("study", "trial", "sale"))
OWN = Closures(Hierarchy(purpose=((TRIAL, STUDY),)))
NONE = Closures(Hierarchy())


def purpose(operator, *values):
    return where("purpose", operator, *values)


@pytest.mark.parametrize(
    ("constraints", "possible"),
    [
        ([], [STUDY, TRIAL, SALE, ""]),
        ([purpose("eq", STUDY)], [STUDY, TRIAL, ""]),
        ([purpose("eq", TRIAL)], [STUDY, TRIAL, ""]),  # a study may be a trial
        ([purpose("neq", SALE)], [STUDY, TRIAL, ""]),
        ([purpose("neq", SALE), purpose("neq", STUDY)], [""]),
        ([where("dateTime", "lt", NOON)], [STUDY, TRIAL, SALE, ""]),
        ([where("spatial", "eq", "urn:eu")], [STUDY, TRIAL, SALE, ""]),
    ],
)
def test_a_rule_may_hold_for_a_purpose_unless_its_constraints_say_otherwise(constraints, possible):
    made = rule("permission", constraints=tuple(constraints))
    assert [one for one in (STUDY, TRIAL, SALE, "") if may_be_for(made, one, OWN, OWN)] == possible


def test_by_the_word_of_others_a_purpose_is_neither_included_nor_not():
    made = rule("permission", constraints=(purpose("eq", STUDY),))
    never = rule("permission", constraints=(purpose("neq", STUDY),))
    assert may_be_for(made, TRIAL, NONE, OWN)
    assert may_be_for(never, TRIAL, NONE, OWN)
    assert not may_be_for(made, TRIAL, NONE, NONE)
    assert not may_be_for(never, TRIAL, OWN, OWN)


@pytest.mark.parametrize(
    ("parts", "purposes"),
    [
        ({}, ("",)),
        ({"purposes": (STUDY, SALE)}, (STUDY, SALE)),
        ({"purposes": (STUDY, SALE), "constraints": (purpose("neq", SALE),)}, (STUDY,)),
        ({"purposes": (SALE,), "constraints": (purpose("neq", SALE),)}, ("",)),
        ({"constraints": (purpose("isAnyOf", STUDY, SALE, STUDY),)}, (STUDY, SALE)),
        ({"constraints": (purpose("neq", SALE),)}, ("",)),
        ({"constraints": (where("spatial", "eq", "urn:eu"),)}, ("",)),
        ({"constraints": (where("purpose", "eq", 3),)}, ("",)),
    ],
    ids=str,
)
def test_the_purposes_of_a_rule_are_its_own_or_those_that_its_constraints_name(parts, purposes):
    assert rule_purposes(rule("permission", **parts), OWN, OWN) == purposes
