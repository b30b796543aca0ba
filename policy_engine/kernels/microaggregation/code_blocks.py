"""Blocks of neighbouring rows of codes, cut between codes: a table's parts can be cut far apart.

Where a part is cut follows from how often each code occurs in it. So it can be found without the
rows, and rows with equal codes stay together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.microaggregation.mixed import Placement

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


class CodeCut(NamedTuple):
    """Where a part is cut: rows whose code in `column` is below `least` go to the left."""

    column: int
    least: int


@dataclass(frozen=True)
class CodeTree:
    """The parts of a table: a part comes before its own parts, the left before the right.

    `parent` (parts,) is -1 for the table. The parts that are not cut are `leaves`, ascending, and
    `rows` holds the rows of each, ascending.
    """

    parent: Ints
    leaves: Ints
    rows: tuple[Ints, ...]


_MOST_UNEVEN = 20


def choose_cut(
    counts: Sequence[Ints], placements: Sequence[Placement], least: int
) -> CodeCut | None:
    """Return where a part is cut, given how often each code occurs in it, by column.

    In the widest column that has a boundary with a twentieth of the rows on either side: at that
    nearest to the middle of the range of numbers, since most is lost where rows are far apart, or
    to the middle of the rows, where codes are categories. If there is none, wherever the smaller
    side has most rows. None if there are fewer than `least` on a side of every boundary.
    """
    pairs = enumerate(zip(counts, placements, strict=True))
    options = [_option(number, column, place, least) for number, (column, place) in pairs]
    feasible_options = [one for one in options if one is not None]
    # The first of equals: `max` takes it.
    return max(feasible_options, key=lambda one: one.merit).cut if feasible_options else None


class _Option(NamedTuple):
    merit: tuple[bool, float]
    cut: CodeCut


def _option(number: int, counts: Ints, placement: Placement, least: int) -> _Option | None:
    present = np.flatnonzero(counts)
    before = np.cumsum(counts[present])
    size = int(before[-1]) if len(before) else 0
    before = before[:-1]
    smaller = np.minimum(before, size - before)
    if smaller.max(initial=0) < max(least, 1):
        return None
    is_even = smaller >= max(least, size // _MOST_UNEVEN)
    if is_even.any():
        away = np.abs(2 * before - 2 * _wanted(present, before, size, placement))
        boundary = int(np.argmin(np.where(is_even, away, 2 * size + 1)))
        merit = placement.width(int(present[0]), int(present[-1]))
    else:
        boundary = int(np.argmax(smaller))
        merit = float(smaller[boundary])
    cut = CodeCut(number, int(present[boundary + 1]))
    return _Option((bool(is_even.any()), merit), cut)


def _wanted(present: Ints, before: Ints, size: int, placement: Placement) -> int:
    """Return how many rows should be on the left."""
    if placement.places is None:
        return size // 2
    places = placement.places[present]
    middle = places[0] + (places[-1] - places[0]) / 2
    below = int(np.searchsorted(places, middle))
    return int(before[below - 1]) if below else 0


def cut_codes(codes: Codes, placements: Sequence[Placement], least: int, most: int) -> CodeTree:
    """Return the parts of rows of codes, (rows, columns), cut as `choose_cut` says.

    A part of more than `most` rows is cut if that leaves `least` rows on either side.
    """
    columns = [np.ascontiguousarray(column) for column in codes.T]
    parent: list[int] = []
    leaves: list[int] = []
    blocks: list[Ints] = []
    parts = [(-1, np.arange(len(codes)))]
    while parts:
        above, rows = parts.pop()
        cut = None
        part = len(parent)
        parent.append(above)
        if len(rows) > most:
            counts = [np.bincount(column[rows]) for column in columns]
            cut = choose_cut(counts, placements, least)
        if cut is None:
            leaves.append(part)
            blocks.append(rows)
        else:
            goes_left = columns[cut.column][rows] < cut.least
            parts += [(part, rows[~goes_left]), (part, rows[goes_left])]
    return CodeTree(np.array(parent), np.array(leaves), tuple(blocks))
