"""Unary encodings: a bit for each value of a public list, each flipped at random.

Erlingsson, Pihur, Korolova: RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response,
CCS 2014 (symmetric, without its Bloom filter); Wang, Blocki, Li, Jha: Locally Differentially
Private Protocols for Frequency Estimation, USENIX Security 2017 (optimised).
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

Bits = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class UnaryEncoding:
    """A bit for each of so many `values`, with the words that set the true one, and another one.

    Two values differ in two bits: the loss is that of both together.
    """

    values: int
    true: int
    other: int

    @classmethod
    def symmetric(cls, values: int, epsilon: Fraction) -> "UnaryEncoding":
        """Return that which flips ones and zeros alike, with half of epsilon for each bit.

        Raises ValueError unless epsilon is positive, and large enough to tell bits apart.
        """
        check_epsilon(epsilon)
        other = least_weight(floor_exp(epsilon / 2), 1, 1)
        return cls._checked(values, WORDS - other, other, epsilon)

    @classmethod
    def optimised(cls, values: int, epsilon: Fraction) -> "UnaryEncoding":
        """Return that which tells the true bit by a fair coin, and all of epsilon by the others.

        Raises ValueError unless epsilon is positive, and large enough to tell bits apart.
        """
        check_epsilon(epsilon)
        other = least_weight(floor_exp(epsilon), 1, 1)
        return cls._checked(values, WORDS // 2, other, epsilon)

    @classmethod
    def _checked(cls, values: int, true: int, other: int, epsilon: Fraction) -> "UnaryEncoding":
        if true <= other:
            raise ValueError(f"An epsilon of {epsilon} tells nothing.")
        return cls(values, true, other)

    @property
    def words(self) -> int:
        """How many words an answer takes."""
        return self.values

    @property
    def supports(self) -> Supports:
        """The probabilities that the true bit is set, and each other one."""
        return Supports(Fraction(self.true, WORDS), Fraction(self.other, WORDS))

    def weights(self, code: int) -> list[int]:
        """Return how many words set each bit, (values,), of a value. Bits are independent."""
        return [self.true if bit == code else self.other for bit in range(self.values)]

    def respond(self, codes: NDArray[Any], words: Words) -> Bits:
        """Return the bits of every answer, (rows, values), by words of the same shape."""
        bits: Bits = words < np.uint64(self.other)
        rows = np.arange(len(codes))
        bits[rows, codes] = words[rows, codes] < np.uint64(self.true)
        return bits

    def count(self, answers: Bits) -> Ints:
        """Return how many answers support each value, (values,)."""
        return np.asarray(np.count_nonzero(answers, axis=0).astype(np.int64))
