"""The attack with shadow models: balanced sets by class, confidences as they are."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from policy_engine.audits.membership.attacks import attack_of
from policy_engine.audits.membership.attacks.attack_models import (
    ATTACK_MODELS,
    confidences,
    log_odds,
    ranked_log_odds,
)
from policy_engine.audits.membership.attacks.choosing import FEWEST, AttackerKnowledge, auc
from policy_engine.audits.membership.attacks.shokri import Shokri
from policy_engine.audits.membership.observations import (
    CONFIDENCE_ANSWERS,
    LABEL_ANSWERS,
    Evidence,
    Observations,
    Shadow,
)
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Network

CLASSES = 3


def _said(rng, labels, is_member, boost):
    """Members' own logit is higher by `boost`; in class 0 it is lower by it instead."""
    logits = rng.normal(0, 0.5, (len(labels), CLASSES))
    sign = np.where(labels == 0, -1, 1)
    logits[np.arange(len(labels)), labels] += 1 + sign * boost * is_member
    return Observations(logits.astype(np.float32), labels)


def _evidence(rng, boost=3.0, size=120, shadows=3, gives=CONFIDENCE_ANSWERS):
    labels = np.arange(2 * size) % CLASSES
    is_member = np.arange(2 * size) < size
    target = replace(_said(rng, labels, is_member, boost), gives=gives)
    own = tuple(
        Shadow(
            own=_said(rng, labels, is_member, boost),
            is_member=is_member,
            audited=_said(rng, labels, np.zeros(2 * size), boost),
        )
        for _ in range(shadows)
    )
    return Evidence(target=target, shadows=own, online=(), seed=1), is_member


@pytest.fixture(scope="module")
def evidence():
    return _evidence(np.random.default_rng(0))


class Fixed:
    """An attack model that gives what it is told to, and has no interest in its lessons."""

    name, view = "fixed", staticmethod(ranked_log_odds)

    def __init__(self, scores):
        self.scores = scores

    def odds(self, _lessons, asked, _seed):
        return [self.scores(one) for one in asked]


def _fails(_shown):
    raise ValueError("its own reason")


DEAD = {
    "constant": (lambda shown: np.zeros(len(shown)), "it gives nearly all records one score"),
    "nearly constant": (
        lambda shown: (np.arange(len(shown)) == 0).astype(float),
        "it gives nearly all records one score",
    ),
    "not a number": (lambda shown: np.full(len(shown), np.nan), "its scores are not numbers"),
    "flipped": (lambda shown: -shown[:, 0], "it ranks members no better than guessing"),
    "raises": (_fails, "it raised ValueError"),
}
LINEAR = ATTACK_MODELS[-1]


