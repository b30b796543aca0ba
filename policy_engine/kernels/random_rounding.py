"""Unbiased random rounding: every value becomes one of the two multiples of a base beside it."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.normal import uniforms

Floats = NDArray[np.float64]
_NEAR = 1e-6
"""How far from a multiple a float may be, in multiples, that is meant to be one."""


def round_at_random(values: Floats, base: float, words: NDArray[np.uint64]) -> Floats:
    """Return a multiple of the base for each value, of the shape of the values and words.

    It is the multiple below or above the value, with such probabilities that the value is expected
    (Hundepool et al.: Statistical Disclosure Control, Wiley 2012, section 4.5).
    """
    multiples = values / base
    nearest = np.rint(multiples)
    low = np.where(np.abs(multiples - nearest) < _NEAR, nearest, np.floor(multiples))
    rises = uniforms(words) < multiples - low
    return np.asarray((low + rises) * base)


def count_unrounded(before: Floats, after: Floats, base: float) -> NDArray[np.int64]:
    """Return how many cells of each column, (columns,), are not a multiple of the base, or not one
    beside the value before; `before` and `after` are the same rows, (rows, columns)."""
    is_near = np.abs(after - before) < base * (1 + _NEAR)
    return np.asarray((~(_is_multiple(after, base) & is_near)).sum(axis=0))


def count_other_values(values: Floats, base: float) -> NDArray[np.int64]:
    """Return how many values of each column, (columns,), are not multiples of the base."""
    return np.asarray((~_is_multiple(values, base)).sum(axis=0))


def _is_multiple(values: Floats, base: float) -> NDArray[np.bool_]:
    multiples = values / base
    return np.abs(multiples - np.rint(multiples)) < _NEAR
