"""Random bits as uniform, normal and Laplace numbers: the same to the bit on every machine.

Each number is the inverse of its distribution at the share that a word of 64 bits stands for, so
that one word makes one number, and a greater word never a smaller one. Floats have gaps: these
numbers serve masking, not mechanisms of differential privacy (Mironov, CCS 2012).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.elementary import logarithm

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


def uniforms(words: Words) -> Floats:
    """Return numbers spread evenly between 0 and 1, both excluded, of any shape.

    They are the middles of 2**52 intervals, so that none is rounded.
    """
    return _fill(_fill_uniforms, words)


def normals(words: Words) -> Floats:
    """Return normal numbers of mean 0 and deviation 1, of any shape; none is beyond 9.2.

    Errors as in `normal_quantiles`. Words with all bits flipped give the negative numbers.
    """
    return _fill(_fill_normals, words)


def laplaces(words: Words) -> Floats:
    """Return numbers of Laplace's distribution with mean 0 and deviation 1, of any shape.

    None is beyond 31.4. Words with all bits flipped give the negative numbers.
    """
    return _fill(_fill_laplaces, words)


def normal_quantiles(shares: Floats) -> Floats:
    """Return the numbers below which these shares of the normal distribution lie, of any shape.

    The shares are normal floats above 0 and below 1. Algorithm PPND16 of Wichura (AS 241, Applied
    Statistics 37(3), 1988); the relative error is below 1e-15.
    """
    return _fill(_fill_quantiles, shares)


def _fill(kernel: Callable[[Any, Floats], None], inputs: Words | Floats) -> Floats:
    """Return what a kernel makes of each of the words or shares."""
    numbers = np.empty(inputs.size)
    # As a copy where it cannot be written: else the kernel would be compiled for both.
    kernel(np.require(inputs, requirements=["C", "W"]).reshape(-1), numbers)
    return numbers.reshape(inputs.shape)


@compiled
def _fill_uniforms(words: Words, numbers: Floats) -> None:
    for place in range(len(words)):
        numbers[place] = (np.float64(words[place] >> _SPARE) + 0.5) * 2.0**-52


@compiled
def _fill_normals(words: Words, numbers: Floats) -> None:
    for place in range(len(words)):
        tail, is_low = _tail(words[place])
        distance = _distance(tail, 0.5 - tail)
        numbers[place] = (-distance if is_low else distance) + 0.0


@compiled
def _fill_laplaces(words: Words, numbers: Floats) -> None:
    for place in range(len(words)):
        tail, is_low = _tail(words[place])
        distance = -_ROOT_OF_HALF * logarithm(2.0 * tail)
        numbers[place] = (-distance if is_low else distance) + 0.0


@compiled
def _fill_quantiles(shares: Floats, numbers: Floats) -> None:
    for place in range(len(shares)):
        share = shares[place]
        distance = _distance(min(share, 1.0 - share), abs(share - 0.5))
        numbers[place] = (-distance if share < 0.5 else distance) + 0.0


@compiled
def _tail(word: int) -> Any:
    """Return the share on the nearer side of a word, up to 1/2, and whether that is the lower."""
    # Measured from its own end, either tail has all the bits of its words.
    is_low = word < _MIDDLE
    steps = word if is_low else ~word
    return (np.float64(steps) + 0.5) * 2.0**-64, is_low


@compiled
def _distance(tail: float, from_half: float) -> Any:
    """Return how far from 0 a normal number is, beyond which lies a share `tail`, up to 1/2."""
    if from_half <= 0.425:
        return from_half * _ratio(_NEAR, 0.180625 - from_half * from_half)
    r = np.sqrt(-logarithm(tail))
    return _ratio(_FAR, r - 1.6) if r <= 5.0 else _ratio(_FARTHEST, r - 5.0)


@compiled
def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], value: float) -> Any:
    """Return one polynomial over another, the coefficients of the highest powers first."""
    above, below = coefficients
    numerator, denominator = above[0], below[0]
    for power in range(1, 8):
        numerator = numerator * value + above[power]
        denominator = denominator * value + below[power]
    return numerator / denominator


_SPARE: Any = np.uint64(12)
_MIDDLE: Any = np.uint64(2**63)
_ROOT_OF_HALF = 0.7071067811865476

# Wichura's coefficients: near the middle, in the tails, and far out.
_NEAR = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_FAR = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_FARTHEST = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)
