import numpy as np
import pytest
from attack_evidence import evidence, observed

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.observations import (
    LABEL_ANSWERS,
    VIEWS,
    Evidence,
    Observations,
    Shadow,
    Views,
)
from policy_engine.errors import AuditError


def seen(right, strengths, first=None):
    """What a model says that classifies the views of records of class 0 rightly where told."""
    right = np.asarray(right)
    labels = np.zeros(right.shape[1], int)
    logits = np.stack([right, ~right], axis=2).astype(np.float32)
    own = logits[0] if first is None else first
    return Observations(own, labels, LABEL_ANSWERS | {VIEWS}, Views(logits, strengths))


def test_the_score_is_the_share_of_views_that_are_classified_rightly():
    right = np.array([[True, True, False], [True, False, False], [True, False, True]])
    judgement = attack_of("label-only-boundary").judge(
        Evidence(seen(right, (0.1, 0.2, 0.4)), (), (), 0)
    )
    assert judgement.scores.tolist() == [1, 0.5, 0.25]
    assert judgement.threshold is None


def test_the_strength_and_the_threshold_are_those_that_tell_the_shadows_members():
    """All survive the weak view and none the strong one: members are those of the middle one."""
    is_member = np.arange(40) < 20
    right = np.array([np.ones(40, bool), is_member, np.zeros(40, bool)])
    one = seen(right, (0.1, 0.2, 0.4))
    shadows = (Shadow(one, is_member, one),) * 2
    target = seen(right[:, ::-1], (0.1, 0.2, 0.4), one.logits)
    judgement = attack_of("label-only-boundary").judge(Evidence(target, shadows, (), 0))
    assert ((judgement.scores > judgement.threshold) == is_member[::-1]).all()
    assert judgement.notes[0].startswith("Records were disturbed 3 times")


def test_it_needs_views_and_labels_alone():
    with pytest.raises(AuditError, match=r"A005 .* needs views\. The model gives labels alone"):
        attack_of("label-only-boundary").judge(evidence(observed([1, 2], gives=LABEL_ANSWERS)))
