"""MDAV: classes of k rows around the rows that lie farthest out.

Maximum distance to average vector: Domingo-Ferrer and Mateo-Sanz, IEEE TKDE 14(1), 2002, in the
form of Domingo-Ferrer and Torra, Data Mining and Knowledge Discovery 11(2), 2005.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def mdav(points: Floats, words: Words, k: int) -> Ints:
    """Return the class of every row, (rows,), numbered from 0: max(1, rows // k) classes.

    In every round the row farthest from the mean and its k - 1 nearest become a class, and so do
    the row farthest from that one and its k - 1 nearest. Fewer than 3k rows become one such class
    and the rest, fewer than 2k one class. So all classes have k rows but one, which has fewer than
    2k if there are k rows at all. `points` (rows, columns), standardised, by squared Euclidean
    distance; O(rows**2 / k). `words` (rows,) and, where they are equal, the points decide
    in the end which of equally distant rows comes first: the order of the rows does not.
    """
    order = _order_rows(points, words)
    columns, size = points.shape[1], len(points)
    labels = np.zeros(size, dtype=np.int64)
    work = _Work(
        points=np.ascontiguousarray(points[order].T),
        rows=order,
        distances=np.empty(size),
        nearest=np.empty(k, dtype=np.int64),
        candidates=np.empty(size, dtype=np.int64),
        total=np.empty(columns),
        centre=np.empty(columns),
    )
    _form_classes(work, size, k, labels)
    return labels


def _order_rows(points: Floats, words: Words) -> Ints:
    """Return the rows in an order that follows from what they hold."""
    # So the order of the rows given decides no sum and no tie. By their words alone it is found
    # four times as fast, and hardly ever have two rows the same.
    order = np.argsort(words)
    ordered = words[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((*points.T, words))
    return order


class _Work(NamedTuple):
    """The rows that are not yet in a class, and working memory.

    `points` (columns, rows) holds them in the first places, `rows` their numbers. `total` is the
    sum of their points.
    """

    points: Floats
    rows: Ints
    distances: Floats
    nearest: Ints
    candidates: Ints
    total: Floats
    centre: Floats


@compiled
def _form_classes(work, size, k, labels):  # type: ignore[no-untyped-def]
    """Set the label of every row; `size` rows have none yet."""
    points, total, centre, distances = work.points, work.total, work.centre, work.distances
    label = 0
    for column in range(len(points)):
        total[column] = 0.0
        for place in range(size):
            total[column] += points[column, place]
    while size >= 2 * k:
        measure_first(points, total, size, centre, distances)
        is_pair = size >= 3 * k
        size = _take_nearest(work, size, k, labels, label)
        label += 1
        if is_pair:
            measure_farthest(points, centre, distances, size)
            size = _take_nearest(work, size, k, labels, label)
            label += 1
    for place in range(size):
        labels[work.rows[place]] = label


_RUN = 64
"""How many rows are measured and compared at once."""


@compiled
def measure_first(points, total, size, centre, distances):  # type: ignore[no-untyped-def]
    """Measure from the row farthest from the mean, and centre on the row farthest from that one.

    `total` is the sum of the rows.
    """
    for column in range(len(points)):
        centre[column] = total[column] / size
    for _ in range(2):
        farthest = measure_farthest(points, centre, distances, size)
        for column in range(len(points)):
            centre[column] = points[column, farthest]


@inlined
def _measure_run(points, centre, distances, start, stop):  # type: ignore[no-untyped-def]
    """Set the squared distances of a run of rows from a centre."""
    # Column by column, so that several rows are measured by one instruction: of slices, as places
    # counted from `start` might be negative. Every distance is summed up in the order of the
    # columns, whatever the processor.
    away, values, middle = distances[start:stop], points[0, start:stop], centre[0]
    for place in range(len(away)):
        away[place] = (values[place] - middle) ** 2
    for column in range(1, len(points)):
        values, middle = points[column, start:stop], centre[column]
        for place in range(len(away)):
            away[place] += (values[place] - middle) ** 2


@compiled
def measure_farthest(points, centre, distances, size):  # type: ignore[no-untyped-def]
    """Set the squared distances of the rows from a centre, and return the place of the greatest."""
    farthest = 0
    for start in range(0, size, _RUN):
        stop = min(start + _RUN, size)
        _measure_run(points, centre, distances, start, stop)
        away, greatest, farther = distances[start:stop], distances[farthest], 0
        for place in range(len(away)):
            farther += away[place] > greatest
        if farther:
            for place in range(start, stop):
                if distances[place] > distances[farthest]:
                    farthest = place
    return farthest


@compiled
def _take_nearest(work, size, k, labels, label):  # type: ignore[no-untyped-def]
    """Give the k nearest rows a label, and return how many rows are left."""
    points, rows, distances, total = work.points, work.rows, work.distances, work.total
    _find_nearest(distances, size, work.nearest, work.candidates)
    for place in work.nearest:
        labels[rows[place]] = label
        distances[place] = TAKEN
        for column in range(len(points)):
            total[column] -= points[column, place]
    # Rows that stay, from the end, move to the places of those that go.
    size, last = size - k, size - 1
    for place in work.nearest:
        if place < size:
            while distances[last] == TAKEN:
                last -= 1
            rows[place] = rows[last]
            for column in range(len(points)):
                points[column, place] = points[column, last]
            last -= 1
    return size


TAKEN = -1.0
"""The distance of a row that is in a class."""


@inlined
def _find_nearest(distances, size, nearest, candidates):  # type: ignore[no-untyped-def]
    """Fill `nearest` with the places of the least distances, of equal ones the first places."""
    # The first rows are any rows, as they are ordered by their words. What lies as near as the
    # nearest few of them is a little more than the k nearest rows, nearly always; and to list
    # those takes no branch, which a processor would have to guess at.
    k, first = len(nearest), size // _SAMPLED
    expected = k / _SAMPLED
    few = min(k, int(expected + 3 * np.sqrt(expected)) + 1)
    count = 0
    if first > few:
        for place in range(first):
            candidates[place] = place
        _keep_nearest(distances, candidates, first, nearest[:few])
        most = distances[nearest[0]]
        for start in range(0, size, _RUN):
            away, nearer = distances[start : min(start + _RUN, size)], 0
            for place in range(len(away)):
                nearer += away[place] <= most
            if nearer:
                for place in range(len(away)):
                    candidates[count] = start + place
                    count += away[place] <= most
    if count < k:
        count = size
        for place in range(size):
            candidates[place] = place
    _keep_nearest(distances, candidates, count, nearest)


_SAMPLED = 16
"""One row in so many tells how near the k nearest rows are."""


@compiled
def _keep_nearest(distances, candidates, count, nearest):  # type: ignore[no-untyped-def]
    """Fill `nearest` with those of the first `count` candidates, ascending, that lie nearest."""
    # A heap, the farthest on top: few candidates get past it.
    k = len(nearest)
    for place in range(k):
        nearest[place] = candidates[place]
    for above in range(k // 2 - 1, -1, -1):
        _sink(distances, nearest, above, nearest[above])
    farthest = distances[nearest[0]]
    for place in candidates[k:count]:
        if distances[place] < farthest:
            _sink(distances, nearest, 0, place)
            farthest = distances[nearest[0]]


@compiled
def _sink(distances, heap, hole, place):  # type: ignore[no-untyped-def]
    """Put a place into the heap at the hole or, where a farther one is below it, further down."""
    below = 2 * hole + 1
    while below < len(heap):
        other = below + 1
        if other < len(heap) and _is_farther(distances, heap[other], heap[below]):
            below = other
        if not _is_farther(distances, heap[below], place):
            break
        heap[hole] = heap[below]
        hole, below = below, 2 * below + 1
    heap[hole] = place


@inlined
def _is_farther(distances, one, other):  # type: ignore[no-untyped-def]
    return distances[one] > distances[other] or (distances[one] == distances[other] and one > other)
