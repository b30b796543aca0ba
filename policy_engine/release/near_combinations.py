"""Combinations of keys that are chosen where all of them would be too many.

Worlds of these alone are worlds of all: what is possible in one of them is not told. What none of
them has may be possible all the same, so that more is withheld than must be.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.model import Counts
from policy_engine.kernels.distinct_numbers import distinct_numbers

Kinds = NDArray[np.int64]
MOST_NEAR = 150_000
"""So many combinations are chosen beside those that rows have, or a few more."""
_MOST_TRIED, _MOST_FROM = 3_000_000, 60
_MOST_NUMBER = 2**62
_MIXED = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class OpenCells:
    """The cells of a table by one set of its keys of which nobody is told how many they have.

    `columns` are those of the keys, in combinations. The cells of some `values`, (cells, columns),
    are open, or `are_others`: all but these. Those that are `secret`, (secrets, columns), are among
    them. `is_in` says which patterns of tables it is in, (patterns,).
    """

    columns: tuple[int, ...]
    values: Kinds
    are_others: bool
    secret: Kinds
    is_in: NDArray[np.bool_]

    def has(self, numbers: Counts, sizes: Sequence[int]) -> NDArray[np.bool_]:
        """Return which cells by their numbers, (cells,), are open."""
        own = distinct_numbers(numbered(self.values, [sizes[one] for one in self.columns]))
        return np.asarray(np.isin(numbers, own) != self.are_others, np.bool_)


def can_be_numbered(sizes: Sequence[int]) -> bool:
    """Return whether there are not too many combinations for each to have a number."""
    whole = 1
    for size in sizes:
        whole *= size
    return whole < _MOST_NUMBER


def near_combinations(kinds: Kinds, cells: Sequence[OpenCells], sizes: Sequence[int]) -> Kinds:
    """Return combinations of which worlds are made, (combinations, columns), each once: those that
    rows have, and those near to them.

    `kinds` (rows, columns) has of each row in which tables it is, and its values of the keys, by
    their numbers, of which there are `sizes`. Near are those that differ from one in an open cell
    by one key, and are in another such cell, or are in other tables, and some in secret cells.
    """
    own = _distinct(kinds, sizes)
    share = MOST_NEAR // max(len(cells), 1)
    parts = [own, *(_near(own[one.is_in[own[:, 0]]], one, sizes, share) for one in cells)]
    return _distinct(np.concatenate(parts), sizes)


def _near(kinds: Kinds, cells: OpenCells, sizes: Sequence[int], most: int) -> Kinds:
    """Return some combinations near to those of `kinds` that are in open cells: to all of them with
    the same values of other keys, as far as there are no more than so many."""
    columns = [*cells.columns]
    own_sizes = [sizes[one] for one in columns]
    kinds = kinds[cells.has(numbered(kinds[:, columns], own_sizes), sizes)]
    others = kinds.copy()
    others[:, [0, *columns]] = 0
    # In an order that has nothing to do with what the other keys are.
    names = numbered(others, sizes).astype(np.uint64) * _MIXED
    in_order = np.argsort(names, kind="stable")
    width = max(sum(own_sizes) + sizes[0], 1)
    kinds = kinds[in_order[: max(_MOST_TRIED // width, 1)]]
    parts = []
    for column in (0, *columns):
        more = np.repeat(kinds, sizes[column], axis=0)
        more[:, column] = np.tile(np.arange(sizes[column]), len(kinds))
        origins = np.repeat(np.arange(len(kinds)), sizes[column])
        is_open = cells.has(numbered(more[:, columns], own_sizes), sizes)
        parts.append((more[is_open], origins[is_open]))
    every = np.concatenate([some for some, _ in parts])
    origins = np.concatenate([some for _, some in parts])
    some = kinds[: min(most // max(len(cells.secret), 1) + 1, _MOST_FROM)]
    moved = np.tile(some, (len(cells.secret), 1))
    moved[:, columns] = np.repeat(cells.secret, len(some), axis=0)
    return np.concatenate([every[np.argsort(origins, kind="stable")[:most]], moved])


def _distinct(kinds: Kinds, sizes: Sequence[int]) -> Kinds:
    numbers = distinct_numbers(numbered(kinds, sizes))
    return np.column_stack(np.unravel_index(numbers, tuple(sizes))).astype(np.int64)


def numbered(kinds: Kinds, sizes: Sequence[int]) -> Counts:
    """Return one number for each combination, (combinations,)."""
    if not sizes:
        return np.zeros(len(kinds), np.int64)
    return np.asarray(np.ravel_multi_index(tuple(kinds.T), tuple(sizes)), np.int64)
