"""Private training of what is released: it learns, its noise is what is counted, and no seed's."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.membership.learners.learner import release_learner
from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.shadows import ModelTrainer
from policy_engine.audits.membership.shadows import ShadowJob as ModelJob
from policy_engine.audits.membership.training.parameters import Design, logits_of
from policy_engine.audits.membership.training.released import train_for_release
from policy_engine.audits.membership.training.spending import spending_of
from policy_engine.audits.membership.training.stacks import TrainingJob
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network

NETWORK = Network(
    layers=(Layer(units=8, activation="tanh", dropout=0.1),),
    optimizer="adam",
    learning_rate=0.02,
    l2=1e-4,
    epochs=15,
    batch_size=40,
    privacy=CentralPrivacy(noise_multiplier=1.0),
)


def _data(count=300):
    random = np.random.default_rng(3)
    labels = np.arange(count) % 3
    return (2 * random.normal(size=(3, 6))[labels] + random.normal(size=(count, 6))), labels


def _job(network=NETWORK, seed=1):
    features, labels = _data()
    spending = spending_of(network.privacy, len(labels), network.batch_size, network.epochs)
    design = Design.of(network, 6, 3)
    rows = [np.arange(len(labels))]
    return TrainingJob(
        network, design, features.astype(np.float32), labels, rows, [seed], (spending,)
    )


@pytest.mark.parametrize(("optimizer", "rate", "momentum"), [("adam", 0.02, 0), ("sgd", 0.5, 0.5)])
def test_it_learns_in_spite_of_the_noise(optimizer, rate, momentum):
    network = NETWORK.model_copy(
        update={"optimizer": optimizer, "learning_rate": rate, "momentum": momentum}
    )
    job = _job(network)
    (trained,) = train_for_release(job, entropy=np.random.default_rng(2).bytes)
    said = logits_of(trained, job.design.activations, job.features).argmax(axis=1)
    assert (said == job.labels).mean() > 0.85
    assert [one.dtype for one in trained] == [np.float32] * 4


def test_the_noise_of_a_step_is_what_is_counted_over_the_expected_batch():
    """One step of gradient descent from records without a gradient: their weights are noise."""
    network = Network(
        layers=(),
        optimizer="sgd",
        learning_rate=1.0,
        epochs=1,
        batch_size=50,
        privacy=CentralPrivacy(noise_multiplier=3.0, clipping_norm=0.2),
    )
    features, labels = np.zeros((50, 4_000), np.float32), np.arange(50) % 2
    design = Design.of(network, 4_000, 2)
    spending = spending_of(network.privacy, 50, 50, 1)
    job = TrainingJob(network, design, features, labels, [np.arange(50)], [0], (spending,))
    first, again = (train_for_release(job)[0][0].ravel() for _ in range(2))
    moved = (first - again) / np.sqrt(2)
    assert moved.std() == pytest.approx(3.0 * 0.2 / 50, rel=0.04)


def test_the_same_seed_gives_other_models_and_the_same_bits_the_same_one():
    network = NETWORK.model_copy(update={"epochs": 1})
    first, again = (train_for_release(_job(network))[0][0] for _ in range(2))
    assert (first != again).any()
    first, again = (
        train_for_release(_job(network), entropy=np.random.default_rng(5).bytes)[0][0]
        for _ in range(2)
    )
    assert (first == again).all()


def test_batches_are_poisson_samples_of_the_rate_that_is_counted(monkeypatch):
    sizes = []
    released = "policy_engine.audits.membership.training.released.summed_gradients"

    def summed(_, weights, records, *_rest):
        sizes.append(len(records[1]))
        return [np.zeros_like(one) for one in weights]

    monkeypatch.setattr(released, summed)
    train_for_release(_job(NETWORK.model_copy(update={"epochs": 60})))
    rate = 40 / 300
    assert len(sizes) == 60 * 8
    assert np.mean(sizes) == pytest.approx(40, abs=4 * np.sqrt(40 * (1 - rate) / len(sizes)))
    assert np.var(sizes) == pytest.approx(40 * (1 - rate), rel=0.3)


def test_a_batch_may_be_empty():
    """Of 300 records at a rate of 1 in 300, in one step of three."""
    network = NETWORK.model_copy(update={"batch_size": 1, "epochs": 1})
    (trained,) = train_for_release(_job(network))
    assert all(np.isfinite(one).all() for one in trained)


def test_weights_that_are_no_longer_numbers_are_refused():
    network = NETWORK.model_copy(update={"optimizer": "sgd", "learning_rate": 1e308, "l2": 1e9})
    with np.errstate(all="ignore"), pytest.raises(AuditError, match="A013 The weights are no"):
        train_for_release(_job(network))


def test_progress_tells_of_epochs_and_of_what_they_spent():
    told = []
    train_for_release(_job(), lambda *step: told.append(step))
    assert [done for _, done, _ in told] == list(range(1, 16))
    assert told[-1][0].startswith("training, epsilon ")


@pytest.mark.nightly
def test_a_model_to_be_released_is_trained_in_secret_and_its_shadows_from_their_seeds(tmp_path):
    features, labels = _data(120)
    records = records_of_arrays(features, labels)
    network = NETWORK.model_copy(update={"epochs": 1})
    workshop = ModelTrainer(NetworkLearner(network), records, records.features)
    jobs = [ModelJob(np.arange(60), np.arange(120), seed) for seed in (1, 2)]
    first, again = (workshop.run(jobs, "models", save=tmp_path / f"{name}.keras") for name in "ab")
    assert (first[0].logits != again[0].logits).any()
    assert (first[1].logits == again[1].logits).all()
    assert [one.notes["secret"] for one in first] == [True, False]
    assert first[0].notes["epsilon"] == first[1].notes["epsilon"]


def test_only_private_networks_are_trained_otherwise_for_release():
    private = release_learner(NetworkLearner(NETWORK))
    assert private.is_secret
    assert private.name != NetworkLearner(NETWORK).name
    plain = NetworkLearner(NETWORK.model_copy(update={"privacy": None}))
    assert not release_learner(plain).is_secret
    assert release_learner(plain).name == plain.name
    tree = EstimatorLearner.from_object
    assert release_learner(tree) is tree
    without = replace(
        plain, network=NETWORK.model_copy(update={"privacy": CentralPrivacy(noise_multiplier=0)})
    )
    assert not release_learner(without).is_secret
