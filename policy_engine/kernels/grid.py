"""One grid for the whole table: every dimension is cut into intervals by itself.

Single-dimensional recoding (LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional
K-Anonymity, ICDE 2006, section 2): a value is generalised to the same interval in every row.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.axis import OFFSET, POSITION, Axes, Axis, Codes, are_apart, pack_axes
from policy_engine.kernels.mondrian import Partition, never

Holds = Callable[[NDArray[np.int64], int], bool]


@dataclass(frozen=True)
class _Interval:
    """The codes low .. high of one dimension, the rows that have them, and what they lose."""

    dim: int
    low: int
    high: int
    rows: NDArray[np.int64]
    weight: int


def grid(
    axes: list[Axis],
    size: int,
    holds: Holds | None = None,
    on_cut: Callable[[int], object] = int,
    *,
    keeps_apart: bool = False,
    is_over: Callable[[], bool] = never,
) -> Partition:
    """Cut the dimensions into intervals until no cut leaves every class large and valid.

    First the interval with the greatest width times rows is cut, at the boundary nearest the
    median of its rows that leaves each class either empty or with `size` rows. `holds`, called
    with the class numbers of all rows, (rows,), and the number of classes, returns whether every
    other bound holds. `on_cut` is called with the number of cuts so far. Where it `keeps_apart`,
    no interval on one side of a cut can have the cell of one on the other. Once it `is_over`, the
    intervals so far are returned.
    """
    # Greedy: a cut runs through all classes at once, and what is best for one dimension depends on
    # the cuts of the others. A heap, as the cuts of an interval change no other's weight.
    priced, rows = pack_axes(axes), np.arange(len(axes[0].codes))
    class_of, count, cuts = np.zeros(len(rows), dtype=np.int64), 1, 0
    whole = (_interval(priced, dim, 0, axis.size - 1, rows) for dim, axis in enumerate(axes))
    waiting = [_ranked(one) for one in whole]
    heapq.heapify(waiting)
    while waiting and not is_over():
        chosen = heapq.heappop(waiting)[-1]
        codes = axes[chosen.dim].codes[chosen.rows]
        for code in _cuts(chosen, codes, class_of[chosen.rows], size):
            if keeps_apart and not _leaves_apart(priced, chosen.dim, codes, code):
                continue
            # The right side takes new numbers, class by class; they need not be dense in between.
            right = chosen.rows[codes > code]
            _, number = np.unique(class_of[right], return_inverse=True)
            trial = class_of.copy() if holds else class_of
            trial[right] = count + number
            dense, classes = _numbered(trial) if holds else (trial, count)
            if holds is None or holds(dense, classes):
                class_of, count, cuts = trial, count + len(right), cuts + 1
                left = chosen.rows[codes <= code]
                for low, high, half in ((chosen.low, code, left), (code + 1, chosen.high, right)):
                    heapq.heappush(waiting, _ranked(_interval(priced, chosen.dim, low, high, half)))
                on_cut(cuts)
                break
    class_of, count = _numbered(class_of)
    order = np.argsort(class_of, kind="stable")
    sizes = np.bincount(class_of, minlength=count)
    return Partition(order, np.concatenate([[0], np.cumsum(sizes)]), len(waiting))


def _leaves_apart(priced: Axes, dim: int, codes: Codes, code: int) -> bool:
    left, right = codes[codes <= code].astype(np.int64), codes[codes > code].astype(np.int64)
    return bool(are_apart(priced, dim, left.min(), left.max(), right.min(), right.max()))


def _numbered(class_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    distinct, numbers = np.unique(class_of, return_inverse=True)
    return numbers, len(distinct)


def _interval(priced: Axes, dim: int, low: int, high: int, rows: NDArray[np.int64]) -> _Interval:
    places = priced.places[priced.facts[dim, OFFSET] :, POSITION]
    return _Interval(dim, low, high, rows, int(places[high] - places[low]) * len(rows))


def _ranked(one: _Interval) -> tuple[int, int, int, _Interval]:
    """Return the interval behind its rank in the heap."""
    # No two have the same dimension and low end: intervals themselves are never compared.
    return -one.weight, one.dim, one.low, one


def _cuts(one: _Interval, codes: Codes, class_of: NDArray[np.int64], size: int) -> list[int]:
    """Return the codes after which a cut keeps the size, those nearest the median first."""
    # Only behind values that occur: what lies between two of them is one and the same cut.
    if not len(codes):
        return []
    counts = np.bincount(codes - one.low, minlength=one.high - one.low + 1)
    left = np.cumsum(counts)[:-1]
    keeps = _keeps_size(codes - one.low, len(left), class_of, size)
    boundaries = np.flatnonzero((counts[:-1] > 0) & (left < len(codes)) & keeps)
    distance = np.abs(2 * left[boundaries] - len(codes))
    return (one.low + boundaries[np.lexsort((boundaries, distance))]).tolist()  # type: ignore[no-any-return]


def _keeps_size(
    codes: Codes, boundaries: int, class_of: NDArray[np.int64], size: int
) -> NDArray[np.bool_]:
    """Return after which codes a cut leaves each class empty or with `size` rows, (boundaries,)."""
    # A class rules out the codes from its first to where `size` rows are on the left, and those
    # from where fewer than `size` are on the right to before its last. These ranges are added up
    # as differences, so that the cost does not grow with classes times codes.
    order = np.lexsort((codes, class_of))
    starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    ends, ordered = np.append(starts[1:], len(order)), codes[order]
    ruled_out = np.zeros(boundaries + 2, dtype=np.int64)
    enough = ordered[np.minimum(starts + size, ends) - 1]
    spare = ordered[np.maximum(ends - size, starts)]
    for begin, end in ((ordered[starts], enough), (spare, ordered[ends - 1])):
        np.add.at(ruled_out, begin, 1)
        np.add.at(ruled_out, end, -1)
    keeps: NDArray[np.bool_] = np.cumsum(ruled_out)[:boundaries] == 0
    return keeps
