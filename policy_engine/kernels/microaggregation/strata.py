"""Classes with one row of every stratum of a sensitive column, which makes them t-close.

Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, IEEE TKDE 27(11), 2015, algorithm 3
(t-closeness-first microaggregation), for columns with any number of equal values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.microaggregation.mdav import TAKEN, measure_farthest, measure_first

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def strata_needed(overall: Ints, t: float, least: int, *, is_ordered: bool) -> int:
    """Return how many strata make every class of one row of each t-close, `least` or more.

    `overall` (values,) counts the values of the table in their order. The distance from it is the
    earth mover's over the ranks of those that occur (Li et al., ICDE 2007) or, if it is not
    ordered, the variational one. The table's rows, at most, where no number of strata suffices.
    """
    counts = overall[overall > 0]
    places = np.arange(len(counts)) / max(len(counts) - 1, 1)
    rows = int(counts.sum())
    low = high = max(least, 1)
    while high < rows and _greatest_distance(counts, places, high, is_ordered=is_ordered) > t:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        if _greatest_distance(counts, places, middle, is_ordered=is_ordered) > t:
            low = middle + 1
        else:
            high = middle
    return max(min(high, rows), least)


def _greatest_distance(counts: Ints, places: Floats, strata: int, *, is_ordered: bool) -> float:
    """Return how far a class of one row of each stratum can be from the table."""
    # In units of 1 / (rows strata): the values that meet in a stratum, and how much of it they are.
    rows = int(counts.sum())
    ends = np.cumsum(counts) * strata
    edges = np.union1d(ends, np.arange(1, strata + 1) * rows)
    shares = np.diff(edges, prepend=0) / rows
    value = np.searchsorted(ends, edges)
    starts = np.searchsorted((edges - 1) // rows, np.arange(strata))
    if not is_ordered:
        return float((1 - np.minimum.reduceat(shares, starts)).sum()) / strata
    mean = np.add.reduceat(shares * places[value], starts)
    last = np.append(starts[1:], len(edges)) - 1
    away = np.maximum(mean - places[value[starts]], places[value[last]] - mean)
    return float(np.maximum(away, 0.0).sum()) / strata


def stratified_mdav(points: Floats, words: Words, sensitive: Codes, strata: int) -> Ints:
    """Return the class of every row, (rows,), numbered from 0: max(1, rows // strata) classes.

    The rows in the order of their `sensitive` codes are divided into equal strata. In every round,
    as in MDAV, the row farthest from the mean has a class, and the row farthest from that one: of
    each stratum, the nearest row. The rows that are left, fewer than `strata`, join the class with
    the nearest mean. `points` (rows, columns), standardised; `words` (rows,) decide which of
    equally distant rows comes first, and of those with equal sensitive codes.
    """
    order = np.argsort(words, kind="stable")
    ordered, labels = points[order], np.zeros(len(points), dtype=np.int64)
    size, count = len(points), len(points) // strata
    if count > 1:
        turn = np.argsort(sensitive[order], kind="stable")
        stratum = np.empty(size, dtype=np.int64)
        stratum[turn] = np.arange(size) * strata // size
        class_of = np.full(size, -1, dtype=np.int64)
        work = _Work(
            points=np.ascontiguousarray(ordered.T),
            rows=np.arange(size),
            stratum=stratum,
            distances=np.empty(size),
            nearest=np.empty(strata, dtype=np.int64),
            total=np.array([_ordered_sum(column) for column in ordered.T]),
            centre=np.empty(points.shape[1]),
        )
        _form_classes(work, size, count, class_of)
        _place_others(ordered, class_of, count)
        labels[order] = class_of
    return labels


def _ordered_sum(column: Floats) -> float:
    return float(np.add.accumulate(column)[-1])


def _place_others(points: Floats, labels: Ints, count: int) -> None:
    """Give the rows without a class that with the nearest mean."""
    others, members = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[members], minlength=count)
    sums = [np.bincount(labels[members], column[members], count) for column in points.T]
    means = np.stack(sums) / sizes
    for row in others.tolist():
        away = np.zeros(count)
        for mean, value in zip(means, points[row], strict=True):
            away += (mean - value) ** 2
        labels[row] = np.argmin(away)


class _Work(NamedTuple):
    """The rows that are not yet in a class, and working memory.

    `points` (columns, rows) holds them in the first places, `rows` their numbers, `stratum` that of
    each. `total` is the sum of their points.
    """

    points: Floats
    rows: Ints
    stratum: Ints
    distances: Floats
    nearest: Ints
    total: Floats
    centre: Floats


@compiled
def _form_classes(work, size, count, labels):  # type: ignore[no-untyped-def]
    """Set the label of every row that belongs to one of `count` classes."""
    for label in range(count):
        if label % 2 == 0:
            measure_first(work.points, work.total, size, work.centre, work.distances)
        else:
            measure_farthest(work.points, work.centre, work.distances, size)
        size = _take_nearest(work, size, labels, label)


@compiled
def _take_nearest(work, size, labels, label):  # type: ignore[no-untyped-def]
    """Give the nearest row of every stratum a label, and return how many rows are left."""
    points, rows, stratum, distances = work.points, work.rows, work.stratum, work.distances
    nearest = work.nearest
    nearest[:] = -1
    for place in range(size):
        one = stratum[place]
        if nearest[one] < 0 or distances[place] < distances[nearest[one]]:
            nearest[one] = place
    for place in nearest:
        labels[rows[place]] = label
        distances[place] = TAKEN
        for column in range(len(points)):
            work.total[column] -= points[column, place]
    # Rows that stay, from the end, move to the places of those that go.
    size, last = size - len(nearest), size - 1
    for place in nearest:
        if place < size:
            while distances[last] == TAKEN:
                last -= 1
            rows[place], stratum[place] = rows[last], stratum[last]
            for column in range(len(points)):
                points[column, place] = points[column, last]
            last -= 1
    return size
