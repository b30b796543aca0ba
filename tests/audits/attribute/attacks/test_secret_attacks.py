"""Attacks on secrets, on models of two or three answers that can be worked by hand."""

import numpy as np
import pytest

from policy_engine.audits.attribute.attacks import SECRET_ATTACKS
from policy_engine.audits.attribute.attacks.attack import likeliest
from policy_engine.audits.attribute.evidence import KnownRecords, PublishedFigures, SecretEvidence

ATTACKS = {one.notation: one for one in SECRET_ATTACKS}


def evidence(tried, labels, known=None):
    """What is known of records whose secrets were tried: (n, V, C) probabilities."""
    tried = np.array(tried, dtype=float)
    features = np.zeros((len(labels), 1)) if known is None else np.array(known)
    return SecretEvidence(features.astype(np.float32), np.array(labels), tried[:, 0].copy(), tried)


def guess(name, tried, labels, marginals=(0.5, 0.5), confusion=((1, 0), (0, 1)), **options):
    asked = evidence(tried, labels, **options)
    published = PublishedFigures(np.array(marginals), np.array(confusion))
    known = KnownRecords(asked.take(np.arange(0)), np.zeros(0, dtype=np.int64))
    return ATTACKS[name].guess(asked, known, published, 1).tolist()


def shares(*firsts):
    """The answers for each value: the probability of the first of two classes, and the rest."""
    return [[one, 1 - one] for one in firsts]


# P(v) is .75 and .25. Of true class 0, the model calls 60 so and 40 otherwise; of class 1, 10 and
# 90. With the first value it says 0, with the second 1.
MARGINALS, CONFUSION = (0.75, 0.25), ((60, 40), (10, 90))


def test_fredrikson_weighs_the_marginal_by_the_confusion_matrix():
    # True class 0: .75 * .6 = .45 against .25 * .4 = .1. Class 1: .75 * .1 against .25 * .9.
    tried = [shares(0.8, 0.3), shares(0.8, 0.3)]
    assert guess("fredrikson", tried, [0, 1], MARGINALS, CONFUSION) == [0, 1]


def test_fredrikson_guesses_the_commonest_value_where_all_lead_to_one_answer():
    tried = [shares(0.9, 0.6), shares(0.1, 0.2)]
    assert guess("fredrikson", tried, [0, 0], (0.25, 0.75), CONFUSION) == [1, 1]


def test_fredrikson_guesses_the_commonest_value_where_the_model_never_answered_so():
    # It never called a record of class 0 anything else: whatever the value, the rate is 0.
    tried = [shares(0.1, 0.2)]
    assert guess("fredrikson", tried, [0], (0.25, 0.75), ((5, 0), (0, 5))) == [1]


def test_confidence_takes_the_value_with_the_surest_true_label():
    tried = [shares(0.6, 0.9), shares(0.6, 0.9), shares(0.3, 0.1)]
    # Right with both: the surer one. Wrong with both: the one that is less sure.
    assert guess("confidence", tried, [0, 1, 0]) == [1, 0, 0]


def test_confidence_prefers_a_value_that_leads_to_the_label_to_a_surer_wrong_answer():
    # Class 0 has .4 with the first value and is right there; .45 with the second, where 1 has .5.
    tried = [[[0.4, 0.35, 0.25], [0.45, 0.5, 0.05]]]
    assert guess("confidence", tried, [0]) == [0]


def test_tried_labels_guesses_the_only_value_that_leads_to_the_label():
    tried = [shares(0.6, 0.4), shares(0.6, 0.4)]
    assert guess("tried-labels", tried, [0, 1]) == [0, 1]


def test_tried_labels_learns_the_others_from_the_clear_cases():
    clear = [shares(0.9, 0.1)] * 60
    tried = [*clear, shares(0.9, 0.8), shares(0.9, 0.8)]
    labels = [0] * 30 + [1] * 30 + [0, 0]  # the secret of the first 30 is 0, of the others 1
    known = [[0.0]] * 30 + [[1.0]] * 30 + [[0.0], [1.0]]
    assert guess("tried-labels", tried, labels, known=known)[-2:] == [0, 1]


def test_tried_labels_guesses_the_commonest_value_without_clear_cases():
    assert guess("tried-labels", [shares(0.9, 0.8)] * 3, [0, 0, 1], (0.4, 0.6)) == [1, 1, 1]


@pytest.mark.parametrize("name", ["black-box-forest", "black-box-network"])
def test_black_boxes_learn_from_the_answer_about_the_record(name):
    # The answer is surer of class 0 by .8 where the secret is 0.
    secrets = np.arange(200) % 2
    known = evidence([shares(0.9 - 0.8 * one, 0.5) for one in secrets], np.zeros(200, np.int64))
    published = PublishedFigures(np.array([0.5, 0.5]), np.eye(2, dtype=np.int64))
    asked = known.take(np.arange(10))
    found = ATTACKS[name].guess(asked, KnownRecords(known, secrets), published, 1)
    assert found.tolist() == secrets[:10].tolist()


def test_the_tried_forest_sees_nothing_of_the_answer_about_the_record():
    secrets = np.arange(200) % 2
    tried = [shares(0.9, 0.2) if one == 0 else shares(0.2, 0.9) for one in secrets]
    known = evidence(tried, np.zeros(200, np.int64))
    blind = SecretEvidence(known.known, known.labels, np.zeros_like(known.answers), known.tried)
    published = PublishedFigures(np.array([0.5, 0.5]), np.eye(2, dtype=np.int64))
    attack = ATTACKS["tried-forest"]
    lesson = KnownRecords(known, secrets)
    assert attack.guess(blind, lesson, published, 1).tolist() == secrets.tolist()


def test_of_equal_scores_the_commonest_value_is_guessed_and_of_these_the_first():
    scores = np.array([[1.0, 1.0, 0.5], [0.2, 0.2, 0.2]])
    assert likeliest(scores, np.array([0.2, 0.4, 0.4])).tolist() == [1, 1]
