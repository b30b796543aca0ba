"""Frequencies estimated from randomised answers, without bias, with their variances."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_privacy.spreads import AnswerSpread, Estimates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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

    def spread(self, sampled: Fraction = Fraction(1)) -> AnswerSpread:
        """Return that variance as a function of the frequency, and with it that of the frequency
        among a share of the records that was `sampled` at random, (1 - sampled) f (1 - f)."""
        difference, rest = self.own - self.other, 1 - sampled
        none, all_ = self.variance(), self.variance(Fraction(1))
        return AnswerSpread(none, all_ - none + rest, -rest, 1 / difference)

    @property
    def largest_variance(self) -> Fraction:
        """The largest of n times the variance of the estimate of a frequency, at 0 or at 1."""
        return max(self.variance(), self.variance(Fraction(1)))


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
    values = (counts / answers - float(supports.other)) / float(supports.own - supports.other)
    return Estimates.of(values, answers, supports.spread(sampled), 1.0)


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
