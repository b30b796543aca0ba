"""Totals of which one or two units contribute most: how far they stay unknown, and of how many.

Handbook on Statistical Disclosure Control (2010), sections 4.2.1 and 4.2.2: sensitivity rules,
and the protection levels that follow from each.
"""

import math

import numpy as np
from numpy.typing import NDArray

from policy_engine.methods.output_checks.profile import OutputProfile

Figures = NDArray[np.float64]
_NEAR = 1e-9


def upper_levels(
    profile: OutputProfile, largest: Figures, second: Figures, total: Figures
) -> Figures:
    """Return how far above each total has to seem possible by the dominance rules of a profile, 0
    or less where no rule asks for anything: all arrays (cells,), contributions by absolute value.

    With the total so much larger, the rule would be satisfied.
    """
    levels = [np.zeros(len(total))]
    with np.errstate(invalid="ignore", over="ignore"):  # What is infinite has no level.
        if profile.max_largest_share is not None:
            levels.append(largest / profile.max_largest_share - total)
        if profile.max_two_largest_share is not None:
            levels.append((largest + second) / profile.max_two_largest_share - total)
        if profile.p_percent is not None:
            levels.append(profile.p_percent * largest - (total - largest - second))
    finite = [np.where(np.isfinite(one), one, 0.0) for one in levels]
    return np.asarray(np.maximum.reduce(finite), np.float64)


def least_contributors(profile: OutputProfile) -> int:
    """Return of how many units a total is at the least that a profile lets out: of fewer, one or
    two always dominate, even where all contribute the same."""
    least = profile.min_units
    if profile.max_largest_share is not None:
        least = max(least, math.ceil(1 / profile.max_largest_share - _NEAR))
    if profile.max_two_largest_share is not None:
        least = max(least, math.ceil(2 / profile.max_two_largest_share - _NEAR))
    if profile.p_percent is not None:
        least = max(least, math.ceil(2 + profile.p_percent - _NEAR))
    return least
