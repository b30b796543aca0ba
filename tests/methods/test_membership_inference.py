import pytest
from pydantic import ValidationError

from policy_engine.estimates import Estimate, NotApplicable
from policy_engine.methods.membership_inference import (
    AttackBound,
    AttackMeasurement,
    MembershipInference,
)

AUC = AttackBound(measure="auc", asked=0.6)


def measured(bound, low, high):
    reached = Estimate(value=(low + high) / 2, low=low, high=high)
    return AttackMeasurement(attack="loss", bound=bound, reached=reached)


def test_guessing_reaches_a_half_and_of_few_others_that_share():
    assert AUC.chance == 0.5
    assert AttackBound(measure="tprAtFpr", asked=0.02, fpr=0.001).chance == 0.001


def test_a_bound_is_told_in_words():
    assert str(AUC) == "auc at most 0.6"
    told = str(AttackBound(measure="tprAtFpr", asked=0.02, sense="below", fpr=0.001))
    assert told == "tprAtFpr 0.001 below 0.02"


@pytest.mark.parametrize(
    ("sense", "high", "holds"),
    [
        ("at most", 0.59, True),
        ("at most", 0.6, True),
        ("at most", 0.61, False),
        ("below", 0.59, True),
        ("below", 0.6, False),
    ],
)
def test_a_bound_is_held_against_the_upper_end_of_the_interval(sense, high, holds):
    one = measured(AttackBound(measure="auc", asked=0.6, sense=sense), 0.5, high)
    assert one.achieved == high
    assert one.holds is holds


def test_where_nobody_was_called_a_member_there_is_no_precision_to_exceed_a_bound():
    nobody = NotApplicable(reason="The attack called nobody a member.")
    one = AttackMeasurement(attack="loss", bound=AUC, reached=nobody)
    assert one.achieved == 0.0
    assert one.holds


@pytest.mark.parametrize(
    "given",
    [
        {"bounds": ()},
        {"bounds": (AUC,), "attacks": ()},
        {"bounds": (AUC,), "shadow_models": 1},
        {"bounds": ({"measure": "auc", "asked": 1.01},)},
        {"bounds": ({"measure": "tprAtFpr", "asked": 0.1, "fpr": 0},)},
    ],
    ids=str,
)
def test_an_audit_bounds_something_and_no_more_than_there_is(given):
    with pytest.raises(ValidationError):
        MembershipInference.model_validate(given)


def test_an_audit_is_read_back_from_its_json():
    asked = MembershipInference(bounds=(AUC,), attacks=("loss",), shadow_models=4)
    assert MembershipInference.model_validate_json(asked.model_dump_json()) == asked
