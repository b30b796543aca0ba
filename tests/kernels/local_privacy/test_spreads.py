"""Intervals of estimates cover the truth as often as they say, where answers hardly vary, too."""

from fractions import Fraction

import numpy as np
import pytest
from everyday import everyday

from policy_engine.kernels.local_privacy.bounded_numbers import (
    PiecewiseNumbers,
    TwoPoints,
    estimate_mean,
)
from policy_engine.kernels.local_privacy.frequencies import estimate_frequencies
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.spreads import AnswerSpread, Estimates
from policy_engine.kernels.local_privacy.unary_encoding import UnaryEncoding

STEPS, RUNS = 20, 1_000


def words(*shape):
    random = np.random.default_rng(7)
    return random.integers(0, 2**64, shape, np.uint64)


def test_an_interval_has_the_values_at_which_the_estimate_is_near_enough():
    """Of 10 answers by two fair coins none: (p + 1.96^2 / 20 +- ...) / (1 + 1.96^2 / 10), which is
    Wilson's interval from 0 to 1.96^2 / (10 + 1.96^2) = .2775."""
    low, high = AnswerSpread(0, 1, -1).interval(np.array([0.0]), 10)
    assert [*low, *high] == pytest.approx([0, 0.2775], abs=1e-4)


def test_a_jump_is_halved():
    low, high = AnswerSpread(4, jump=6).interval(np.array([1.0]), 100)
    assert [*low, *high] == pytest.approx([1 - 0.392 - 0.03, 1 + 0.392 + 0.03], abs=1e-4)


def test_the_variance_is_that_of_the_nearest_value_that_is_possible():
    estimates = Estimates.of(np.array([-0.5, 0.5, 1.5]), 10, AnswerSpread(1, 2), 1.0)
    assert estimates.variances == pytest.approx([0.1, 0.2, 0.3])
    halved = estimates.rescaled(3.0, 0.5)
    assert halved.values.tolist() == [2.75, 3.25, 3.75]
    assert halved.highs - halved.lows == pytest.approx((estimates.highs - estimates.lows) / 2)
    assert halved.variances == pytest.approx(estimates.variances / 4)


NUMBERS = {
    "top": lambda rows: np.full(rows, STEPS),
    "near the top": lambda rows: np.full(rows, STEPS - 3),
    "middle": lambda rows: np.full(rows, STEPS // 2),
    "ends": lambda rows: np.arange(rows) % 2 * STEPS,
    "all": lambda rows: np.arange(rows) % (STEPS + 1),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("rows", everyday([20, 50, 100, 200, 1_000], 50))
@pytest.mark.parametrize("epsilon", everyday([1, 2, 3, 4, 5, 6, 8, 10, 12], 1, 5, 8))
@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_intervals_of_means_cover_them(kind, epsilon, rows):
    mechanism = kind.of(STEPS, Fraction(epsilon))
    for numbers in NUMBERS.values():
        truth = numbers(rows)
        answers = mechanism.respond(np.tile(truth, RUNS), words(rows * RUNS)).reshape(RUNS, rows)
        means = [estimate_mean(mechanism, some) for some in answers]
        covered = [one.lows[0] <= truth.mean() <= one.highs[0] for one in means]
        assert np.mean(covered) > 0.92


@pytest.mark.one_in(6)
@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
@pytest.mark.parametrize("epsilon", [1, 4, 8])
def test_intervals_of_sampled_means_cover_those_of_all(kind, epsilon):
    """Of two columns, each record answers for one."""
    mechanism, truth = kind.of(STEPS, Fraction(epsilon)), NUMBERS["ends"](100)
    answers = mechanism.respond(np.tile(truth, RUNS), words(100 * RUNS)).reshape(RUNS, 100)
    is_sampled = words(RUNS, 100, 2)[..., 1] % 2 == 0
    means = [
        estimate_mean(mechanism, some[chosen], sampled=Fraction(1, 2))
        for some, chosen in zip(answers, is_sampled, strict=True)
    ]
    covered = [one.lows[0] <= STEPS / 2 <= one.highs[0] for one in means]
    assert np.mean(covered) > 0.92


MECHANISMS = [
    RandomisedResponse.of,
    UnaryEncoding.symmetric,
    UnaryEncoding.optimised,
    LocalHashing.of,
]


@pytest.mark.parametrize("rows", everyday([20, 50, 100, 500], 50))
@pytest.mark.parametrize("epsilon", everyday([1, 2, 4, 6, 8, 12], 1, 8))
@pytest.mark.parametrize("make", MECHANISMS, ids=lambda make: make.__qualname__)
def test_intervals_of_frequencies_cover_them(make, epsilon, rows):
    mechanism = make(3, Fraction(epsilon))
    for share in (0, 0.05, 0.5, 1):
        codes = (np.arange(rows) >= share * rows).astype(np.int64)
        drawn = words(rows * RUNS, mechanism.words)
        drawn = drawn[:, 0] if mechanism.words == 1 else drawn
        answers = mechanism.respond(np.tile(codes, RUNS), drawn)
        supports = _supports(mechanism, answers).reshape(RUNS, rows).sum(axis=1)
        estimates = estimate_frequencies(supports, rows, mechanism.supports)
        truth = np.mean(codes == 0)
        assert np.mean((estimates.lows <= truth) & (truth <= estimates.highs)) > 0.92


def _supports(mechanism, answers):
    """Return which answers support the first value."""
    if isinstance(answers, tuple):
        hashes, hashed_values = answers
        return mechanism.hash(np.array(0), hashes) == hashed_values
    return answers == 0 if answers.ndim == 1 else answers[:, 0]
