"""Invariants alone: whether a model learns is for benchmarks/generative.py."""

import numpy as np
import pytest

from policy_engine.audits.generative.models.dcgan import GanSettings, fit_gan
from policy_engine.errors import AuditError

SMALL = GanSettings(widths=(8, 4, 2), latent=3, iterations=3, batch_size=10)
VALUES = np.random.default_rng(1).random((30, 15))
LABELS = np.arange(30) % 2


def fit(shape=(5, 3), labels=LABELS, classes=2, values=VALUES, seed=0):
    return fit_gan(values, labels, shape=shape, classes=classes, settings=SMALL, seed=seed)


@pytest.fixture(scope="module")
def model():
    return fit()


@pytest.mark.nightly
def test_samples_have_the_shape_of_a_record_and_are_shares(model):
    samples = model.sample(3, label=1, seed=0)
    assert samples.shape == (3, 5, 3)
    assert samples.min() >= 0
    assert samples.max() <= 1
    assert model.sample(0, seed=0).shape == (0, 5, 3)


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_samples_and_another_others(model):
    first = model.sample(4, seed=1)
    assert np.array_equal(first, model.sample(4, seed=1))
    assert not np.allclose(first, model.sample(4, seed=2))


def test_the_discriminator_says_the_same_of_a_record_whatever_is_beside_it(model):
    together = model.discriminate(VALUES, label=LABELS)
    alone = [model.discriminate(VALUES[[row]], label=LABELS[[row]])[0] for row in (0, 7)]
    assert together.shape == (30,)
    assert np.allclose(together[[0, 7]], alone, atol=1e-5)


def test_the_discriminator_gives_plain_logits_of_both_signs():
    records = np.concatenate([VALUES, np.zeros((5, 15)), np.ones((5, 15))])
    logits = fit().discriminate(records, label=0)
    assert len(np.unique(np.round(logits, 6))) > 25


def test_the_same_seed_gives_the_same_model():
    first, second, other = fit(seed=2), fit(seed=2), fit(seed=3)
    scores = [one.discriminate(VALUES, label=LABELS) for one in (first, second, other)]
    assert np.array_equal(*scores[:2])
    assert not np.allclose(scores[0], scores[2])


@pytest.mark.nightly
def test_images_may_have_colours_and_no_classes():
    model = fit(shape=(5, 1, 3), labels=None, classes=0)
    assert model.sample(2, seed=0).shape == (2, 5, 1, 3)
    assert model.discriminate(VALUES).shape == (30,)


def test_features_that_are_not_an_image_are_refused():
    with pytest.raises(ValueError, match="height"):
        fit(shape=(15,))


def test_missing_values_are_refused(model):
    values = VALUES.copy()
    values[0, 0] = np.nan
    for ask in (lambda: fit(values=values), lambda: model.discriminate(values, label=LABELS)):
        with pytest.raises(AuditError) as error:
            ask()
        assert error.value.code == "A003"
