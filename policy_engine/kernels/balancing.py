"""Weights of pairs of persons and records, scaled until a record is of one person in sum."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEAST = 1e-300
_NOTHING = 1e-150
"""Products of smaller numbers are so small that they take a hundred times as long."""


def record_scales(weights: Floats, persons: Floats, rounds: int) -> Floats:
    """Return by what the weights of each record, (persons, records), are multiplied, (records,).

    So that after scaling persons as well, a record is of one person in sum, and all `persons`
    (persons,), weights of whom to expect there, have as many records. Weights of next to nothing
    become 0 in place. Sinkhorn and Knopp: Concerning nonnegative matrices and doubly stochastic
    matrices, Pacific Journal of Mathematics 21(2), 1967; this approaches the probabilities among
    all ways to give persons records.
    """
    weights[weights < _NOTHING] = 0.0
    expected = persons * (weights.shape[1] / persons.sum())
    by_person = expected / np.maximum(weights.sum(axis=1), _LEAST)
    scales: Floats = np.ones(weights.shape[1])
    for _ in range(rounds):
        scales = 1 / np.maximum(by_person @ weights, _LEAST)
        by_person = expected / np.maximum(weights @ scales, _LEAST)
    return scales
