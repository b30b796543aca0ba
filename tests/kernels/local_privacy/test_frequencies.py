"""Frequencies from randomised answers: without bias, with the variances of theory."""

import math
from fractions import Fraction

import numpy as np
import pytest

from policy_engine.kernels.local_privacy.frequencies import (
    Supports,
    clip_frequencies,
    estimate_frequencies,
)
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding
from policy_engine.kernels.local_privacy.words import system_words

COINS = Supports(Fraction(3, 4), Fraction(1, 4))


def test_two_fair_coins_are_undone_by_twice_the_share_less_a_half():
    """MOSAICrOWN D5.2, section 3.2, whose formula has a slip: (y - q) / (p - q) = 2 y - 1/2."""
    estimates = estimate_frequencies(np.array([60, 40]), 100, COINS)
    assert estimates.values == pytest.approx([2 * 0.6 - 0.5, 2 * 0.4 - 0.5])
    # Each answer's variance is 3/16, and the slope 2.
    assert estimates.variances == pytest.approx([4 * 3 / 16 / 100] * 2)
    # 1.96 standard deviations, and half an answer, which moves the estimate by 2 / 100.
    half_widths = [1.96 * math.sqrt(0.0075) + 0.01] * 2
    assert estimates.highs - estimates.values == pytest.approx(half_widths, rel=1e-4)
    assert estimates.values - estimates.lows == pytest.approx(half_widths, rel=1e-4)


def test_estimates_are_not_clipped():
    estimates = estimate_frequencies(np.array([100, 0]), 100, COINS)
    assert estimates.values == pytest.approx([1.5, -0.5])


def test_a_sample_adds_its_own_variance():
    whole, half = (
        estimate_frequencies(np.array([50, 50]), 100, COINS, sampled=share)
        for share in (Fraction(1), Fraction(1, 2))
    )
    assert half.variances - whole.variances == pytest.approx([0.5 * 0.5 * 0.5 / 100] * 2)


def test_nothing_is_estimated_from_no_answers():
    with pytest.raises(ValueError, match="no answers"):
        estimate_frequencies(np.array([0, 0]), 0, COINS)


def test_variances_are_those_of_theory():
    """Wang et al. 2017, table 1, at epsilon 1 and 64 values: 21.9, 3.92, 3.68, 3.68."""
    e, one = math.e, Fraction(1)
    mechanisms = {
        RandomisedResponse.of(64, one): (64 - 2 + e) / (e - 1) ** 2,
        UnaryEncoding.symmetric(64, one): math.sqrt(e) / (math.sqrt(e) - 1) ** 2,
        UnaryEncoding.optimised(64, one): 4 * e / (e - 1) ** 2,
    }
    for mechanism, theory in mechanisms.items():
        assert float(mechanism.supports.variance()) == pytest.approx(theory, rel=1e-9)
    hashing = LocalHashing.of(64, one)
    assert hashing.response.values == 4
    assert float(hashing.supports.variance()) == pytest.approx(3.68, abs=0.02)


@pytest.mark.parametrize(
    ("epsilon", "most"), [(Fraction(1, 2), 6), (Fraction(1), 10), (Fraction(2), 24)]
)
def test_randomised_response_is_better_for_few_values(epsilon, most):
    """d < 3 e^epsilon + 2: below 7, 11 and 25 at .5, 1 and 2 (6.9, 10.2 and 24.2)."""
    optimised = UnaryEncoding.optimised(most, epsilon).supports.variance()
    assert RandomisedResponse.of(most, epsilon).supports.variance() < optimised
    assert RandomisedResponse.of(most + 1, epsilon).supports.variance() > optimised


CODES = np.repeat(np.arange(4), [12_000, 6_000, 2_000, 0])


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomisedResponse.of(4, Fraction(1)),
        UnaryEncoding.symmetric(4, Fraction(1)),
        UnaryEncoding.optimised(4, Fraction(1)),
        LocalHashing.of(4, Fraction(1)),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_estimates_lie_around_the_truth(mechanism):
    """Ten runs of four frequencies: the mean squared error of 40 is within a factor of 2.5."""
    truth = np.array([0.6, 0.3, 0.1, 0.0])
    ratios = []
    for _ in range(10):
        answers = mechanism.respond(CODES, _shaped(system_words(len(CODES), mechanism.words)))
        counts = (
            mechanism.count(*answers) if isinstance(answers, tuple) else mechanism.count(answers)
        )
        estimates = estimate_frequencies(counts, len(CODES), mechanism.supports)
        ratios.append((estimates.values - truth) ** 2 / estimates.variances)
    assert 0.4 < np.mean(ratios) < 2.5


def _shaped(words):
    return words[:, 0] if words.shape[1] == 1 else words


def test_hashes_of_two_values_are_alike_as_often_as_by_chance():
    hashing = LocalHashing.of(50, Fraction(1))
    hashes = system_words(40_000, 2)
    one, other = (hashing.hash(np.array(code), hashes) for code in (3, 49))
    assert (one == other).mean() == pytest.approx(1 / 4, abs=0.015)
    assert np.bincount(one) / len(one) == pytest.approx([1 / 4] * 4, abs=0.015)


def test_clipped_frequencies_are_the_nearest_distribution():
    """1.5 and -.5 become 1 and 0; .7, .5, -.2 are .1 too much each where positive."""
    assert clip_frequencies(np.array([1.5, -0.5])).tolist() == [1.0, 0.0]
    assert clip_frequencies(np.array([0.7, -0.2, 0.5])) == pytest.approx([0.6, 0.0, 0.4])
