"""The lines of a table of results: the cells that differ in one key alone."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import TOTAL, Counts

_MOST_FILLED = 4
_FEW = 1_000


Nested = Collection[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class LineUnits:
    """What is known of the units of lines of which some are in several cells.

    `wholes` are by key the different units of the line along it that each cell is in, (rows,): 0
    where that is not known. Where `rows` are counted, those of each cell, (rows,), no unit has more
    than `most_rows` in a cell, if those who ask know how many.
    """

    wholes: Mapping[int, Counts]
    rows: Counts | None = None
    most_rows: int | None = None

    def part_and_whole(
        self, key: int, is_part: NDArray[np.bool_], lines: Counts, units: Counts
    ) -> tuple[Counts, Counts]:
        """Return how many units of its line each cell is told to have, and how many those are.

        A number of rows tells less than one of units: who knows how many rows each has knows that
        no more units have none in the cell than have, on average, the rows that are not.
        """
        own = np.where(is_part, np.maximum(self.wholes[key], units), 0)
        whole = _most(lines, own)
        certain_units = units
        if self.rows is not None:
            every = _sums(lines, np.where(is_part, self.rows, 0))
            outside = whole * (every - self.rows) // np.maximum(every, 1)
            certain_units = whole - outside
            if self.most_rows is not None:
                certain_units = np.maximum(certain_units, -(-self.rows // max(self.most_rows, 1)))
            certain_units = np.minimum(certain_units, units)
        if self.rows is None or self.most_rows is not None:
            certain_units = _with_others(lines, is_part, certain_units, whole)
        return np.where(is_part, certain_units, 0), np.where(
            is_part & (self.wholes[key] > 0), whole, 0
        )

    def valued(
        self,
        key: int,
        is_part: NDArray[np.bool_],
        is_valued: NDArray[np.bool_],
        lines: Counts,
        units: Counts,
    ) -> Counts:
        """Return how many units of each cell's line have a value of its key, at least.

        Those are all of the line but who is in its cell without a value, who may be in others, too.
        """
        whole = _most(lines, np.where(is_part, np.maximum(self.wholes[key], units), 0))
        without = _sums(lines, np.where(is_part & ~is_valued, units, 0))
        valued: Counts = np.maximum(whole - without, _most(lines, np.where(is_valued, units, 0)))
        return valued


def _with_others(
    lines: Counts, is_part: NDArray[np.bool_], certain_units: Counts, whole: Counts
) -> Counts:
    """Return the units of each cell, or those of the fullest cell of its line, if the other cells
    cannot have all units of the line: that it alone is withheld would tell that it has them."""
    own = np.where(is_part, certain_units, 0)
    most, every = _most(lines, own), _sums(lines, own)
    return np.where((every > whole) & (every - most < whole), most, certain_units)


def line_shares(
    codes: Counts,
    units: Counts,
    settled: Container[int] = (),
    nested: Nested = (),
    own_units: LineUnits | None = None,
    missing: Mapping[int, int] = MappingProxyType({}),
) -> NDArray[np.float64]:
    """Return the most of a line's units that each cell has, (rows,): NaN in a cell of no line.

    `codes` (rows, keys) are those of a table's keys. Totals are of lines of their own. Along keys
    that are `settled`, there is one value to be had, and so no line; and along the second one of a
    `nested` pair of keys, where there is a value of the first, which lies in one of the second.
    Units in several cells of a line count there once, so far as `own_units` say it; else several
    times, so that the shares are too small. Who has no value of a key may be known: without the
    cell that has its code, `missing`, the others are a line by themselves, too.
    """
    shares = np.full(len(codes), np.nan)
    for part, whole in _lines(codes, units, settled, nested, own_units, missing):
        of_line = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
        shares = np.fmax(shares, of_line)
    return shares


def line_rests(
    codes: Counts,
    units: Counts,
    settled: Container[int] = (),
    nested: Nested = (),
    own_units: LineUnits | None = None,
    missing: Mapping[int, int] = MappingProxyType({}),
) -> NDArray[np.float64]:
    """Return the fewest of a line's units that are not in each cell, (rows,): NaN in a cell of no
    line, or of a line of nobody. Lines are those of `line_shares`."""
    rests = np.full(len(codes), np.nan)
    for part, whole in _lines(codes, units, settled, nested, own_units, missing):
        rests = np.fmin(rests, np.where(whole > 0, whole - part, np.nan))
    return rests


def _lines(
    codes: Counts,
    units: Counts,
    settled: Container[int],
    nested: Nested,
    own_units: LineUnits | None,
    missing: Mapping[int, int],
) -> Iterator[tuple[Counts, Counts]]:
    """Yield for each key the units of each cell, and those of its line along the key: 0 where it is
    in none. Where it is known who is in several cells, those are a further pair, and so are the
    cells of those who have a value of the key."""
    for key in (one for one in range(codes.shape[1]) if one not in settled):
        others = np.delete(codes, key, axis=1)
        is_part = codes[:, key] != TOTAL
        for lower in (one for one, upper in nested if upper == key):
            is_part &= codes[:, lower] == TOTAL
        lines = line_numbers(others)
        yield units, np.where(is_part, _sums(lines, np.where(is_part, units, 0)), 0)
        is_valued = is_part & (codes[:, key] != missing.get(key, TOTAL))
        if key in missing:
            yield units, np.where(is_valued, _sums(lines, np.where(is_valued, units, 0)), 0)
        if own_units is not None and key in own_units.wholes:
            yield own_units.part_and_whole(key, is_part, lines, units)
            if key in missing and own_units.rows is None:
                own = own_units.valued(key, is_part, is_valued, lines, units)
                yield units, np.where(is_valued, own, 0)


def _sums(lines: Counts, figures: Counts) -> Counts:
    """Return the sum of the figures of each cell's line, (rows,)."""
    sums = np.zeros(len(lines), np.int64)
    np.add.at(sums, lines, figures)
    return sums[lines]


def _most(lines: Counts, figures: Counts) -> Counts:
    """Return the largest figure of each cell's line, (rows,)."""
    most = np.zeros(len(lines), np.int64)
    np.maximum.at(most, lines, figures)
    return most[lines]


def least_lines(codes: Counts, units: Counts) -> Counts:
    """Return the units of the smallest line that each cell is in, (rows,): 0 in a cell of no line.

    `codes` (rows, keys) are those of a table's keys.
    """
    least = np.full(len(codes), np.iinfo(np.int64).max)
    for key in range(codes.shape[1]):
        is_part = codes[:, key] != TOTAL
        lines = line_numbers(np.delete(codes, key, axis=1))
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


def line_numbers(others: Counts) -> Counts:
    """Return the number of the line of each cell, (rows,), by the codes of the other keys."""
    if not others.shape[1]:
        return np.zeros(len(others), dtype=np.int64)
    return np.unique(others, axis=0, return_inverse=True)[1].ravel()
