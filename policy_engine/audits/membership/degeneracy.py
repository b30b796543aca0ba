"""Scores that do not distinguish records, whatever the model reveals."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.observations import Floats

_MOST_TIED = 0.75
_MOST_VALUES = 2
_ENOUGH = 5
"""Fewer records of a class cannot be asked to have more values than they have."""
_PRECISION = 1e-5
"""By how much two logits differ that ought to be one: what float32 rounds off, layer by layer."""
_GRIDS = (-0.25, 0.25)


def degeneracy(scores: Floats, labels: NDArray[np.integer] | None = None) -> str:
    """Return why scores (n,) tell next to no records apart, empty where they do.

    That is where no class has more than two values of the score, or where three in four pairs of
    records of a class have the same. With `labels` (n,), a score that follows from the class is
    one of a single value, and scores are logits, of which those that differ by rounding alone are
    one. What such a score does not find says nothing of the model.
    """
    if labels is None:
        return _reason(scores, np.zeros(len(scores), np.int64))
    return next(filter(None, (_reason(one, labels) for one in _round_two_ways(scores, labels))), "")


def is_one_value(logits: Floats, labels: NDArray[np.integer]) -> bool:
    """Return whether all records of a class have one logit (n,), but for rounding."""
    enough = _sizes(labels).max(initial=0) >= _ENOUGH
    return bool(enough) and any(
        _most_values(one, labels) == 1 for one in _round_two_ways(logits, labels)
    )


def _round_two_ways(scores: Floats, labels: NDArray[np.integer]) -> list[Floats]:
    """Return scores rounded in two ways, so that close scores are equal in at least one of them.

    The median of each class lies on neither's.
    """
    medians = {kind: np.median(scores[labels == kind]) for kind in np.unique(labels).tolist()}
    from_median = scores - np.array([medians[kind] for kind in labels.tolist()])
    return [np.round(from_median / _PRECISION + shift) for shift in _GRIDS]


def _reason(scores: Floats, kinds: NDArray[np.integer]) -> str:
    sizes = _sizes(kinds)
    if sizes.max(initial=0) < _ENOUGH:
        return ""
    values = _most_values(scores, kinds)
    if values == 1:
        each = " of a class" if len(sizes) > 1 else ""
        return f"it gives all records{each} one score"
    if values <= _MOST_VALUES:
        return f"its score has {values} values"
    share = _pairs(_sizes(kinds, scores)) / _pairs(sizes)
    return f"{share:.0%} of the pairs of records have one score" if share > _MOST_TIED else ""


def _most_values(scores: Floats, kinds: NDArray[np.integer]) -> int:
    """Return how many values the score has in the class with most, of those with records enough."""
    return int(_values_by_class(kinds, scores)[_sizes(kinds) >= _ENOUGH].max())


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
