"""Intervals for the figures of an attack that are no plain shares."""

from functools import cache
from math import sqrt
from statistics import NormalDist

from policy_engine.audits.membership.curves import Curve
from policy_engine.estimates import CONFIDENCE, Estimate, clopper_pearson

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_BOTH = sqrt(CONFIDENCE)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Return one share less another, of records apart, with Newcombe's hybrid interval.

    The distances of the shares from their own ends are squared and added (Newcombe, Statistics
    in Medicine 1998, method 10), here with exact ends for Wilson's.
    """
    value = one.value - other.value
    down = sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    up = sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)
    return Estimate(value=value, low=max(value - down, -1.0), high=min(value + up, 1.0))


def area(value: float, members: int, others: int) -> Estimate:
    """Return an area under the ROC curve with Newcombe's score interval.

    The ends are those areas from which the one seen is 1.96 deviations away, by the variance of
    Hanley and McNeil (Radiology 1982) as Newcombe has it (Statistics in Medicine 2006, part 2,
    method 5): unlike the plain one it has a width at 0 and 1 too. Without members or others
    nothing is known: .5, from 0 to 1.
    """
    if not members or not others:
        return Estimate(value=0.5, low=0.0, high=1.0)
    return Estimate(
        value=value,
        low=_end(value, 0.0, members, others),
        high=_end(value, 1.0, members, others),
    )


def _end(value: float, bound: float, members: int, others: int) -> float:
    """Bisect between the value, which is no end, and the bound."""
    inside, outside = value, bound
    for _ in range(50):
        halfway = (inside + outside) / 2
        if abs(halfway - value) <= _Z * sqrt(_variance(halfway, members, others)):
            inside = halfway
        else:
            outside = halfway
    return outside


def _variance(auc: float, members: int, others: int) -> float:
    weight = (members + others) / 2 - 1
    spread = 1 + weight * (1 - auc) / (2 - auc) + weight * auc / (1 + auc)
    return max(auc * (1 - auc) * spread / (members * others), 0.0)


def rate_at(points: Curve, fpr: float) -> Estimate:
    """Return the true-positive rate of a score where its false-positive rate is `fpr` in truth.

    The value is that of the curve at hand. The threshold with the true rate `fpr` (among equal
    scores a coin decides) accuses of the others here as a binomial draw has it: no more and no
    fewer than some bounds, and its hits lie between those before as many of them. What Clopper
    and Pearson make of these counts holds the rate with 95%, each end by itself with 97.5%.

    The low end may also be that of a larger rate, times the ratio of the two: whoever accuses
    by a coin only that share of the records above a threshold has false alarms as few. It is how
    little others say something of a small rate. The high end is not below `fpr`, which guessing
    reaches; where the low end lies above the value, the value is raised to it.
    """
    if not points.members or not points.others:
        return Estimate(value=0.0, low=0.0, high=1.0)
    low, high = _least(points, fpr), _greatest(points, fpr)
    value = max(points.hits_at(fpr) / points.members, low)
    return Estimate(value=value, low=low, high=max(high, value, fpr))


def _least(points: Curve, fpr: float) -> float:
    rates = _rates(fpr, points.others)
    each = _EACH / len(rates)
    found = [0.0]
    for rate, fewest in rates:
        if fewest:
            hits = points.members_before(fewest).fewest(_BY_DRAW)
            found.append(fpr / rate * clopper_pearson(hits, points.members, 1 - 2 * each).low)
    return max(found)


def _greatest(points: Curve, fpr: float) -> float:
    hits = points.members_before(most_alarms(fpr, points.others) + 1).most(_BY_DRAW)
    return clopper_pearson(hits, points.members, 1 - 2 * _EACH).high


_BY_DRAW = 0.1
"""Equal scores are put in order by draw, and the count taken that one draw in ten is beyond: what
fails with it fails in nine draws of ten, so that all errors are kept to nine tenths."""
_EACH = (1 - _BY_DRAW) * (1 - CONFIDENCE) / 4
_SURE_ALARMS = (1, 5)
"""The larger rates are those at which a threshold surely accuses as many of the others at hand:
few serve attacks that are right about the first records, more those that gain a little on many."""


@cache
def _rates(fpr: float, others: int) -> tuple[tuple[float, int], ...]:
    """Return rates from `fpr` on, by the counts alone, and how many they surely accuse here."""
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import, an extra)
    from scipy.stats import binom  # noqa: PLC0415

    sure = [count for count in _SURE_ALARMS if count <= others]
    each = _EACH / len(_SURE_ALARMS)
    larger = [(float(betaincinv(n, others - n + 1, 1 - each)), n) for n in sure]
    found = [(rate, count) for rate, count in larger if rate > fpr]
    if len(found) < len(sure):
        tail = _EACH / (len(found) + 1)
        found.append((fpr, int(binom.ppf(tail, others, fpr))))
    return tuple(found)


@cache
def most_alarms(fpr: float, others: int) -> int:
    """Return how many of the others a threshold with a true rate `fpr` accuses at most.

    More of them with a probability of 1.1%, near half of what one end of an interval may miss.
    """
    from scipy.stats import binom  # noqa: PLC0415 (slow to import, an extra)

    return int(binom.isf(_EACH, others, fpr))


def share_at_prior(hits: tuple[int, int], alarms: tuple[int, int], prior: float) -> Estimate:
    """Return how many of those called members are, where a share `prior` of all are members.

    `hits` are the members called so and all members, `alarms` the same of the others; of both
    together one at least is called. The ends are those of both rates at once, each known with
    the root of the confidence, as the two are of records apart.
    """
    found, wrong = clopper_pearson(*hits, _BOTH), clopper_pearson(*alarms, _BOTH)
    return Estimate(
        value=_share(found.value, wrong.value, prior),
        low=_share(found.low, wrong.high, prior),
        high=_share(found.high, wrong.low, prior),
    )


def _share(tpr: float, fpr: float, prior: float) -> float:
    return prior * tpr / (prior * tpr + (1 - prior) * fpr)


def wilson(mean: float, trials: int) -> Estimate:
    """Return the mean of figures from 0 to 1 with Wilson's interval (JASA 1927).

    For figures that are not only 0 and 1 it is wider than it need be, never narrower.
    """
    centre = (mean + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    spread = sqrt(mean * (1 - mean) / trials + (_Z / (2 * trials)) ** 2)
    width = _Z * spread / (1 + _Z**2 / trials)
    low, high = max(centre - width, 0.0), min(centre + width, 1.0)
    return Estimate(value=mean, low=min(low, mean), high=max(high, mean))


def of_mean(mean: float, deviation: float, trials: int) -> Estimate:
    """Return the mean of figures from 0 to 1 with the normal interval of a mean."""
    width = _Z * deviation / sqrt(trials)
    return Estimate(value=mean, low=max(mean - width, 0.0), high=min(mean + width, 1.0))
