"""By how much an attack on persons of the original exceeds what it reaches on others."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import Estimate, NotApplicable

Floats = NDArray[np.float64]

_DEVIATIONS = 1.959963984540054
"""Of the normal distribution, between which it has a probability of 95%."""


def excess(attacked: Floats, control: Floats) -> Estimate | NotApplicable:
    """Return (a - c) / (1 - c): the share of what an attack misses by chance that it does reach.

    a and c are the means of the probabilities of success by person, (persons,) each, of the
    original and of a `control` that was never in it (Giomi et al., PoPETs 2023(2), section 4.1). 0
    is no more than on others, 1 is always; below 0 it is less. The interval is that of a ratio of
    two shares of misses by the square-and-add method (Donner and Zou, Statistical Methods in
    Medical Research 21(4), 2012) from Wilson's intervals of either.
    """
    if not len(attacked) or not len(control):
        return NotApplicable(reason="There is no excess without persons of the original or others.")
    # Exact, so that no order of persons matters.
    first, second = (
        (min(math.fsum(one.tolist()) / len(one), 1.0), len(one)) for one in (attacked, control)
    )
    return excess_of_shares(first, second)


def excess_of_shares(
    attacked: tuple[float, float], control: tuple[float, float]
) -> Estimate | NotApplicable:
    """Return the same of shares of success, each with the number of independent attacks."""
    ours, others = _Misses.of(*attacked), _Misses.of(*control)
    if others.share <= 0:
        return NotApplicable(
            reason="The attack always succeeds on persons who are not in the original."
        )
    low, high = _ratio_ends(ours, others)
    value = 1 - ours.share / others.share
    return Estimate(value=value, low=min(1 - high, value), high=max(1 - low, value))


@dataclass(frozen=True)
class _Misses:
    """The share of misses, and the ends of its interval."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, success: float, count: float) -> "_Misses":
        """Return what a share of success of so many attacks leaves, by Wilson (1927)."""
        share = 1 - success
        square = _DEVIATIONS**2
        centre = (share + square / (2 * count)) / (1 + square / count)
        width = _DEVIATIONS / (1 + square / count)
        width *= math.sqrt(share * (1 - share) / count + square / (4 * count**2))
        return cls(share, max(centre - width, 0.0) if share else 0.0, min(centre + width, 1.0))


def _ratio_ends(ours: _Misses, others: _Misses) -> tuple[float, float]:
    product = ours.share * others.share
    below = ours.low * (2 * ours.share - ours.low)
    above = ours.high * (2 * ours.share - ours.high)
    room = others.high * (2 * others.share - others.high)
    rest = others.low * (2 * others.share - others.low)
    low = below / (product + math.sqrt(max(product**2 - below * room, 0.0))) if product else 0.0
    return low, (product + math.sqrt(max(product**2 - above * rest, 0.0))) / rest
