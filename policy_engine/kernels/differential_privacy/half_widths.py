"""How far noise reaches: half-widths within which a figure errs with 95 % confidence.

They follow from the plan alone, or from what is published, and say nothing about persons. They are
about noise: what clipping and bounded contributions take away is not in them.
"""

import math
from fractions import Fraction

import numpy as np

CONFIDENCE = 0.95
_SUMMED = 10_000


def laplace_half_width(scale: Fraction, confidence: float = CONFIDENCE) -> int:
    """Return the least integer that discrete Laplace noise exceeds no more often than that.

    P(|x| > w) = 2 p^(w + 1) / (1 + p) where p = e^(-1 / scale).
    """
    error = 1 - confidence
    base = math.exp(-1 / scale)
    return max(math.ceil(float(scale) * math.log(2 / (error * (1 + base)))) - 1, 0)


def gaussian_half_width(sigma: Fraction, confidence: float = CONFIDENCE) -> int:
    """Return the least integer that discrete Gaussian noise exceeds no more often than that.

    For a large sigma that of normal noise, rounded up: P(x > w) is at most that of normal noise of
    w or more (Canonne, Kamath and Steinke 2020, proposition 25).
    """
    if sigma > _SUMMED:
        return math.ceil(float(sigma) * _normal_quantile(confidence))
    answers = np.arange(math.ceil(8 * float(sigma)) + 2)
    masses = np.exp(-((answers / float(sigma)) ** 2) / 2)
    masses[1:] *= 2
    return int(np.searchsorted(np.cumsum(masses), confidence * masses.sum()))


def ratio_half_width(total: float, count: float, reach: float, divisor: float) -> float:
    """Return how far a noisy total over a noisy count may be from the true ratio.

    `total` and `count` are the half-widths of both, which hold together with half their error each;
    `divisor` is the noisy count, and the true ratio is between plus and minus `reach`: for a mean,
    half the width of its bounds, where the total is of distances from their middle. As
    S'/N' - S/N = (S' - S + (S/N)(N - N')) / N', it is at most (total + reach count) / divisor, and
    never more than twice the reach where the ratio is clipped to it.
    """
    if divisor <= 0:
        return 2 * reach
    return min((total + reach * count) / divisor, 2 * reach)


def variance_half_width(
    squares: float, total: float, count: float, reach: float, divisor: float
) -> float:
    """Return how far a variance of noisy parts, squares / count - (total / count)^2, may be off.

    `squares`, `total` and `count` are half-widths of the three, with a third of the error each;
    else as `ratio_half_width`. The square of a mean that is off by e, and clipped to the reach, is
    off by at most 2 reach e.
    """
    mean = ratio_half_width(total, count, reach, divisor)
    square = ratio_half_width(squares, count, reach**2, divisor)
    return min(square + 2 * reach * mean, reach**2)


def score_half_width(scale: Fraction, candidates: int, confidence: float = CONFIDENCE) -> float:
    """Return by how much the score of a choice is below the best, of so many candidates, at most.

    Both mechanisms choose a candidate that is worse by t with a probability of at most
    e^(-t / scale).
    """
    if candidates < 2:
        return 0.0
    return float(scale) * math.log((candidates - 1) / (1 - confidence))


def rank_half_width(
    scale: Fraction, candidates: int, at: Fraction, confidence: float = CONFIDENCE
) -> int:
    """Return how many ranks the choice by `quantile_scores` is from the quantile at most.

    A score is the distance of ranks times the denominator of `at`, and the best is 0.
    """
    return math.ceil(score_half_width(scale, candidates, confidence) / at.denominator)


def _normal_quantile(confidence: float) -> float:
    """Return z such that normal noise is within plus and minus z sigmas as often as that."""
    low, high = 0.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        is_low = math.erfc(middle / math.sqrt(2)) > 1 - confidence
        low, high = (middle, high) if is_low else (low, middle)
    return high
