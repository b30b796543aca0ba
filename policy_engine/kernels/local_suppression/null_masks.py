"""The sets of columns that a row may lack, and the rows that are equal in all others."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.grouping import classes_of

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

_MOST_MASKS, _MOST_CELLS = 1024, 50_000_000
"""Where there are more masks, or more masks times pieces, not all masks are tried."""


@dataclass(frozen=True)
class Pieces:
    """Rows of one tuple that are suppressed alike, in the order of their codes.

    `codes` (pieces, columns), -1 for missing; `rows` (pieces,) in each; `tuple_of` (pieces,) the
    number of its tuple; `missing` (pieces,) the mask of the columns that it lacks beforehand.
    """

    codes: Codes
    rows: Ints
    tuple_of: Ints
    missing: Ints


@dataclass(frozen=True)
class MaskLattice:
    """The masks that may be chosen, and the groups of pieces that are equal under each.

    A mask is a set of columns as bits, the last column the lowest. `masks` (masks,) are in
    ascending order of `cost` (masks,), the weight of their columns, and of equals the lower
    first; the first is empty. `group` (masks, pieces) numbers what pieces show under a mask:
    throughout all masks, equal pieces have equal numbers, all numbers are below `groups`.
    """

    masks: Ints
    cost: Ints
    group: Codes
    groups: int


def bits(columns: int) -> Ints:
    """Return the bit of every column, (columns,)."""
    return np.int64(1) << np.arange(columns - 1, -1, -1)


def cut_in_pieces(codes: Codes, counts: Ints, singles: int) -> Pieces:
    """Return each tuple as one piece, and up to so many single rows if it has more than that.

    `codes` (tuples, columns) are distinct tuples, and `counts` (tuples,) the rows of each.
    """
    # Single rows can help classes that lack a few. In the order of the codes, so that nothing
    # depends on the order of the tuples.
    order = np.lexsort(codes.T[::-1])
    apart = np.clip(counts[order] - singles - 1, 0, singles)
    tuple_of = np.repeat(order, apart + 1)
    rows = np.ones(len(tuple_of), dtype=np.int64)
    rows[np.cumsum(apart + 1) - apart - 1] = counts[order] - apart
    missing = (codes < 0) @ bits(codes.shape[1])
    return Pieces(codes[tuple_of], rows, tuple_of, missing[tuple_of])


def lattice(pieces: Pieces, weights: Ints) -> MaskLattice:
    """Return the masks and groups of pieces; `weights` (columns,) are what a cell costs."""
    columns, room = len(weights), min(_MOST_MASKS, _MOST_CELLS // max(len(pieces.rows), 1))
    patterns, rows = np.unique(pieces.missing, return_counts=True)
    frequent_first = patterns[np.argsort(-rows, kind="stable")].tolist()
    masks = np.array(sorted(_masks(columns, frequent_first, room)))
    is_null = masks[:, np.newaxis] & bits(columns) != 0
    cost = is_null @ weights
    order = np.lexsort((masks, cost))
    group = np.zeros((len(masks), len(pieces.rows)), dtype=np.int32)
    groups = 0
    for place, mask in enumerate(is_null[order]):
        visible_codes = [column + np.int32(1) for column in pieces.codes.T[~mask]]
        numbers, more = classes_of(visible_codes) if visible_codes else (np.zeros(1, np.int64), 1)
        group[place] = numbers + groups
        groups += more
    return MaskLattice(masks[order], cost[order], group, groups)


def _masks(columns: int, missing: list[int], room: int) -> set[int]:
    """Return the masks to try: all there are, or the most promising that there is room for."""
    masks: set[int] = set()
    for reach in range(columns + 1):
        near = set(_near_chain(columns, reach))
        for pattern in [0, *missing]:
            more = {mask | pattern for mask in near} - masks
            if masks and len(masks) + len(more) > room:
                return masks
            masks |= more
    return masks


def _near_chain(columns: int, reach: int) -> Iterator[int]:
    """Yield the masks of the last columns, however many, and of `reach` others."""
    # A row that has to lack many columns lacks the last ones, which are the least important.
    for last in range(columns + 1):
        others = [1 << one for one in range(last, columns)]
        for chosen in combinations(others, reach):
            yield (1 << last) - 1 | sum(chosen)
