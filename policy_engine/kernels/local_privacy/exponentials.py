"""Exponentials as rational numbers that are never too large, and the weights made of them.

A mechanism draws one of 2**64 words; each output has a whole number of them, its weight. So every
probability is exact, and no ratio of two is rounded.
"""

from fractions import Fraction

WORDS = 2**64
"""How many words there are."""

MOST_EPSILON = 64
"""What is larger counts as this: e**64 is more than all words."""

_BITS = 256
_HALVINGS = 16


def floor_exp(exponent: Fraction) -> Fraction:
    """Return a number of at most e**exponent, and hardly less: by 2**-200 of it, from 0 to 64.

    Raises ValueError for a negative exponent. What is larger than 64 counts as 64.
    """
    if exponent < 0:
        raise ValueError(f"The exponent is negative. Given: {exponent}.")
    unit = 1 << _BITS
    # Everything is positive and rounded down: the terms, their sum, and the squares.
    part = min(exponent, Fraction(MOST_EPSILON)) * unit / 2**_HALVINGS
    small = part.numerator // part.denominator
    total, term, number = unit, unit, 1
    while term:
        term = term * small // (unit * number)
        total, number = total + term, number + 1
    for _ in range(_HALVINGS):
        total = total * total // unit
    return Fraction(total, unit)


def least_weight(ratio: Fraction, near: int, far: int) -> int:
    """Return the weight of each of `far` outputs, such that `near` others have at most `ratio`
    times as much, and all together all words: rounded up, towards safety."""
    return -(-WORDS * ratio.denominator // (near * ratio.numerator + far * ratio.denominator))


def check_epsilon(epsilon: Fraction) -> None:
    """Raise ValueError unless an epsilon is positive."""
    if epsilon <= 0:
        raise ValueError(f"The epsilon is not positive. Given: {epsilon}.")
