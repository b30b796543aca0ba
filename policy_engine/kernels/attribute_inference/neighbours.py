"""The records of a release that are the nearest to what is known of a person, by Gower's distance.

Gower: A general coefficient of similarity and some of its properties, Biometrics 27(4), 1971: in
each column the difference as a share of a width, or 1 for another category, added up.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled, inlined
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.linkage.tree import STACK, plant

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-12


@dataclass(frozen=True)
class ReleasedCells:
    """What a release has in the columns that an intruder knows: from `low` to `high`, (rows,
    columns) each, both finite and equal for single values.

    `widths` (columns,) are the differences of numbers that count as much as another category: as a
    rule the range of the column. 0 marks a column of categories, of which a cell is a run.
    """

    low: Floats
    high: Floats
    widths: Floats

    def middle(self) -> Floats:
        """Return the middles of cells of numbers, and the first categories of others."""
        return np.where(self.widths == 0, self.low, (self.low + self.high) / 2)


class Neighbours(NamedTuple):
    """The points nearest to persons: `points[starts[i]:starts[i + 1]]` are those of person i.

    Equal rows of the release are one point; `point_of` (rows,) numbers those from 0.
    """

    points: Ints
    starts: Ints
    point_of: Ints


def nearest_points(known_values: Floats, released: ReleasedCells, least: int = 1) -> Neighbours:
    """Return the nearest points with `least` rows or more in all, and those equally near.

    `known_values` (persons, columns) are finite. A cell is as far away as its nearer end, and not
    at all if the value is in it. There are `least` rows, or all are near. The order of rows does
    not matter, but for the numbers of points.
    """
    ends = (*released.low.T, *released.high.T)
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in ends]
    point_of, count = classes_of([code.astype(np.int32) for code in codes])
    row_of = np.empty(count, dtype=np.int64)
    row_of[point_of] = np.arange(len(point_of))
    rows = np.bincount(point_of, minlength=count)
    is_category = released.widths == 0
    scales = np.where(is_category, 1.0, released.widths)
    low, high = released.low[row_of] / scales, released.high[row_of] / scales
    tree = plant((low + high) / 2)
    cells = _cells(low[tree.rows], high[tree.rows], rows[tree.rows], tree.starts)
    targets = np.ascontiguousarray(known_values / scales)
    persons, stack = len(known_values), np.empty(STACK, dtype=np.int64)
    radii, counts = np.empty(persons), np.zeros(persons, dtype=np.int64)
    best, held = np.empty(least + 1), np.empty(least + 1, dtype=np.int64)
    nodes = (cells, tree.starts, tree.ends, is_category, targets)
    _find_radii(*nodes, least, best, held, stack, radii)
    _collect(*nodes, radii, stack, counts, np.empty(0, dtype=np.int64))
    starts = np.append(0, np.cumsum(counts))
    points = np.empty(starts[-1], dtype=np.int64)
    _collect(*nodes, radii, stack, starts[:-1].copy(), points)
    return Neighbours(tree.rows[points], starts, point_of)


class _Cells(NamedTuple):
    """Cells in the order of a tree, (points, columns), those of its nodes, (nodes, columns), and
    the number of rows of each point."""

    low: Floats
    high: Floats
    least: Floats
    most: Floats
    rows: Ints


def _cells(low: Floats, high: Floats, rows: Ints, starts: Ints) -> _Cells:
    half = len(starts) // 2
    least, most = (np.empty((len(starts), low.shape[1])) for _ in range(2))
    least[half:] = np.minimum.reduceat(low, starts[half:], axis=0)
    most[half:] = np.maximum.reduceat(high, starts[half:], axis=0)
    while half > 1:
        parents, children = slice(half // 2, half), least[half : 2 * half]
        least[parents] = np.minimum(children[::2], children[1::2])
        children = most[half : 2 * half]
        most[parents] = np.maximum(children[::2], children[1::2])
        half //= 2
    return _Cells(np.ascontiguousarray(low), np.ascontiguousarray(high), least, most, rows)


@compiled
def _find_radii(cells, starts, ends, is_category, targets, least, best, held, stack, radii):  # type: ignore[no-untyped-def]
    """Find how far away the nearest points with so many rows are."""
    half = len(starts) // 2
    for person in range(len(targets)):
        point, count, total, waiting, radius = targets[person], 0, 0, 1, np.inf
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if _distance(point, cells.least[node], cells.most[node], is_category) > radius:
                continue
            if node < half:
                left = _distance(point, cells.least[2 * node], cells.most[2 * node], is_category)
                right = _distance(
                    point, cells.least[2 * node + 1], cells.most[2 * node + 1], is_category
                )
                nearest = 2 * node + (right < left)
                stack[waiting], stack[waiting + 1] = nearest ^ 1, nearest
                waiting += 2
                continue
            for place in range(starts[node], ends[node]):
                distance = _distance(point, cells.low[place], cells.high[place], is_category)
                if distance < radius:
                    at = count
                    while at > 0 and best[at - 1] > distance:
                        best[at], held[at] = best[at - 1], held[at - 1]
                        at -= 1
                    best[at], held[at] = distance, cells.rows[place]
                    count, total = count + 1, total + cells.rows[place]
                    while total - held[count - 1] >= least:
                        count, total = count - 1, total - held[count - 1]
                    if total >= least:
                        radius = best[count - 1]
        radii[person] = radius


@compiled
def _collect(cells, starts, ends, is_category, targets, radii, stack, at, points):  # type: ignore[no-untyped-def]
    """Write the points within the radii from the places `at` on, or count them without points."""
    half = len(starts) // 2
    for person in range(len(targets)):
        point, waiting = targets[person], 1
        radius = radii[person] + _ROUNDING * (1 + radii[person])
        stack[0] = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if _distance(point, cells.least[node], cells.most[node], is_category) > radius:
                continue
            if node < half:
                stack[waiting], stack[waiting + 1] = 2 * node, 2 * node + 1
                waiting += 2
                continue
            for place in range(starts[node], ends[node]):
                if _distance(point, cells.low[place], cells.high[place], is_category) <= radius:
                    if len(points) > 0:
                        points[at[person]] = place
                    at[person] += 1


@inlined
def _distance(point, low, high, is_category):  # type: ignore[no-untyped-def]
    # Of a node, at most the distance to any of its cells.
    total = 0.0
    for column in range(len(point)):
        away = max(low[column] - point[column], point[column] - high[column], 0.0)
        if is_category[column] and away > 0:
            away = 1.0
        total += away
    return total
