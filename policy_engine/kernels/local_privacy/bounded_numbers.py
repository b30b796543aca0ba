"""Numbers between public bounds, randomised one by one on a public grid.

A number is a whole number of steps above the lower bound, from 0 to `steps`. An answer is one of
few numbers on a wider range, the mean of which is the number. Each answer is published as the
nearest whole number of steps; which one it is can be told from that, so that the estimates are
exact: nothing is lost, and nothing biased, by the rounding.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_privacy.exponentials import (
    WORDS,
    check_epsilon,
    floor_exp,
    least_weight,
)
from policy_engine.kernels.local_privacy.spreads import AnswerSpread, Estimates

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_STEPS = 2**16
"""A public grid has no more steps."""


@dataclass(frozen=True)
class TwoPoints:
    """One of two answers: high more often the higher the number, by `least` words at least.

    Duchi, Jordan, Wainwright: Minimax Optimal Procedures for Locally Private Estimation, JASA
    113(521), 2018, for one number, on a grid.
    """

    steps: int
    least: int

    words = 1
    """How many words an answer takes."""

    @classmethod
    def of(cls, steps: int, epsilon: Fraction) -> "TwoPoints":
        """Return that of an epsilon. Raises ValueError for an epsilon or steps out of range."""
        check_epsilon(epsilon)
        _check_steps(steps)
        least = least_weight(floor_exp(epsilon), 1, 1)
        if 2 * least >= WORDS:
            raise ValueError(f"An epsilon of {epsilon} tells nothing.")
        return cls(steps, least)

    def weights(self, number: int) -> list[int]:
        """Return how many words make the low and the high answer, (2,), of a number of steps."""
        high = self.least + (WORDS - 2 * self.least) * number // self.steps
        return [WORDS - high, high]

    def respond(self, numbers: Ints, words: Words) -> Ints:
        """Return the answer of every number, (rows,), 0 if low or 1, by its word."""
        return np.asarray((words < self._bounds[numbers]).astype(np.int64))

    @cached_property
    def _bounds(self) -> Words:
        return np.array([self.weights(number)[1] for number in range(self.steps + 1)], np.uint64)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """The least and the largest probability of an answer."""
        return Fraction(self.least, WORDS), Fraction(WORDS - self.least, WORDS)

    @property
    def answers(self) -> tuple[Fraction, ...]:
        """What each answer stands for, in steps."""
        scale = Fraction(self.steps, WORDS - 2 * self.least)
        return (-self.least * scale, (WORDS - self.least) * scale)

    @property
    def largest_variance(self) -> Fraction:
        """The variance of the answer of one number, in squared steps, at its largest."""
        low, high = self.answers
        return max(
            (high - number) * (number - low) for number in (self.steps // 2, -(-self.steps // 2))
        )

    def spread(self, _observed: float, _sampled: Fraction) -> AnswerSpread:
        """Return the variance of an answer as a function of the mean: that of one of two numbers,
        whatever the numbers are that have this mean, and however they were sampled."""
        low, high = self.answers
        return AnswerSpread(-low * high, low + high, -1, high - low)


@dataclass(frozen=True)
class PiecewiseNumbers:
    """One of steps + `width` answers: each of `width` ones near the number has `near` words, each
    other one `far`, and the lowest has all that are left over, whatever the number.

    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: Collecting and Analyzing Multidimensional Data with
    Local Differential Privacy, ICDE 2019, on a grid: where the near ones are moves with the number
    by one answer a step, so that the mean is exactly linear in it.
    """

    steps: int
    width: int
    near: int
    far: int

    words = 1
    """How many words an answer takes."""

    @classmethod
    def of(cls, steps: int, epsilon: Fraction) -> "PiecewiseNumbers":
        """Return that of an epsilon. Raises ValueError for an epsilon or steps out of range.

        The near answers are 1 / (e**(epsilon / 2) + 1) of all, as in the paper.
        """
        check_epsilon(epsilon)
        _check_steps(steps)
        width = max(1, round(steps / floor_exp(epsilon / 2)))
        far = least_weight(floor_exp(epsilon), width, steps)
        near = (WORDS - steps * far) // width
        if near <= far:
            raise ValueError(f"With {steps} steps, an epsilon of {epsilon} tells nothing.")
        return cls(steps, width, near, far)

    @property
    def _left_over(self) -> int:
        return WORDS - self.width * self.near - self.steps * self.far

    def weights(self, number: int) -> list[int]:
        """Return how many words make each answer, (steps + width,), of a number of steps."""
        words = [self.far] * (self.steps + self.width)
        words[number : number + self.width] = [self.near] * self.width
        words[0] += self._left_over
        return words

    def respond(self, numbers: Ints, words: Words) -> Ints:
        """Return the answer of every number, (rows,), by its word."""
        all_near = self.width * self.near
        near = numbers + (words // np.uint64(self.near)).astype(np.int64)
        behind = words - np.uint64(all_near)  # wraps round where it is not used
        far = (behind // np.uint64(self.far)).astype(np.int64)
        far = np.where(far < numbers, far, far + self.width)
        far = np.where(far < self.steps + self.width, far, 0)
        return np.where(words < np.uint64(all_near), near, far)

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability of a far and of a near answer; the lowest has a trifle more."""
        return Fraction(self.far, WORDS), Fraction(self.near, WORDS)

    @cached_property
    def answers(self) -> tuple[Fraction, ...]:
        """What each answer stands for, in steps."""
        size, width, more = self.steps + self.width, self.width, self.near - self.far
        middle = self.far * (size * (size - 1) // 2) + more * (width * (width - 1) // 2)
        return tuple(Fraction(WORDS * answer - middle, more * width) for answer in range(size))

    @cached_property
    def largest_variance(self) -> Fraction:
        """The variance of the answer of one number, in squared steps, at its largest.

        It is convex in the number, as in the paper: largest at an end.
        """
        return max(self._variance(number) for number in (0, self.steps))

    def spread(self, observed: float, sampled: Fraction) -> AnswerSpread:
        """Return the variance of an answer: the largest, whatever the numbers are, and of a share
        of them that was `sampled` how much they differ, by the `observed` variance of answers.

        Answers vary by what was randomised too, which is least in the middle. That they are rarely
        far off may not show in few: so it is never taken from them. A far answer is one of any
        distance; as a jump half of the steps counts, by which intervals were found to cover.
        """
        variance = float(self.largest_variance)
        if sampled < 1:
            numbers = max(0.0, observed - float(self._variance(self.steps // 2)))
            variance += float(1 - sampled) * numbers
        return AnswerSpread(variance, jump=Fraction(self.steps, 2))

    def _variance(self, number: int) -> Fraction:
        weights = self.weights(number)
        squares = sum(
            weight * (answer - number) ** 2
            for weight, answer in zip(weights, self.answers, strict=True)
        )
        return Fraction(squares) / WORDS


BoundedNumbers = TwoPoints | PiecewiseNumbers


def published_steps(mechanism: BoundedNumbers) -> Ints:
    """Return the whole number of steps, (answers,), that each answer is published as.

    All differ, since two answers are more than one step apart.
    """
    return np.array([round(answer) for answer in mechanism.answers], dtype=np.int64)


def estimate_mean(
    mechanism: BoundedNumbers, answers: Ints, *, sampled: Fraction = Fraction(1)
) -> Estimates:
    """Return the unbiased estimate, (1,), of the mean in steps, from answers (rows,).

    Its variance is the largest that it can be for such a mean. Of those who answered, all that is
    not 1, a share was `sampled` at random, which it then covers. Raises ValueError for fewer than
    two answers.
    """
    if len(answers) < 2:
        raise ValueError("There are fewer than two answers to estimate a mean from.")
    numbers = np.array([float(answer) for answer in mechanism.answers])[answers]
    spread = mechanism.spread(float(numbers.var(ddof=1)), sampled)
    return Estimates.of(np.array([numbers.mean()]), len(numbers), spread, float(mechanism.steps))


def _check_steps(steps: int) -> None:
    if not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"A grid has 1 to {MOST_STEPS} steps. Given: {steps}.")
