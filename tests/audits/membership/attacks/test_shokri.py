"""The attack with shadow models: balanced sets by class, confidences as they are."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.attacks.shokri import FEWEST, Shokri, _Known, confidences
from policy_engine.audits.membership.observations import (
    OF_CONFIDENCES,
    OF_LABELS,
    Evidence,
    Observations,
    Shadow,
)
from policy_engine.errors import AuditError

CLASSES = 3


def _said(rng, labels, is_member, boost):
    """Members' own logit is higher by `boost`; in class 0 it is lower by it instead."""
    logits = rng.normal(0, 0.5, (len(labels), CLASSES))
    sign = np.where(labels == 0, -1, 1)
    logits[np.arange(len(labels)), labels] += 1 + sign * boost * is_member
    return Observations(logits.astype(np.float32), labels)


def _evidence(rng, boost=3.0, size=120, shadows=3, gives=OF_CONFIDENCES):
    labels = np.arange(2 * size) % CLASSES
    is_member = np.arange(2 * size) < size
    target = replace(_said(rng, labels, is_member, boost), gives=gives)
    own = tuple(
        Shadow(
            own=_said(rng, labels, is_member, boost),
            is_member=is_member,
            judged=_said(rng, labels, np.zeros(2 * size), boost),
        )
        for _ in range(shadows)
    )
    return Evidence(target=target, shadows=own, online=(), seed=1), is_member


@pytest.fixture(scope="module")
def evidence():
    return _evidence(np.random.default_rng(0))


def test_each_class_learns_how_its_own_members_look(evidence):
    given, is_member = evidence
    judgement = Shokri().judge(given)
    called = judgement.scores > judgement.threshold
    for one in range(CLASSES):
        own = given.target.labels == one
        assert (called[own] == is_member[own]).mean() > 0.8


def test_the_same_seed_gives_the_same_scores(evidence):
    first, again = (Shokri().judge(evidence[0]).scores for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_any_binary_classifier_may_judge(evidence):
    given, is_member = evidence
    judgement = Shokri(LogisticRegression()).judge(given)
    assert ((judgement.scores > 0) == is_member).mean() > 0.8
    assert np.isfinite(judgement.scores).all()


def test_shadows_that_remember_nothing_teach_nothing():
    given, is_member = _evidence(np.random.default_rng(5), boost=0.0, size=300)
    judgement = Shokri(LogisticRegression()).judge(given)
    assert abs(((judgement.scores > 0) == is_member).mean() - 0.5) < 0.08


def test_sets_are_of_one_class_and_balanced():
    labels = np.repeat([0, 1], [60, 50])
    is_in = np.concatenate([np.arange(60) < 45, np.arange(50) < 20])
    known = _Known(np.full((110, 2), 0.5, np.float32), labels, is_in)
    sets, models = known.sets(np.random.default_rng(0))
    assert models.tolist() == [0, 1]
    assert [(len(rows), int(is_in[rows].sum())) for rows in sets] == [(30, 15), (40, 20)]
    assert [set(labels[rows].tolist()) for rows in sets] == [{0}, {1}]
    assert all(len(set(rows.tolist())) == len(rows) for rows in sets)


def test_a_class_with_too_few_records_is_judged_by_a_model_of_all():
    labels = np.repeat([0, 1, 2], [60, 2 * FEWEST - 1, 60])
    is_in = np.arange(len(labels)) % 2 == 0
    known = _Known(np.full((len(labels), 3), 1 / 3, np.float32), labels, is_in)
    sets, models = known.sets(np.random.default_rng(0))
    assert models.tolist() == [0, 2, 1]
    assert len(sets) == 3
    assert set(labels[sets[2]].tolist()) == {0, 1, 2}


def test_confidences_are_the_raw_vectors():
    logits = np.log(np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]])).astype(np.float32)
    said = confidences(Observations(logits + 7, np.array([0, 0])))
    np.testing.assert_allclose(said, [[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]], rtol=1e-5)


def test_it_needs_confidences_and_shadows():
    rng = np.random.default_rng(0)
    labels_alone, _ = _evidence(rng, size=30, shadows=1, gives=OF_LABELS)
    with pytest.raises(AuditError) as raised:
        Shokri().judge(labels_alone)
    assert [problem.code for problem in raised.value.problems] == ["A005", "A007"]


def test_it_is_found_by_its_name():
    assert attack_of("shokri") == Shokri()
