"""The gain of attacks on members over those on others."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.generative.risks.result import SyntheticRisk, measure_risk, success_share
from policy_engine.kernels.estimates import NotApplicable


def attacks(successes, trials):
    return np.arange(trials) < successes


def risk(train, control, baseline, trials=100):
    return measure_risk("linkability", *(attacks(n, trials) for n in (train, control, baseline)), 7)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(20, 100, 0.1334, 0.2888), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)],
)
def test_interval_of_wilson(successes, trials, low, high):
    share = success_share(attacks(successes, trials).mean(), trials)
    assert share.value == successes / trials
    assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("train", "control", "value"),
    [
        (60, 20, 0.5),  # (.6 - .2) / .8
        (100, 20, 1.0),
        (20, 20, 0.0),
        (10, 20, -0.125),
        (20, 90, -1.0),  # -7, of no meaning below -1
    ],
)
def test_risk_is_the_excess_over_the_control(train, control, value):
    estimate = risk(train, control, 0).value
    assert estimate.value == pytest.approx(value)
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


@pytest.mark.parametrize(("train", "control"), [(250, 50), (120, 100), (60, 60), (400, 200)])
def test_interval_is_near_the_propagated_errors_of_the_paper(train, control):
    (a, error_a), (c, error_c) = (
        ((one.low + one.high) / 2, (one.high - one.low) / 2)
        for one in (success_share(attacks(n, 500).mean(), 500) for n in (train, control))
    )
    value = (a - c) / (1 - c)
    error = sqrt((error_a / (1 - c)) ** 2 + (error_c * (a - 1) / (1 - c) ** 2) ** 2)
    estimate = risk(train, control, 0, 500).value
    assert (estimate.low, estimate.high) == pytest.approx((value - error, value + error), abs=0.01)


def test_attack_no_better_than_a_naive_one_is_no_evidence():
    assert risk(30, 5, 5).is_evidence
    for baseline in (30, 28):
        weak = risk(30, 5, baseline)
        assert not weak.is_evidence
        assert f"succeeds on {baseline}.0% of members where it succeeds on 30.0%" in weak.reason


def test_low_risk_is_no_evidence_where_the_control_nearly_always_succeeds():
    assert risk(91, 90, 0).is_evidence
    assert "Only 9 of 100 attacks on the holdout fail" in risk(92, 91, 0).reason
    # A sure leak is one, however little room there was.
    assert risk(100, 91, 0).is_evidence


@pytest.mark.parametrize(("trials", "reason"), [(50, "All 50 attacks"), (0, "No attack")])
def test_no_risk_is_measured_where_every_control_succeeds(trials, reason):
    outcome = risk(trials, trials, 0, trials)
    assert isinstance(outcome, NotApplicable)
    assert outcome.reason.startswith(reason)


@given(st.integers(1, 60), st.data())
def test_risk_lies_in_its_interval_and_survives_json(trials, data):
    counts = [data.draw(st.integers(0, trials - (name == "control"))) for name in _SIDES]
    outcome = risk(*counts, trials)
    for one in (outcome.train, outcome.control, outcome.baseline, outcome.value):
        assert -1 <= one.low <= one.value <= one.high <= 1
    assert SyntheticRisk.model_validate_json(outcome.model_dump_json()) == outcome


_SIDES = ("train", "control", "baseline")
