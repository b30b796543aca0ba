"""What maskings make of known values, as columns for `likelihood_links`: by the density of random
noise, by what a value becomes, or by the intervals that released values stand for.

All take the `known` values of persons, (persons,), and the `released` ones of records, (records,),
as finite floats; a column on which several depend together takes (persons, columns) and (records,
columns). Random masking of each is described in the kernel that does it.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.nearest import nearest_distances
from policy_engine.kernels.linkage.tree import plant

Floats = NDArray[np.float64]

_LEAST_VARIANCE = 1e-12
"""Of correlated noise in any direction, as a share of that of one column."""
_LEAST_WIDTH = 1e-12
"""Of cells, as a share of the greatest value: narrower ones are as points."""


def added_noise(
    known_values: Floats,
    released: Floats,
    deviation: float,
    distribution: Literal["normal", "laplace"],
) -> ColumnLikelihood:
    """Return a column with noise of a standard deviation, above 0 and in the unit of the values."""
    scale = deviation / np.sqrt(2) if distribution == "laplace" else deviation
    return ColumnLikelihood(distribution, known_values / scale, released / scale)


def multiplied_noise(known_values: Floats, released: Floats, deviation: float) -> ColumnLikelihood:
    """Return a column multiplied by lognormal noise of mean 1; `deviation` is its logarithm's.

    Values keep their sign, and zeros stay such. Logarithms are compared, so that a likelihood is
    the same in any unit.
    """
    logs, known_logs = _logarithms(released), _logarithms(known_values)
    # Positive and negative values are on either side of 0, and no logarithm crosses it.
    most = float(np.concatenate([np.abs(logs), np.abs(known_logs)]).max())
    beyond = 2 * most + deviation**2 + 1
    centre = np.sign(known_values) * (known_logs - deviation**2 / 2 + beyond)
    end, sign = 2 * beyond + most, np.sign(known_values)
    low, high = np.where(sign > 0, 0.5, sign * end), np.where(sign < 0, -0.5, sign * end)
    points = np.sign(released) * (logs + beyond)
    centre, points, low, high = (part / deviation for part in (centre, points, low, high))
    return ColumnLikelihood("normal", centre, points, low, high)


def _logarithms(values: Floats) -> Floats:
    return np.asarray(np.log(np.abs(np.where(values == 0, 1.0, values))))


def correlated_noise(
    known_values: Floats,
    released: Floats,
    means: Floats,
    covariance: Floats,
    share: float,
    steps: Floats,
    *,
    keeps_covariance: bool,
) -> list[ColumnLikelihood]:
    """Return columns with normal noise of a `share` of their `covariance`, (columns, columns).

    As independent columns, whose distances are those of Mahalanobis. Where the covariance is kept
    (Kim, 1986), distances from the `means`, (columns,), were divided by the root of 1 + share.
    Published values are multiples of `steps`, (columns,), so that columns that determine each other
    exactly do so only up to rounding after masking. A step of zero means no rounding.
    """
    deviations = np.sqrt(np.diag(covariance))
    scales = np.where(deviations > 0, deviations, 1.0)
    shrinkage = np.sqrt(1 + share) if keeps_covariance else 1.0
    rounding = np.diag((steps * shrinkage / scales) ** 2 / 12)
    noise = share * covariance / np.outer(scales, scales) + rounding
    variances, directions = np.linalg.eigh(noise)
    spreads = np.sqrt(np.maximum(variances, share * _LEAST_VARIANCE))
    before = (known_values - means) / scales @ directions / spreads
    after = (released - means) * shrinkage / scales @ directions / spreads
    return [ColumnLikelihood("normal", *both) for both in zip(before.T, after.T, strict=True)]


def drawn_scores(means: Floats, factor: Floats, released: Floats) -> list[ColumnLikelihood]:
    """Return columns of normal scores drawn around their `means`, (persons, columns).

    `factor` (columns, columns), lower triangular, is that of their covariance, and `released`
    (rows, columns) has the scores of the records. As independent columns; one that follows from
    others has the least spread that as many ranks can tell.
    """
    spreads = np.maximum(np.diag(factor), 1 / max(len(released), 1))
    whole = np.tril(factor, -1) + np.diag(spreads)
    before, after = (np.linalg.solve(whole, one.T) for one in (means, released))
    return [ColumnLikelihood("normal", *both) for both in zip(before, after, strict=True)]


def rounded_at_random(known_values: Floats, released: Floats, base: float) -> ColumnLikelihood:
    """Return a column rounded at random to one of the two multiples of a base beside each value."""
    return ColumnLikelihood("triangle", known_values / base, released / base)


def nearest_means(known_values: Floats, released: Floats, scales: Floats) -> list[ColumnLikelihood]:
    """Return columns of group means, as microaggregation of several columns makes them.

    Groups are of rows that are near to each other on the columns' `scales`, (columns,), as a rule
    their standard deviations times the spread within groups: the nearer a mean, the likelier it is
    that of a person's group. The rows of a group share it.
    """
    before, after = (known_values / scales).T, (released / scales).T
    return [ColumnLikelihood("normal", *both) for both in zip(before, after, strict=True)]


def group_members(
    known_values: Floats, own_means: Floats, released: Floats
) -> ColumnLikelihood | None:
    """Return a column by which persons are in the groups that several columns were averaged in.

    `own_means` (persons, columns) are those of groups that the intruder made again; None if they
    are not the `released` ones, (records, columns), as often as these. Of persons with equal
    `known_values`, (persons, columns), in several groups, nobody knows who is in which.
    """
    if len(own_means) != len(released) or not len(released):
        return None
    every = np.concatenate([own_means, released])
    _, places = np.unique(every, axis=0, return_inverse=True)
    own, published = np.split(places.reshape(-1), 2)
    if not np.array_equal(np.bincount(own), np.bincount(published)):
        return None
    _, equal = np.unique(known_values, axis=0, return_inverse=True)
    equal = equal.reshape(-1)
    low, high = np.full(len(own), np.inf), np.full(len(own), -np.inf)
    np.minimum.at(low, equal, own)
    np.maximum.at(high, equal, own)
    as_floats = own.astype(np.float64), published.astype(np.float64)
    return ColumnLikelihood("even", *as_floats, low[equal], high[equal])


def spread_around_means(values: Floats, means: Floats) -> float:
    """Return how far values, (rows, columns), are from the mean of their group: a root mean square.

    Nobody knows whose `means`, (records, columns), are whose: they are the nearest ones.
    """
    squares = nearest_distances(plant(means), values, np.arange(len(values)))
    # In their order, so that that of the rows changes no last digit.
    return max(float(np.sqrt(np.sort(squares).mean() / values.shape[1])), _LEAST_SPREAD)


_LEAST_SPREAD = 1e-6


def became(known_values: Floats, released: Floats) -> ColumnLikelihood:
    """Return a column that was masked value by value, as rounding, coding and recoding do.

    `known_values` are what the values known to the intruder become, `released` those
    published, both in one numbering if they are labels.
    """
    places = np.unique(np.concatenate([known_values, released]), return_inverse=True)[1]
    person_places, points = np.split(places.reshape(-1).astype(np.float64), [len(known_values)])
    return ColumnLikelihood("even", person_places, points, person_places, person_places)


def intervals(
    known_values: Floats, low: Floats, high: Floats, density: Literal["none", "known"] = "none"
) -> list[ColumnLikelihood]:
    """Return a column of generalised cells, each from `low` to `high`, (records,), ends included.

    A value is in its cell. With the density `known`, of the cells with a value in them those
    that few of the known values are in are the likelier, in inverse proportion: as if each
    of those values were equally likely to be the cell's. Categories are numbers in an order in
    which each cell is a run.
    """
    ordered = np.sort(known_values)
    after = np.searchsorted(ordered, high, side="right")
    before = np.searchsorted(ordered, low, side="left")
    counts = np.maximum(after - before, 1)
    bonus = -np.log(counts) if density == "known" else None
    greatest = float(np.abs(np.concatenate([known_values, low, high])).max())
    width = max(float(np.mean(high - low)), greatest * _LEAST_WIDTH) or 1.0
    ends = (ColumnLikelihood("even", known_values, low, high=known_values, bonus=bonus),)
    return [
        _scaled(column, width)
        for column in (*ends, ColumnLikelihood("even", known_values, high, known_values))
    ]


def _scaled(column: ColumnLikelihood, width: float) -> ColumnLikelihood:
    """Return a column that weighs as one with cells of width 1 where a tree is split."""
    low, high = (None if end is None else end / width for end in (column.low, column.high))
    known_values, released = column.known / width, column.released / width
    return ColumnLikelihood(column.shape, known_values, released, low, high, bonus=column.bonus)


def group_intervals(
    known_values: Floats, released: Floats, original: Floats
) -> list[ColumnLikelihood]:
    """Return a column of group means as cells, which reach from the least to the greatest member.

    Of one column, optimal groups do not overlap: as many of the `original` values, (records,), in
    their order, are those of the least mean as rows have it, and so on. An intruder who has those
    values knows the groups.
    """
    _, group, counts = np.unique(released, return_inverse=True, return_counts=True)
    ordered, ends = np.sort(original), np.cumsum(counts)
    low, high = ordered[ends - counts], ordered[ends - 1]
    return intervals(known_values, low[group.reshape(-1)], high[group.reshape(-1)])
