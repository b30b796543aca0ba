import pytest
from pydantic import ValidationError

from policy_engine import terms
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.membership_inference import (
    GATE_ATTACKS,
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


@pytest.mark.parametrize("measure", ["precision", "recall", "auc", "tprAtFpr"])
def test_where_there_is_no_figure_nothing_has_been_shown(measure):
    bound = AttackBound(measure=measure, asked=0.9, fpr=0.1 if measure == "tprAtFpr" else None)
    lacking = NotApplicable(reason="the attack called nobody a member")
    assert not AttackMeasurement(attack="loss", bound=bound, reached=lacking).holds


@pytest.mark.parametrize("ends", [(0.9, 0.4, 0.5), (-1, -1, -1), (0.5, 0.4, 1.1), (0.3, 0.4, 0.5)])
def test_an_interval_that_holds_no_share_is_none(ends):
    value, low, high = ends
    reached = {"value": value, "low": low, "high": high}
    with pytest.raises(ValidationError):
        AttackMeasurement(attack="loss", bound=AUC, reached=reached)


@pytest.mark.parametrize(
    "given",
    [
        {"bounds": ()},
        {"bounds": (AUC,), "attacks": ()},
        {"bounds": (AUC,), "shadow_models": 3},
        {"bounds": ({"measure": "auc", "asked": 1},)},
        {"bounds": ({"measure": "tprAtFpr", "asked": 0.1, "fpr": 0},)},
    ],
    ids=str,
)
def test_an_audit_bounds_something_and_no_more_than_there_is(given):
    with pytest.raises(ValidationError):
        MembershipInference.model_validate(given)


def test_the_gate_adds_calibrated_attacks_and_none_twice():
    assert all(terms.attacks()[name].flag("calibrated") for name in GATE_ATTACKS)
    asked = MembershipInference(bounds=(AUC,), attacks=("rmia", "label-only"))
    assert asked.gate_attacks == ("lira-offline",)
    assert asked.attacks_run == ("rmia", "label-only", "lira-offline")


def test_an_audit_is_read_back_from_its_json():
    asked = MembershipInference(bounds=(AUC,), attacks=("loss",), shadow_models=4)
    assert MembershipInference.model_validate_json(asked.model_dump_json()) == asked
