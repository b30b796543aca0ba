"""Columns with many categories: few features in products of matrices, and exact all the same.

A category is its rank, from 0 for the commonest. The commonest have a feature each, the others
share some: two that share one are 0 apart by features, and 1 by their ranks.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

FEATURES = 128
"""A column has no more features."""
_OWN = 64


def feature_of(ranks: NDArray[Any]) -> NDArray[np.int64]:
    """Return the feature of each rank."""
    places = np.asarray(ranks).astype(np.int64)
    features: NDArray[np.int64] = np.where(places < _OWN, places, _OWN + places % _OWN)
    return features


def hidden_squares(ranks: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float32]:
    """Return in how many columns two ranks differ that share a feature, (n, m), of (n, columns) and
    (m, columns)."""
    squares = np.zeros((len(ranks), len(others)), np.float32)
    for one, other in zip(ranks.T, others.T, strict=True):
        is_shared = feature_of(one)[:, None] == feature_of(other)
        squares += is_shared & (one[:, None] != other)
    return squares


@compiled
def hidden_square(ranks: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the same of a single pair, (columns,) each."""
    square = 0.0
    for column in range(len(ranks)):
        one, other = ranks[column], others[column]
        if one != other and one >= _OWN and other >= _OWN and one % _OWN == other % _OWN:
            square += 1.0
    return square
