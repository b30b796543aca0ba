"""The rows of a table as distinct tuples of codes, grouped into the classes of a node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled
from policy_engine.kernels.full_domain.ladder import Floats, Ladder
from policy_engine.kernels.full_domain.lattice import Heights

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ReleasedClasses:
    """The rows that a node would release, in their classes 0 .. count-1.

    `class_of_tuple` (tuples,) is the class of each tuple of `table`, -1 where suppressed;
    `sizes` (count,) is the number of rows of every class.
    """

    table: "TupleTable"
    class_of_tuple: Ints
    sizes: Ints

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @cached_property
    def suppressed(self) -> int:
        """The number of rows that are not released."""
        return self.table.rows - int(self.sizes.sum())

    @cached_property
    def rows(self) -> Ints:
        """The numbers of the released rows, ascending, (released rows,)."""
        return np.flatnonzero(self.class_of_row >= 0)

    @cached_property
    def class_of(self) -> Ints:
        """The class of each of `rows`, (released rows,)."""
        return self.class_of_row[self.rows]

    @cached_property
    def class_of_row(self) -> Ints:
        """The class of every row of the data, -1 where suppressed, (rows,)."""
        return self.class_of_tuple[self.table.tuple_of]

    @cached_property
    def suppressed_tuples(self) -> Ints:
        """The numbers of the tuples that are not released."""
        return np.flatnonzero(self.class_of_tuple < 0)

    def without_classes(self, suppressed: NDArray[np.bool_]) -> Self:
        """Return the classes that remain without the suppressed ones, (count,), renumbered."""
        # The -1 at the end is for tuples that were suppressed before: their class is -1, which
        # indexes the last element.
        number = np.append(np.where(suppressed, -1, np.cumsum(~suppressed) - 1), -1)
        class_of_tuple = number[self.class_of_tuple]
        return replace(self, class_of_tuple=class_of_tuple, sizes=self.sizes[~suppressed])


@dataclass(frozen=True)
class TupleTable:
    """The distinct combinations of codes that a node does not merge.

    `codes` (tuples, ladders) are those of one row of each tuple, `counts` (tuples,) its number of
    rows. The tuples are the classes `finer` of a table that distinguishes more.
    """

    ladders: tuple[Ladder, ...]
    codes: NDArray[np.int32]
    counts: Ints
    finer: ReleasedClasses | None = None

    @classmethod
    def from_ladders(cls, ladders: Sequence[Ladder]) -> Self:
        """Return the table of the rows' combinations of codes."""
        codes = np.stack([ladder.codes for ladder in ladders], axis=1).astype(np.int32)
        each_row = cls(tuple(ladders), codes, np.ones(len(codes), dtype=np.int64))
        leaves = [np.arange(len(ladder.levels[0])) for ladder in ladders]
        return each_row.roll_up(*each_row.group(leaves))

    @cached_property
    def rows(self) -> int:
        """The number of rows of the data."""
        return int(self.counts.sum())

    @cached_property
    def tuple_of(self) -> Ints:
        """The tuple of every row of the data, (rows,)."""
        return self.finer.class_of_row if self.finer else np.arange(len(self.codes))

    def node_classes(self, heights: Heights) -> tuple[ReleasedClasses, Ints]:
        """Return the classes of a node, nothing suppressed, and a tuple of each, (count,)."""
        rungs = zip(self.ladders, heights, strict=True)
        return self.group([ladder.levels[height] for ladder, height in rungs])

    def group(self, levels: Sequence[NDArray[Any]]) -> tuple[ReleasedClasses, Ints]:
        """Return the classes of the tuples with equal `levels` [ladder][code], as a node's."""
        class_of, first, sizes = _number_tuples(self.codes, levels, self.counts)
        return ReleasedClasses(self, class_of, sizes), first

    def roll_up(self, classes: ReleasedClasses, first: Ints) -> Self:
        """Return the table of a node's classes, which serves all nodes above that node."""
        return replace(self, codes=self.codes[first], counts=classes.sizes, finer=classes)

    def occurrences(self, column: int, tuples: Ints | slice = slice(None)) -> Floats:
        """Return the number of rows of every code of a ladder among some tuples, (m,)."""
        width = len(self.ladders[column].levels[0])
        rows = np.bincount(self.codes[tuples, column], self.counts[tuples], minlength=width)
        return rows.astype(np.float64)


