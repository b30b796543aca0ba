import json

import numpy as np
from attack_evidence import evidence
from test_auditing import LabelsAlone, run

from policy_engine.audits.membership.attacks import Judgement
from policy_engine.audits.membership.conduct import thresholds
from policy_engine.audits.membership.learners.scikit import EstimatorLearner


def test_a_report_says_what_was_asked_and_what_could_not_run():
    learner = EstimatorLearner.from_object(LabelsAlone())
    found = run(attacks=(), learner=learner, seed=3)
    conduct = found.conduct
    assert (conduct.requested, conduct.out_models, conduct.shadows) == ((), "none", 4)
    reasons = {one.attack: one.reason for one in conduct.skipped}
    assert "label-only" not in reasons
    assert reasons["loss"] == "it needs confidences"
    assert (conduct.local_epsilon, conduct.attack_domain) == (None, "original")


def test_a_report_says_on_which_models_it_rests_and_where_calls_are_made():
    shared = run(attacks=("rmia", "lira-online"), local_epsilon=9.0).conduct
    assert (shared.out_models, shared.local_epsilon) == ("shared", 9.0)
    assert {one.attack: one.reason for one in shared.skipped}["loss"] == "it was not asked for"
    disjoint = run(attacks=("rmia", "entropy")).conduct
    assert disjoint.out_models == "disjoint"
    kinds = {one.attack: one.kind for one in disjoint.thresholds}
    assert kinds == {"rmia": "one", "entropy": "of each class", "label-only": "one"}


def test_thresholds_without_end_are_json():
    held = evidence([1.0, 2.0])
    said = {"one": -np.inf, "each": np.array([1.0, np.inf]), "none": None}
    found = list(thresholds({k: Judgement(np.zeros(2), v) for k, v in said.items()}, held))
    assert [one.kind for one in found] == ["one", "of each record", "of the other half"]
    assert [one.high for one in found] == ["-infinity", "infinity", None]
    assert json.loads(found[1].model_dump_json())["low"] == 1.0
