"""Private training: records are clipped exactly, noise is as large as it should be."""

import numpy as np
import pytest

from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.training import stacks
from policy_engine.audits.membership.training.batches import poisson_batches
from policy_engine.audits.membership.training.noise import fill_normals
from policy_engine.audits.membership.training.parameters import Design, first_parameters
from policy_engine.audits.membership.training.spending import (
    Spending,
    most_spent,
    spending_of,
    steps_per_epoch,
)
from policy_engine.audits.privacy import accounting
from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy, Layer, Network

ROWS = np.arange(40)
NETWORK = Network(
    layers=(Layer(units=6, activation="softplus"), Layer(units=5, activation="tanh")),
    optimizer="sgd",
    learning_rate=0.5,
    epochs=1,
    batch_size=40,
)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(1)
    return records_of_arrays(rng.normal(size=(40, 7)).astype(np.float32), np.arange(40) % 3)


def _changes(records, network, seed=9, rows=ROWS):
    """Return what training adds to the first parameters, flat."""
    after = NetworkLearner(network).train(records, [rows], [seed]).models[0]
    design = Design.of(network, records.features.shape[1], 3)
    before = first_parameters(design, np.random.default_rng([seed, 0]))
    return np.concatenate([(a - b).ravel() for a, b in zip(after, before, strict=True)])


def _private(clipping_norm, noise_multiplier, **more):
    privacy = CentralPrivacy(clipping_norm=clipping_norm, noise_multiplier=noise_multiplier)
    return NETWORK.model_copy(update={"privacy": privacy, **more})


@pytest.fixture(params=["processor", "device"])
def drawn_by(request, monkeypatch):
    """Where noise is drawn: with a GPU in the loop itself, which runs on a processor here."""
    monkeypatch.setattr(stacks, "gpus", lambda _: ["one"] if request.param == "device" else [])
    return request.param


@pytest.fixture(scope="module")
def gradients(records):
    """Give each record's gradient by TensorFlow's own differentiation, (n, parameters)."""
    import tensorflow as tf

    design = Design.of(NETWORK, 7, 3)
    first = first_parameters(design, np.random.default_rng([9, 0]))
    k1, b1, k2, b2, k3, b3 = variables = [tf.Variable(one) for one in first]
    gradients = []
    for x, label in zip(records.features, records.labels, strict=True):
        with tf.GradientTape() as tape:
            hidden = tf.tanh(tf.nn.softplus(x[None] @ k1 + b1) @ k2 + b2)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits([label], hidden @ k3 + b3)
        gradients.append(np.concatenate([np.ravel(g) for g in tape.gradient(loss, variables)]))
    return np.array(gradients)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("norm", [0.3, 1.0, 1.5])
def test_a_step_sums_the_exactly_clipped_gradients_of_the_records(records, gradients, norm):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    assert (lengths > norm).any()
    clipped = gradients * np.minimum(1, norm / lengths)
    change = _changes(records, _private(norm, 0.0))
    np.testing.assert_allclose(change, -0.5 * clipped.sum(axis=0) / 40, atol=1e-6)
    assert (lengths < 1.5).any()