@dataclass(frozen=True)
class RollUp:
    """Tables of nodes already checked, from which the classes of nodes above are formed.

    The rollup property of LeFevre et al., SIGMOD 2005. There are at most 32, and all but the first,
    which serves every node, hold together at most four times its tuples.
    """

    tables: list[tuple[Heights, TupleTable]]
    nested: bool

    def node_classes(self, heights: Heights) -> ReleasedClasses:
        """Return the classes of a node, formed from the smallest table below it."""
        below = (table for low, table in self.tables if _is_below(low, heights))
        table = min(below, key=lambda table: len(table.counts))
        classes, first = table.node_classes(heights)
        # A representative stands for its class at the heights above only where ladders are nested.
        if self.nested and self._has_room_for(classes):
            self.tables.append((heights, table.roll_up(classes, first)))
        return classes

    def _has_room_for(self, classes: ReleasedClasses) -> bool:
        tuples = classes.count + sum(len(table.counts) for _, table in self.tables)
        fits = len(self.tables) < 32 and tuples <= 5 * len(self.tables[0][1].counts)
        # A table that is not half as long as the one it came from saves little for its memory.
        return fits and 2 * classes.count < len(classes.class_of_tuple)


def _is_below(low: Heights, high: Heights) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))


_KEYS = 2**62
"""Keys are below this, so that neither a product nor a sum of parts overflows 64 bits."""


def _number_tuples(
    codes: NDArray[np.int32], levels: Sequence[NDArray[Any]], counts: Ints
) -> tuple[Ints, Ints, Ints]:
    """Number the distinct tuples by first occurrence, (tuples,); the first and size of each."""
    # A hash table instead of `np.unique`, which sorts: this is where the search spends its time.
    # Numbers go by first occurrence, not by slot, so that they do not depend on the hash.
    keys = np.zeros(len(codes), dtype=np.int64)
    class_of, first, sizes = (np.empty_like(keys) for _ in range(3))
    # At most half of the slots are taken: chains of an open hash table stay short.
    slots = np.empty(2 ** (2 * len(codes)).bit_length(), dtype=np.int32)
    slot_keys, count = np.empty(len(slots), dtype=np.int64), 0
    for start, parts in _key_parts(levels, len(codes)):
        offsets = start, np.cumsum([0, *map(len, parts)])[:-1]
        slots[:] = -1
        tables = slots, slot_keys, keys, counts, class_of, first, sizes
        count = _number_keys(codes, *offsets, np.concatenate(parts), *tables)
        keys, class_of = class_of, keys
    return keys, first[:count].copy(), sizes[:count].copy()


def _key_parts(levels: Sequence[NDArray[Any]], tuples: int) -> list[tuple[int, list[Ints]]]:
    """Return (first column, what each code of the columns from there adds to a tuple's key).

    Only so many columns fit into one key; the numbers that it gets begin the next. A key
    is a number in mixed radix, so that different tuples have different keys.
    """
    chunks: list[tuple[int, list[Ints]]] = [(0, [])]
    span = 1
    for column, level in enumerate(levels):
        width = int(level.max(initial=0)) + 1
        if span * width > _KEYS:
            chunks.append((column, []))
            span = tuples
        chunks[-1][1].append(span * level.astype(np.int64))
        span *= width
    return chunks


@compiled
def _number_keys(
    codes: NDArray[np.int32],
    start: int,
    offsets: Ints,
    parts: Ints,
    slots: NDArray[np.int32],
    slot_keys: Ints,
    keys: Ints,
    counts: Ints,
    class_of: Ints,
    first: Ints,
    sizes: Ints,
) -> Any:
    """Number equal keys alike by an open hash table, and return how many differ."""
    count, mask = 0, len(slots) - 1
    for row in range(len(keys)):
        key = keys[row]
        for column in range(len(offsets)):
            key += parts[offsets[column] + codes[row, start + column]]
        # Fibonacci hashing (Knuth, TAOCP 3, 6.4): the factor is 2**64 over the golden ratio as a
        # signed number. The low bits of a product are poorly mixed and are shifted out.
        slot = ((key * -7046029254386353131) >> 29) & mask
        number = slots[slot]
        while number >= 0 and slot_keys[slot] != key:
            slot = (slot + 1) & mask
            number = slots[slot]
        if number < 0:
            number = count
            slots[slot], slot_keys[slot] = count, key
            first[count], sizes[count] = row, 0
            count += 1
        class_of[row] = number
        sizes[number] += counts[row]
    return count
