import warnings

import numpy as np
import pytest
from attack_evidence import observed, of_probabilities
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.membership.observations import Observations

P = [0.7, 0.2, 0.1]


def test_figures_of_probabilities():
    seen = of_probabilities([P, P], [0, 1])
    assert seen.margin == pytest.approx(np.log([0.7 / 0.3, 0.2 / 0.8]))
    assert seen.loss == pytest.approx(-np.log([0.7, 0.2]))
    assert seen.confidence == pytest.approx([0.7, 0.2])
    assert seen.certainty == pytest.approx(np.log([0.7 / 0.3] * 2))
    assert seen.entropy == pytest.approx([-sum(p * np.log(p) for p in P)] * 2)
    assert seen.is_right.tolist() == [True, False]


def test_modified_entropy_as_in_equation_8():
    right = -0.3 * np.log(0.7) - 0.2 * np.log(0.8) - 0.1 * np.log(0.9)
    wrong = -0.8 * np.log(0.2) - 0.7 * np.log(0.3) - 0.1 * np.log(0.9)
    assert of_probabilities([P, P], [0, 1]).modified_entropy == pytest.approx([right, wrong])


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=5), st.data())
def test_figures_are_those_of_the_softmax(logits, data):
    label = data.draw(st.integers(0, len(logits) - 1))
    p = np.exp(logits) / np.exp(logits).sum()
    seen = Observations(np.array([logits]), np.array([label]))
    others = np.delete(p, label)
    expected = -(1 - p[label]) * np.log(p[label]) - (others * np.log1p(-others)).sum()
    assert seen.modified_entropy == pytest.approx([expected], rel=1e-6)
    assert seen.entropy == pytest.approx([-(p * np.log(p)).sum()], rel=1e-6)
    assert seen.confidence == pytest.approx([p[label]])


@pytest.mark.parametrize("figure", ["margin", "log_entropy", "log_modified_entropy", "certainty"])
def test_nothing_ties_where_float32_saturates(figure):
    margins = np.array([10, 16.7, 17, 30, 100, 101, 700, 1500], np.float32)
    logits = np.stack([margins, np.zeros_like(margins), np.full_like(margins, -1)], axis=1)
    figures = getattr(Observations(logits, np.zeros(8, int)), figure)
    assert (np.abs(np.diff(figures)) > 0.2).all()
    assert len(np.unique(np.sign(np.diff(figures)))) == 1


@pytest.mark.parametrize("margin", [50.0, 300, 800])
def test_entropies_that_underflow_have_their_logarithms(margin):
    """With x = exp(-margin), to first order: x (1 + margin), and x^2 for each of two classes."""
    seen = observed([margin])
    assert seen.log_entropy == pytest.approx([np.log1p(margin) - margin], rel=1e-12)
    assert seen.log_modified_entropy == pytest.approx([np.log(2) - 2 * margin], rel=1e-12)


def test_constants_of_a_record_cancel():
    logits = np.array([[1.0, 2, 4], [0, 0, 0.5]])
    one = Observations(logits, np.array([2, 0]))
    other = Observations(logits + np.array([[1000], [-500]]), np.array([2, 0]))
    assert one.margin == pytest.approx(other.margin)
    assert one.log_modified_entropy == pytest.approx(other.log_modified_entropy)


def test_probabilities_of_0_and_1_are_just_beyond_the_rest():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = of_probabilities([[0.9, 0.1], [1, 0], [0, 1]], [0, 0, 0])
        widest = np.log(9) + np.log(2)
        assert seen.margin == pytest.approx([np.log(9), widest, -widest])
        assert np.isfinite(seen.log_entropy).all()
        assert seen.log_modified_entropy.argsort().tolist() == [1, 0, 2]


def test_figures_of_many_blocks_are_those_of_one(monkeypatch):
    draw = np.random.default_rng(0)
    logits, labels = draw.normal(size=(50, 4)), draw.integers(0, 4, 50)
    whole = Observations(logits, labels).log_entropy
    monkeypatch.setattr("policy_engine.audits.membership.observations._CELLS", 28)
    assert (Observations(logits, labels).log_entropy == whole).all()


def test_margin_of_two_classes_is_the_difference():
    assert observed([3, -2], [0, 1]).margin.tolist() == [3, -2]
