"""Figures of several models with their spread over these."""

from collections.abc import Sequence
from math import hypot, sqrt
from statistics import fmean

from policy_engine.audits.membership.over_targets import TargetSpread, spread_of
from policy_engine.kernels.estimates import Estimate


def spread_over(estimates: Sequence[Estimate], *, share_records: bool) -> TargetSpread:
    """Return shares of several models with an interval over these.

    A few models may be alike by chance, so it is never narrower than that of all their records.
    """
    spread = spread_of([one.value for one in estimates])
    half = spread.high - spread.mean
    down = fmean([one.value - one.low for one in estimates])
    up = fmean([one.high - one.value for one in estimates])
    if share_records:
        down, up = hypot(half, down), hypot(half, up)
    else:
        down, up = (max(half, one / sqrt(len(estimates))) for one in (down, up))
    ends = {"low": max(spread.mean - down, 0.0), "high": min(spread.mean + up, 1.0)}
    return spread.model_copy(update=ends)


def estimate_of(spread: TargetSpread) -> Estimate:
    """Return the mean over models with its interval."""
    return Estimate(value=spread.mean, low=spread.low, high=spread.high)
