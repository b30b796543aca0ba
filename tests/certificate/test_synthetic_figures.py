"""Figures of attacks on made-up rows that no attack can have."""

from types import SimpleNamespace

import numpy as np
import pytest

from policy_engine.audits.generative.measuring import attack_figures
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.membership.intervals import difference
from policy_engine.certificate.synthetic_figures import synthetic_attack_contradictions
from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson
from policy_engine.methods.generative import (
    GenerativeBound,
    GenerativeKey,
    GenerativeMeasurement,
    SyntheticInference,
)

AUC = GenerativeBound(measure="auc", asked=0.9)
RATE = GenerativeBound(measure="tprAtFpr", asked=0.9, fpr=0.1)
P = GenerativeBound(measure="setPValue", asked=0.01, sense="at least")
COPIES = GenerativeBound(measure="excessCopies", asked=0.9)
METHOD = SyntheticInference(bounds=(AUC, RATE, P, COPIES), attacks=("nearest-sample",))


def sentences(*measured, steps=1):
    plan = SimpleNamespace(synthetic_audits=[SimpleNamespace(method=METHOD)] * steps)
    certificate = SimpleNamespace(plan=plan, synthetic_attacks=measured)
    return [*synthetic_attack_contradictions(certificate)]


def measured(bound, *ends):
    attack = "exact-copies" if bound is COPIES else "nearest-sample"
    low, value, high = ends
    reached = Estimate(low=low, value=value, high=high)
    return GenerativeMeasurement.of(GenerativeKey(attack, bound), reached)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("rows", [10, 300, 10_000])
@pytest.mark.parametrize("gain", [-9, -1, 0, 0.5, 9])
def test_figures_of_attacks_are_possible(rows, gain):
    scores = np.random.default_rng(rows).normal(size=2 * rows)
    is_member = np.arange(2 * rows) < rows
    settings = GenerativeSettings(fprs=[0.1], draws=2)
    figures = attack_figures("x", scores + gain * is_member, is_member, settings, 1)
    p = figures.set_evidence.p
    found = [(AUC, figures.auc), (RATE, figures.tpr_at_fpr[0].tpr)]
    told = [measured(bound, one.low, one.value, one.high) for bound, one in found]
    assert sentences(*told, measured(P, p, p, p)) == []


@pytest.mark.parametrize("rows", [10, 10_000])
@pytest.mark.parametrize("shares", [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.4), (0.1, 0.9)])
def test_excess_copies_are_possible(rows, shares):
    one = difference(*(clopper_pearson(int(share * rows), rows) for share in shares))
    assert sentences(measured(COPIES, one.low, one.value, one.high)) == []


@pytest.mark.parametrize(
    "one",
    [
        measured(AUC, 0.5, 0.5, 0.5),
        measured(AUC, 0.498, 0.5, 0.502),
        measured(AUC, 0.123, 0.123, 0.123),
        measured(RATE, 0.1, 0.1, 0.1),
        measured(RATE, 0.01, 0.02, 0.05),
        measured(COPIES, 0.2, 0.2, 0.2),
        measured(COPIES, -0.2, -0.2, -0.2),
    ],
)
def test_intervals_that_are_too_narrow_are_impossible(one):
    [sentence] = sentences(one)
    assert sentence.startswith("10,000 rows give no interval of")


def test_p_values_have_no_interval():
    assert sentences(measured(P, 0.1, 0.2, 0.3)) == [
        "A p-value has no interval: that of nearest-sample."
    ]


def test_every_attack_applies():
    key = GenerativeKey("nearest-sample", AUC)
    one = GenerativeMeasurement.of(key, NotApplicable(reason="it rained"))
    [sentence] = sentences(one)
    assert sentence.endswith("nearest-sample does not apply to made-up rows, and it always does.")


def test_a_figure_is_given_once_for_each_duty():
    one = measured(P, 0.5, 0.5, 0.5)
    assert sentences(one, one, steps=2) == []
    [sentence] = sentences(one, one)
    assert sentence == "It has several figures for one bound on an attack on made-up rows."
