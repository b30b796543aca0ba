"""Invariants alone: whether a model learns is for benchmarks/generative.py."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.generative.models import conditional_vae, vae_steps
from policy_engine.audits.generative.models.conditional_vae import VaeSettings, fit_vae
from policy_engine.audits.membership.training import runtime
from policy_engine.errors import AuditError, DataError

SMALL = VaeSettings(encoder=(12, 8), decoder=(8, 12), latent=3, epochs=2, batch_size=32, jit=False)
SHAPE = (4, 4)
VALUES = np.random.default_rng(1).random((300, 16))
LABELS = np.arange(300) % 3


def fit(settings=SMALL, seed=0, labels=LABELS, classes=3, values=VALUES):
    return fit_vae(values, labels, shape=SHAPE, classes=classes, settings=settings, seed=seed)


@pytest.fixture(scope="module")
def model():
    return fit()


def test_samples_have_the_shape_of_a_record_and_are_shares(model):
    samples = model.sample(7, label=2, seed=0)
    assert samples.shape == (7, 4, 4)
    assert samples.min() >= 0
    assert samples.max() <= 1
    assert model.sample(0, seed=0).shape == (0, 4, 4)


def test_the_same_seed_gives_the_same_samples_and_another_others(model):
    first = model.sample(5, label=1, seed=3)
    assert np.array_equal(first, model.sample(5, label=1, seed=3))
    assert not np.allclose(first, model.sample(5, label=1, seed=4))


def test_without_a_label_samples_are_of_all_classes_in_turn(model):
    samples = model.sample(6, seed=3)
    for label in range(3):
        own = model.sample(6, label=label, seed=3)
        assert np.allclose(samples[label::3], own[label::3], atol=1e-6)
        assert not np.allclose(samples[(label + 1) % 3 :: 3], own[(label + 1) % 3 :: 3])


def test_the_mean_code_is_not_random_and_passes_are(model):
    x, labels = VALUES[:5].reshape(5, 4, 4), LABELS[:5]
    means = [model.reconstruct(x, label=labels, passes=0, seed=seed) for seed in (0, 1)]
    passes = [model.reconstruct(x, label=labels, passes=1, seed=seed) for seed in (0, 1)]
    assert means[0].shape == (5, 4, 4)
    assert np.array_equal(*means)
    assert not np.allclose(*passes)


@pytest.mark.nightly
def test_the_mean_over_many_passes_hardly_depends_on_the_seed(model):
    x, labels = VALUES[:3].reshape(3, 4, 4), LABELS[:3]
    spreads = []
    for passes in (1, 1_000):
        one, other = (
            model.reconstruct(x, label=labels, passes=passes, seed=seed) for seed in (1, 2)
        )
        spreads.append(np.abs(one - other).max())
    assert spreads[1] < 0.2 * spreads[0]


@pytest.mark.nightly
def test_dropout_is_off_in_samples_and_reconstructions():
    model = fit(replace(SMALL, keep=0.5, epochs=1))
    all_kept = replace(model, design=replace(model.design, keep=1.0))
    x = VALUES[:4].reshape(4, 4, 4)
    assert np.array_equal(model.sample(4, label=0, seed=0), all_kept.sample(4, label=0, seed=0))
    assert np.array_equal(
        model.reconstruct(x, label=1, passes=0, seed=0),
        all_kept.reconstruct(x, label=1, passes=0, seed=0),
    )


def test_dropout_keeps_the_share_of_units_and_their_sum():
    tf = runtime.need_tensorflow()
    graph = vae_steps._Graph(tf, fit(replace(SMALL, keep=0.7, epochs=0)).design)
    levels = np.random.default_rng(0).integers(0, 1 << 16, (1_000, 40), dtype=np.uint16)
    factors = np.concatenate([one.numpy() for one in graph._masks(levels)], axis=1)
    assert np.allclose(np.unique(factors), [0, 1 / 0.7])
    assert factors.mean() == pytest.approx(1, abs=0.02)


def test_the_same_seed_gives_the_same_model_and_another_another():
    first, second, other = fit(seed=5), fit(seed=5), fit(seed=6)
    assert all(map(np.array_equal, first.parameters, second.parameters))
    assert not np.allclose(first.parameters[0], other.parameters[0])


@pytest.mark.nightly
def test_compiled_steps_train_the_same_model():
    settings = replace(SMALL, encoder=(5, 4), decoder=(4, 5), epochs=1)
    plain, compiled = fit(settings), fit(replace(settings, jit=True))
    for one, other in zip(plain.parameters, compiled.parameters, strict=True):
        assert np.allclose(one, other, atol=1e-4)


def test_first_kernels_are_truncated_with_the_variance_of_the_fan_in():
    model = fit(replace(SMALL, encoder=(400, 8), epochs=0))
    kernel, bias = model.parameters[:2]
    deviation = np.sqrt(1.3 * 2 / (16 + 3))
    assert np.abs(kernel).max() <= 2 * deviation
    assert kernel.std() == pytest.approx(0.88 * deviation, rel=0.03)  # of normals within 2
    assert not bias.any()


@pytest.mark.nightly
def test_training_lowers_the_error_of_reconstructions():
    records = np.repeat(np.eye(16)[:3], 100, axis=0)
    labels = np.repeat([0, 1, 2], 100)
    errors = [
        np.square(
            fit(replace(SMALL, epochs=epochs, learning_rate=1e-2), 0, labels, 3, records)
            .reconstruct(records[::100], label=labels[::100], passes=0, seed=0)
            .reshape(3, 16)
            - records[::100]
        ).mean()
        for epochs in (0, 20)
    ]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.nightly
def test_records_without_classes_make_a_model_without_labels():
    model = fit(labels=None, classes=0)
    assert model.sample(3, seed=0).shape == (3, 4, 4)
    assert model.reconstruct(VALUES[:2], passes=0, seed=0).shape == (2, 4, 4)


@pytest.mark.nightly
def test_one_class_has_no_codes():
    records = np.random.default_rng(0).random((30, 6))
    one = fit_vae(
        *(records, np.zeros(30, np.int64)),
        shape=(6,),
        classes=1,
        settings=VaeSettings(epochs=1),
        seed=0,
    )
    assert one.sample(3, label=0, seed=1).shape == (3, 6)


@pytest.mark.nightly
def test_fewer_records_than_a_batch_are_one_batch():
    model = fit(values=VALUES[:5], labels=LABELS[:5])
    assert all(np.isfinite(one).all() for one in model.parameters)


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.5, np.inf])
def test_values_that_are_not_shares_are_refused(bad, model):
    values = VALUES[:4].copy()
    values[2, 3] = bad
    with pytest.raises(AuditError, match="between 0 and 1") as error:
        fit(values=values, labels=LABELS[:4])
    assert error.value.code == "A003"
    with pytest.raises(AuditError, match="between 0 and 1"):
        model.reconstruct(values, label=0, passes=0, seed=0)


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_that_are_no_classes_are_refused(label, model):
    with pytest.raises(AuditError) as error:
        model.sample(2, label=label, seed=0)
    assert error.value.code == "A002"


def test_a_model_with_classes_needs_the_labels_of_records(model):
    with pytest.raises(AuditError) as error:
        model.reconstruct(VALUES[:2], passes=0, seed=0)
    assert error.value.code == "A002"


@pytest.mark.nightly
def test_a_loss_that_is_no_longer_a_number_ends_training():
    with pytest.raises(AuditError) as error:
        fit(replace(SMALL, learning_rate=1e30))
    assert error.value.code == "A013"


def test_without_tensorflow_the_error_says_what_to_install(monkeypatch):
    def need():
        raise DataError.of("C011", "TensorFlow is not installed.")

    monkeypatch.setattr(vae_steps, "need_tensorflow", need)
    monkeypatch.setattr(runtime, "need_tensorflow", need)
    with pytest.raises(DataError) as error:
        fit(replace(SMALL, latent=2))
    assert error.value.code == "C011"


def test_samples_of_more_than_one_block_are_those_of_the_same_noise(model, monkeypatch):
    whole = model.sample(50, label=1, seed=0)
    monkeypatch.setattr(conditional_vae, "_ROWS_AT_ONCE", 20)
    assert np.allclose(whole, model.sample(50, label=1, seed=0), atol=1e-6)
