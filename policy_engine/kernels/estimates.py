"""A figure with its confidence interval, or the reason why it is not applicable."""

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

CONFIDENCE = 0.95
"""The confidence of every interval."""


class NotApplicable(BaseModel):
    """The reason why a figure is not applicable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    reason: str


class Estimate(BaseModel):
    """A figure and the two ends of its 95% interval."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: Annotated[float, Field(allow_inf_nan=False)]
    low: Annotated[float, Field(allow_inf_nan=False)]
    high: Annotated[float, Field(allow_inf_nan=False)]

    def rounded(self, decimals: int) -> "Estimate":
        """Return the figure with so many decimals, its ends rounded away from it."""
        # Rounding must never make an interval narrower.
        low, high = floor(self.low, decimals), ceiling(self.high, decimals)
        return Estimate(value=min(max(round(self.value, decimals), low), high), low=low, high=high)


def floor(figure: float, decimals: int) -> float:
    """Return the greatest number with so many decimals that is not above a figure."""
    unit = 10.0**decimals
    return float(math.floor(round(figure * unit, _DIGITS)) / unit)


def ceiling(figure: float, decimals: int) -> float:
    """Return the least number with so many decimals that is not below a figure."""
    return -floor(-figure, decimals)


_DIGITS = 6
"""Of the digits behind the decimals; the rest is the error of binary arithmetic."""


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return a share with its exact two-sided interval (Clopper and Pearson, Biometrika 1934).

    Without trials the share is 0 and the interval is from 0 to 1.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import, an extra)

    if trials == 0:
        return Estimate(value=0.0, low=0.0, high=1.0)
    tail, failures = (1 - confidence) / 2, trials - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures == 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return Estimate(value=successes / trials, low=low, high=high)


def share_of_parts(total: float, trials: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of figures from 0 to 1, whose sum is `total`, with a two-sided interval.

    They vary no more than successes and failures of the same mean: the interval is that of Clopper
    and Pearson, whose tails are defined for sums that are not whole, too.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import, an extra)

    if trials == 0:
        return Estimate(value=0.0, low=0.0, high=1.0)
    tail, rest = (1 - confidence) / 2, max(trials - total, 0.0)
    low = 0.0 if total <= 0 else float(betaincinv(total, rest + 1, tail))
    high = 1.0 if rest <= 0 else float(betaincinv(total + 1, rest, 1 - tail))
    value = min(max(total / trials, 0.0), 1.0)
    return Estimate(value=value, low=min(low, value), high=max(high, value))
