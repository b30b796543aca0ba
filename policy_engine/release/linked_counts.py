"""Counts of rows beside counts of values: who has a value of a column is one of all rows.

Rows and rows with a value are counted apart, for by both there are many more kinds of rows. Where
keys decide who has a value, as that a person is employed does about a wage, there are no more of
them for who knows that; and of few there may be more. So tables by few keys are compared: those of
the last one, and of others in the order of how near to it these are.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from policy_engine.audits.outputs.tabulating import Tabulation
from policy_engine.release.count_readings import ROWS, CountReading
from policy_engine.release.key_combinations import KeyCombinations, key_combinations

_MOST = 300
"""So many combinations of keys are compared."""


def linked_counts(
    readings: Sequence[CountReading], own: Tabulation, rows: int
) -> tuple[list[CountReading], KeyCombinations] | None:
    """Return which readings of counts, of so many `rows`, tell of each other, with the combinations
    of what they are of; None where nothing is linked with the last table, or that is too much."""
    if not _are_linked(readings, own):
        return None
    near = [*_nearest(readings, own)]
    grid = key_combinations(near, rows) if _are_linked(near, own) else None
    if grid is not None and grid.is_possible.sum() > _MOST:
        near = [*compress(near, [not _splits(near, grid, number) for number in range(len(near))])]
        grid = key_combinations(near, rows) if _are_linked(near, own) else None
    return None if grid is None else (near, grid)


def _are_linked(readings: Sequence[CountReading], own: Tabulation) -> bool:
    """Return whether rows and values are counted, some of them by the last table."""
    is_any_own = any(one.table.made is own for one in readings)
    return is_any_own and len({one.system for one in readings}) > 1


def _nearest(readings: Sequence[CountReading], own: Tabulation) -> Iterator[CountReading]:
    """Yield the readings of the last table and of those by few other keys."""
    sizes: dict[str, int] = {}
    for one in sorted(
        readings, key=lambda one: len({*one.table.made.table.keys} - {*own.table.keys})
    ):
        table = one.table.made.table
        of_table = dict(zip(table.keys, map(len, table.labels), strict=True))
        more = {key: max(sizes.get(key, 1), size) for key, size in of_table.items()}
        if math.prod((sizes | more).values()) <= _MOST:
            sizes |= more
            yield one


def _splits(readings: Sequence[CountReading], grid: KeyCombinations, number: int) -> bool:
    """Return whether values are counted, and some with the same keys may have one and others not,
    of those who are in the same tables of rows."""
    if readings[number].system == ROWS:
        return False
    patterns = np.unique(grid.is_in, axis=1).shape[1]
    # Combinations of keys vary faster than those of tables.
    is_in = grid.is_in.reshape(len(readings), patterns, -1)[:, :, 0]
    is_possible = grid.is_possible.reshape(patterns, -1)
    of_rows = is_in[[one.system == ROWS for one in readings]]
    _, alike = np.unique(of_rows, axis=1, return_inverse=True)
    for some in np.unique(alike):
        inside, outside = (
            is_possible[(alike == some) & side].any(axis=0)
            for side in (is_in[number], ~is_in[number])
        )
        if (inside & outside).any():
            return True
    return False
