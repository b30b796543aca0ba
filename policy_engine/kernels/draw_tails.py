"""How unlikely sums of independent draws are: bounds on logarithms of probabilities.

Each is an upper bound, so that what is called unlikely is: Hoeffding, Probability inequalities for
sums of bounded random variables, 1963; Bernstein's inequality, for martingales as by Freedman, On
tail probabilities for martingales, 1975.
"""

import math
from typing import Literal

UNLIKELY = -math.log(1e13)
"""The logarithm of the probability below which draws are not believed."""
Sizes = Literal["normal", "laplace"]


def excess_tail(excess: float, variance: float, mean: float, draws: int) -> float:
    """Return a bound on the logarithm of the probability that a sum of independent draws, each from
    0 to 1, is by `excess` or more above what is expected.

    That is `mean` times the number of `draws`, and `variance` the sum of their variances.
    """
    if excess <= 0 or draws <= 0:
        return 0.0
    bernstein = -(excess**2) / (2 * (variance + excess / 3))
    share = mean + excess / draws
    if share > 1 or not 0 < mean < 1:
        return bernstein
    divergence = share * math.log(share / mean)
    divergence += (1 - share) * math.log((1 - share) / (1 - mean)) if share < 1 else 0.0
    return min(bernstein, -draws * divergence)


def lack_of_shares_tail(lack: float, draws: int) -> float:
    """Return a bound on the logarithm of the probability that a sum of uniform draws from 1/f, 2/f,
    .. 1 is by `lack` or more below half their number.

    Each f may depend on the draws before. Their variances are up to 1/12, and none is by 1/2 or
    more below its mean.
    """
    if lack <= 0 or draws <= 0:
        return 0.0
    return min(-(lack**2) / (2 * (draws / 12 + lack / 6)), -2 * lack**2 / draws)


def lack_of_noise_tail(mean: float, draws: int, sizes: Sizes = "normal") -> float:
    """Return a bound on the logarithm of the probability that independent numbers of the standard
    deviation 1 have a `mean` size, without signs, as small or smaller.

    Sizes of normal numbers have a density of root 2/pi at most, and their mean is a function of
    them with slope 1 over the root of their number (Gaussian concentration); those by Laplace's
    distribution are exponential, and Chernoff's bound is exact in the exponent.
    """
    if draws <= 0:
        return 0.0
    density = math.sqrt(2 / math.pi) if sizes == "normal" else math.sqrt(2)
    if mean <= 0:
        return -math.inf
    # The volume in which positive numbers have a sum of at most that.
    volume = draws * math.log(density * draws * mean) - math.lgamma(draws + 1)
    if sizes == "normal":
        lack = math.sqrt(2 / math.pi) - mean
        other = -draws * lack**2 / 2 if lack > 0 else 0.0
    else:
        share = mean * math.sqrt(2)
        other = -draws * (share - 1 - math.log(share)) if share < 1 else 0.0
    return min(volume, other, 0.0)
