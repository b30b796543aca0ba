import numpy as np

from policy_engine.audits.membership.degeneracy import degeneracy, is_one_value

CLASSES = np.arange(60) % 3


def test_a_score_that_follows_from_the_class_is_one_value():
    assert degeneracy(CLASSES * 2.5, CLASSES) == "it gives all records of a class one score"
    assert degeneracy(CLASSES * 2.5) == ""
    assert degeneracy(np.zeros(60)) == "it gives all records one score"


def test_two_values_in_every_class_are_next_to_none():
    assert degeneracy(CLASSES + np.arange(60) // 30 * 10.0, CLASSES) == "its score has 2 values"
    assert degeneracy(np.arange(60) % 3.0) == ""


def test_ties_of_nearly_all_pairs_are_next_to_no_values():
    """53 of 60 records share one score: 53 x 52 of 60 x 59 pairs are tied."""
    scores = np.where(np.arange(60) < 53, 0.0, np.arange(60))
    assert degeneracy(scores) == "78% of the pairs of records have one score"
    assert degeneracy(np.where(np.arange(60) < 50, 0.0, np.arange(60))) == ""


def test_logits_that_differ_by_rounding_alone_are_one():
    noise = np.random.default_rng(3).normal(0, 5e-7, 60)
    same = "it gives all records of a class one score"
    for boundary in (0.0, 0.5e-5, 0.25e-5):
        assert degeneracy(CLASSES * 2.5 + boundary + noise, CLASSES) == same
        assert is_one_value(CLASSES + boundary + noise, CLASSES)
    assert degeneracy(1e4 * noise, CLASSES) == ""
    assert not is_one_value(1e4 * noise, CLASSES)


def test_one_class_with_a_score_is_enough_not_to_be_degenerate():
    scores = np.where(CLASSES == 1, np.arange(60), 0.0)
    assert degeneracy(scores, CLASSES) == ""


def test_few_records_cannot_have_more_values_than_they_are():
    assert degeneracy(np.array([1.0, 2, 1, 2]), np.array([0, 0, 1, 1])) == ""
    assert degeneracy(np.array([])) == ""
