"""Optimised local hashing: a value is hashed to few, by a hash of one's own, and that is told.

Wang, Blocki, Li, Jha: Locally Differentially Private Protocols for Frequency Estimation, USENIX
Security 2017. The hash is public and drawn for each answer without regard to the value.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_privacy.exponentials import check_epsilon, floor_exp
from policy_engine.kernels.local_privacy.frequencies import Supports
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

MOST_HASHES = 2**16
"""More values than these are never hashed to: their shares of 32 bits would differ too much."""

_HALF: Any = np.uint64(32)


@dataclass(frozen=True)
class LocalHashing:
    """A hash of one of so many `values`, told by randomised response."""

    values: int
    response: RandomisedResponse

    words = 3
    """How many words an answer takes: two are its hash."""

    @classmethod
    def of(cls, values: int, epsilon: Fraction) -> "LocalHashing":
        """Return that of an epsilon, with the number of hashes that has the least variance.

        Raises ValueError unless epsilon is positive, and large enough to tell hashes apart.
        """
        check_epsilon(epsilon)
        least = min(int(floor_exp(epsilon)) + 1, MOST_HASHES - 1)
        mechanisms = (
            cls(values, RandomisedResponse.of(hashes, epsilon)) for hashes in (least, least + 1)
        )
        return min(mechanisms, key=lambda mechanism: mechanism.supports.variance())

    @property
    def supports(self) -> Supports:
        """The probabilities that the told hash is that of the true value, and of another one."""
        return Supports(self.response.supports.own, Fraction(1, self.response.values))

    def hash(self, codes: NDArray[Any], hashes: Words) -> Ints:
        """Return what every code, (rows,), is hashed to by its own hash, (rows, 2).

        The upper half of a x + b modulo 2**64, which is pairwise independent (Dietzfelbinger:
        Universal Hashing and k-wise Independent Random Variables via Integer Arithmetic without
        Primes, STACS 1996), as that share of all hashes.
        """
        upper = (hashes[:, 0] * codes.astype(np.uint64) + hashes[:, 1]) >> _HALF
        return np.asarray((upper * np.uint64(self.response.values) >> _HALF).astype(np.int64))

    def respond(self, codes: NDArray[Any], words: Words) -> tuple[Words, Ints]:
        """Return the hash of every answer, (rows, 2), and what it tells, (rows,).

        `words` are (rows, 3).
        """
        hashes = words[:, :2]
        return hashes, self.response.respond(self.hash(codes, hashes), words[:, 2])

    def count(self, hashes: Words, answers: Ints) -> Ints:
        """Return how many answers support each value, (values,), in time rows times values."""
        counts = np.zeros(self.values, dtype=np.int64)
        for code in range(self.values):
            is_supporting = self.hash(np.array(code), hashes) == answers
            counts[code] = np.count_nonzero(is_supporting)
        return counts
