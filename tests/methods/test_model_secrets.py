"""Bounds on what a model gives away about columns, and their measurements."""

import pytest
from pydantic import ValidationError

from policy_engine.audits.attribute.attacks import SECRET_ATTACKS
from policy_engine.audits.attribute.gate import secret_shortfalls
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.model_secrets import (
    SECRET_ATTACK_NAMES,
    AdvantageBound,
    ModelSecrets,
    SecretMeasurement,
)
from policy_engine.plan.steps import SecretAuditStep
from policy_engine.release.model_secrets import pooled_secrets

BOUND = AdvantageBound(asked=0.1)
METHOD = ModelSecrets(bound=BOUND, learned=("city",))
STEP = SecretAuditStep(duty="duty", asset="http://x.org/model", method=METHOD)


def reached(value, low, high):
    return Estimate(value=value, low=low, high=high)


def measured(estimate=None, **changes):
    """A measurement of every key, within the bound but for what `changes` one."""
    estimate = estimate or reached(0.01, -0.02, 0.04)
    every = [SecretMeasurement.of(key, reached(0.01, -0.02, 0.04)) for key in METHOD.keys]
    return [SecretMeasurement.of(METHOD.keys[0], estimate).model_copy(update=changes), *every[1:]]


def test_the_attacks_of_the_gate_are_all_that_there_are():
    assert {one.notation for one in SECRET_ATTACKS} == {*SECRET_ATTACK_NAMES}


def test_a_bound_holds_where_the_upper_end_does():
    assert not [*secret_shortfalls([STEP], measured(reached(0.05, 0.0, 0.1)))]
    [sentence] = secret_shortfalls([STEP], measured(reached(0.05, 0.0, 0.101)))
    assert "black-box-forest on 'city', all values, may reach more: 0.05" in sentence
    strict = AdvantageBound(asked=0.1, sense="below")
    assert not strict.allows(0.1)


def test_the_end_of_several_attempts_counts():
    within = [one.model_copy(update={"pooled": 0.2}) for one in measured()[:1]]
    assert [one.holds for one in within] == [False]
    [first] = pooled_secrets(measured()[:1], 1)
    [third] = pooled_secrets(measured()[:1], 3)
    assert first.pooled is None
    assert third.pooled > third.reached.high


def test_what_was_not_measured_has_not_been_shown():
    sentences = [*secret_shortfalls([STEP], measured()[1:])]
    assert len(sentences) == 1
    assert "was not measured" in sentences[0]
    none = NotApplicable(reason="the model gives labels alone, and no confidences")
    unable = [one.model_copy(update={"reached": none}) for one in measured()]
    [sentence] = secret_shortfalls([STEP], unable)
    assert sentence == "Whether advantage at most 0.1 holds of 'city' is not shown by any attack."


def test_figures_are_rounded_outwards():
    one = SecretMeasurement.of(METHOD.keys[0], reached(0.01234, -0.00561, 0.03011))
    assert one.reached == reached(0.012, -0.006, 0.031)


def test_an_interval_holds_its_figure():
    with pytest.raises(ValidationError):
        SecretMeasurement.of(METHOD.keys[0], NotApplicable(reason="")).model_validate(
            {**METHOD.keys[0]._asdict(), "reached": {"value": 1, "low": 0, "high": 0.5}}
        )
