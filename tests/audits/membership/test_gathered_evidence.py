from functools import cache

import numpy as np
import pytest
from test_auditing import NEIGHBOURS, bits, run

from policy_engine.audits.membership.attacks.references import unseen_by_shadows
from policy_engine.audits.membership.audit_splits import audit_splits
from policy_engine.audits.membership.gathering import gather
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.over_targets import spread_of, target_spread_rows
from policy_engine.audits.membership.settings import Settings, attacks_of_model
from policy_engine.audits.membership.shadows import ModelTrainer
from policy_engine.errors import AuditError


@cache
def gathered(attacks=("lira-online", "rmia"), shadows=4, targets=1):
    records, learner = bits(), EstimatorLearner.of(NEIGHBOURS)
    settings = Settings(attacks, shadows=shadows, targets=targets)
    splits = audit_splits(records, attacks_of_model(settings, learner.gives), settings)
    kept = []
    workshop = ModelTrainer(learner, records, records.features, on_chunk=kept.append)
    return gather(workshop, splits, 0, targets - 1), sum(one.models for one in kept)


def test_online_shadows_serve_every_attack_and_each_record_has_those_that_do_not_know_it():
    found, trained = gathered()
    evidence = found.turn.evidence
    assert trained == 5
    assert len(evidence.shadows) == len(evidence.online) == 4
    assert unseen_by_shadows(evidence).sum(axis=0).tolist() == [2] * 200
    for shadow, (_, seen) in zip(evidence.shadows, evidence.online, strict=True):
        assert (shadow.trained_on == seen).all()
        assert (shadow.is_member == seen).all()


def test_a_shadow_is_not_compared_with_the_one_that_has_just_the_other_records():
    found, _ = gathered()
    for shadow in found.turn.evidence.shadows:
        assert len(shadow.other_shadows.is_member) == 2
        assert (shadow.other_shadows.is_member.sum(axis=0) == 1).all()


def test_disjoint_shadows_are_trained_where_no_attack_needs_online_ones():
    found, trained = gathered(("rmia", "loss"))
    assert trained == 5
    assert not found.turn.evidence.online
    assert unseen_by_shadows(found.turn.evidence).all()


@pytest.mark.parametrize(("attacks", "trained"), [(("lira-online",), 5), (("rmia",), 7)])
def test_several_targets_cost_nothing_where_online_shadows_take_turns(attacks, trained):
    found, models = gathered(attacks, targets=3)
    assert models == trained
    turns = (found.turn, *found.other_turns)
    assert [int(one.is_member.sum()) for one in turns] == [100] * 3
    assert len({one.is_member.tobytes() for one in turns}) == 3
    for turn in turns:
        right = turn.evidence.target.is_right
        assert right[turn.is_member].mean() > right[~turn.is_member].mean()


def test_whose_turn_it_is_has_no_shadow_by_which_its_members_are_told():
    found, _ = gathered(("lira-online",), targets=3)
    for turn in found.other_turns:
        *online, first = [seen for _, seen in turn.evidence.online]
        assert (np.stack(online).sum(axis=0) == 1).all()
        assert not any((seen == ~turn.is_member).all() for seen in (*online, first))


def test_means_and_deviations_are_over_targets():
    found = run(attacks=("lira-online", "loss"), targets=3)
    over = found.over_targets
    assert (over.targets, over.trained_for_it, found.shadow_models) == (3, 0, 4)
    accuracy = over.attack("lira-online").figures["accuracy"]
    assert accuracy.values[0] == found.attack("lira-online").figures.accuracy.value
    assert accuracy.mean == pytest.approx(np.mean(accuracy.values))
    assert accuracy.deviation == pytest.approx(np.std(accuracy.values, ddof=1))
    assert "tpr at 0.01" in over.attack("loss").figures
    with pytest.raises(KeyError):
        over.attack("rmia")
    head, rows = target_spread_rows(over)
    assert head[-2:] == ("TPR at 1% FPR", "TPR at 0.1% FPR")
    assert (
        next(row for row in rows if row[0] == "lira-online")[3]
        == f"{accuracy.mean:.1%} \u00b1 {accuracy.deviation:.1%}"
    )


def test_the_interval_over_models_is_student_s():
    spread = spread_of([1.0, 2.0, 3.0])
    half = 4.3027 / np.sqrt(3)  # Student's t with 2 degrees of freedom
    assert (spread.low, spread.high) == pytest.approx((2 - half, 2 + half), abs=1e-3)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"attacks": ("lira-online",), "targets": 6}, "A007"),
        ({"attacks": ("lira-online",), "targets": 2, "shadows": 2}, "A007"),
        ({"attacks": ("loss",), "targets": 0}, "A007"),
        ({"attacks": ("loss",), "targets": 2, "members": np.arange(100)}, "A011"),
    ],
)
def test_targets_that_cannot_be_are_refused(more, code):
    with pytest.raises(AuditError) as raised:
        run(**more)
    assert [one.code for one in raised.value.problems] == [code]
