"""The lines of a table of results: the cells that differ in one key alone."""

from collections.abc import Collection, Container, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts

_MOST_FILLED = 4
_FEW = 1_000


Nested = Collection[tuple[int, int]]


def line_shares(
    codes: Counts, units: Counts, settled: Container[int] = (), nested: Nested = ()
) -> NDArray[np.float64]:
    """Return the most of a line's units that each cell has, (rows,): NaN in a cell of no line.

    `codes` (rows, keys) are those of a table's keys. Totals are of lines of their own. Along keys
    that are `settled`, there is one value to be had, and so no line; and along the second one of a
    `nested` pair of keys, where there is a value of the first, which lies in one of the second.
    """
    shares = np.full(len(codes), np.nan)
    for is_part, whole in _lines(codes, units, settled, nested):
        of_line = np.where(is_part & (whole > 0), units / np.maximum(whole, 1), np.nan)
        shares = np.fmax(shares, of_line)
    return shares


def line_rests(
    codes: Counts, units: Counts, settled: Container[int] = (), nested: Nested = ()
) -> NDArray[np.float64]:
    """Return the fewest of a line's units that are not in each cell, (rows,): NaN in a cell of no
    line, or of a line of nobody. Lines are those of `line_shares`."""
    rests = np.full(len(codes), np.nan)
    for is_part, whole in _lines(codes, units, settled, nested):
        rests = np.fmin(rests, np.where(is_part & (whole > 0), whole - units, np.nan))
    return rests


def _lines(
    codes: Counts, units: Counts, settled: Container[int], nested: Nested
) -> Iterator[tuple[NDArray[np.bool_], Counts]]:
    """Yield for each key which cells are parts of a line along it, and the units of their line."""
    for key in (one for one in range(codes.shape[1]) if one not in settled):
        others = np.delete(codes, key, axis=1)
        is_part = codes[:, key] != TOTAL
        for lower in (one for one, upper in nested if upper == key):
            is_part &= codes[:, lower] == TOTAL
        lines = _line_numbers(others)
        sums = np.bincount(lines[is_part], units[is_part], minlength=len(codes))
        yield is_part, sums[lines]


def least_lines(codes: Counts, units: Counts) -> Counts:
    """Return the units of the smallest line that each cell is in, (rows,): 0 in a cell of no line.

    `codes` (rows, keys) are those of a table's keys.
    """
    least = np.full(len(codes), np.iinfo(np.int64).max)
    for key in range(codes.shape[1]):
        is_part = codes[:, key] != TOTAL
        lines = _line_numbers(np.delete(codes, key, axis=1))
        sums = np.zeros(len(codes), dtype=np.int64)
        np.add.at(sums, lines[is_part], units[is_part])
        least[is_part] = np.minimum(least[is_part], sums[lines[is_part]])
    return np.where((codes != TOTAL).any(axis=1), least, 0)


def absent_cells(codes: Counts, keys: Sequence[int], sizes: Sequence[int]) -> Counts:
    """Return the combinations of some keys' codes that no row has, (rows, keys).

    Without keys, there are no such rows.
    """
    count = int(np.prod([sizes[key] for key in keys])) if keys else 0
    if not keys:
        return np.empty((0, codes.shape[1]), dtype=np.int64)
    grid = np.indices([sizes[key] for key in keys]).reshape(len(keys), -1).T
    radix = np.array([sizes[key] for key in keys])
    present = np.ravel_multi_index(tuple(codes[:, list(keys)].T), tuple(radix))
    absent = np.setdiff1d(np.arange(count), present)
    rows = np.full((len(absent), codes.shape[1]), TOTAL, dtype=np.int64)
    rows[:, list(keys)] = grid[absent]
    return rows


def is_filled(rows: int, combinations: int) -> bool:
    """Return whether a table shows every combination of its keys, also those that no row has."""
    return combinations <= max(_MOST_FILLED * rows, _FEW)


def _line_numbers(others: Counts) -> Counts:
    if not others.shape[1]:
        return np.zeros(len(others), dtype=np.int64)
    return np.unique(others, axis=0, return_inverse=True)[1].ravel()
