"""Invariants alone: how well the attack does is for benchmarks/generative.py."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.generative.attacks import auxiliary_gan as attack
from policy_engine.audits.generative.attacks.auxiliary_gan import auxiliary_gan
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.models.dcgan import GanSettings
from policy_engine.kernels.estimates import NotApplicable

SMALL = GanSettings(widths=(4, 2, 2), latent=2, iterations=2, batch_size=8)
RANDOM = np.random.default_rng(0)


def records(count):
    return RecordSet("records", RANDOM.random((count, 16)), np.arange(count) % 2)


@pytest.fixture
def material():
    return Material(records(9), records(8), synthetic=records(20), shape=(4, 4), classes=("a", "b"))


@pytest.mark.nightly
def test_every_record_has_a_score(material):
    scores = auxiliary_gan(material, SMALL)
    assert scores.shape == (17,)
    assert np.isfinite(scores).all()


@pytest.mark.nightly
def test_the_seed_says_which_score_a_record_has(material):
    scores = auxiliary_gan(material, SMALL)
    assert np.array_equal(scores, auxiliary_gan(material, SMALL))
    assert not np.allclose(scores, auxiliary_gan(replace(material, seed=1), SMALL))


def test_the_gan_is_trained_on_samples_alone(material, monkeypatch):
    seen = []

    def fit(values, labels, **_):
        seen.extend((values, labels))
        return Level()

    class Level:
        def discriminate(self, x, **_):
            return x.mean(axis=(1, 2))

    monkeypatch.setattr(attack, "fit_gan", fit)
    scores = auxiliary_gan(material, SMALL)
    assert scores == pytest.approx(material.audited.values.mean(axis=1))
    assert sorted(map(tuple, seen[0])) == sorted(map(tuple, material.synthetic.values))
    assert len(seen[1]) == 20


@pytest.mark.parametrize(
    "lacking",
    [
        {"synthetic": None},
        {"shape": (16,)},
        {"synthetic": RecordSet("bad", np.full((20, 16), 2.0), np.arange(20) % 2)},
    ],
)
def test_what_is_no_image_or_has_no_samples_is_not_attacked(lacking, material):
    assert isinstance(auxiliary_gan(replace(material, **lacking), SMALL), NotApplicable)
