"""Families of distances between records, linear in parameters that can be learned.

A distance is the parameters times features of the differences in each column. In a family are all
for which the constraints times the parameters are at least 0, and the total times them is 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Distances:
    """A family of distances between records of so many columns.

    `features` maps differences (..., columns) to (..., parameters). `constraints` is (rows,
    parameters), `total` (parameters,). `inner` (parameters,) is a member, the mean of the squared
    differences or nearly so, for which all constraints are above 0. `corners` (corners,
    parameters) are members, with single columns among them, whose means are members too.

    `from_sets` gives the member nearest to another distance, the same one if it is a member, from
    its value between records that differ by 1 in the columns of a set and are equal in the others,
    (2 ** columns,): bit j of a set is column j.

    `ordered` maps absolute differences so that no distance of the family falls where they rise.
    Quadratic forms have no such order, and are those with a positive semidefinite matrix.
    """

    name: str
    columns: int
    features: Callable[[Floats], Floats]
    constraints: Floats
    total: Floats
    inner: Floats
    corners: Floats
    from_sets: Callable[[Floats], Floats]
    ordered: Callable[[Floats], Floats] | None


def mean_of(
    name: str,
    columns: int,
    features: Callable[[Floats], Floats],
    from_sets: Callable[[Floats], Floats],
    ordered: Callable[[Floats], Floats] = np.asarray,
) -> Distances:
    """Return the weighted means of some features: weights of at least 0 that sum to 1."""
    size = len(features(np.zeros(columns)))
    return Distances(
        name=name,
        columns=columns,
        features=features,
        constraints=np.eye(size),
        total=np.ones(size),
        inner=np.full(size, 1 / size),
        corners=np.eye(size),
        from_sets=lambda values: _weights(from_sets(values)),
        ordered=ordered,
    )


def weighted_mean(columns: int) -> Distances:
    """Return the weighted means of the squared differences."""
    return mean_of("weighted mean", columns, np.square, lambda values: values[singletons(columns)])


def ordered_weighted_mean(columns: int) -> Distances:
    """Return the weighted means of the squared differences from the greatest to the least (OWA).

    Yager: On ordered weighted averaging aggregation operators in multicriteria decisionmaking,
    IEEE Transactions on Systems, Man, and Cybernetics 18(1), 1988.
    """

    def features(differences: Floats) -> Floats:
        squares: Floats = np.square(_descending(np.abs(differences)))
        return squares

    def mean_differences(values: Floats) -> Floats:
        sizes = sets_of(columns).sum(axis=1)
        return np.diff(np.bincount(sizes, values) / np.bincount(sizes))

    return mean_of("ordered weighted mean", columns, features, mean_differences, _descending)


def sets_of(columns: int) -> Bools:
    """Return which columns each set holds, (2 ** columns, columns)."""
    return (np.arange(1 << columns)[:, np.newaxis] >> np.arange(columns) & 1).astype(bool)


def singletons(columns: int) -> NDArray[np.int64]:
    """Return the sets of one column, (columns,)."""
    return 1 << np.arange(columns)


def _descending(values: Floats) -> Floats:
    falling: Floats = -np.sort(-values, axis=-1)
    return falling


def _weights(values: Floats) -> Floats:
    weights = np.maximum(values, 0)
    if weights.sum() <= 0:
        return np.full(len(weights), 1 / len(weights))
    shares: Floats = weights / weights.sum()
    return shares
