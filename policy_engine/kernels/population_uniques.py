"""How many persons are unique in a population, estimated from a sample of it.

An estimate stands for the population uniques of the key variables, by the sizes of the classes of
the sample. It is `NotApplicable` if its model does not fit: 0 would be read as no risk.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALL_SHARE = 0.1
_CLOSE = 1e-6
_EDGE = 1e-4


@dataclass(frozen=True)
class SampledClasses:
    """The classes of a sample: `sizes` (distinct,) ascending, and `counts` (distinct,) of each.

    `population` is the number of persons in the population, at least those of the sample.
    """

    sizes: Floats
    counts: Floats
    population: int

    @classmethod
    def of(cls, frequencies: Ints, population: int) -> "SampledClasses":
        """Return the classes of a sample with these `frequencies`, (classes,)."""
        sizes, counts = np.unique(frequencies, return_counts=True)
        return cls(sizes.astype(float), counts.astype(float), population)

    @property
    def records(self) -> int:
        """Return the number of records of the sample."""
        return int(self.sizes @ self.counts)

    @property
    def share(self) -> float:
        """Return the share of the population that is in the sample."""
        return self.records / self.population

    def count_of_size(self, size: int) -> float:
        """Return how many classes have so many records."""
        return float(self.counts[self.sizes == size].sum())


def population_uniques(classes: SampledClasses) -> tuple[str, float | NotApplicable]:
    """Return the model that is chosen for a sample, and its number of population uniques.

    Pitman for at most a tenth of the population, otherwise the lower of SNB and Zayatz; Zayatz
    where the other one does not fit (Dankar, El Emam, Neisa and Roffey: Estimating the
    re-identification risk of clinical data sets, BMC Medical Informatics 12, 2012).
    """
    by_zayatz = zayatz_uniques(classes)
    if classes.share <= _SMALL_SHARE:
        by_pitman = pitman_uniques(classes)
        if isinstance(by_pitman, NotApplicable):
            return "zayatz", by_zayatz
        return "pitman", by_pitman
    by_snb = snb_uniques(classes)
    if isinstance(by_snb, NotApplicable):
        return "zayatz", by_zayatz
    if isinstance(by_zayatz, NotApplicable) or by_snb <= by_zayatz:
        return "snb", by_snb
    return "zayatz", by_zayatz


def zayatz_uniques(classes: SampledClasses) -> float | NotApplicable:
    """Return the population uniques as if the population's classes were of the sample's sizes.

    Zayatz: Estimation of the percent of unique population elements on a microdata file using the
    sample, US Bureau of the Census, 1991.
    """
    uniques = classes.count_of_size(1)
    if not uniques:
        return NotApplicable(reason="no record is unique in the sample")
    chances = _chance_of_one(classes.sizes, classes.population, classes.records)
    as_unique = float(chances[0] * uniques / (chances @ classes.counts))
    return uniques * as_unique / classes.share


def _chance_of_one(sizes: Floats, population: int, records: int) -> Floats:
    """Return how likely a sample has exactly one record of a class of each size, (sizes,)."""
    lost = population - sizes
    chances = np.zeros(len(sizes))
    for at, (size, rest) in enumerate(zip(sizes, lost, strict=True)):
        if rest >= records - 1:
            ways = _log_choose(rest, records - 1) - _log_choose(population, records)
            chances[at] = size * math.exp(ways)
    return chances


def _log_choose(total: float, chosen: float) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def pitman_uniques(classes: SampledClasses) -> float | NotApplicable:
    """Return the population uniques by Pitman's sampling formula, fitted by maximum likelihood.

    Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of
    Official Statistics 17(4), 2001. Its parameters are alpha within (0, 1), and theta above 0.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import, an extra)
    from scipy.special import expit  # noqa: PLC0415
    from scipy.special import gammaln as log_gamma  # noqa: PLC0415

    records, groups = classes.records, float(classes.counts.sum())

    def residual(point: Floats) -> float:
        alpha, theta = float(expit(point[0])), math.exp(point[1])
        growth = math.log(alpha) * (groups - 1)
        growth += log_gamma(theta / alpha + groups) - log_gamma(theta / alpha + 1)
        total = log_gamma(theta + records) - log_gamma(theta + 1)
        inside = log_gamma(classes.sizes - alpha) - log_gamma(1 - alpha)
        return float(total - growth - classes.counts @ inside)

    fit = minimize(residual, np.array([0.0, math.log(records)]), bounds=[(-12, 12), (-8, 40)])
    alpha, theta = float(expit(fit.x[0])), math.exp(fit.x[1])
    is_inside = _EDGE < alpha < 1 - _EDGE and -8 + _EDGE < fit.x[1] < 40 - _EDGE
    # Near a bound the likelihood is so flat that a search may end just before it.
    at_bounds = min(residual(np.array([end, fit.x[1]])) for end in (-12, 12))
    if not fit.success or not is_inside or at_bounds <= fit.fun:
        return NotApplicable(
            reason="Pitman's model does not fit: it has no parameters within bounds"
        )
    size = classes.population
    logs = log_gamma(theta + 1) - log_gamma(theta + alpha)
    return float(
        size * math.exp(logs + log_gamma(size + theta + alpha - 1) - log_gamma(size + theta))
    )


