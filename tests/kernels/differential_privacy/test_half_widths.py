from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import dlaplace, norm

from policy_engine.kernels.differential_privacy.half_widths import (
    DrawnNoise,
    gaussian_half_width,
    laplace_half_width,
    mean_half_width,
    rank_half_width,
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("noise", "half_width"),
    [(discrete_laplace, laplace_half_width), (discrete_gaussian, gaussian_half_width)],
)
def test_draws_are_within_it(noise, half_width):
    scale = Fraction(30)
    width = half_width(scale)
    within = sum(abs(one) <= width for one in noise([0] * 20_000, scale)) / 20_000
    assert within == pytest.approx(0.95, abs=0.01)


REACH = 10


def off_times_n(values, total, squares, count):
    """Return n times the errors of the mean and of the variance of values, given their noise."""
    n, sums = len(values), (values.sum(), (values**2 - REACH**2 / 2).sum())
    rows = np.maximum(n + count, 1)
    mean = np.clip((sums[0] + total) / rows, -REACH, REACH)
    variance = np.clip((sums[1] + squares) / rows + REACH**2 / 2 - mean**2, 0, REACH**2)
    return n * np.abs(mean - values.mean()), n * np.abs(variance - values.var())


SCALES = (40, 400, 8)
LAWS = [DrawnNoise("discrete-laplace", Fraction(scale)) for scale in SCALES]
NOISE = st.integers(-1000, 1000)


@given(st.lists(st.integers(-REACH, REACH), min_size=1, max_size=40), NOISE, NOISE, NOISE)
def test_no_noise_moves_a_mean_or_a_variance_by_more_than_its_weights_say(rows, a, c, b):
    mean, variance = off_times_n(np.array(rows), a, c, b)
    assert mean <= abs(a) + REACH * abs(b) + 1e-9
    assert variance <= abs(c) + 2 * REACH * abs(a) + 1.5 * REACH**2 * abs(b) + 1e-9


@pytest.mark.parametrize("n", [1, 5, 60, 3_000])
@pytest.mark.parametrize("values", [[-10.0], [10.0], [0.0], [-10.0, 10.0]])
def test_means_and_variances_are_within_theirs_whatever_the_rows(n, values):
    """Values that are far from the middle, so that the noise of the count is of consequence."""
    rng = np.random.default_rng(n)
    draws = [dlaplace(1 / scale).rvs(size=400, random_state=rng) for scale in SCALES]
    mean, variance = off_times_n(np.resize(values, n), *draws)
    total, squares, count = LAWS
    assert np.mean(mean <= mean_half_width(total, count, REACH)) >= 0.95
    assert np.mean(variance <= variance_half_width(squares, total, count, REACH)) >= 0.95


def test_the_worst_mean_of_many_rows_is_off_by_most_of_it():
    """Rows are 9.9 from the middle: the noise of the count moves the mean by as much."""
    rng = np.random.default_rng(1)
    draws = [dlaplace(1 / scale).rvs(size=2_000, random_state=rng) for scale in SCALES]
    mean, _ = off_times_n(np.full(30_000, 9.9), *draws)
    assert np.quantile(mean, 0.95) > 0.8 * mean_half_width(LAWS[0], LAWS[2], REACH)


@pytest.mark.nightly
@pytest.mark.parametrize("mechanism", ["discrete-laplace", "discrete-gaussian"])
@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(2), Fraction(40), Fraction(10**7, 3)])
def test_without_noise_of_the_count_it_is_that_of_the_sum(mechanism, scale):
    alone = laplace_half_width if mechanism == "discrete-laplace" else gaussian_half_width
    found = mean_half_width(
        DrawnNoise(mechanism, scale, 0.5), DrawnNoise(mechanism, Fraction(1, 99)), 1
    )
    assert alone(scale) / 2 <= found <= alone(scale) / 2 * 1.01


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
