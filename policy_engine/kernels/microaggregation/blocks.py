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
            least, goes_left = _separate(ordered_keys(part, column, len(part) - 1), left)
            cuts.append(BlockCut(column, least))
            parts += [np.compress(~goes_left, rows), np.compress(goes_left, rows)]
    return Blocks(tuple(blocks), tuple(cuts))


_MOST_UNEVEN = 20


def _choose(columns: Sequence[NDArray[Any]], k: int) -> tuple[int, int]:
    """Return which column to cut, and how many rows go to the left: a multiple of k."""
    size = len(columns[0])
    column, middle = widest([(float(one.min()), float(one.max())) for one in columns])
    below = size // 2 if middle is None else int(np.count_nonzero(columns[column] < middle))
    return column, left_rows(size, below, k)


def widest(spans: Sequence[tuple[float, float]]) -> tuple[int, float | None]:
    """Return the column of widest range, and the middle of that; None if all are constant.

    `spans` are the least and greatest point of each column.
    """
    column = max(range(len(spans)), key=lambda column: spans[column][1] - spans[column][0])
    low, high = spans[column]
    return column, low + (high - low) / 2 if low < high else None


def left_rows(size: int, below: int, k: int) -> int:
    """Return how many rows of a part go to the left, a multiple of k, if so many are below the
    middle."""
    fewest = size // _MOST_UNEVEN
    below = min(max(below, fewest), size - fewest)
    nearest = (2 * below + k) // (2 * k) * k
    return min(max(nearest, k), (size - k) // k * k)


def _keys(points: Floats, *ties: NDArray[Any]) -> _Keys:
    return [*np.ascontiguousarray(points.T), *ties]


def ordered_keys(keys: _Keys, column: int, columns: int) -> _Keys:
    """Return the keys in the order in which they count where this column is cut.

    The first are the points in `columns` columns, the others tell rows with equal points apart.
    """
    return [*keys[column:columns], *keys[:column], *keys[columns:]]


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


def find_blocks(cuts: Sequence[BlockCut | None], points: Floats, *ties: NDArray[Any]) -> Ints:
    """Return the block of every row, (rows,), as a table with these rows was cut into blocks.

    `points` (rows, columns) are standardised as that table's were; `ties` (rows,) tell rows with
    equal ones apart, as its words did.
    """
    keys, of_row = _keys(points, *ties), np.empty(len(points), dtype=np.int64)
    parts, block = [np.arange(len(points))], 0
    for cut in cuts:
        rows = parts.pop()
        if cut is None:
            of_row[rows] = block
            block += 1
        else:
            ordered = ordered_keys(keys, cut.column, points.shape[1])
            goes_left = rows_before([key.take(rows) for key in ordered], cut)
            parts += [np.compress(~goes_left, rows), np.compress(goes_left, rows)]
    return of_row


def rows_before(keys: _Keys, cut: BlockCut) -> NDArray[np.bool_]:
    """Return which rows go to the left of a cut, (rows,), by their keys in order."""
    goes_left, tied = np.zeros(len(keys[0]), dtype=np.bool_), np.arange(len(keys[0]))
    for key, least in zip(keys, cut.least, strict=False):
        values = key.take(tied)
        goes_left[np.compress(values < least, tied)] = True
        tied = np.compress(values == least, tied)
    return goes_left
