"""How far noise reaches: half-widths within which a figure errs with 95 % confidence.

They follow from the plan alone, or from what is published, and say nothing about persons. They are
about noise: what clipping and bounded contributions take away is not in them.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    return int(np.searchsorted(_gaussian_shares(sigma), confidence))


def _gaussian_shares(sigma: Fraction) -> NDArray[np.float64]:
    """Return how often discrete Gaussian noise is within 0, 1, 2 and so on."""
    answers = np.arange(math.ceil(8 * float(sigma)) + 2)
    masses = np.exp(-((answers / float(sigma)) ** 2) / 2)
    masses[1:] *= 2
    return np.asarray(np.cumsum(masses) / masses.sum())


class DrawnNoise(NamedTuple):
    """Discrete noise on a number: of which law, its scale in steps, and the length of a step."""

    mechanism: str
    scale: Fraction
    step: float = 1.0


def mean_half_width(total: DrawnNoise, count: DrawnNoise, reach: float) -> float:
    """Return x such that a mean of n rows is off by at most x / n, whatever n and the mean.

    The mean is m = S / n, of distances S from the middle of the bounds, each at most `reach`.
    Released is r = (S + a) / (n + b), for noise a and b, so that n (r - m) = a - b r: with r moved
    into the bounds, at most |a| + reach |b|. Where n + b is below 1, 1 is nearer to n.
    """
    return _joint_half_width([(total, 1.0), (count, reach)])


def variance_half_width(
    squares: DrawnNoise, total: DrawnNoise, count: DrawnNoise, reach: float
) -> float:
    """Return x such that a variance of n rows is off by at most x / n, likewise.

    It is a mean of squares, counted from half of `reach`^2, less the square of a mean m. With noise
    c on the squares, released is w, with r for m and n (w - v) = c - a (r + m) - b (w - r m -
    reach^2 / 2): at most |c| + 2 reach |a| + 3/2 reach^2 |b|, where r and w are moved into bounds.
    """
    return _joint_half_width([(squares, 1.0), (total, 2 * reach), (count, 1.5 * reach * reach)])


def _joint_half_width(parts: Sequence[tuple[DrawnNoise, float]]) -> float:
    """Return what a sum of absolute noises, each times a weight, hardly ever exceeds.

    Sums are counted in cells of equal width, each noise rounded up to the end of its cell.
    """
    weights = [weight * one.step for one, weight in parts]
    cell = sum(float(one.scale) * weight for (one, _), weight in zip(parts, weights, strict=True))
    cell /= _CELLS
    shares = np.ones(1)
    for (one, _), weight in zip(parts, weights, strict=True):
        shares = np.convolve(shares, _cell_shares(one, cell / weight))
    return float(cell * np.searchsorted(np.cumsum(shares), CONFIDENCE))


def _cell_shares(noise: DrawnNoise, cell: float) -> NDArray[np.float64]:
    """Return how often noise is 0, and in each cell of so many steps, (cells,)."""
    ends = np.floor(np.arange(math.ceil(_FAR * max(float(noise.scale), 1) / cell) + 2) * cell)
    if noise.mechanism == "discrete-laplace":
        base = math.exp(-1 / noise.scale)
        within = 1 - 2 * np.exp(-(ends + 1) / float(noise.scale)) / (1 + base)
    elif noise.scale > _SUMMED:
        root = float(noise.scale) * math.sqrt(2)
        within = np.array([math.erf(end / root) for end in ends])
    else:
        shares = _gaussian_shares(noise.scale)
        within = shares[np.minimum(ends, len(shares) - 1).astype(np.int64)]
    return np.diff(within, prepend=0.0)


_CELLS, _FAR = 400, 14
"""A joint half-width is exact to about one cell in 400, and noise beyond 14 scales is not cut in
cells: it has less than a millionth."""


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
