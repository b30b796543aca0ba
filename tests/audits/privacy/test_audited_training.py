"""Our private training under audit: no attack may show more than the accountant allows."""

import math

import numpy as np
import pytest

from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.one_run import audit_in_one_run
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.privacy.accounting import epsilon_of
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network

COUNT, DELTA = 600, 1e-5


def _zeros():
    return records_of_arrays(np.zeros((8, COUNT), np.uint8), np.arange(8) % 2)


def _own_features(_records, count, random):
    """Give each canary a feature that nobody else has, so that nothing hides its gradient."""
    return 16 * np.eye(count, dtype=np.uint8), random.integers(2, size=count)


def _one_step(noise):
    """One step on all records, long enough to bury the first weights."""
    return Network(
        layers=(),
        optimizer="sgd",
        learning_rate=1e7,
        epochs=1,
        batch_size=100_000,
        privacy=CentralPrivacy(noise_multiplier=noise),
    )


def _audited(noise, guesses, seed=0):
    learner = NetworkLearner(_one_step(noise))
    return audit_in_one_run(
        learner, _zeros(), COUNT, DELTA, make=_own_features, guesses=guesses, seed=seed
    )


@pytest.mark.nightly
@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_a_private_training_shows_less_than_it_spends(noise):
    allowed = epsilon_of(noise, 1.0, 1, DELTA).value
    assert 0.1 * allowed < _audited(noise, 100).value <= allowed


@pytest.mark.nightly
def test_a_training_that_forgets_its_noise_shows_more_than_it_claims():
    found = _audited(0.0, 200)
    assert found.correct == found.guesses
    assert found.value > epsilon_of(2.0, 1.0, 1, DELTA).value


def test_guesses_are_right_as_often_as_the_gaussian_mechanism_allows():
    """Of a gradient of norm 1 in noise of deviation z, Phi(1 / 2z) of the guesses are right."""
    correct = sum(_audited(1.0, COUNT, seed).correct for seed in range(1, 9))
    expected = (1 + math.erf(0.5 / math.sqrt(2))) / 2
    assert correct / (8 * COUNT) == pytest.approx(expected, abs=0.02)


def _trained(privacy, seed):
    random = np.random.default_rng(0)
    records = records_of_arrays(random.integers(2, size=(100, 100)), np.arange(100) % 4)
    network = Network(
        layers=(Layer(units=32),), learning_rate=0.01, epochs=30, batch_size=50, privacy=privacy
    )
    return audit_in_one_run(NetworkLearner(network), records, 200, 1e-3, seed=seed)


@pytest.mark.nightly
def test_a_private_network_shows_less_than_it_spends_and_another_more():
    allowed = epsilon_of(8.0, 50 / 180, 30 * 4, 1e-3).value
    assert _trained(CentralPrivacy(noise_multiplier=8.0), 1).value <= allowed
    assert _trained(CentralPrivacy(noise_multiplier=0.0), 1).value > allowed
    assert _trained(None, 1).value > allowed
