"""Intervals for the figures of an attack that are not plain shares."""

from collections.abc import Sequence
from functools import cache
from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.curves import Curve
from policy_engine.audits.membership.figures import TprAtFpr
from policy_engine.audits.membership.observations import Floats
from policy_engine.kernels.estimates import CONFIDENCE, Estimate, clopper_pearson

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_BOTH = sqrt(CONFIDENCE)


def beats_guessing(rate: TprAtFpr, among: int = 1) -> bool:
    """Return whether more members are surely found than the false-positive rate that it costs.

    By one attack `among` so many: the low end is then as much lower, as a ratio, as the other
    intervals are wider.
    """
    value, low = rate.tpr.value, rate.tpr.low
    return low > 0 and low * (low / value) ** (deviations(among) / deviations(1) - 1) > rate.fpr


def widen_for(estimate: Estimate, among: int) -> Estimate:
    """Return an estimate with its ends widened for one among several (Bonferroni)."""
    if among == 1:
        return estimate
    wider = deviations(among) / deviations(1)
    low = estimate.value - wider * (estimate.value - estimate.low)
    high = estimate.value + wider * (estimate.high - estimate.value)
    return Estimate(value=estimate.value, low=low, high=high)


def deviations(among: int) -> float:
    """Return the distance, in deviations, of the ends of an interval for one among several."""
    return NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * among))


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Return one share less another, of records apart, with Newcombe's hybrid interval.

    The distances of the shares from their own ends are squared and added (Newcombe, Statistics
    in Medicine 1998, method 10), here with exact ends for Wilson's.
    """
    value = one.value - other.value
    down = sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    up = sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)
    return Estimate(value=value, low=max(value - down, -1.0), high=min(value + up, 1.0))


def advantage(true_positives: tuple[int, int], false_positives: tuple[int, int]) -> Estimate:
    """Return a true-positive rate less a false-positive one, of members and of non-members.

    The interval is the hybrid one. Where next to all calls are right, or wrong, both rates have
    an end that cannot go further, and it is short (it covers 93%); there the share of right
    calls is bounded as one of so many records, and the ends farther out are taken.
    """
    difference_of_rates = difference(
        clopper_pearson(*true_positives), clopper_pearson(*false_positives)
    )
    right = true_positives[0] + false_positives[1] - false_positives[0]
    members, non_members = true_positives[1], false_positives[1]
    if _FEW < right < members + non_members - _FEW or not members or not non_members:
        return difference_of_rates
    low, high = share_ends(
        (1 + difference_of_rates.value) / 2, 4 * members * non_members / (members + non_members)
    )
    return Estimate(
        value=difference_of_rates.value,
        low=min(difference_of_rates.low, 2 * low - 1),
        high=max(difference_of_rates.high, 2 * high - 1),
    )


_FEW = 5


def share_ends(share: float, trials: float) -> tuple[float, float]:
    """Return the ends of Clopper and Pearson for what need not be a whole number of trials."""
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import, an extra)

    successes, failures, tail = share * trials, (1 - share) * trials, (1 - CONFIDENCE) / 2
    low = float(betaincinv(successes, failures + 1, tail)) if successes > _NOTHING else 0.0
    return low, float(betaincinv(successes + 1, failures, 1 - tail)) if failures > _NOTHING else 1.0


_NOTHING = 1e-9


def area_under(points: Curve) -> Estimate:
    """Return the area under a ROC curve with an interval that holds whatever the scores' law is.

    Its ends are the farther out of two: Newcombe's, which is too short where members are of two
    kinds or the sides of two sizes (in simulation it covers 72% and more), and that of DeLong,
    DeLong and Clarke-Pearson (Biometrics 1988), which takes the spread from the records (on
    log-odds, with Welch's degrees of freedom) and is too short near 0 and 1.
    """
    value, members, non_members = points.area(), points.members, points.non_members
    newcombe = area(value, members, non_members)
    if min(members, non_members) < 2:
        return newcombe
    of_members, of_others = points.wins()
    spreads = (
        _spread(of_members, np.diff(points.true_positives), value),
        _spread(of_others, np.diff(points.false_positives), value),
    )
    if not 0 < value < 1 or not any(spreads):
        return newcombe
    width = quantile(spreads, (members - 1, non_members - 1)) * sqrt(sum(spreads))
    width /= value * (1 - value)
    odds = log(value / (1 - value))
    low, high = (1 / (1 + exp(min(shift - odds, 700))) for shift in (width, -width))
    return Estimate(value=value, low=min(low, newcombe.low), high=max(high, newcombe.high))


def _spread(wins: Floats, counts: NDArray[np.int64], mean: float) -> float:
    """Return the variance of the mean of some records' wins."""
    records = int(counts.sum())
    return float((counts * (wins - mean) ** 2).sum()) / (records - 1) / records


def quantile(spreads: Sequence[float], freedom: Sequence[float]) -> float:
    """Return Student's 97.5% quantile for a sum of means, by their variances and freedoms.

    Those of the sum are Welch's.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import, an extra)

    return float(stdtrit(_welch(spreads, freedom), (1 + CONFIDENCE) / 2))


def probability(distance: float, spreads: Sequence[float], freedom: Sequence[float]) -> float:
    """Return how likely such a sum is as many deviations from 0, or more, where 0 is true."""
    from scipy.special import stdtr  # noqa: PLC0415 (slow to import, an extra)

    return float(2 * stdtr(_welch(spreads, freedom), -abs(distance)))


def _welch(spreads: Sequence[float], freedom: Sequence[float]) -> float:
    parts = (spread**2 / degrees for spread, degrees in zip(spreads, freedom, strict=True))
    return float(sum(spreads) ** 2 / sum(parts))


def area(value: float, members: int, non_members: int) -> Estimate:
    """Return an area under the ROC curve with Newcombe's score interval.

    The ends are those areas from which the one seen is 1.96 deviations away, by the variance of
    Hanley and McNeil (Radiology 1982) as Newcombe has it (Statistics in Medicine 2006, part 2,
    method 5): unlike the plain one it has a width at 0 and 1 too. Without members or non-members
    nothing is known: .5, from 0 to 1.
    """
    if not members or not non_members:
        return Estimate(value=0.5, low=0.0, high=1.0)
    return Estimate(
        value=value,
        low=_end(value, 0.0, members, non_members),
        high=_end(value, 1.0, members, non_members),
    )


def _end(value: float, bound: float, members: int, non_members: int) -> float:
    """Bisect between the value, which is not an end, and the bound."""
    inside, outside = value, bound
    for _ in range(50):
        halfway = (inside + outside) / 2
        if abs(halfway - value) <= _Z * sqrt(_variance(halfway, members, non_members)):
            inside = halfway
        else:
            outside = halfway
    return outside


def _variance(auc: float, members: int, non_members: int) -> float:
    weight = (members + non_members) / 2 - 1
    spread = 1 + weight * (1 - auc) / (2 - auc) + weight * auc / (1 + auc)
    return max(auc * (1 - auc) * spread / (members * non_members), 0.0)


def rate_at(points: Curve, fpr: float) -> Estimate:
    """Return the true-positive rate of a score where its true false-positive rate is `fpr`.

    The value is that of the observed curve. The number of false positives of the threshold with the
    true rate `fpr` (random among equal scores) is binomial, which bounds it from both sides, and so
    bounds the true positives that are ranked before as many false positives. The Clopper-Pearson
    limits of these counts hold the rate with 95%, each end by itself with 97.5%.

    The low end may also be that of a larger rate, times the ratio of the two: to call only a random
    share of the records above a threshold members reduces both rates alike. That is how a few
    non-members can show something about a small rate. The high end is at least `fpr`, which
    guessing reaches; where the low end is above the value, the value is raised to it.
    """
    if not points.members or not points.non_members:
        return Estimate(value=0.0, low=0.0, high=1.0)
    low, high = _lower_rate(points, fpr), _upper_rate(points, fpr)
    value = max(points.true_positives_at(fpr) / points.members, low)
    return Estimate(value=value, low=low, high=max(high, value, fpr))


def _lower_rate(points: Curve, fpr: float) -> float:
    rates = _rates(fpr, points.non_members)
    each = _EACH / len(rates)
    ends = [0.0]
    for rate, fewest in rates:
        if fewest:
            true_positives = points.members_before(fewest).fewest(_TIE_ERROR)
            ends.append(
                fpr / rate * clopper_pearson(true_positives, points.members, 1 - 2 * each).low
            )
    return max(ends)


def _upper_rate(points: Curve, fpr: float) -> float:
    true_positives = points.members_before(most_false_positives(fpr, points.non_members) + 1).most(
        _TIE_ERROR
    )
    return clopper_pearson(true_positives, points.members, 1 - 2 * _EACH).high


_TIE_ERROR = 0.1
"""Equal scores are ordered at random, and the count is one that a random order exceeds with this
probability. The other errors are reduced accordingly, so that together they stay below 5%."""
_EACH = (1 - _TIE_ERROR) * (1 - CONFIDENCE) / 4
_SURE_ALARMS = (1, 5)
"""The larger rates are those at which a threshold almost surely has so many false positives: few
serve attacks that are right about the first records, more those that gain a little on many."""


@cache
def _rates(fpr: float, non_members: int) -> tuple[tuple[float, int], ...]:
    """Return rates from `fpr` on, by the counts alone, and how many they surely accuse here."""
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import, an extra)
    from scipy.stats import binom  # noqa: PLC0415

    sure = [count for count in _SURE_ALARMS if count <= non_members]
    each = _EACH / len(_SURE_ALARMS)
    larger = [(float(betaincinv(n, non_members - n + 1, 1 - each)), n) for n in sure]
    rates = [(rate, count) for rate, count in larger if rate > fpr]
    if len(rates) < len(sure):
        tail = _EACH / (len(rates) + 1)
        rates.append((fpr, int(binom.ppf(tail, non_members, fpr))))
    return tuple(rates)


@cache
def most_false_positives(fpr: float, non_members: int) -> int:
    """Return how many of the non-members a threshold with a true rate `fpr` accuses at most.

    More of them with a probability of 1.1%, near half of what one end of an interval may miss.
    """
    from scipy.stats import binom  # noqa: PLC0415 (slow to import, an extra)

    return int(binom.isf(_EACH, non_members, fpr))


def share_at_prior(
    true_positives: tuple[int, int], false_positives: tuple[int, int], prior: float
) -> Estimate:
    """Return how many of those called members are, where a share `prior` of all are members.

    `true_positives` are the members that are called members and all members, `false_positives`
    the same of the non-members; of both together at least one is called. The ends are those of
    both rates at once, each with the root of the confidence, as the two are of separate records.
    """
    true_rate = clopper_pearson(*true_positives, _BOTH)
    false_rate = clopper_pearson(*false_positives, _BOTH)
    return Estimate(
        value=_share(true_rate.value, false_rate.value, prior),
        low=_share(true_rate.low, false_rate.high, prior),
        high=_share(true_rate.high, false_rate.low, prior),
    )


def _share(tpr: float, fpr: float, prior: float) -> float:
    return prior * tpr / (prior * tpr + (1 - prior) * fpr)
