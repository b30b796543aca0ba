from dataclasses import dataclass

import numpy as np
import pytest
from attack_evidence import evidence, of_probabilities, shadow
from hypothesis import given
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.audits.membership.attacks import attack_of, expand_attacks, notations
from policy_engine.audits.membership.attacks.attack import (
    best_threshold,
    check,
    learnt_threshold,
    rows_by_class,
    threshold_by_class,
)
from policy_engine.audits.membership.observations import (
    LABEL_ANSWERS,
    Evidence,
    Observations,
    ScoredRecords,
    Shadow,
)
from policy_engine.errors import AuditError

OWN = (
    "loss",
    "entropy",
    "modified-entropy",
    "label-only",
    "calibrated-loss",
    "lira-online",
    "lira-offline",
    "rmia",
    "rmia-online",
)


@pytest.mark.parametrize("notation", OWN)
def test_an_attack_is_found_by_its_name(notation):
    assert attack_of(notation).notation == notation


@pytest.mark.parametrize("notation", ["", "attack", "lira", "likelihood", "../loss", "Loss", "los"])
def test_what_is_no_attack_is_refused(notation):
    with pytest.raises(AuditError, match=r"A012 .* is not known"):
        attack_of(notation)


def test_lira_is_both_of_its_kinds_and_each_is_run_once():
    expanded = expand_attacks(["loss", "lira", "lira-online", "loss"])
    assert expanded == ("loss", "lira-offline", "lira-online")


def test_every_unknown_name_is_told():
    with pytest.raises(AuditError) as raised:
        expand_attacks(["los", "loss", "lirra"])
    assert [problem.code for problem in raised.value.problems] == ["A012", "A012"]


@pytest.mark.parametrize("notation", [name for name in OWN if name != "label-only"])
def test_labels_alone_are_too_little(notation):
    with pytest.raises(AuditError, match="A005"):
        attack_of(notation).judge(evidence([1, 2], gives=LABEL_ANSWERS))


@pytest.mark.parametrize(
    "notation", ["calibrated-loss", "lira-online", "lira-offline", "rmia", "rmia-online"]
)
def test_one_shadow_is_too_few(notation):
    one = shadow([1], [True], [1, 2])
    online = [([1, 2], [True, False])]
    with pytest.raises(AuditError, match=r"A007 .* There are 1, 2 or more are allowed"):
        attack_of(notation).judge(evidence([1, 2], [one], online))


def test_all_that_is_lacking_is_told_at_once():
    with pytest.raises(AuditError) as raised:
        check(attack_of("rmia"), evidence([1], gives=LABEL_ANSWERS))
    assert [problem.code for problem in raised.value.problems] == ["A005", "A007"]


@dataclass(frozen=True)
class OfImages:
    """What a domain of its own offers, in terms of its own."""

    gives: frozenset
    counts: dict


@pytest.mark.parametrize(("there", "told"), [(3, ["A005"]), (1, ["A005", "A007"])])
def test_what_is_needed_and_offered_are_open_terms(there, told):
    class Nearest:
        notation = "nearest"
        needs = frozenset({"samples", "generators", "embeddings"})

    enough = {"generators"} if there > 1 else set()
    offer = OfImages(frozenset({"samples", *enough}), {"generators": there})
    with pytest.raises(AuditError, match="'nearest' needs embeddings") as raised:
        check(Nearest(), offer)
    assert [problem.code for problem in raised.value.problems] == told


def test_scores_alone_are_too_little_for_attacks_on_confidences():
    scored = Evidence(ScoredRecords(np.ones(2), "likelihood"), (), (), 0)
    with pytest.raises(
        AuditError, match=r"needs confidences\. The model gives likelihood and scores\."
    ):
        check(attack_of("loss"), scored)


@pytest.mark.parametrize("notation", notations())
def test_an_attack_needs_what_the_vocabulary_says(notation):
    assert attack_of(notation).needs == set(terms.attacks()[notation].texts("needs"))


def test_the_best_threshold_lies_halfway():
    scores = np.array([5.0, 4, 2, 1, 0])
    assert best_threshold(scores, np.array([True, True, False, True, False])) == 3


def test_nobody_is_called_where_scores_mislead():
    assert best_threshold(np.array([1.0, 0]), np.array([False, True])) == np.inf
    assert best_threshold(np.array([1.0, 1]), np.array([False, True])) == np.inf


def test_thresholds_without_members_or_without_others():
    scores = np.array([1.0, 2])
    assert best_threshold(scores, np.array([True, True])) == -np.inf
    assert best_threshold(scores, np.array([False, False])) == np.inf


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=12))
def test_no_threshold_is_better_than_the_best(records):
    scores, is_member = np.array(records).T
    is_member = is_member.astype(bool)
    if 0 < is_member.sum() < len(records):

        def gain(threshold):
            called = scores > threshold
            return called[is_member].mean() - called[~is_member].mean()

        best = max(gain(bound) for bound in np.arange(-0.5, 7))
        assert gain(best_threshold(scores.astype(float), is_member)) == pytest.approx(best)


@pytest.mark.parametrize("low", [1.0, np.nextafter(1, 2)])
def test_neighbouring_floats_are_told_apart(low):
    scores = np.array([np.nextafter(low, 2), low])
    assert (scores > best_threshold(scores, np.array([True, False]))).tolist() == [True, False]


def test_a_threshold_is_learnt_from_all_shadows_and_none_without():
    shadows = [shadow([4, 1], [True, False], [0]), shadow([2, 3], [False, True], [0])]
    assert learnt_threshold(evidence([0], shadows), lambda seen: seen.margin) == 2.5
    assert learnt_threshold(evidence([0]), lambda seen: seen.margin) is None


def three_classes(margins, labels):
    logits = np.zeros((len(margins), 3))
    logits[np.arange(len(margins)), labels] = np.array(margins) + np.log(2)
    return Observations(logits, np.array(labels))


def test_a_class_without_both_kinds_has_the_threshold_of_all():
    own = three_classes([4, 2, 9, 7, 8], [0, 0, 1, 1, 2])
    is_member = np.array([True, False, True, False, True])
    judged = of_probabilities([[0.2, 0.3, 0.5]] * 3, [0, 1, 2])
    shadows = (Shadow(own, is_member, judged),)
    given_to = Evidence(judged, shadows, (), 0)
    found = threshold_by_class(given_to, lambda seen: seen.margin)
    assert found == pytest.approx([3, 8, 7.5])


def test_rows_of_classes_are_in_their_order():
    rows = rows_by_class(np.array([1, 0, 1, 3]), 4)
    assert [list(one) for one in rows] == [[1], [0, 2], [], [3]]
