"""Random noise on numbers: added to one column or to several at once, or multiplied.

Every cell's noise follows from its own words, and the same to the bit on every machine: rows may be
split at will. What would be larger than the largest float becomes that one.
"""

import math
import sys
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.elementary import exponential
from policy_engine.kernels.normal import laplaces, normals

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Distribution = Literal["normal", "laplace"]


def add_noise(values: Floats, deviation: float, words: Words, distribution: Distribution) -> Floats:
    """Return values, (rows,), with noise of mean 0 and a standard deviation in their unit."""
    noise = laplaces(words) if distribution == "laplace" else normals(words)
    with np.errstate(over="ignore"):
        return _finite(values + deviation * noise)


def multiply_noise(values: Floats, deviation: float, words: Words) -> Floats:
    """Return values, (rows,), multiplied by lognormal noise of mean 1.

    `deviation` is that of the noise's natural logarithm, the mean of which is -deviation**2 / 2.
    Zeros stay zeros, and every value keeps its sign (Kim and Winkler: Multiplicative Noise for
    Masking Continuous Data, US Bureau of the Census, 2003).
    """
    factors = normals(words)
    _exponentials(factors, deviation, -(deviation**2) / 2)
    with np.errstate(over="ignore"):
        return _finite(values * factors)


def add_correlated_noise(
    values: Floats,
    means: Floats,
    covariance: Floats,
    share: float,
    words: Words,
    *,
    keeps_covariance: bool,
) -> Floats:
    """Return columns, (rows, columns), with normal noise that is correlated as they are.

    The noise has a `share` of the `covariance`, (columns, columns), so that correlations stay; a
    constant column gets none. The columns then have 1 + share times the covariances; or the same
    where they are kept, with distances from the `means`, (columns,), divided by the root of
    1 + share. All of this holds on average, not exactly (Kim: A Method for Limiting Disclosure in
    Microdata Based on Random Noise and Transformation, Proc. ASA Section on Survey Research
    Methods, 1986). Raises ValueError for a matrix that is not one of covariances.
    """
    factor = covariance_factor(covariance) * math.sqrt(share)
    shrinkage = math.sqrt(1 + share) if keeps_covariance else 1.0
    noisy = np.empty(values.shape)
    table = np.require(values, np.float64, ["C", "W"])
    _add_correlated(table, np.array(means, np.float64), factor, shrinkage, normals(words), noisy)
    return _finite(noisy)


def covariance_factor(covariance: Floats) -> Floats:
    """Return F, (columns, columns), such that F F' is a matrix of covariances, but for rounding.

    Cholesky's factor with pivots (Higham: Accuracy and Stability of Numerical Algorithms, 2002,
    section 10.3): first the columns of which most is not yet explained by others, of equals the
    first. A column that others explain to within 1e-12 of its variance has no part of its own, so
    that singular matrices have a factor, too; one with a variance below 2**-960 has none at all.
    Raises ValueError for a matrix that is not symmetric, or has negative eigenvalues.
    """
    variances = np.diag(covariance)
    deviations = np.sqrt(np.where(variances > _LEAST_VARIANCE, variances, 0.0))
    scales = np.where(deviations > 0, deviations, 1.0)
    correlations = covariance / scales[:, np.newaxis] / scales
    factor = _pivoted_cholesky(correlations)
    if not np.allclose(factor @ factor.T, correlations, rtol=0, atol=1e-8):
        raise ValueError("The matrix is not one of covariances.")
    return factor * deviations[:, np.newaxis]


_LEAST_VARIANCE = 2.0**-960
_UNEXPLAINED = 1e-12


def _pivoted_cholesky(correlations: Floats) -> Floats:
    # Number by number: libraries for matrices add up in an order of their own on every machine.
    rest, factor = correlations.copy(), np.zeros(correlations.shape)
    for _ in rest:
        pivot = int(np.argmax(np.diag(rest)))
        if rest[pivot, pivot] <= _UNEXPLAINED:
            break
        loads = rest[:, pivot] / math.sqrt(rest[pivot, pivot])
        factor[:, pivot] = loads
        rest -= np.outer(loads, loads)
        rest[pivot], rest[:, pivot] = 0.0, 0.0
    return factor


_MOST = sys.float_info.max


def _finite(values: Floats) -> Floats:
    """Return values with infinities as the nearest floats."""
    return np.clip(values, -_MOST, _MOST)


_STEPS = 20


def without_last_bits(values: Floats, deviation: float) -> Floats:
    """Return the nearest whole multiples of a power of 2, 2**-20 to 2**-21 of the deviation of the
    noise that was added: the last bits of a sum of floats tell its parts (Mironov, CCS 2012)."""
    if not deviation > 0:
        return values
    power = max(math.frexp(deviation)[1] - 1 - _STEPS, _LEAST_POWER)
    with np.errstate(over="ignore"):
        steps = np.ldexp(values, -power)
    is_finer = np.abs(steps) < 2.0**52  # else it is a multiple already
    return np.where(is_finer, np.ldexp(np.rint(np.where(is_finer, steps, 0.0)), power), values)


_LEAST_POWER = -1022


def without_last_digits(values: Floats, deviation: float) -> Floats:
    """Return the nearest floats of so few bits that each is a step of 2**-20 to 2**-22 of the
    deviation of the logarithm of the noise that they were multiplied by: as for sums."""
    bits = _STEPS + 1 - math.frexp(deviation)[1]
    if bits >= sys.float_info.mant_dig:
        return values
    mantissas, powers = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissas, bits)), powers - bits))


@compiled
def _exponentials(logarithms: Floats, deviation: float, mean: float) -> None:
    for row in range(len(logarithms)):
        logarithms[row] = exponential(mean + deviation * logarithms[row])


@compiled
def _add_correlated(
    values: Floats, means: Floats, factor: Floats, shrinkage: float, noise: Floats, noisy: Floats
) -> None:
    rows, columns = values.shape
    for row in range(rows):
        for column in range(columns):
            distance = values[row, column] - means[column]
            for part in range(columns):
                distance += factor[column, part] * noise[row, part]
            noisy[row, column] = means[column] + distance / shrinkage
