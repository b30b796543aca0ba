"""Unbiased random rounding: every value becomes one of the two multiples of a base beside it."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.normal import uniforms

Floats = NDArray[np.float64]
_NEAR = 1e-6
"""How far from a multiple a float may be, in multiples, that is meant to be one."""
_ROUNDING = 2.0**-50
"""How far it may be as a share of itself."""
MOST_EXACT = 2**53


def most_exact(decimals: int) -> float:
    """Return the numbers up to which all that have so many decimals are told apart by floats."""
    return float(MOST_EXACT / 10**decimals)


def round_at_random(values: Floats, base: Decimal | int, words: NDArray[np.uint64]) -> Floats:
    """Return a multiple of the base for each value, of the shape of the values and words.

    It is the multiple below or above the value, with such probabilities that the value is expected
    (Hundepool et al.: Statistical Disclosure Control, Wiley 2012, section 4.5): the float that is
    nearest to it. Values are up to `most_exact` of the base's decimals.
    """
    multiples, step = values / float(base), _Step.of(base)
    nearest = np.rint(multiples)
    is_near = np.abs(multiples - nearest) < _tolerance(multiples)
    low = np.where(is_near, nearest, np.floor(multiples))
    rises = uniforms(words) < multiples - low
    return np.asarray((low + rises) * step.units / step.scale)


def count_unrounded(before: Floats, after: Floats, base: Decimal | int) -> NDArray[np.int64]:
    """Return how many cells of each column, (columns,), are not a multiple of the base, or not one
    beside the value before; `before` and `after` are the same rows, (rows, columns)."""
    distances = np.abs(after - before) / float(base)
    is_near = distances < 1 + _tolerance(before / float(base))
    return np.asarray((~(_is_multiple(after, base) & is_near)).sum(axis=0))


def count_other_values(values: Floats, base: Decimal | int) -> NDArray[np.int64]:
    """Return how many values of each column, (columns,), are not multiples of the base."""
    return np.asarray((~_is_multiple(values, base)).sum(axis=0))


@dataclass(frozen=True)
class _Step:
    """A base as a fraction of whole numbers."""

    units: float
    scale: float

    @classmethod
    def of(cls, base: Decimal | int) -> "_Step":
        """Return a base of up to 15 digits."""
        exponent = Decimal(base).normalize().as_tuple().exponent
        scale = 10 ** max(-exponent, 0) if isinstance(exponent, int) else 1
        return cls(float(base * scale), float(scale))


def _tolerance(multiples: Floats) -> Floats:
    return np.asarray(_NEAR + np.abs(multiples) * _ROUNDING)


def _is_multiple(values: Floats, base: Decimal | int) -> NDArray[np.bool_]:
    step = _Step.of(base)
    units = np.rint(values * step.scale)
    return np.asarray((units % step.units == 0) & (units / step.scale == values))
