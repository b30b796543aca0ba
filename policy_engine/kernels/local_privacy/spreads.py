"""How far estimates from randomised answers may be from what they estimate."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

QUANTILE = 1.959963984540054
"""The standard normal's quantile of .975: intervals are of 95 %."""


@dataclass(frozen=True)
class AnswerSpread:
    """The variance of an estimate times the number of its answers, known from the mechanism: a
    polynomial of what is estimated, the largest that it can be, with no square above 0.

    `jump` is by how much one answer moves the estimate, times their number; 0 where by anything.
    """

    constant: Fraction | float
    linear: Fraction | float = 0
    square: Fraction | float = 0
    jump: Fraction | float = 0

    def at(self, values: Floats) -> Floats:
        """Return it for some values, (values,); where they could not be estimated, at least 0."""
        constant, linear, square = (float(one) for one in self._parts)
        return np.asarray(np.maximum(constant + values * (linear + values * square), 0.0))

    @property
    def _parts(self) -> tuple[Fraction | float, ...]:
        return self.constant, self.linear, self.square

    def interval(self, estimates: Floats, answers: int) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of 95 % around estimates, (estimates,).

        They have every value that the estimate is not further from than 1.96 standard deviations at
        that value, and half an answer's jump: a sample in which nothing rare has happened tells
        little of how much varies. Wilson: Probable Inference, the Law of Succession, and
        Statistical Inference, JASA 22(158), 1927, with the correction for continuity.
        """
        _, linear, square = (float(one) for one in self._parts)
        share = QUANTILE**2 / answers
        slope = share * (linear + 2 * square * estimates)
        curve = 1 - share * square
        root = np.sqrt(slope**2 + 4 * curve * share * self.at(estimates))
        half_jump = float(self.jump) / (2 * answers)
        low = estimates + (slope - root) / (2 * curve) - half_jump
        return low, estimates + (slope + root) / (2 * curve) + half_jump


@dataclass(frozen=True)
class Estimates:
    """Estimates of frequencies or means, (estimates,), with their variances and the ends of their
    intervals of 95 %.

    They are neither clipped nor made to sum to 1: both would add a bias.
    """

    values: Floats
    variances: Floats
    lows: Floats
    highs: Floats
    answers: int

    @classmethod
    def of(cls, values: Floats, answers: int, spread: AnswerSpread, most: float) -> "Estimates":
        """Return estimates of what lies between 0 and `most`, by the spread at the nearest value
        that is."""
        variances = spread.at(np.clip(values, 0.0, most)) / answers
        return cls(values, variances, *spread.interval(values, answers), answers)

    def rescaled(self, start: float, unit: float) -> "Estimates":
        """Return estimates that count from a start, in a unit."""
        values, lows, highs = (start + unit * one for one in (self.values, self.lows, self.highs))
        return Estimates(values, unit**2 * self.variances, lows, highs, self.answers)
