"""The class whose mean is nearest to that of another one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.microaggregation.blocks import cut_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_IN_A_BOX = 256


def nearest_classes(means: Floats, asked: Ints) -> tuple[Ints, Floats]:
    """Return the class nearest to each of those `asked`, and its squared distance, (asked,) each.

    `means` (classes, columns), of two classes or more. Of equally near ones it is that of the
    nearest number, then of the lower.
    """
    # Equal means would all choose one class, if not the neighbours by number.
    blocks = cut_blocks(means, np.arange(len(means), dtype=np.uint64), 1, _MOST_IN_A_BOX)
    order = np.concatenate(blocks.rows)
    starts = np.cumsum([0, *map(len, blocks.rows)])
    ordered = np.ascontiguousarray(means[order])
    boxes = _Boxes(
        means=ordered,
        classes=order,
        starts=starts,
        low=np.minimum.reduceat(ordered, starts[:-1]),
        high=np.maximum.reduceat(ordered, starts[:-1]),
    )
    place = np.empty(len(means), dtype=np.int64)
    place[order] = np.arange(len(means))
    nearest, distances = np.empty(len(asked), dtype=np.int64), np.empty(len(asked))
    _find(boxes, place[asked], nearest, distances)
    return nearest, distances


class _Boxes(NamedTuple):
    """Classes in boxes: those of box b are in the places starts[b] to starts[b + 1] - 1.

    `means` (classes, columns) and the numbers of the `classes`, in that order; the least and
    greatest means of every box, (boxes, columns).
    """

    means: Floats
    classes: Ints
    starts: Ints
    low: Floats
    high: Floats


@compiled
def _find(boxes, asked, nearest, distances):  # type: ignore[no-untyped-def]
    """Set the nearest class, and its distance, of those in the places `asked`."""
    for one in range(len(asked)):
        place = asked[one]
        distances[one], nearest[one] = np.inf, -1
        home = np.searchsorted(boxes.starts, place, side="right") - 1
        _search(boxes, home, place, one, nearest, distances)
        for box in range(len(boxes.low)):
            if box != home and _least_distance(boxes, box, place) <= distances[one]:
                _search(boxes, box, place, one, nearest, distances)


@inlined
def _least_distance(boxes, box, place):  # type: ignore[no-untyped-def]
    # No more than the distance of any class in the box, rounding included.
    total = 0.0
    for column in range(boxes.means.shape[1]):
        value = boxes.means[place, column]
        away = max(boxes.low[box, column] - value, value - boxes.high[box, column], 0.0)
        total += away * away
    return total


@compiled
def _search(boxes, box, place, one, nearest, distances):  # type: ignore[no-untyped-def]
    """Look for a nearer class in one box."""
    own = boxes.classes[place]
    for other in range(boxes.starts[box], boxes.starts[box + 1]):
        total = 0.0
        for column in range(boxes.means.shape[1]):
            away = boxes.means[other, column] - boxes.means[place, column]
            total += away * away
        found = boxes.classes[other]
        if other != place and _is_nearer(total, found, distances[one], nearest[one], own):
            distances[one], nearest[one] = total, found


@inlined
def _is_nearer(distance, found, least, nearest, own):  # type: ignore[no-untyped-def]
    if distance != least:
        return distance < least
    steps, fewest = abs(found - own), abs(nearest - own)
    return steps < fewest or (steps == fewest and found < nearest)