@pytest.mark.nightly
def test_each_class_learns_how_its_own_members_look(evidence):
    given, is_member = evidence
    judgement = Shokri().judge(given)
    called = judgement.scores > judgement.threshold
    for one in range(CLASSES):
        own = given.target.labels == one
        assert (called[own] == is_member[own]).mean() > 0.8
    assert not judgement.dead


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_scores(evidence):
    few = ATTACK_MODELS[3:]
    first, again = (Shokri(models=few).judge(evidence[0]).scores for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_no_tensorflow_is_needed_but_for_a_network_of_one_s_own(evidence, monkeypatch):
    monkeypatch.setitem(sys.modules, "policy_engine.audits.membership.training.stacks", None)
    assert not Shokri(models=ATTACK_MODELS[:1]).judge(evidence[0]).dead
    judgement = Shokri(Network(epochs=1)).judge(evidence[0])
    assert "the given network on confidences: it raised ModuleNotFoundError" in judgement.dead


@pytest.mark.nightly
def test_a_network_of_one_s_own_may_judge(evidence):
    given, is_member = evidence
    judgement = Shokri(Network(epochs=30, learning_rate=1e-2)).judge(given)
    assert ((judgement.scores > 0) == is_member).mean() > 0.8
    assert "the given network on confidences" in judgement.notes[0]


def test_any_binary_classifier_may_judge(evidence):
    given, is_member = evidence
    judgement = Shokri(LogisticRegression()).judge(given)
    assert ((judgement.scores > 0) == is_member).mean() > 0.8
    assert np.isfinite(judgement.scores).all()


def test_shadows_that_remember_nothing_teach_nothing_and_that_is_not_death():
    given, is_member = _evidence(np.random.default_rng(5), boost=0.0, size=300)
    judgement = Shokri(models=(LINEAR,)).judge(given)
    assert abs(((judgement.scores > 0) == is_member).mean() - 0.5) < 0.08
    assert not judgement.dead


@pytest.mark.parametrize("kind", DEAD)
def test_a_dead_attack_model_is_replaced_and_told(kind):
    scores, why = DEAD[kind]
    given, is_member = _saturated()
    judgement = Shokri(models=(Fixed(scores), LINEAR)).judge(given)
    assert not judgement.dead
    assert auc(judgement.scores, is_member).value > 0.99
    assert any(f"All classes: not fixed, for {why}" in note for note in judgement.notes)


@pytest.mark.parametrize("kind", DEAD)
def test_a_judgement_by_dead_attack_models_alone_says_so(kind):
    scores, why = DEAD[kind]
    judgement = Shokri(models=(Fixed(scores),)).judge(_saturated()[0])
    assert judgement.dead.startswith(f"No attack model has learnt anything (fixed: {why}")
    assert not judgement.scores.any()
    assert "its own reason" not in judgement.dead


def test_a_model_that_dies_when_it_learns_from_all_shadows_gives_way():
    given, is_member = _saturated()
    calls = []

    class Collapsing(Fixed):
        def odds(self, lessons, asked, _seed):
            calls.append(len(lessons))
            return [one[:, 0] if len(calls) == 1 else np.zeros(len(one)) for one in asked]

    judgement = Shokri(models=(Collapsing(None), LINEAR)).judge(given)
    assert auc(judgement.scores, is_member).value > 0.99
    assert len(calls) == 2
    assert "not fixed, for it gives nearly all records one score" in " ".join(judgement.notes)


def _saturated(size=150):
    """Members have 45 and others 25 as their margin: a float32 says 1 of all of them."""
    rng = np.random.default_rng(2)
    labels, is_member = np.arange(2 * size) % 2, np.arange(2 * size) < size

    def said():
        logits = np.zeros((2 * size, 2), np.float32)
        margins = np.where(is_member, 45, 25) + rng.normal(0, 2, 2 * size)
        logits[np.arange(2 * size), labels] = margins
        return Observations(logits, labels)

    own = tuple(Shadow(said(), is_member, said()) for _ in range(3))
    return Evidence(said(), own, (), 0), is_member


@pytest.mark.nightly
def test_saturated_confidences_do_not_blind_it():
    given, is_member = _saturated()
    assert (confidences(given.target).max(axis=1) == 1).all()
    judgement = Shokri().judge(given)
    assert auc(judgement.scores, is_member).value > 0.99
    alone = Shokri(models=ATTACK_MODELS[:1]).judge(given)
    assert alone.dead


def test_each_class_that_has_records_enough_chooses_by_itself():
    """Of class 0 the own logit tells who was a member, of class 1 nothing does."""
    rng = np.random.default_rng(4)
    labels, is_member = np.arange(400) % 2, np.arange(400) % 4 < 2
    own = Fixed(lambda shown: shown[:, 0])

    def said():
        logits = rng.normal(0, 1, (400, 2))
        logits[:, 0] += 3 * (is_member & (labels == 0))
        return Observations(logits.astype(np.float32), labels)

    shadows = tuple(Shadow(said(), is_member, said()) for _ in range(2))
    judgement = Shokri(models=(own,)).judge(Evidence(said(), shadows, (), 0, ("yes", "no")))
    assert [note.split(":")[0] for note in judgement.notes] == ["Class yes", "Class no"]
    assert all("on shadows held out." in note for note in judgement.notes)


def test_sets_are_of_one_class_and_balanced():
    labels = np.repeat([0, 1], [60, 50])
    is_in = np.concatenate([np.arange(60) < 45, np.arange(50) < 20])
    known = _known(labels, is_in, 2)
    sets, models = known.sets(np.ones(110, bool), np.random.default_rng(0))
    assert models.tolist() == [0, 1]
    assert [(len(rows), int(is_in[rows].sum())) for rows in sets] == [(30, 15), (40, 20)]
    assert [set(labels[rows].tolist()) for rows in sets] == [{0}, {1}]
    assert all(len(set(rows.tolist())) == len(rows) for rows in sets)


def _known(labels, is_in, classes):
    said = Observations(np.zeros((len(labels), classes), np.float32), labels)
    return AttackerKnowledge.of(Evidence(said, (Shadow(said, is_in, said),), (), 0))


def test_a_class_with_too_few_records_is_judged_by_a_model_of_all():
    labels = np.repeat([0, 1, 2], [60, 2 * FEWEST - 1, 60])
    known = _known(labels, np.arange(len(labels)) % 2 == 0, 3)
    sets, models = known.sets(np.ones(len(labels), bool), np.random.default_rng(0))
    assert models.tolist() == [0, 2, 1]
    assert len(sets) == 3
    assert set(labels[sets[2]].tolist()) == {0, 1, 2}


def test_the_logits_of_confidences_are_ranked_behind_the_true_one():
    odds = np.log(np.array([0.2, 0.5, 0.3]) / (1 - np.array([0.2, 0.5, 0.3])))
    said = Observations(np.log(np.array([[0.2, 0.5, 0.3]])).astype(np.float32) + 7, np.array([2]))
    np.testing.assert_allclose(log_odds(said), [odds], atol=1e-6)
    np.testing.assert_allclose(ranked_log_odds(said), [odds[[2, 1, 0]]], atol=1e-6)


def test_confidences_are_the_raw_vectors():
    logits = np.log(np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]])).astype(np.float32)
    said = confidences(Observations(logits + 7, np.array([0, 0])))
    np.testing.assert_allclose(said, [[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]], rtol=1e-5)


def test_it_needs_confidences_and_shadows():
    rng = np.random.default_rng(0)
    labels_alone, _ = _evidence(rng, size=30, shadows=1, gives=LABEL_ANSWERS)
    with pytest.raises(AuditError) as raised:
        Shokri().judge(labels_alone)
    assert [problem.code for problem in raised.value.problems] == ["A005", "A007"]


def test_it_is_found_by_its_name():
    assert attack_of("shokri") == Shokri()
