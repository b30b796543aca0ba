"""What masking costs the numbers of a table: information loss, for whole tables of floats.

Every sum is exact (`moments`), so that no order of rows changes a figure.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.moments import Moments, exponents

Floats = NDArray[np.float64]

QUANTILES = np.arange(1, 20) / 20
"""The quantiles that are compared: 5 %, 10 % and so on up to 95 %."""


def standard_deviations(values: Floats) -> Floats:
    """Return the standard deviation of each column, (columns,), with the divisor n - 1.

    nan where there are fewer than two rows.
    """
    rows = len(values)
    variances = np.diag(_moments(values).covariance)
    factor = rows / (rows - 1) if rows > 1 else math.nan
    return np.asarray(np.sqrt(variances * factor), dtype=np.float64)


def distances(before: Floats, after: Floats, deviations: Floats) -> Floats:
    """Return IL1s of each column, (columns,): the mean over its rows of |x - x'| / (sqrt(2) S).

    Both tables have the same rows in the same order, (rows, columns), and S are the standard
    `deviations` of the columns, (columns,), before they were masked; nan where that is 0, or there
    are no rows. Mateo-Sanz, Sebe, Domingo-Ferrer: Outlier Protection in Continuous Microdata
    Masking, Privacy in Statistical Databases 2004, from Yancey, Winkler, Creecy: Disclosure Risk
    Assessment in Perturbative Microdata Protection, 2002. The mean is taken: a sum would grow with
    the table.
    """
    is_defined = (deviations > 0) & (len(before) > 0)
    moved = _moments(np.abs(before - after)).means
    losses: Floats = np.full(len(moved), np.nan)
    np.divide(moved, math.sqrt(2) * deviations, out=losses, where=is_defined)
    return losses


@dataclass(frozen=True)
class ColumnLosses:
    """The parts of the probabilistic information loss of one column, each from 0 to 100."""

    mean: float
    variance: float
    quantiles: float


def column_losses(before: Floats, after: Floats) -> ColumnLosses:
    """Return the probabilistic information loss of a column, (rows,) and (other rows,).

    The loss of a statistic is 100 P(|Z| <= |change| / s), with a normal Z of variance 1, and
    the standard error s that the statistic has in samples of as many rows as are released: 0
    where it is as before, near 100 where no sample would move it so far. Mateo-Sanz,
    Domingo-Ferrer, Sebe: Probabilistic Information Loss Measures in Confidentiality Protection
    of Continuous Microdata, Data Mining and Knowledge Discovery 11, 2005. That of quantiles is the
    mean over `QUANTILES`. Raises ValueError where a table has no rows.
    """
    old, new, rows = _moments(before[:, None]), _moments(after[:, None]), len(after)
    variance = old.covariance[0, 0]
    squares = _moments((before[:, None] - old.means) ** 2)
    return ColumnLosses(
        mean=float(_losses(new.means - old.means, variance / rows)[0]),
        variance=float(
            _losses(new.covariance[0, 0] - variance, squares.covariance[0, 0] / rows)[()]
        ),
        quantiles=float(_quantile_losses(np.sort(before), np.sort(after)).mean()),
    )


def _quantile_losses(before: Floats, after: Floats) -> Floats:
    """Return the loss of each quantile, (quantiles,), of sorted values.

    The standard error is Woodruff's (Confidence Intervals for Medians and Other Position
    Measures, JASA 1952): half the distance of the quantiles a standard error of the share below
    and above, which needs no estimate of the density.
    """
    share = np.sqrt(QUANTILES * (1 - QUANTILES) / len(after))
    low = np.quantile(before, np.maximum(QUANTILES - share, 0))
    high = np.quantile(before, np.minimum(QUANTILES + share, 1))
    change = np.quantile(after, QUANTILES) - np.quantile(before, QUANTILES)
    return _losses(change, ((high - low) / 2) ** 2)


def pair_losses(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return the loss of the covariance and of the correlation of every two columns, (pairs,).

    As in `column_losses`, of tables (rows, columns) and (other rows, columns). Correlations with
    a constant column are nan.
    """
    old, new, rows = _moments(before), _moments(after), len(after)
    upper = np.triu_indices(before.shape[1], 1)
    squares = _moments((before - old.means) ** 2)
    fourth = squares.covariance + np.outer(squares.means, squares.means)
    covariance = old.covariance
    errors = np.maximum(fourth - covariance**2, 0) / rows
    first, second = _correlations(covariance), _correlations(new.covariance)
    return (
        _losses((new.covariance - covariance)[upper], errors[upper]),
        _losses((second - first)[upper], ((1 - first**2) ** 2 / rows)[upper]),
    )


def _losses(change: Any, variance: Any) -> Floats:
    """Return the losses of statistics that changed, given the variance of each in samples."""
    change, error = np.abs(np.asarray(change)), np.sqrt(np.asarray(variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(change == 0, 0.0, change / error)
    return np.asarray(100 * _erf(far / math.sqrt(2)), dtype=np.float64)


_erf: Any = np.vectorize(math.erf, otypes=[np.float64])


def correlations(values: Floats) -> Floats:
    """Return Pearson's correlation of every two columns, nan with a constant one."""
    return _correlations(_moments(values).covariance)


def rank_correlations(values: Floats) -> Floats:
    """Return Spearman's correlation of every two columns, nan with a constant one.

    Pearson's of the ranks, where equal values have the mean of theirs.
    """
    return correlations(np.stack([_mean_ranks(column) for column in values.T], axis=1))


def _mean_ranks(column: Floats) -> Floats:
    _, index, counts = np.unique(column, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


def eigenvalues(correlation: Floats) -> Floats:
    """Return the eigenvalues of a correlation matrix, the largest first; their sum is its size."""
    return np.asarray(np.linalg.eigvalsh(correlation)[::-1], dtype=np.float64)


def _correlations(covariance: Floats) -> Floats:
    scales = np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = np.clip(covariance / np.outer(scales, scales), -1, 1)
    correlations[np.diag_indices_from(correlations)] = np.where(scales > 0, 1.0, np.nan)
    return np.asarray(correlations, dtype=np.float64)


def _moments(values: Floats) -> Moments:
    return Moments.of(values, exponents(values))
