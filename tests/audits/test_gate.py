import pytest

from policy_engine.audits.gate import measurement_state, shortfalls
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.membership_inference import (
    GATE_ATTACKS,
    AttackBound,
    AttackMeasurement,
    MembershipInference,
)

AUC = AttackBound(measure="auc", asked=0.6)
ASKED = MembershipInference(bounds=(AUC,), attacks=("loss",))
LACKING = NotApplicable(reason="no record is called a member")


def measured(attack, high=0.55, **more):
    reached = Estimate(value=0.5, low=0.45, high=high)
    return AttackMeasurement(**{"attack": attack, "bound": AUC, "reached": reached, **more})


def found(*attacks):
    return list(shortfalls([ASKED], attacks))


def held():
    return [measured(name) for name in ASKED.attacks_run]


def test_bounds_hold_where_every_attack_keeps_them():
    assert found(*held()) == []


@pytest.mark.parametrize("missing", ["loss", *GATE_ATTACKS])
def test_an_attack_that_was_not_run_shows_nothing(missing):
    [told] = found(*(one for one in held() if one.attack != missing))
    assert told == f"Whether auc at most 0.6 holds for the attack {missing} was not measured."


def test_a_bound_is_broken_by_any_attack():
    assert found(*held()[1:], measured("loss", 0.7)) == [
        (
            "auc at most 0.6 is required, but the attack loss may reach more: "
            "0.5 (95% interval 0.45 to 0.7)."
        )
    ]


@pytest.mark.parametrize("name", GATE_ATTACKS)
def test_a_gate_attack_that_ranks_nobody_shows_nothing(name):
    rest = [one for one in held() if one.attack != name]
    [told] = found(*rest, measured(name, unfit="its score has 2 values"))
    assert told == (
        f"Whether auc at most 0.6 holds is not shown by the attack {name}: its score has 2 values."
    )


def test_another_attack_that_is_dead_is_no_evidence_either_way():
    asked = MembershipInference(bounds=(AUC,), attacks=("loss", "shokri"))
    dead = measured("loss", reached=LACKING, unfit="it gives all records one score")
    rest = [measured(name) for name in asked.attacks_run[1:]]
    assert list(shortfalls([asked], [*rest, dead])) == []
    assert measurement_state(dead) == "no evidence"
    assert list(shortfalls([asked], [*rest, measured("loss", reached=LACKING)])) != []


def test_where_no_attack_that_was_asked_for_is_evidence_nothing_is_shown():
    unfit = [measured("loss", unfit="its score has 2 values")]
    [told] = found(*held()[1:], *unfit)
    assert told.endswith("by any of the requested attacks: of 'loss', its score has 2 values.")


def test_an_attack_that_is_no_evidence_breaks_a_bound_all_the_same():
    unfit = measured("loss", 0.7, unfit="its score has 2 values")
    assert "the attack loss may reach more" in found(*held()[1:], unfit)[-1]
    assert measurement_state(unfit) == "broken"


def test_what_is_pooled_has_to_hold_too():
    [told] = found(*held()[1:], measured("loss", pooled=0.61))
    assert told.endswith("(95% interval 0.45 to 0.55), 0.61 with the earlier attempts.")
