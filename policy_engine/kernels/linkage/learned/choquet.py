"""Choquet integrals of squared differences: distances that weigh sets of columns.

Choquet: Theory of capacities, Annales de l'Institut Fourier 5, 1954. A capacity is the distance
between records that differ by 1 in the columns of a set; it never falls where the set grows. Where
it is submodular, what a column adds never rises with the set that it joins.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import (
    Distances,
    Floats,
    mean_of,
    sets_of,
    singletons,
)

MOST_COLUMNS = 10
"""Of a full capacity, which has a parameter for every set of columns."""


def choquet(columns: int, *, submodular: bool = False) -> Distances:
    """Return the Choquet integrals by any capacity, or any submodular one.

    The parameters are the capacity of each set but the empty one, (2 ** columns - 1,), so that at
    most 10 columns can be had: ValueError otherwise. Weighted means are the additive capacities,
    ordered weighted means those by the number of columns alone.
    """
    if columns > MOST_COLUMNS:
        raise ValueError(f"A full capacity has at most {MOST_COLUMNS} columns, not {columns}.")
    rises = _rises(columns)
    curves = _curves(columns)
    return Distances(
        name="submodular Choquet integral" if submodular else "Choquet integral",
        columns=columns,
        features=_increments,
        constraints=np.vstack([rises, curves]) if submodular else rises,
        total=np.eye(1 << columns)[-1, 1:],
        inner=_concave(columns) if submodular else sets_of(columns)[1:].mean(axis=1),
        corners=_corners(columns, submodular=submodular),
        from_sets=lambda values: values[1:] / values[-1],
        ordered=np.asarray,
    )


def choquet_of_pairs(columns: int, *, submodular: bool = False) -> Distances:
    """Return the Choquet integrals by 2-additive capacities, or the submodular ones of those.

    They are the weighted means of the squared differences, of the greater of each two, and, unless
    submodular, of the lesser of each two: those are the extreme points (Miranda, Combarro and Gil:
    Extreme points of some families of non-additive measures, European Journal of Operational
    Research 174(3), 2006).
    """
    one, two = _pairs(columns)

    def features(differences: Floats) -> Floats:
        squares = np.square(differences)
        parts = [squares, np.maximum(squares[..., one], squares[..., two])]
        if not submodular:
            parts.append(np.minimum(squares[..., one], squares[..., two]))
        return np.concatenate(parts, axis=-1)

    def from_sets(values: Floats) -> Floats:
        alone = values[singletons(columns)]
        both = values[singletons(columns)[one] + singletons(columns)[two]]
        together = both - alone[one] - alone[two]
        greater, lesser = np.maximum(-together, 0), np.maximum(together, 0)
        for ends in (one, two):
            alone = alone - np.bincount(ends, greater, columns)
        return np.concatenate([alone, greater] if submodular else [alone, greater, lesser])

    kind = "submodular 2-additive" if submodular else "2-additive"
    return mean_of(f"{kind} Choquet integral", columns, features, from_sets)


def _pairs(columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pairs = np.array(list(combinations(range(columns), 2)), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _increments(differences: Floats) -> Floats:
    """Return how much of the squared differences each set is the set of those at or above it."""
    squares = np.square(differences)
    columns = squares.shape[-1]
    order = np.argsort(-squares, axis=-1, kind="stable")
    falling = np.take_along_axis(squares, order, axis=-1)
    steps = falling - np.concatenate([falling[..., 1:], np.zeros_like(falling[..., :1])], axis=-1)
    features = np.zeros((*squares.shape[:-1], (1 << columns) - 1))
    np.put_along_axis(features, np.cumsum(1 << order, axis=-1) - 1, steps, axis=-1)
    return features


def _corners(columns: int, *, submodular: bool) -> Floats:
    """Return the capacities of the greatest of the columns of each set, and of the least."""
    sets = sets_of(columns)[1:]
    shared = sets.astype(np.int64) @ sets.T
    greatest = shared > 0
    if submodular:
        return greatest.astype(np.float64)
    least = shared == sets.sum(axis=1)[:, np.newaxis]
    # Of one column, both are the same.
    return np.vstack([greatest, least[sets.sum(axis=1) > 1]]).astype(np.float64)


def _rises(columns: int) -> Floats:
    """Return the rows by which the capacity does not fall, one column more at a time."""
    rows = [
        _row(columns, {bits | 1 << column: 1, bits: -1})
        for column in range(columns)
        for bits in range(1 << columns)
        if not bits >> column & 1
    ]
    return np.array(rows)


def _curves(columns: int) -> Floats:
    """Return the rows by which a column adds no more to a set with another column than without."""
    rows = [
        _row(columns, {bits | 1 << i: 1, bits | 1 << j: 1, bits | 1 << i | 1 << j: -1, bits: -1})
        for i, j in combinations(range(columns), 2)
        for bits in range(1 << columns)
        if not bits >> i & 1 and not bits >> j & 1
    ]
    return np.array(rows).reshape(-1, (1 << columns) - 1)


def _row(columns: int, coefficients: dict[int, int]) -> Floats:
    row = np.zeros(1 << columns)
    row[list(coefficients)] = list(coefficients.values())
    return row[1:]  # the empty set has no capacity


def _concave(columns: int) -> Floats:
    """Return a capacity by the number of columns whose steps become shorter."""
    steps = np.arange(2 * columns, columns, -1)
    heights = np.cumsum([0, *steps]) / steps.sum()
    inner: Floats = heights[sets_of(columns)[1:].sum(axis=1)]
    return inner
