"""Stacked dense networks: they learn as Keras's own do, and come out as Keras files."""

import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from policy_engine.audits.membership.learners.network import NetworkLearner
from policy_engine.audits.membership.learners.one_by_one import OneByOne
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.training import runtime
from policy_engine.audits.membership.training.batches import epoch_batches
from policy_engine.audits.membership.training.optimizers import optimizer_of
from policy_engine.audits.membership.training.parameters import Design, activate, logits_of
from policy_engine.audits.membership.training.steps import TrainingState
from policy_engine.errors import AuditError, DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Layer, Network

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")  # within Keras

ROWS = [np.arange(0, 90), np.arange(30, 120), np.arange(40, 130)]
NETWORK = Network(
    layers=(Layer(units=12, activation="tanh"),), epochs=10, batch_size=20, learning_rate=0.03
)


def _records(count=200, width=16, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    share = np.where(np.arange(width) % classes == labels[:, None], 0.7, 0.3)
    return records_of_arrays((rng.random((count, width)) < share).astype(np.uint8), labels)


@pytest.fixture(scope="module")
def records():
    return _records()


@pytest.fixture(scope="module")
def trained(records):
    return NetworkLearner(NETWORK).train(records, ROWS, [1, 2, 3])


def _loss(logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return -log_p[np.arange(len(labels)), labels].mean()


@pytest.mark.nightly
def test_stacked_networks_learn_as_fit_does(records, trained):
    import keras

    # Keras shuffles its batches by a state that all tests of a process share.
    keras.utils.set_random_seed(1)
    slow = OneByOne(NETWORK).train(records, ROWS[:1], [1])
    rest = np.arange(130, 200)
    for rows, slack in ((ROWS[0], 0.05), (rest, 0.3)):
        both = [one.logits(records.features[rows])[0] for one in (trained, slow)]
        losses = [_loss(logits, records.labels[rows]) for logits in both]
        assert losses[0] == pytest.approx(losses[1], abs=slack)
        assert 0 < losses[0] < 1.2


@pytest.mark.nightly
def test_members_are_known_better_than_others(records, trained):
    logits = trained.logits(records.features)
    assert logits.shape == (3, 200, 3)
    assert logits.dtype == np.float32
    for model, rows in enumerate(ROWS):
        others = np.setdiff1d(np.arange(200), rows)
        losses = [_loss(logits[model, one], records.labels[one]) for one in (rows, others)]
        assert losses[0] < losses[1]


def test_the_same_seed_gives_the_same_network_alone_and_among_others(records, trained):
    again = NetworkLearner(NETWORK).train(records, ROWS, [1, 2, 3])
    other = NetworkLearner(NETWORK).train(records, ROWS, [1, 2, 4])
    logits = [one.logits(records.features) for one in (trained, again, other)]
    np.testing.assert_array_equal(logits[0], logits[1])
    np.testing.assert_array_equal(logits[0][:2], logits[2][:2])
    alone = NetworkLearner(NETWORK).train(records, ROWS[1:2], [2])
    np.testing.assert_array_equal(logits[0][1], alone.logits(records.features)[0])
    assert np.abs(logits[0][2] - logits[2][2]).max() > 0.01


def test_plain_training_has_no_epsilon(trained):
    assert isinstance(trained.epsilon, NotApplicable)


def test_a_saved_network_opens_in_keras_and_says_the_same(records, trained, tmp_path):
    import keras

    trained.save(tmp_path / "model.keras", 1)
    opened = keras.models.load_model(tmp_path / "model.keras")
    logits = trained.logits(records.features)[1]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    said = opened(records.features.astype(np.float32))
    np.testing.assert_allclose(said, shares, atol=1e-5)


@pytest.mark.parametrize(
    "activation", ["relu", "tanh", "sigmoid", "elu", "selu", "softplus", "linear"]
)
def test_activations_and_their_derivatives_are_those_of_keras(activation):
    import keras
    import tensorflow as tf

    from policy_engine.audits.membership.training.differentiation import (
        _activate,
        _multiply_derivative,
    )

    z = np.linspace(-4, 4, 41, dtype=np.float32)
    function = keras.activations.get(activation)
    np.testing.assert_allclose(activate(activation, z), function(z), atol=1e-6)
    with tf.GradientTape() as tape:
        point = tf.constant(z)
        tape.watch(point)
        value = function(point)
    output = _activate(tf, activation, tf.constant(z))
    ours = _multiply_derivative(tf, activation, output, tf.ones(41))
    np.testing.assert_allclose(ours, tape.gradient(value, point), atol=1e-6)


@pytest.mark.nightly
def test_one_step_of_each_optimizer_is_that_of_keras(records):
    import keras

    rows = [np.arange(20)]
    for settings, optimizer in (
        ({"optimizer": "adam"}, keras.optimizers.Adam(0.1)),
        ({"optimizer": "sgd", "momentum": 0.5, "l2": 0.1}, keras.optimizers.SGD(0.1, 0.5)),
    ):
        network = NETWORK.model_copy(update={**settings, "learning_rate": 0.1, "epochs": 3})
        ours = NetworkLearner(network).train(records, rows, [5]).models[0]
        for mine, theirs in zip(ours, _by_keras(network, records, rows[0], optimizer), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=2e-4)


def _by_keras(network, records, rows, optimizer):
    import keras

    from policy_engine.audits.membership.learners.network import keras_network
    from policy_engine.audits.membership.training.parameters import first_parameters

    design = Design.of(network, records.features.shape[1], 3)
    model = keras_network(design)
    model.set_weights(first_parameters(design, np.random.default_rng([5, 0])))
    for layer in model.layers:
        layer.kernel.regularizer = keras.regularizers.L2(network.l2)
    model.compile(optimizer, "sparse_categorical_crossentropy", run_eagerly=True)
    features = records.features[rows].astype(np.float32)
    for _ in range(network.epochs):
        model.train_on_batch(features, records.labels[rows])
    return model.get_weights()


def test_models_with_fewer_rows_train_as_they_do_alone(records):
    learner = NetworkLearner(NETWORK.model_copy(update={"epochs": 4}))
    both = learner.train(records, [np.arange(30), np.arange(50, 130)], [1, 2])
    for model, rows in enumerate((np.arange(30), np.arange(50, 130))):
        alone = learner.train(records, [rows], [model + 1])
        for mine, theirs in zip(both.models[model], alone.models[0], strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("name", "momentum", "slots"), [("adam", 0, 2), ("sgd", 0.9, 1), ("sgd", 0, 0)]
)
def test_who_sits_a_step_out_keeps_what_they_have(name, momentum, slots):
    import tensorflow as tf

    def steps(active, *, even):
        held = [
            tf.Variable(tf.ones((2, 3))),
            *[tf.Variable(tf.zeros((2, 3))) for _ in range(slots)],
        ]
        state = TrainingState((held[0].handle,), tuple((one.handle,) for one in held[1:]))
        update = optimizer_of(tf, name, momentum, even=even)
        for taken in (1.0, 2.0):
            gradient = [tf.constant([[0.5, -1, 2], [3, 0, 1]]) * taken]
            update(state, gradient, tf.constant(0.1), tf.fill((2,), taken), tf.constant(active))
        return [one.numpy() for one in held]

    fused, masked = steps([True, True], even=True), steps([True, False], even=False)
    for mine, theirs in zip(masked, fused, strict=True):
        np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-4)
    assert (masked[0][1] == 1).all()
    assert all((one[1] == 0).all() for one in masked[1:])


def test_dropout_leaves_out_its_share_and_keeps_the_mean():
    import tensorflow as tf

    from policy_engine.audits.membership.training.differentiation import Differentiation

    design = Design((4, 500, 2), ("linear",), (0.25,))
    parameters = [tf.zeros((2, 4, 500)), tf.ones((2, 500)), tf.zeros((2, 500, 2)), tf.zeros((2, 2))]
    keys = tf.constant([3, 4], tf.uint64)
    passed = Differentiation(tf, design).forward(tf.zeros((2, 30, 4)), parameters, keys)
    hidden = passed.inputs[1].numpy()
    assert set(np.unique(hidden.round(4))) == {0.0, np.float32(4 / 3).round(4)}
    assert hidden.mean() == pytest.approx(1, abs=0.02)
    assert (hidden[0] != hidden[1]).any()


def test_dropout_trains_and_is_off_when_asked(records):
    network = NETWORK.model_copy(update={"layers": (Layer(units=12, dropout=0.3),)})
    trained = NetworkLearner(network).train(records, ROWS[:1], [1])
    logits = trained.logits(records.features[ROWS[0]])[0]
    again = logits_of(trained.models[0], ("relu",), records.features[ROWS[0]].astype(np.float32))
    np.testing.assert_array_equal(logits, again)
    assert (logits.argmax(axis=1) == records.labels[ROWS[0]]).mean() > 0.6


def test_an_epoch_has_every_row_once_in_an_order_of_its_own():
    rows = [np.arange(7), np.arange(10, 14)]
    batches = epoch_batches(rows, 3, [np.random.default_rng(one) for one in (0, 1)])
    assert batches.counts.tolist() == [[3, 3], [3, 1], [1, 0]]
    assert batches.widths.tolist() == [3, 3, 1]
    tables = np.split(batches.rows, batches.offsets()[1:-1])
    for model, own in enumerate(rows):
        seen = [
            table.reshape(2, -1)[model, : count[model]]
            for table, count in zip(tables, batches.counts, strict=True)
        ]
        assert sorted(np.concatenate(seen)) == own.tolist()


def test_a_loss_that_is_no_number_says_which_model_and_epoch(records):
    network = NETWORK.model_copy(update={"learning_rate": 1e38})
    with pytest.raises(AuditError) as raised:
        NetworkLearner(network).train(records, ROWS[:1], [1])
    assert raised.value.problems[0].code == "A013"
    assert "model 1" in str(raised.value)


def test_progress_reaches_its_end(records):
    told = []
    network = NETWORK.model_copy(update={"epochs": 3})
    NetworkLearner(network).train(records, ROWS, [1, 2, 3], lambda *one: told.append(one))
    assert told[-1] == ("training", 9, 9)


def test_more_models_need_more_memory(records):
    needed = [NetworkLearner(NETWORK).memory(records, 90, models) for models in (1, 2, 3)]
    assert needed[2] - needed[1] == needed[1] - needed[0] > 0


def test_without_tensorflow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(runtime.sys.modules, "tensorflow", None)
    with pytest.raises(DataError, match=r"policy-engine\[audits\]"):
        runtime.need_tensorflow()


SAVED = """
import sys
import numpy as np
from pathlib import Path
from policy_engine.audits.membership.learners.network import Networks, keras_network
from policy_engine.audits.membership.training.parameters import Design
design = Design((3, 4, 2), ("relu",), (0.2,))
for _ in range(int(sys.argv[1])):
    keras_network(design)
random = np.random.default_rng(0)
weights = tuple(random.normal(size=shape).astype(np.float32) for shape in design.shapes())
Networks(design, (weights,)).save(Path(sys.argv[2]))
"""


@pytest.mark.nightly
def test_a_network_is_the_same_file_in_every_process(tmp_path):
    for number in (0, 3):
        given = [str(number), str(tmp_path / f"{number}.keras")]
        subprocess.run([sys.executable, "-c", SAVED, *given], check=True, capture_output=True)
    assert (tmp_path / "0.keras").read_bytes() == (tmp_path / "3.keras").read_bytes()


def test_a_network_is_the_same_file_each_time_and_read_back_as_it_is(trained, tmp_path):
    again = trained.save(tmp_path / "one.keras", 1)
    trained.save(tmp_path / "other.keras", 1)
    assert (tmp_path / "one.keras").read_bytes() == (tmp_path / "other.keras").read_bytes()
    pairs = zip(again.models[0], trained.models[1], strict=True)
    assert all((one == other).all() for one, other in pairs)
    with zipfile.ZipFile(tmp_path / "one.keras") as archive:
        assert sorted(archive.namelist()) == ["config.json", "metadata.json", "model.weights.h5"]
        assert b"date" not in archive.read("metadata.json")
        config = archive.read("config.json")
    assert b"optimizer" not in config
    assert not set(re.findall(rb'"seed": (\w+)', config)) - {b"null"}