def test_without_noise_and_clipping_a_whole_batch_is_plain_training(records):
    plain = _changes(records, NETWORK)
    np.testing.assert_allclose(_changes(records, _private(1e6, 0.0)), plain, atol=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("drawn_by")
def test_noise_has_the_deviation_of_multiplier_and_norm_over_the_batch(records):
    norm, multiplier = 1e-3, 50.0
    noise = np.concatenate([_changes(records, _private(norm, multiplier), n) for n in range(10)])
    share = 0.5 * multiplier * norm / 40
    assert noise.std() == pytest.approx(share, rel=0.08)
    assert abs(noise.mean()) < 4 * share / np.sqrt(len(noise))


@pytest.mark.usefixtures("drawn_by")
def test_the_noise_of_the_steps_of_an_epoch_adds_up(records):
    """Four steps of 10 records: their deviations add up in squares, so to twice that of one."""
    network = _private(1e-3, 50.0, batch_size=10)
    noise = np.concatenate([_changes(records, network, seed) for seed in range(10)])
    assert noise.std() == pytest.approx(2 * 0.5 * 50 * 1e-3 / 10, rel=0.08)


@pytest.mark.usefixtures("drawn_by")
def test_models_and_steps_have_noise_of_their_own(records):
    network = _private(1e-3, 100.0)
    one, other = (_changes(records, network, seed) for seed in (1, 2))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.4
    twice = _changes(records, network.model_copy(update={"epochs": 2}), 1)
    assert abs(np.corrcoef(one, twice - one)[0, 1]) < 0.4
    np.testing.assert_array_equal(_changes(records, network, 1), one)


def test_the_penalty_is_neither_clipped_nor_sampled(records):
    design = Design.of(NETWORK, 7, 3)
    first = first_parameters(design, np.random.default_rng([9, 0]))
    decay = np.concatenate([(one if one.ndim == 2 else 0 * one).ravel() for one in first])
    change = _changes(records, _private(1e-6, 0.0, l2=0.1))
    np.testing.assert_allclose(change, -0.5 * 2 * 0.1 * decay, atol=1e-5)


def test_the_sum_is_divided_by_the_expected_batch_not_the_drawn_one(records, gradients):
    network = _private(1.0, 0.0, batch_size=10, learning_rate=1e-4, epochs=25)
    clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
    expected = -1e-4 * 25 * 4 * clipped.mean(axis=0)
    change = _changes(records, network)
    assert np.linalg.norm(change - expected) < 0.25 * np.linalg.norm(expected)


def test_models_that_are_trained_together_have_the_noise_that_each_has_alone(records, drawn_by):
    network, rows = _private(1e-3, 50.0), [ROWS, ROWS[:20]]
    both = NetworkLearner(network).train(records, rows, [3, 4]).models
    alone = [
        NetworkLearner(network).train(records, [one], [n]).models[0]
        for one, n in zip(rows, (3, 4), strict=True)
    ]
    for together, single in zip(both, alone, strict=True):
        for one, other in zip(together, single, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    told = NetworkLearner(network).name.endswith("by a GPU's noise")
    assert told is (drawn_by == "device")


def test_normals_are_normal():
    from scipy.stats import kstest

    noise = np.empty((3, 20_001), np.float32)
    fill_normals(np.random.default_rng(4), noise, 2.0)
    assert noise.std() == pytest.approx(2, rel=0.01)
    assert kstest(noise.ravel() / 2, "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(noise)[0, 1:]).max() < 0.03
    assert abs(np.corrcoef(noise[:, :10_000].ravel(), noise[:, 10_001:].ravel())[0, 1]) < 0.02


def test_steps_have_the_same_noise_however_many_are_filled_at_once():
    both, single = np.empty((2, 7), np.float32), np.empty((1, 7), np.float32)
    fill_normals(np.random.default_rng(4), both, 1.0)
    rng = np.random.default_rng(4)
    for step in range(2):
        fill_normals(rng, single, 1.0)
        np.testing.assert_array_equal(single[0], both[step])


def test_poisson_samples_take_each_row_with_the_rate_and_lose_none():
    rngs = [np.random.default_rng(one) for one in (0, 1)]
    rows = [np.arange(100, 150), np.arange(20)]
    batches = poisson_batches(rows, [0.2, 1.0], [2000, 2000], rngs)
    assert (batches.counts[:, 1] == 20).all()
    assert batches.counts[:, 0].mean() == pytest.approx(10, abs=0.25)
    assert batches.counts[:, 0].var() == pytest.approx(8, rel=0.12)
    assert (batches.widths == batches.counts.max(axis=1)).all()
    tables = np.split(batches.rows, batches.offsets()[1:-1])
    picked = [t.reshape(2, -1)[0, :n] for t, n in zip(tables, batches.counts[:, 0], strict=True)]
    assert all(len(set(one)) == len(one) for one in picked)
    seen = np.bincount(np.concatenate(picked) - 100, minlength=50)
    assert np.abs(seen - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)


@pytest.mark.nightly
def test_epsilon_is_of_the_steps_really_taken(records):
    network = _private(1.0, 4.0, batch_size=10, epochs=3)
    trained = NetworkLearner(network).train(records, [ROWS], [1])
    epsilon = trained.epsilon
    assert (epsilon.steps, epsilon.sampling_rate, epsilon.delta) == (12, 0.25, 1 / 40)
    assert epsilon.noise_multiplier == 4
    assert isinstance(
        NetworkLearner(_private(1.0, 0.0)).train(records, [ROWS], [1]).epsilon, NotApplicable
    )


@pytest.mark.nightly
def test_training_stops_within_its_budget(records):
    told = []
    privacy = CentralPrivacy(noise_multiplier=2.0, max_epsilon=1.5)
    network = NETWORK.model_copy(update={"privacy": privacy, "batch_size": 4, "epochs": 50})
    trained = NetworkLearner(network).train(records, [ROWS], [1], lambda *one: told.append(one))
    assert 0 < trained.epsilon.steps < 500
    assert 1.2 < trained.epsilon.rdp <= 1.5
    assert told[-1][0].startswith("training, epsilon 1.")
    assert float(told[-1][0].split()[2]) <= 1.5


def test_noise_is_calibrated_to_the_steps_of_all_epochs(monkeypatch):
    asked = []
    monkeypatch.setattr(accounting, "noise_for", lambda *one: asked.append(one) or 3.5)
    spending = spending_of(CentralPrivacy(epsilon=2.0), 40, 10, 3)
    assert (asked, spending.noise_multiplier) == ([(2.0, 0.25, 12, 1 / 40)], 3.5)


@pytest.mark.parametrize(
    "privacy",
    [
        CentralPrivacy(),
        CentralPrivacy(noise_multiplier=0.3, max_epsilon=0.01),
        CentralPrivacy(noise_multiplier=0.0, max_epsilon=1.0),
        CentralPrivacy(noise_multiplier=1.0, epsilon=1.0),
    ],
)
def test_what_allows_no_step_or_asks_for_two_noises_is_refused(privacy):
    with pytest.raises(AuditError) as raised:
        spending_of(privacy, 100, 10, 1)
    assert raised.value.problems[0].code == "A006"


def test_models_of_different_sizes_count_the_one_that_spends_most(monkeypatch):
    spent = [spending_of(CentralPrivacy(noise_multiplier=1.0), size, 10, 2) for size in (100, 400)]
    assert [(one.sampling_rate, one.steps) for one in spent] == [(0.1, 20), (0.025, 80)]
    found = {one: EpsilonUpper.model_construct(value=10 * one.sampling_rate) for one in spent}
    monkeypatch.setattr(Spending, "epsilon", lambda one: found[one])
    assert most_spent(spent) == most_spent(spent[::-1]) == found[spent[0]]
    assert steps_per_epoch(104, 10) == 10
    assert steps_per_epoch(3, 10) == 1


def test_models_with_fewer_rows_train_as_they_do_alone(records):
    learner = NetworkLearner(_private(1.0, 0.5, batch_size=10, epochs=2))
    rows = [np.arange(40), np.arange(20, 40)]
    both = learner.train(records, rows, [1, 2])
    for model, own in enumerate(rows):
        alone = learner.train(records, [own], [model + 1])
        for mine, theirs in zip(both.models[model], alone.models[0], strict=True):
            np.testing.assert_array_equal(mine, theirs)
