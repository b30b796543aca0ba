"""Whether a number of successes can be that of independent draws with one probability, and an
interval that of their share."""

import math

_LEAST_LOG_PROBABILITY = -45.0
"""The natural logarithm of the probability below which an event does not happen: 3e-20."""


def is_plausible(successes: int, draws: int, probability: float) -> bool:
    """Return whether so many of independent draws can succeed, each with the `probability`.

    It is False only where a number at least as far from what is expected, on its side, has a
    probability below 3e-20 by Chernoff's bound, exp(-n D(x/n || p)) (Hoeffding 1963, theorem 1).
    `draws` are 1 or more, and the probability is above 0 and below 1.
    """
    if not 0 <= successes <= draws:
        return False
    share = successes / draws
    divergence = _part(share, probability) + _part(1 - share, 1 - probability)
    return -draws * divergence >= _LEAST_LOG_PROBABILITY


def _part(share: float, probability: float) -> float:
    return share * math.log(share / probability) if share else 0.0


_TAIL = 0.025
_CLOSE = 1e-4
_MOST_TERMS = 100_000
"""So many terms are enough for some billions of draws."""


def can_be_interval(low: float, high: float, least: float, most: float, draws: int) -> bool:
    """Return whether an interval is no narrower than the 95% interval of Clopper and Pearson.

    The successes, of `draws`, are known to be from `least` to `most`; they need not be whole. A
    wider interval passes.
    """
    is_low = low <= 0 or (most > 0 and _beta_share(most, draws - most + 1, low) <= _TAIL + _CLOSE)
    is_high = high >= 1 or (
        least < draws and _beta_share(least + 1, draws - least, high) >= 1 - _TAIL - _CLOSE
    )
    return is_low and is_high


def _beta_share(one: float, other: float, share: float) -> float:
    """Return the regularised incomplete beta function, by a continued fraction (DLMF 8.17.22).

    Both parameters are above 0, and the share is above 0 and below 1.
    """
    if share > (one + 1) / (one + other + 2):
        return 1 - _beta_share(other, one, 1 - share)
    log = math.lgamma(one + other) - math.lgamma(one) - math.lgamma(other)
    log += one * math.log(share) + other * math.log1p(-share)
    below, above = 1 / (1 - (one + other) * share / (one + 1)), 1.0  # by the method of Lentz
    fraction = below
    for place in range(1, _MOST_TERMS):
        even = place * (other - place) * share / ((one + 2 * place - 1) * (one + 2 * place))
        odd = -(one + place) * (one + other + place) * share
        odd /= (one + 2 * place) * (one + 2 * place + 1)
        before = fraction
        for term in (even, odd):
            below, above = 1 / (1 + term * below), 1 + term / above
            fraction *= below * above
        if math.isclose(fraction, before, rel_tol=_PRECISION):
            break
    return math.exp(log) * fraction / one


_PRECISION = 1e-12
