"""Bounds on tails, against exact probabilities and simulated draws."""

import itertools
import math

import numpy as np
import pytest

from policy_engine.kernels.draw_tails import (
    UNLIKELY,
    excess_tail,
    lack_of_noise_tail,
    lack_of_shares_tail,
)


def exact_tails(probabilities):
    """Return the probabilities that a sum of independent draws of 0 or 1 is 0, 1, .. or more."""
    masses = np.ones(1)
    for one in probabilities:
        masses = np.append(masses * (1 - one), 0) + np.append(0, masses * one)
    return masses[::-1].cumsum()[::-1]


@pytest.mark.parametrize(
    "probabilities", [[0.5] * 40, [0.01] * 60, [0.9] * 30, np.linspace(0.05, 0.95, 50), [0.3]]
)
def test_the_tail_of_a_sum_is_above_the_exact_one_and_not_far(probabilities):
    expected = float(np.sum(probabilities))
    variance = float(np.sum(np.array(probabilities) * (1 - np.array(probabilities))))
    rows = len(probabilities)
    for total, exact in enumerate(exact_tails(probabilities)):
        told = excess_tail(total - expected, variance, expected / rows, rows)
        assert told >= math.log(exact) - 1e-9
        if total > expected:
            assert told <= 0.4 * math.log(exact) + 1


def test_uniform_shares_lack_no_more_than_the_bound_says():
    # All sums of four draws from 1/3, 2/3, 1, each with the probability 1/81.
    sums = [sum(one) / 3 for one in itertools.product((1, 2, 3), repeat=4)]
    for total in set(sums):
        exact = sum(one <= total for one in sums) / len(sums)
        assert lack_of_shares_tail(2 - total, 4) >= math.log(exact) - 1e-9


def test_shares_near_zero_are_unlikely_and_half_of_them_is_not():
    assert lack_of_shares_tail(0.0, 100) == 0
    assert lack_of_shares_tail(10.0, 100) > UNLIKELY
    assert lack_of_shares_tail(45.0, 100) < UNLIKELY


@pytest.mark.parametrize("sizes", ["normal", "laplace"])
@pytest.mark.parametrize("draws", [1, 2, 5, 40])
def test_as_little_noise_is_drawn_no_more_often_than_the_bound_says(draws, sizes):
    random = np.random.default_rng(draws)
    drawn = random.normal(size=(20_000, draws))
    if sizes == "laplace":
        drawn = random.laplace(scale=math.sqrt(0.5), size=(20_000, draws))
    means = np.abs(drawn).mean(axis=1)
    for share in (0.01, 0.1, 0.5):
        limit = float(np.quantile(means, share))
        assert lack_of_noise_tail(limit, draws, sizes) >= math.log(share) - 0.2


def test_one_small_number_has_the_probability_of_its_density():
    exact = math.log(math.erf(0.001 / math.sqrt(2)))
    assert lack_of_noise_tail(0.001, 1) == pytest.approx(exact, abs=1e-5)
    exact = math.log(-math.expm1(-0.001 * math.sqrt(2)))
    assert lack_of_noise_tail(0.001, 1, "laplace") == pytest.approx(exact, abs=1e-2)


@pytest.mark.parametrize(("draws", "least"), [(300, 0.3), (10, 0.01), (3, 0.0), (2000, 0.6)])
def test_noise_is_missed_from_so_many_values_on(draws, least):
    assert lack_of_noise_tail(0.99 * least or 1e-6, draws) < (UNLIKELY if least else 0)
    assert lack_of_noise_tail(0.75, draws) > UNLIKELY
