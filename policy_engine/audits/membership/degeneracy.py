"""Scores that tell no records apart, whatever the model gave away."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import Floats

_MOST_TIED = 0.9
_MOST_VALUES = 2
_ENOUGH = 5
"""Fewer records of a class cannot be asked to have more values than they have."""


def degeneracy(scores: Floats, labels: NDArray[np.integer] | None = None) -> str:
    """Return why scores (n,) tell next to no records apart, empty where they do.

    That is where no class has more than two values of the score, or where nine in ten pairs of
    records of a class have the same. With `labels` (n,), a score that follows from the class is
    one of a single value. What such a score does not find says nothing of the model.
    """
    kinds = np.zeros(len(scores), np.int64) if labels is None else labels
    sizes = _sizes(kinds)
    if sizes.max(initial=0) < _ENOUGH:
        return ""
    values = int(_values_by_class(kinds, scores)[sizes >= _ENOUGH].max())
    if values == 1:
        each = " of a class" if len(sizes) > 1 else ""
        return f"it gives all records{each} one score"
    if values <= _MOST_VALUES:
        return f"its score has {values} values"
    share = _pairs(_sizes(kinds, scores)) / _pairs(sizes)
    return f"{share:.0%} of the pairs of records have one score" if share > _MOST_TIED else ""


def _sizes(*keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return how many records agree in all keys, for each combination that there is."""
    _, counts = _combinations(*keys)
    return counts


def _values_by_class(kinds: NDArray[np.integer], scores: Floats) -> NDArray[np.int64]:
    combined, _ = _combinations(kinds, scores)
    return np.asarray(np.unique(kinds[combined], return_counts=True)[1], np.int64)


def _combinations(*keys: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one record of each combination of keys, and how many have it."""
    order = np.lexsort(keys[::-1])
    starts = np.zeros(len(order), bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[order][1:] != key[order][:-1]
    places = np.flatnonzero(starts)
    return order[places], np.diff(np.append(places, len(order)))


def _pairs(sizes: NDArray[np.int64]) -> float:
    return float((sizes.astype(np.float64) * (sizes - 1)).sum())
