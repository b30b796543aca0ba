from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import dlaplace, norm

from policy_engine.kernels.differential_privacy.half_widths import (
    gaussian_half_width,
    laplace_half_width,
    rank_half_width,
    ratio_half_width,
    score_half_width,
    variance_half_width,
)
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace
from policy_engine.kernels.differential_privacy.selection import permute_and_flip, quantile_scores


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(20), Fraction(10**6, 3)])
def test_laplace_noise_is_beyond_it_in_one_of_twenty(scale):
    width, law = laplace_half_width(scale), dlaplace(float(1 / scale))
    assert 2 * law.sf(width) <= 0.05 * (1 + 1e-9)
    assert not width or 2 * law.sf(width - 1) > 0.05


@pytest.mark.parametrize(("sigma", "width"), [("0.1", 0), (1, 2), (10, 20), (422, 827)])
def test_gaussian_noise_is_beyond_it_in_one_of_twenty(sigma, width):
    assert gaussian_half_width(Fraction(sigma)) == width


def test_gaussian_noise_of_a_large_sigma_is_as_normal():
    assert gaussian_half_width(Fraction(10**6)) == 1_959_964
    assert gaussian_half_width(Fraction(10**6), 0.99) == int(norm.ppf(0.995) * 10**6) + 1
    assert gaussian_half_width(Fraction(9_999), 0.9) == pytest.approx(norm.ppf(0.95) * 9_999, abs=1)


@pytest.mark.parametrize(
    ("noise", "half_width"),
    [(discrete_laplace, laplace_half_width), (discrete_gaussian, gaussian_half_width)],
)
def test_draws_are_within_it(noise, half_width):
    scale = Fraction(30)
    width = half_width(scale)
    within = sum(abs(one) <= width for one in noise([0] * 20_000, scale)) / 20_000
    assert within == pytest.approx(0.95, abs=0.01)


def test_a_ratio_is_within_the_half_widths_of_its_parts():
    assert ratio_half_width(total=30, count=4, reach=5, divisor=100) == 0.5
    assert ratio_half_width(total=30, count=4, reach=5, divisor=0) == 10
    assert ratio_half_width(total=30, count=4, reach=5, divisor=1) == 10


def test_a_variance_is_within_the_half_widths_of_its_parts():
    """Of the square 150 / 100, and of the mean (30 + 5 * 4) / 100, of which 2 * 5 times."""
    found = variance_half_width(squares=50, total=30, count=4, reach=5, divisor=100)
    assert found == 1.5 + 10 * 0.5
    assert variance_half_width(squares=50, total=30, count=4, reach=5, divisor=0) == 25


def test_noisy_means_and_variances_are_within_them():
    rng, half = np.random.default_rng(1), 7
    ages = rng.integers(0, 15, 500) - half
    truth = len(ages), int(ages.sum()), int((ages**2).sum())
    widths = [laplace_half_width(Fraction(scale), 0.99) for scale in (2, 14, 98)]
    for _ in range(100):
        noise = [rng.integers(-width, width + 1) for width in widths]
        count, total, squares = (one + other for one, other in zip(truth, noise, strict=True))
        mean, true_mean = np.clip(total / count, -half, half), ages.mean()
        assert abs(mean - true_mean) <= ratio_half_width(widths[1], widths[0], half, count)
        off = abs(squares / count - mean**2 - ages.var())
        assert off <= variance_half_width(widths[2], widths[1], widths[0], half, count)


def test_quantiles_are_within_their_ranks():
    at, scale = Fraction(1, 4), Fraction(12)
    counts = [10] * 40
    scores = quantile_scores(counts, at)
    width = rank_half_width(scale, len(counts), at)
    assert width == int(score_half_width(scale, len(counts)) / 4) + 1
    worse = [max(scores) - scores[permute_and_flip(scores, scale)] for _ in range(1_000)]
    assert sum(one > 4 * width for one in worse) < 50


def test_among_one_candidate_nothing_errs():
    assert score_half_width(Fraction(3), 1) == 0
    assert score_half_width(Fraction(3), 2) == pytest.approx(3 * np.log(20))
