"""Shares of noise between edges, against exact probabilities, simulated draws and false noise."""

import math

import numpy as np
import pytest

from policy_engine.kernels import noise_shares as kernel
from policy_engine.kernels.noise_shares import (
    noise_errors,
    noise_pairs,
    noise_shares,
    unlikely_share,
    with_pairs,
)


def told(noise, error=1e-6, law="normal", missing=0):
    cells = noise_shares(np.array(noise)[:, None], np.array([error]), law)
    return unlikely_share(cells[0], len(noise) + missing, law)


def drawn(random, law, rows):
    if law == "normal":
        return random.normal(size=rows)
    return random.laplace(scale=math.sqrt(0.5), size=rows)


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_drawn_noise_is_believed_however_it_is_rounded(law, monkeypatch):
    # Such noise would be found false a hundred times in 1e5 tables, were the bounds not bounds.
    monkeypatch.setattr(kernel, "UNLIKELY", math.log(1e-3))
    random = np.random.default_rng(7)
    for rows in (1, 2, 5, 30, 300) * 20:
        unit = random.choice([1e-9, 0.01, 0.5, 4.0])
        noise = np.rint(drawn(random, law, rows) / unit) * unit
        assert told(noise, unit / 2, law) == ""
        assert told(noise[rows // 5 :], unit / 2, law, rows // 5) == ""


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (
            [0.8] * 50,
            "the noise of 50 of 50 values is from 0.674 to 0.887 of its standard deviation",
        ),
        ([0.0] * 15 + [*drawn(np.random.default_rng(0), "normal", 285)], "the noise of 15 of 300"),
        ([1.0, -1.0] * 40, "the noise of 80 of 80 values is not from -0.887 to 0.887 of its"),
        ([*np.linspace(-1.7, 1.7, 3000)], "of 3,000 values is "),
        ([*drawn(np.random.default_rng(0), "laplace", 3000)], "values is from -0."),
    ],
)
def test_other_noise_is_told(noise, expected):
    assert expected in told(noise)


def test_noise_of_few_values_or_unknown_size_is_not_judged():
    assert told([0.8] * 5) == ""
    assert told([0.8] * 50, error=50.0) == ""
    assert told([0.8] * 50, error=np.inf) == ""
    assert told([0.8] * 12, missing=3000) == ""


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_edges_are_the_quantiles_of_drawn_noise(law):
    noise = drawn(np.random.default_rng(3), law, 200_000)
    for edge in kernel._edges(law):
        share = kernel._distribution(edge, law)
        assert abs((noise <= edge).mean() - share) < 5 * math.sqrt(share * (1 - share) / 2e5)


def test_cells_of_parts_add_up():
    noise, errors = np.random.default_rng(1).normal(size=(50, 2)), np.array([0.1, 0.0])
    parts = noise_shares(noise[:20], errors) + noise_shares(noise[20:], errors)
    assert np.array_equal(parts, noise_shares(noise, errors))
    assert parts.sum(axis=1).tolist() == [50, 50]


def test_sums_and_differences_of_correlated_noise_have_its_law():
    covariance = np.array([[4.0, 2.7], [2.7, 2.25]])
    noise = np.random.default_rng(2).multivariate_normal([0, 0], covariance, 4000) / [2, 1.5]
    seen, errors = with_pairs(noise, np.zeros(2), covariance)
    assert noise_pairs(2) == [(0, 1)]
    assert seen.std(axis=0) == pytest.approx(1, abs=0.05)
    assert errors.tolist() == [0, 0, 0, 0]
    equal = np.ones((2, 2))
    assert with_pairs(noise, np.zeros(2), equal)[1].tolist() == [0, 0, 0, np.inf]


def test_errors_are_of_writing_and_arithmetic():
    errors = noise_errors((0.5, 0.005, 0.5), (3, 3, 3), np.array([2.0, 1.0, 0.0]))
    assert errors == pytest.approx([0.25, 0.005, np.inf], abs=1e-10)
