from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chisquare, dlaplace, norm

from policy_engine.errors import InternalError
from policy_engine.kernels.differential_privacy.measurements import (
    MOST,
    _confirmed,
    float_above,
    laplace,
)
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace

DRAWS = 40_000
UNLIKELY = 1e-6
"""So rarely does a sampler that is right fail a test: not once in years."""


def gaussian_mass(sigma, value):
    total = sum(2.0 ** (-(x**2) / (2 * sigma**2 * 0.6931471805599453)) for x in range(-200, 201))
    return 2.0 ** (-(value**2) / (2 * sigma**2 * 0.6931471805599453)) / total


def is_drawn_from(mass, draws, reach):
    counts = Counter(min(max(draw, -reach), reach) for draw in draws)
    inner = {x: mass(x) for x in range(1 - reach, reach)}
    tail = (1 - sum(inner.values())) / 2
    expected = {-reach: tail, **inner, reach: tail}
    observed = [counts[x] for x in expected]
    share = sum(expected.values())
    return chisquare(observed, [one * len(draws) / share for one in expected.values()]).pvalue


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10, 3), Fraction(20)])
def test_the_laplace_noise_has_its_distribution(scale):
    draws = discrete_laplace([0] * DRAWS, scale)
    mass = dlaplace(float(1 / scale)).pmf
    assert is_drawn_from(mass, draws, 1 + int(5 * scale)) > UNLIKELY


@pytest.mark.nightly
@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(13, 4), Fraction(10)])
def test_the_gaussian_noise_has_its_distribution(sigma):
    draws = discrete_gaussian([0] * DRAWS, sigma)
    assert is_drawn_from(lambda x: gaussian_mass(float(sigma), x), draws, 1 + int(3 * sigma)) > (
        UNLIKELY
    )


@pytest.mark.nightly
def test_a_gaussian_of_a_large_sigma_is_nearly_normal():
    draws = discrete_gaussian([0] * DRAWS, Fraction(10**6))
    share = sum(abs(draw) <= 10**6 for draw in draws) / DRAWS
    assert share == pytest.approx(norm.cdf(1) - norm.cdf(-1), abs=0.015)


@pytest.mark.parametrize("noise", [discrete_laplace, discrete_gaussian])
def test_every_value_gets_noise_of_its_own_around_it(noise):
    noisy = noise([10**6, -(10**6), 0], Fraction(5))
    assert [round(one, -3) for one in noisy] == [10**6, -(10**6), 0]
    assert len(set(noise([0] * 100, Fraction(1000)))) > 50


@pytest.mark.parametrize("noise", [discrete_laplace, discrete_gaussian])
def test_values_and_answers_are_saturated(noise):
    noisy = noise([10**30, MOST, -(10**30)], Fraction(100))
    assert max(noisy) <= MOST
    assert min(noisy) >= -MOST
    assert MOST - noisy[0] < 10**6
    assert noise([], Fraction(1)) == []


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1), Fraction(2**61)])
@pytest.mark.parametrize("noise", [discrete_laplace, discrete_gaussian])
def test_a_scale_out_of_range_is_refused(noise, scale):
    with pytest.raises(ValueError, match="above 0 and at most 2"):
        noise([1], scale)


def test_a_scale_becomes_a_float_that_is_not_below_it():
    for scale in (Fraction(1, 3), Fraction(1, 10), Fraction(10**20, 7), Fraction(3)):
        assert Fraction(float_above(scale)) >= scale
        assert float_above(scale) == pytest.approx(float(scale), rel=1e-15)


def test_a_loss_that_opendp_does_not_confirm_is_a_bug():
    with pytest.raises(InternalError, match="Claimed"):
        _confirmed(laplace(Fraction(10)), 1, Fraction(1, 11))
