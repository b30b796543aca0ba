"""Whether a number of successes can be that of independent draws with one probability."""

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
