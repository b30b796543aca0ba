"""Blocks of neighbouring rows, so that a large table is microaggregated block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_Keys = Sequence[NDArray[Any]]
"""What rows are ordered by, each (rows,): rows equal in one by the next, last by the words."""


@dataclass(frozen=True)
class BlockCut:
    """Where a part of a table is cut in two: the rows that come before `least` go to the left.

    Rows are compared by their points from `column` on, after the last column the first, and then
    by their words, as far as `least` has values.
    """

    column: int
    least: tuple[float, ...]


@dataclass(frozen=True)
class Blocks:
    """The blocks of a table: `rows` holds the numbers of the rows of each, ascending.

    `cuts` says in preorder where parts were cut, None where one is a block: whoever has them
    and not the other rows can find the block of a row.
    """

    rows: tuple[Ints, ...]
    cuts: tuple[BlockCut | None, ...]


def default_block_size(rows: int, k: int) -> int:
    """Return how many rows a block has at most, for so many rows and classes of k of them.

    MDAV takes time in proportion to the rows, times those of a block, over k. So the blocks of a
    table of more than 600,000 rows have 500 k rows; smaller tables have larger blocks, and one of
    38,000 rows is one block for classes of 5.
    """
    return k * max(_MOST_COMPARISONS // max(rows, 1), _LEAST_TIMES_K)


_MOST_COMPARISONS = 300_000_000
_LEAST_TIMES_K = 500


def cut_blocks(points: Floats, words: Words, k: int, most: int) -> Blocks:
    """Return blocks of at most `most` rows, all but one of a multiple of k rows.

    A part with more rows is cut in its column of widest range, in the middle of that range or as
    near to it as leaves a twentieth of the rows on either side: most is lost where rows are far
    apart, and there the middle keeps together what is far out, as the median does not. Which rows
    a block has depends on least and greatest values and on counts, so on no order of the rows and
    on no rounding. `points` (rows, columns), standardised. Rows with equal points are told apart
    by `words` (rows,); of rows equal in both, any go to the left. Raises ValueError where `most`
    is less than 2k: such a block cannot be cut.
    """
    if most < 2 * k:
        raise ValueError(f"Blocks of {most} rows are too small for classes of {k} rows.")
    keys = _keys(points, words)
    cuts: list[BlockCut | None] = []
    blocks: list[Ints] = []
    parts = [np.arange(len(points))]
    while parts:
        rows = parts.pop()
        if len(rows) <= most:
            cuts.append(None)
            blocks.append(rows)
        else:
            # Taken and compressed, not indexed by flags: numpy is six times as fast that way.
            part = [key.take(rows) for key in keys]
            column, left = _choose(part[:-1], k)
            least, goes_left = _separate(_from(part, column), left)
            cuts.append(BlockCut(column, least))
            parts += [np.compress(~goes_left, rows), np.compress(goes_left, rows)]
    return Blocks(tuple(blocks), tuple(cuts))


_MOST_UNEVEN = 20


def _choose(columns: Sequence[NDArray[Any]], k: int) -> tuple[int, int]:
    """Return which column to cut, and how many rows go to the left: a multiple of k."""
    size = len(columns[0])
    spans = [(float(column.min()), float(column.max())) for column in columns]
    widest = max(range(len(spans)), key=lambda column: spans[column][1] - spans[column][0])
    low, high = spans[widest]
    below, fewest = size // 2, size // _MOST_UNEVEN
    if low < high:
        below = int(np.count_nonzero(columns[widest] < low + (high - low) / 2))
        below = min(max(below, fewest), size - fewest)
    nearest = (2 * below + k) // (2 * k) * k
    return widest, min(max(nearest, k), (size - k) // k * k)


def _keys(points: Floats, words: Words) -> _Keys:
    return [*np.ascontiguousarray(points.T), words]


def _from(keys: _Keys, column: int) -> _Keys:
    """Return the keys in the order in which they count where this column is cut."""
    return [*keys[column:-1], *keys[:column], keys[-1]]


def _separate(keys: _Keys, left: int) -> tuple[tuple[float, ...], NDArray[np.bool_]]:
    """Return the least of the rows that do not go to the left, and which do, (rows,)."""
    least: list[float] = []
    goes_left, tied = np.zeros(len(keys[0]), dtype=np.bool_), np.arange(len(keys[0]))
    for key in keys:
        values = key.take(tied)
        least.append(np.partition(values, left)[left].item())
        is_less = values < least[-1]
        goes_left[np.compress(is_less, tied)] = True
        left -= int(np.count_nonzero(is_less))
        tied = np.compress(values == least[-1], tied)
        if not left:
            break
    goes_left[tied[:left]] = True
    return tuple(least), goes_left


def find_blocks(cuts: Sequence[BlockCut | None], points: Floats, words: Words) -> Ints:
    """Return the block of every row, (rows,), as a table with these rows was cut into blocks.

    `points` (rows, columns) are standardised as that table's were.
    """
    keys, of_row = _keys(points, words), np.empty(len(points), dtype=np.int64)
    parts, block = [np.arange(len(points))], 0
    for cut in cuts:
        rows = parts.pop()
        if cut is None:
            of_row[rows] = block
            block += 1
        else:
            goes_left = _comes_before([key.take(rows) for key in _from(keys, cut.column)], cut)
            parts += [np.compress(~goes_left, rows), np.compress(goes_left, rows)]
    return of_row


def _comes_before(keys: _Keys, cut: BlockCut) -> NDArray[np.bool_]:
    goes_left, tied = np.zeros(len(keys[0]), dtype=np.bool_), np.arange(len(keys[0]))
    for key, least in zip(keys, cut.least, strict=False):
        values = key.take(tied)
        goes_left[np.compress(values < least, tied)] = True
        tied = np.compress(values == least, tied)
    return goes_left
