"""The class whose mean is nearest to that of another one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MANY = 64
"""So many classes with neighbouring numbers, which are often near to each other, are in a box."""


def nearest_classes(means: Floats, classes: Ints, first: Ints, end: Ints) -> tuple[Ints, Floats]:
    """Return the class nearest to each of `classes`, and its squared distance, (classes,) each.

    `means` (classes, columns). Each looks among those numbered from its `first` to before its
    `end`, (asked,), two or more with itself. Of equally near ones it is that of the nearest number,
    then of the lower.
    """
    # Equal means would all choose one class, if not the neighbours by number.
    starts = np.arange(0, len(means), _MANY)
    boxes = _Boxes(
        np.ascontiguousarray(means),
        np.minimum.reduceat(means, starts),
        np.maximum.reduceat(means, starts),
    )
    nearest, distances = np.empty(len(classes), dtype=np.int64), np.empty(len(classes))
    _find(boxes, classes, first, end, nearest, distances)
    return nearest, distances


class _Boxes(NamedTuple):
    """The means of classes, and the least and greatest of those in every box, (boxes, columns)."""

    means: Floats
    low: Floats
    high: Floats


@compiled
def _find(boxes, classes, first, end, nearest, distances):  # type: ignore[no-untyped-def]
    for one in range(len(classes)):
        distances[one], nearest[one] = np.inf, -1
        home = classes[one] // _MANY
        _search(boxes, home, classes[one], first[one], end[one], one, nearest, distances)
        for box in range(first[one] // _MANY, (end[one] - 1) // _MANY + 1):
            if box != home and _may_be_nearer(boxes, box, classes[one], distances[one]):
                _search(boxes, box, classes[one], first[one], end[one], one, nearest, distances)


@inlined
def _may_be_nearer(boxes, box, own, least):  # type: ignore[no-untyped-def]
    # The sum is no more than the distance of any class in the box, rounding included.
    total = 0.0
    for column in range(boxes.means.shape[1]):
        value = boxes.means[own, column]
        away = max(boxes.low[box, column] - value, value - boxes.high[box, column], 0.0)
        total += away * away
        if total > least:
            break
    return total <= least


@compiled
def _search(boxes, box, own, first, end, one, nearest, distances):  # type: ignore[no-untyped-def]
    """Look for a nearer class in one box."""
    for other in range(max(first, box * _MANY), min(end, (box + 1) * _MANY)):
        total = 0.0
        for column in range(boxes.means.shape[1]):
            away = boxes.means[other, column] - boxes.means[own, column]
            total += away * away
            if total > distances[one]:
                break
        if other != own and _is_nearer(total, other, distances[one], nearest[one], own):
            distances[one], nearest[one] = total, other


@inlined
def _is_nearer(distance, candidate, least, nearest, own):  # type: ignore[no-untyped-def]
    if distance != least:
        return distance < least
    steps, fewest = abs(candidate - own), abs(nearest - own)
    return steps < fewest or (steps == fewest and candidate < nearest)
