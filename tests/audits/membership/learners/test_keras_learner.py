"""Any Keras model: one compiled step for all of them, private or not."""

import random

import numpy as np
import pytest

from policy_engine.audits.membership.learners.keras_function import KerasLearner
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import CentralPrivacy

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")  # within Keras
ROWS = [np.arange(60), np.arange(20, 90)]
EXACT = CentralPrivacy(clipping_norm=0.5, noise_multiplier=0.0)


def _dense(last="softmax", extra=()):
    import keras

    layers = [keras.layers.Dense(4, activation="tanh"), *extra, keras.layers.Dense(3, last)]
    model = keras.Sequential([keras.layers.Input((6,)), *layers])
    model.compile(keras.optimizers.SGD(0.5))
    return model


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(3)
    labels = np.arange(100) % 3
    centres = np.repeat(np.eye(3), 2, axis=1)[labels]
    return records_of_arrays((centres + rng.normal(0, 0.4, (100, 6))).astype(np.float32), labels)


@pytest.fixture(scope="module")
def trained(records):
    return KerasLearner(_dense, epochs=8, batch_size=10).train(records, [*ROWS, ROWS[0]], [1, 2, 1])


@pytest.mark.nightly
def test_each_set_of_rows_has_a_model_that_has_learnt(records, trained):
    logits = trained.logits(records.features)
    assert logits.shape == (3, 100, 3)
    assert ((logits.argmax(axis=2) == records.labels).mean(axis=1) > 0.8).all()
    assert (logits < 0).any()
    assert np.abs(logits[0] - logits[1]).max() > 0.05


def test_a_model_keeps_nothing_of_those_before_it(trained):
    for first, third in zip(trained.models[0], trained.models[2], strict=True):
        np.testing.assert_array_equal(first, third)


def test_a_seed_gives_the_same_model_and_leaves_the_generators_alone(trained):
    random.seed(5)
    before = random.getstate()
    again = trained.shared
    again.fill(1)
    first = again.weights()
    again.fill(2)
    other = again.weights()
    again.fill(1)
    np.testing.assert_array_equal(again.weights()[0], first[0])
    assert (other[0] != first[0]).any()
    assert random.getstate() == before


def test_all_models_go_through_one_compiled_step(trained):
    assert trained.shared._take.experimental_get_tracing_count() == 1


def test_a_saved_model_gives_the_probabilities_of_its_logits(records, trained, tmp_path):
    import keras

    trained.save(tmp_path / "model.keras", 1)
    said = keras.models.load_model(tmp_path / "model.keras")(records.features)
    logits = trained.logits(records.features)[1]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(said, shares, atol=1e-5)


@pytest.mark.nightly
def test_private_steps_clip_each_record_exactly(records):
    import tensorflow as tf

    rows = np.arange(12)
    learner = KerasLearner(lambda: _dense(last=None), 1, 12, EXACT)
    trained = learner.train(records, [rows], [4])
    trained.shared.fill(4)
    model, first = trained.shared.model, trained.shared.weights()
    clipped = [np.zeros_like(one) for one in first]
    for x, label in zip(records.features[rows], records.labels[rows], strict=True):
        with tf.GradientTape() as tape:
            said = model(x[None])
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits([label], said)
        gradients = [one.numpy() for one in tape.gradient(loss, model.trainable_variables)]
        length = np.sqrt(sum((one**2).sum() for one in gradients))
        share = min(1, 0.5 / length)
        clipped = [total + one * share for total, one in zip(clipped, gradients, strict=True)]
    for after, before, total in zip(trained.models[0], first, clipped, strict=True):
        np.testing.assert_allclose(after - before, -0.5 * total / 12, atol=1e-6)
    assert trained.logits(records.features).shape == (1, 100, 3)


@pytest.mark.nightly
def test_private_noise_has_the_deviation_of_multiplier_and_norm_over_the_batch(records):
    privacy = CentralPrivacy(clipping_norm=1e-3, noise_multiplier=50.0)
    learner = KerasLearner(lambda: _dense(last=None), 1, 12, privacy)
    trained = learner.train(records, [np.arange(12)] * 12, range(12))
    changes = []
    for seed, after in enumerate(trained.models):
        trained.shared.fill(seed)
        pairs = zip(after, trained.shared.weights(), strict=True)
        changes += [(one - before).ravel() for one, before in pairs]
    share = 0.5 * 50 * 1e-3 / 12
    assert np.concatenate(changes).std() == pytest.approx(share, rel=0.1)


@pytest.mark.nightly
def test_dropout_can_be_trained_privately(records):
    import keras

    def make():
        return _dense(extra=[keras.layers.Dropout(0.5)])

    privacy = CentralPrivacy(noise_multiplier=1.0)
    told = []
    learner = KerasLearner(make, 1, 10, privacy)
    trained = learner.train(records, [np.arange(40)], [1], lambda *one: told.append(one))
    assert told == [(f"training, epsilon {trained.spendings[0].epsilon_after(4):.2f} spent", 1, 1)]
    assert (trained.spendings[0].steps, trained.spendings[0].sampling_rate) == (4, 0.25)
    assert np.isfinite(trained.logits(records.features)).all()


def test_batch_normalisation_is_refused_by_name_under_privacy(records):
    import keras

    def make():
        return _dense(extra=[keras.layers.BatchNormalization(name="norm")])

    with pytest.raises(AuditError) as raised:
        KerasLearner(make, 1, 10, EXACT).train(records, ROWS, [1, 2])
    assert raised.value.problems[0].code == "A010"
    assert "'norm' (BatchNormalization)" in str(raised.value)


@pytest.mark.parametrize(
    ("width", "outputs", "activation", "says"),
    [(5, 3, None, "6 features"), (6, 4, None, "one output"), (6, 3, "sigmoid", "sum to 1")],
)
def test_a_model_that_does_not_fit_the_records_is_refused(
    records, width, outputs, activation, says
):
    import keras

    def make():
        dense = keras.layers.Dense(outputs, activation)
        return keras.Sequential([keras.layers.Input((width,)), dense])

    with pytest.raises(AuditError, match=says) as raised:
        KerasLearner(make, 1, 10).train(records, ROWS, [1, 2])
    assert raised.value.problems[0].code == "A009"


def test_the_name_tells_models_apart_and_not_how_often_they_were_made():
    names = [KerasLearner(_dense, 8, 10).name for _ in range(2)]
    assert names[0] == names[1]
    assert KerasLearner(_dense, 9, 10).name != names[0]
    assert KerasLearner(lambda: _dense(None), 8, 10).name != names[0]


def test_a_model_of_ones_own_class_is_trained_and_known_by_its_code(records):
    learners = [KerasLearner(_own_class, 1, 50) for _ in range(2)]
    assert learners[0].name == learners[1].name
    assert learners[0].memory(records, 60, 2) > 0
    trained = learners[0].train(records, ROWS[:1], [1])
    logits = trained.logits(records.features)
    assert logits.shape == (1, 100, 3)
    np.testing.assert_allclose(np.exp(logits).sum(axis=2), 1, atol=1e-5)


def _own_class():
    import keras

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3)
            self.softmax = keras.layers.Softmax()

        def call(self, features):
            return self.softmax(self.dense(features))

    return Own()
