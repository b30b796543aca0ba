"""Shares of noise between edges, against exact probabilities, simulated draws and false noise."""

import math

import numpy as np
import pytest

from policy_engine.kernels import noise_shares as kernel
from policy_engine.kernels.noise_shares import (
    far_noise,
    in_pairs,
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


@pytest.mark.nightly
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


@pytest.mark.parametrize(
    ("law", "draws", "most"),
    [("normal", 1, 7.74), ("normal", 200, 8.40), ("laplace", 1, 21.17), ("laplace", 200, 24.92)],
)
def test_a_number_that_hardly_any_draw_exceeds_is_far(law, draws, most):
    # exp(-7.74 ** 2 / 2) and exp(-21.17 * sqrt(2)) are 1e-13.
    noise = np.array([[most - 0.01], [most + 0.01], [-most - 0.01], [np.nan]])
    assert far_noise(noise, 0.0, draws, law)[:, 0].tolist() == [False, True, True, False]
    assert not far_noise(noise, 0.02, draws, law).any()
    ends = np.array([[np.inf], [-np.inf]])
    assert far_noise(ends, 0.02, draws, law).all()
    assert not far_noise(ends, np.inf, draws, law).any()


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_drawn_noise_is_far_as_rarely_as_is_said(law, monkeypatch):
    monkeypatch.setattr(kernel, "UNLIKELY", math.log(0.1))
    noise = drawn(np.random.default_rng(5), law, 40_000).reshape(20, 2000)
    assert far_noise(noise, 0.0, 20, law).any(axis=0).mean() <= 0.12


def test_what_is_far_in_a_pair_is_in_both_of_its_columns():
    is_far = np.zeros((2, 3 + 2 * 3), dtype=bool)
    is_far[0, 0] = is_far[1, 3 + 2 * 2 + 1] = True
    assert noise_pairs(3)[2] == (1, 2)
    assert in_pairs(is_far, 3).tolist() == [[True, False, False], [False, True, True]]