def snb_uniques(classes: SampledClasses) -> float | NotApplicable:
    """Return the population uniques by the slide negative binomial model.

    Class sizes are 1 and a negative binomial number more, of the parameters alpha and beta that
    lead one to expect the sample's classes of one and of two records (Chen and Keller-McNulty,
    Journal of Official Statistics 14(1), 1998). There are as many as Shlosser's estimator says
    (Haas and Stokes, Journal of the American Statistical Association 93, 1998).
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 (slow to import, an extra)

    ones, pairs = classes.count_of_size(1), classes.count_of_size(2)
    if not ones or not pairs:
        return NotApplicable(reason="the sample has no classes of one record, or none of two")
    total = _shlosser(classes)

    def residual(point: Floats) -> Floats:
        expected = _expected_small(math.exp(point[0]), 1 / (1 + math.exp(-point[1])), classes.share)
        return np.log(total * expected) - np.log([ones, pairs])

    fit = least_squares(residual, np.array([0.0, 0.0]), bounds=(-14, 14))
    if np.abs(fit.fun).max() > _CLOSE:
        return NotApplicable(reason="the slide negative binomial model does not fit the sample")
    alpha, beta = math.exp(fit.x[0]), 1 / (1 + math.exp(-fit.x[1]))
    return float(total * beta**alpha)


def _expected_small(alpha: float, beta: float, share: float) -> Floats:
    """Return the probability that a class has one record in the sample, and that it has two.

    By the derivatives of G(z) = z (beta / (1 - (1-beta) z))^alpha, the generating function of the
    sizes, at z = 1 - share.
    """
    more, at = 1 - beta, 1 - share
    ratio = more / (1 - more * at)
    power = (beta / (1 - more * at)) ** alpha
    first = power * (1 + alpha * at * ratio)
    second = power * alpha * ratio * (2 + (alpha + 1) * at * ratio)
    return np.array([share * first, share**2 / 2 * second])


def _shlosser(classes: SampledClasses) -> float:
    """Return how many classes the population has, by the modified estimator of Shlosser."""
    sizes, counts, share = classes.sizes, classes.counts, classes.share
    if share == 1:
        return float(counts.sum())
    seldom = np.exp(sizes * math.log1p(-share))
    twice = np.exp((sizes - 1) * math.log1p(-(share**2)))
    growing = np.expm1(sizes * math.log1p(share))
    ratio = (sizes * share**2 * twice) @ counts / ((seldom * growing) @ counts)
    unseen = seldom @ counts / ((sizes * share * seldom / (1 - share)) @ counts)
    return float(counts.sum() + classes.count_of_size(1) * ratio * unseen**2)
