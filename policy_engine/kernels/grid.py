"""One grid for the whole table: every dimension is cut into intervals by itself.

Single-dimensional recoding (LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional
K-Anonymity, ICDE 2006, section 2): a value is generalised to the same interval in every row.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import OFFSET, POSITION, Axes, Axis, Codes, flat
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.mondrian import Classes

Holds = Callable[[NDArray[np.int64], int], bool]


class _Interval(NamedTuple):
    """The codes low .. high of one dimension."""

    dim: int
    low: int
    high: int


def grid(
    axes: list[Axis], size: int, holds: Holds, on_cut: Callable[[int], object] = int
) -> Classes:
    """Cut the dimensions into intervals until no cut leaves every class large and valid.

    The interval is cut first whose width, times its rows, is greatest, between the two values
    nearest the median of those rows that leave each class either empty or with `size` rows.
    `holds` tells of the class numbers of all rows, (rows,), and of how many classes there are,
    whether every other bound holds. `on_cut` is told how many cuts there are so far.
    """
    codes, priced = [axis.codes for axis in axes], flat(axes)
    grid = np.zeros((len(axes), len(codes[0])), dtype=np.int32)
    waiting = [_Interval(dim, 0, axis.size - 1) for dim, axis in enumerate(axes)]
    cuts = 0
    while waiting:
        chosen = max(waiting, key=lambda one: (_weight(one, codes, priced), -one.dim, -one.low))
        waiting.remove(chosen)
        code = _best_cut(chosen, codes[chosen.dim], grid, size, holds)
        if code is not None:
            grid[chosen.dim] += codes[chosen.dim] > code
            grid[chosen.dim] = np.unique(grid[chosen.dim], return_inverse=True)[1]
            waiting += [chosen._replace(high=code), chosen._replace(low=code + 1)]
            cuts += 1
            on_cut(cuts)
    class_of, count = classes_of(list(grid))
    order = np.argsort(class_of, kind="stable")
    sizes = np.bincount(class_of, minlength=count)
    return Classes(order, np.concatenate([[0], np.cumsum(sizes)]))


def _weight(one: _Interval, codes: list[Codes], priced: Axes) -> int:
    """Return the width of an interval times its rows."""
    places = priced.places[priced.facts[one.dim, OFFSET] :, POSITION]
    inside = (codes[one.dim] >= one.low) & (codes[one.dim] <= one.high)
    return int(places[one.high] - places[one.low]) * int(np.count_nonzero(inside))


def _best_cut(
    one: _Interval, codes: Codes, grid: NDArray[np.int32], size: int, holds: Holds
) -> int | None:
    """Return the last code left of the valid boundary nearest the median, None without one."""
    inside = (codes >= one.low) & (codes <= one.high)
    counts = np.bincount(codes[inside], minlength=one.high + 1)
    left = np.cumsum(counts)[:-1]
    boundaries = np.flatnonzero((counts[:-1] > 0) & _keeps_size(codes, inside, grid, one, size))
    boundaries = boundaries[(left[boundaries] > 0) & (left[boundaries] < inside.sum())]
    distance = np.abs(2 * left[boundaries] - inside.sum())
    for code in boundaries[np.lexsort((boundaries, distance))].tolist():
        trial = grid.copy()
        trial[one.dim] = 2 * grid[one.dim] + (codes > code)
        if holds(*classes_of(list(trial))):
            return int(code)
    return None


def _keeps_size(
    codes: Codes, inside: NDArray[np.bool_], grid: NDArray[np.int32], one: _Interval, size: int
) -> NDArray[np.bool_]:
    """Tell after which codes a cut leaves each class empty or with `size` rows, (high,).

    A class rules out the codes from its first to where `size` rows are on the left, and those
    from where fewer than `size` are left over to before its last.
    """
    class_of, count = classes_of([column[inside] for column in grid])
    order = np.lexsort((codes[inside], class_of))
    sizes = np.bincount(class_of, minlength=count)
    ends = np.cumsum(sizes)
    starts, ordered = ends - sizes, codes[inside][order]
    ruled_out = np.zeros(one.high + 2, dtype=np.int64)
    enough = ordered[np.minimum(starts + size, ends) - 1]
    spare = ordered[np.maximum(ends - size, starts)]
    for begin, end in ((ordered[starts], enough), (spare, ordered[ends - 1])):
        np.add.at(ruled_out, begin, 1)
        np.add.at(ruled_out, end, -1)
    kept: NDArray[np.bool_] = np.cumsum(ruled_out)[: one.high] == 0
    return kept
