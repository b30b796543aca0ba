"""The audit in one run: its p-value by hand, and that it holds."""

import math

import numpy as np
import pytest

from policy_engine.audits.membership.one_run import mislabelled_canaries, one_run, random_canaries
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.privacy.one_run_bound import one_run_bound, p_value
from policy_engine.errors import AuditError


def test_p_value_by_hand():
    """Three of three right at epsilon 0: 1/8; delta adds 2 m delta max of 3/8, 6/16, 7/24."""
    assert p_value(0.0, 3, 3, 10, 0.0) == pytest.approx(1 / 8)
    assert p_value(0.0, 3, 3, 10, 0.01) == pytest.approx(1 / 8 + 2 * 10 * 0.01 * 3 / 8)
    assert p_value(math.log(3), 3, 3, 10, 0.0) == pytest.approx(27 / 64)


@pytest.mark.parametrize("guesses", [10, 100, 1_000])
def test_all_guesses_right_show_what_so_many_allow(guesses):
    """(e^epsilon / (e^epsilon + 1))^guesses = .05."""
    share = 0.05 ** (1 / guesses)
    bound = one_run_bound(guesses, guesses, 1_000, 0.0)
    assert bound == pytest.approx(math.log(share / (1 - share)), abs=1e-5)


def test_delta_and_mistakes_lower_the_bound():
    best = one_run_bound(100, 100, 1_000, 0.0)
    assert one_run_bound(90, 100, 1_000, 0.0) < best
    assert one_run_bound(100, 100, 1_000, 1e-4) < best
    assert one_run_bound(100, 100, 1_000, 0.1) == 0


def test_half_of_the_guesses_right_show_nothing():
    assert one_run_bound(50, 100, 1_000, 1e-5) == 0


def test_scores_that_separate_show_the_ceiling():
    is_included = np.random.default_rng(0).random(300) < 0.5
    found = one_run(is_included.astype(float), is_included, 1e-5, guesses=100)
    assert found.correct == 100
    assert found.value == found.ceiling > 3


def test_scores_at_random_show_nothing():
    random = np.random.default_rng(0)
    found = one_run(random.random(300), random.random(300) < 0.5, 1e-5)
    assert found.guesses == 100
    assert found.value == 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_randomized_response_hardly_ever_shows_more_than_its_epsilon(epsilon):
    random = np.random.default_rng(5)
    bounds = []
    for _ in range(400):
        is_included = random.random(400) < 0.5
        told = random.random(400) < 1 / (1 + math.exp(-epsilon))
        scores = (is_included == told) + random.random(400) / 2
        bounds.append(one_run(scores, is_included, 0.0, 300).value)
    assert np.mean(np.array(bounds) > epsilon) <= 0.075
    assert np.median(bounds) > 0.5 * epsilon


@pytest.mark.parametrize("guessed", [(5, 4, 10), (-1, 4, 10), (4, 11, 10)])
def test_guesses_that_cannot_be_are_refused(guessed):
    with pytest.raises(AuditError, match="A011"):
        one_run_bound(*guessed, 0.0)


def test_more_guesses_than_canaries_are_refused():
    with pytest.raises(AuditError, match="A011 20 guesses cannot be made on 10 canaries"):
        one_run(np.zeros(10), np.zeros(10, bool), 0.0, guesses=20)


def _records():
    random = np.random.default_rng(0)
    return records_of_arrays(random.integers(2, size=(60, 8)), np.arange(60) % 3)


def test_mislabelled_canaries_have_another_label():
    records = _records()
    features, labels = mislabelled_canaries(records, 60, np.random.default_rng(1))
    own = {(*row, label) for row, label in zip(records.features, records.labels, strict=True)}
    assert features.dtype == np.uint8
    assert set(labels.tolist()) == {0, 1, 2}
    rows = np.random.default_rng(1).choice(60, size=60, replace=False)
    assert (features == records.features[rows]).all()
    assert (labels != records.labels[rows]).all()
    assert len(own) > 3


def test_random_canaries_take_each_feature_from_some_record():
    records = _records()
    features, labels = random_canaries(records, 200, np.random.default_rng(1))
    assert features.shape == (200, 8)
    assert set(np.unique(labels)) == {0, 1, 2}
    assert features.mean() == pytest.approx(records.features.mean(), abs=0.1)
