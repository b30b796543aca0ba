"""Randomised response: a value of a public list is told, or any other one at random.

Warner: Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias, JASA 60(309),
1965, of two values; Kairouz, Oh, Viswanath: Extremal Mechanisms for Local Differential Privacy,
NeurIPS 2014, of any number.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_privacy.exponentials import (
    WORDS,
    check_epsilon,
    floor_exp,
    least_weight,
)
from policy_engine.kernels.local_privacy.frequencies import Supports

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class RandomisedResponse:
    """One of so many `values`, with the words for the true one and for each other one."""

    values: int
    true: int
    other: int

    words = 1
    """How many words an answer takes."""

    @classmethod
    def of(cls, values: int, epsilon: Fraction) -> "RandomisedResponse":
        """Return that of an epsilon: no ratio of two probabilities is larger than e**epsilon.

        Raises ValueError unless epsilon is positive, and large enough to tell values apart.
        """
        check_epsilon(epsilon)
        if values < 2:
            return cls(values, WORDS, 0)
        other = least_weight(floor_exp(epsilon), 1, values - 1)
        true = WORDS - (values - 1) * other
        if true <= other:
            raise ValueError(f"Of {values} values, an epsilon of {epsilon} tells nothing.")
        return cls(values, true, other)

    @property
    def supports(self) -> Supports:
        """The probabilities of the true value, and of each other one."""
        return Supports(Fraction(self.true, WORDS), Fraction(self.other, WORDS))

    def weights(self, code: int) -> list[int]:
        """Return how many words make each answer, (values,), of a value."""
        return [self.true if answer == code else self.other for answer in range(self.values)]

    def respond(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return answers of the codes' type and shape, each by its word."""
        if self.values < 2:
            return codes.copy()
        is_true = words < np.uint64(self.true)
        if self.values == 2:
            return np.where(is_true, codes, 1 - codes).astype(codes.dtype)
        # The words behind the true ones are those of the values behind it, all round.
        shifts = (words - np.uint64(self.true)) // np.uint64(self.other)
        shifts[is_true] = np.uint64(self.values - 1)
        answers = (codes.astype(np.int64) + 1 + shifts.astype(np.int64)) % self.values
        return np.asarray(answers.astype(codes.dtype))

    def count(self, answers: NDArray[Any]) -> Ints:
        """Return how many answers support each value, (values,)."""
        return np.bincount(answers.astype(np.int64), minlength=self.values)
