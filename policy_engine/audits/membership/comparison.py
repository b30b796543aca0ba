"""An attack against the label-only baseline, on the same records."""

from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import probability, quantile
from policy_engine.audits.membership.observations import Bools, Floats
from policy_engine.audits.membership.result import Compared, Gain
from policy_engine.kernels.estimates import Estimate, NotApplicable

_POWER = 0.8
_SURE = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(_POWER)


def gain(scores: Floats, called: Bools, is_right: Bools, is_member: Bools) -> Gain:
    """Return what an attack gains over calling members what the model classifies rightly.

    All are (n,), of the same records, members and non-members among them. AUCs are compared by
    the placements of DeLong, DeLong and Clarke-Pearson (Biometrics 1988), calls by McNemar's
    test, in the form of an interval of the difference (Agresti and Min, Statistics in Medicine
    2005), the members and the non-members counting half each.
    """
    own, other = _wins(scores, is_member), _wins(is_right.astype(np.float64), is_member)
    correct = (called == is_member).astype(np.float64) - (is_right == is_member)
    return Gain(
        auc=_compare(own - other, is_member, 1.0), accuracy=_compare(correct, is_member, 0.5)
    )


def _wins(scores: Floats, is_member: Bools) -> Floats:
    """Return in how many of each record's pairs the member scores higher, ties as half, (n,)."""
    order = falling_order(scores)
    points = curve(scores[order], is_member[order])
    sizes = np.diff(points.true_positives + points.false_positives)
    of_members, of_others = (np.repeat(wins, sizes) for wins in points.wins())
    record_wins = np.empty(len(scores))
    record_wins[order] = np.where(is_member[order], of_members, of_others)
    return record_wins


def _compare(gains: Floats, is_member: Bools, weight: float) -> Compared:
    """Return a difference from the contributions of each record; `weight` is that of a side.

    By Student's t with Welch's degrees of freedom.
    """
    sides = gains[is_member], gains[~is_member]
    spreads = [weight**2 * _variance(side) / (len(side) + 2) for side in sides]
    value = float(sides[0].mean() + sides[1].mean()) / 2
    deviation, freedom = sqrt(sum(spreads)), [len(side) + 1 for side in sides]
    width = quantile(spreads, freedom) * deviation
    low, high = max(value - width, -1.0), min(value + width, 1.0)
    return Compared(
        difference=Estimate(value=value, low=min(low, value), high=max(high, value)),
        p=probability(value / deviation, spreads, freedom),
        smallest=min(_SURE * deviation, 1.0),
        needed=_needed_records(value, weight**2 * sum(map(_variance, sides))),
    )


def _variance(gains: Floats) -> float:
    """Return the variance of what records add, one half record of +1 and one of -1 among them.

    Without them (Agresti and Min's) two attacks that agree would differ by 0 for sure.
    """
    records = len(gains) + 2
    return float((gains**2).sum() + 1) / records - float(gains.sum() / records) ** 2


def _needed_records(value: float, variance: float) -> int | NotApplicable:
    """Return how many members, and as many non-members, would show it in 4 of 5 draws."""
    if abs(value) < _NO_DIFFERENCE:
        return NotApplicable(reason="the two reach the same")
    return ceil(_SURE**2 * variance / value**2)


_NO_DIFFERENCE = 1e-9
