"""Which groups are published, where their keys are not public: optimal partition selection.

Desfontaines, Voss, Gipson and Mandayam: Differentially Private Partition Selection, PETS 2022.
"""

import secrets
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from policy_engine.kernels.local_privacy.exponentials import floor_exp

BITS = 128
_ONE = 1 << BITS


def keeps(units: Sequence[int], epsilon: Fraction, delta: Fraction) -> list[bool]:
    """Return for each partition of so many units whether it is kept, drawn exactly.

    Of all choices that lose epsilon and delta where a unit is more or less in one partition, none
    keeps partitions with greater probabilities. Where a unit is in several, both are to be divided
    by their number beforehand. A partition without units is never kept. Raises ValueError unless
    epsilon is above 0 and delta from 2^-128 to 1.
    """
    chances = keep_chances(epsilon, delta)
    last = len(chances) - 1
    return [secrets.randbits(BITS) < chances[min(max(count, 0), last)] for count in units]


@lru_cache(8)
def keep_chances(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return the probability of keeping 0, 1, ... units, in 2^-128, up to the first that is 1.

    With n units more it is at most e^epsilon times as probable, and delta, and so it is with n less
    that a partition is left out (theorem 1): each step goes as far as both allow. Rounded down,
    every step is one that they allow, and none goes back: so the probabilities that are drawn from
    lose no more than epsilon and delta. There are about 2 log(1 / delta) / epsilon of them.
    """
    if not (epsilon > 0 and 1 <= delta * _ONE <= _ONE):
        message = f"Epsilon is above 0, delta from 2^-128 to 1. Given: {epsilon} and {delta}."
        raise ValueError(message)
    growth = floor_exp(epsilon)
    more, less = growth.numerator, growth.denominator
    small = int(delta * _ONE)
    chances = [0]
    while chances[-1] < _ONE:
        chance = chances[-1]
        left_out = max(_ONE - chance - small, 0)
        # e^-epsilon is at most 1 / growth; what is left out is rounded up.
        rarest = -(-left_out * less // more)
        chances.append(min(chance * more // less + small, _ONE - rarest))
    return tuple(chances)
