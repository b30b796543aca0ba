"""Bounded numbers on a grid: their answers stand for them on average, exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest

from policy_engine.kernels.local_privacy.bounded_numbers import (
    MOST_STEPS,
    PiecewiseNumbers,
    TwoPoints,
    estimate_mean,
    published_steps,
)
from policy_engine.kernels.local_privacy.exponentials import WORDS
from policy_engine.kernels.local_privacy.words import system_words


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("steps", [1, 2, 14, 100])
@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_the_mean_answer_is_the_number(kind, steps, epsilon):
    mechanism = kind.of(steps, epsilon)
    for number in range(steps + 1):
        weights = mechanism.weights(number)
        mean = sum(
            weight * answer for weight, answer in zip(weights, mechanism.answers, strict=True)
        )
        # The two points' words are rounded down, by one of 2**64.
        assert abs(Fraction(mean) / WORDS - number) < Fraction(100 * steps, WORDS) / epsilon


def test_two_points_are_those_of_the_paper():
    """(e + 1) / (e - 1) half widths from the middle: of 0 to 14, 7 +- 15.15."""
    low, high = TwoPoints.of(14, Fraction(1)).answers
    half_width = 7 * (math.e + 1) / (math.e - 1)
    assert (float(low), float(high)) == pytest.approx((7 - half_width, 7 + half_width))


def test_the_piecewise_answers_reach_as_far_as_in_the_paper():
    """(e^(1/2) + 1) / (e^(1/2) - 1) half widths from the middle, on a fine grid; and at the ends
    the variance t^2 / (E - 1) + (E + 3) / (3 (E - 1)^2), for E = e^(1/2), t = 1."""
    mechanism, root = PiecewiseNumbers.of(1000, Fraction(1)), math.exp(0.5)
    reach = (root + 1) / (root - 1)
    assert float(mechanism.answers[-1]) == pytest.approx(500 + 500 * reach, rel=0.01)
    assert float(mechanism.answers[0]) == pytest.approx(500 - 500 * reach, rel=0.01)
    variance = 1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    assert float(mechanism.largest_variance) == pytest.approx(variance * 500**2, rel=0.01)


@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_the_largest_variance_is_that_of_no_other_number(kind):
    mechanism = kind.of(9, Fraction(1))
    variances = [
        sum(
            weight * (answer - number) ** 2
            for weight, answer in zip(mechanism.weights(number), mechanism.answers, strict=True)
        )
        / WORDS
        for number in range(10)
    ]
    assert float(max(variances)) == pytest.approx(float(mechanism.largest_variance))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5), Fraction(60)])
@pytest.mark.parametrize("steps", [1, 14, 100])
@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_every_answer_is_published_as_a_number_of_its_own(kind, steps, epsilon):
    mechanism = kind.of(steps, epsilon)
    published = published_steps(mechanism)
    assert (np.diff(published) >= 1).all()
    assert len(published) == len(mechanism.answers)


@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
def test_means_lie_around_the_truth(kind):
    """Twenty runs of 2,000 numbers, of which the squared errors are as large as the variances."""
    mechanism = kind.of(14, Fraction(1))
    numbers = np.arange(2_000) % 15
    ratios = []
    for _ in range(20):
        answers = mechanism.respond(numbers, system_words(len(numbers), 1)[:, 0])
        mean = estimate_mean(mechanism, answers)
        ratios.append((mean.values[0] - numbers.mean()) ** 2 / mean.variances[0])
    assert 0.2 < np.mean(ratios) < 3


def test_a_mean_of_one_answer_has_no_variance():
    with pytest.raises(ValueError, match="fewer than two"):
        estimate_mean(TwoPoints.of(2, Fraction(1)), np.array([1]))


@pytest.mark.parametrize("kind", [TwoPoints, PiecewiseNumbers])
@pytest.mark.parametrize("steps", [0, MOST_STEPS + 1])
def test_a_grid_without_steps_or_with_too_many_is_refused(kind, steps):
    with pytest.raises(ValueError, match="steps"):
        kind.of(steps, Fraction(1))
