"""Atoms that some populations do not tell apart, taken together."""

import numpy as np
from numpy.typing import NDArray

_Counts = NDArray[np.int64]
_Masks = NDArray[np.bool_]


def merged_atoms(labels: _Counts, count: int) -> _Counts:
    """Return which of the atoms that so many populations tell apart each atom is a part of, -1 for
    none: `labels` are the populations that atoms are in, (layers, atoms), `count` for one that does
    not matter."""
    words = np.random.default_rng().integers(1, 2**63, count + 1, np.uint64)
    words[count] = 0
    sums = np.zeros(labels.shape[1], np.uint64)
    for layer in labels:
        sums += words[layer]
    merged = np.full(len(sums), -1, np.int64)
    some = np.flatnonzero(sums)
    merged[some] = np.unique(sums[some], return_inverse=True)[1]
    return merged


def members_of(labels: _Counts, merged: _Counts, shape: tuple[int, int]) -> _Masks:
    """Return which merged atoms are in populations: (populations, atoms)."""
    members, is_in = np.zeros((shape[0] + 1, shape[1]), np.bool_), merged >= 0
    for layer in labels:
        members[layer[is_in], merged[is_in]] = True
    return members[:-1]
