"""Frequencies estimated from randomised answers, without bias, with their variances."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

QUANTILE = 1.959963984540054
"""The standard normal's quantile of .975: intervals are of 95 %."""


@dataclass(frozen=True)
class Supports:
    """How often an answer supports a category: that it is of, or one that it is not of."""

    own: Fraction
    other: Fraction

    def variance(self, frequency: Fraction = Fraction(0)) -> Fraction:
        """Return n times the variance of the estimate of a frequency, from n answers.

        Wang, Blocki, Li, Jha: Locally Differentially Private Protocols for Frequency Estimation,
        USENIX Security 2017, equation 3 (pure protocols).
        """
        own, other = self.own, self.other
        spread = frequency * own * (1 - own) + (1 - frequency) * other * (1 - other)
        return spread / (own - other) ** 2

    @property
    def largest_variance(self) -> Fraction:
        """The largest of n times the variance of the estimate of a frequency, at 0 or at 1."""
        return max(self.variance(), self.variance(Fraction(1)))


@dataclass(frozen=True)
class Estimates:
    """Estimates of frequencies or means, (estimates,), with their variances.

    They are neither clipped nor made to sum to 1: both would add a bias.
    """

    values: Floats
    variances: Floats
    answers: int

    def intervals(self) -> tuple[Floats, Floats]:
        """Return the ends of their intervals of 95 %, by normal approximation."""
        half_widths = QUANTILE * np.sqrt(self.variances)
        return self.values - half_widths, self.values + half_widths


def estimate_frequencies(
    counts: Ints, answers: int, supports: Supports, *, sampled: Fraction = Fraction(1)
) -> Estimates:
    """Return estimates, (categories,), from how many answers support each category.

    (y - q) / (p - q), for y the share of the answers. Of those who answered, all that is not 1, a
    share was `sampled` at random, which the variances then cover. Raises ValueError without
    answers.
    """
    if answers < 1:
        raise ValueError("There are no answers to estimate frequencies from.")
    own, other = float(supports.own), float(supports.other)
    values = (counts / answers - other) / float(supports.own - supports.other)
    likely_values = np.clip(values, 0.0, 1.0)
    spread = likely_values * own * (1 - own) + (1 - likely_values) * other * (1 - other)
    variances = spread / float(supports.own - supports.other) ** 2
    variances = variances + likely_values * (1 - likely_values) * float(1 - sampled)
    return Estimates(values, variances / answers, answers)


def clip_frequencies(frequencies: Floats) -> Floats:
    """Return the nearest frequencies, (categories,), that are not negative and sum to 1.

    For those who want a distribution, after the estimates are stored: it is biased. The Euclidean
    projection onto the simplex (Wang, Li, Jha, Li: Locally Differentially Private Frequency
    Estimation with Consistency, NDSS 2020, Norm-Sub).
    """
    falling = np.sort(frequencies)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(frequencies - excess[last], 0.0))
