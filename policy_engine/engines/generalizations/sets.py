"""Sets: the values that occur in a class."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_set, write_value
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    all_values,
    cell_text,
    level_labels,
    make_ladder,
    merge_equal_cells,
    reorder_values,
    value_labels,
)
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.axis import Members
from policy_engine.kernels.full_domain import Ladder, leaf_shares
from policy_engine.kernels.mondrian import Partition

_LONGEST_CELL = 100_000
_LONGEST_COLUMN = 1_000_000_000
_BITS = 64


@dataclass(frozen=True)
class Sets(Generalizer):
    """Values without an order, generalised to the set of values of a class."""

    name: str

    @classmethod
    def of(
        cls,
        name: str,
        column: ColumnCodes,
        order: Literal["lexicographic", "frequency"] | None = None,
    ) -> Self:
        """Return the sets of a column, in its own order or the most frequent value first."""
        if order != "frequency":
            return cls(column, name)
        blank = int(column.has_missing)
        counts = column.counts()[blank:]
        return cls(reorder_values(column, np.argsort(-counts, kind="stable")), name)

    def shape(self) -> Members:
        """Return the price of sets: their share of the values, missing included."""
        return Members(len(self.column.labels))

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the cells `{a, b}` of the classes, their members in the order of the codes."""
        sizes = np.diff(classes.starts)
        cell, texts = self._sets(self.column.codes[classes.order], sizes)
        _check_lengths(self.name, texts, cell, sizes)
        return merge_equal_cells(cell, texts)

    def ladder(self) -> Ladder:
        """Return the levels: single values, and all values together, written `*`."""
        size = len(value_labels(self.column))
        apart = np.arange(size, dtype=np.int32)
        levels = [apart, np.zeros(size, dtype=np.int32)] if size > 1 else [apart]
        return make_ladder(self.column, levels, leaf_shares(levels))

    def labels_at(self, height: int) -> list[str | None]:
        """Return the values, or `*` for all of them: listing all would often be too long."""
        values = value_labels(self.column).tolist()
        is_top = height == int(len(values) > 1 or self.column.has_missing)
        if is_top and len(values) > 1:
            return level_labels(self.column, [ALL], is_top=True)
        return level_labels(self.column, list(map(write_value, values)), is_top=is_top)

    def _sets(self, codes: NDArray[np.int32], sizes: Ints) -> tuple[Ints, list[str | None]]:
        width = len(self.column.labels)
        if width <= _BITS and len(sizes) and sizes.all():
            number_of_set, members_of_sets = _small_sets(codes, sizes)
            return number_of_set, [*map(self._cell, members_of_sets)]
        members, ends = _members(codes, sizes, width)
        numbers: dict[bytes, int] = {}
        content, step = members.tobytes(), members.itemsize
        edges = [0, *(ends * step).tolist()]
        sets = (content[start:end] for start, end in pairwise(edges))
        cell = [numbers.setdefault(content_of_set, len(numbers)) for content_of_set in sets]
        return np.array(cell, np.int64), [self._cell(np.frombuffer(s, np.int32)) for s in numbers]

    def _cell(self, members: NDArray[np.int32]) -> str | None:
        missing = self.column.has_missing and members[0] == 0
        values = self.column.labels[members[int(missing) :]]
        return cell_text(write_set(values.tolist()), missing) if len(values) else None


def _small_sets(codes: NDArray[np.int32], sizes: Ints) -> tuple[Ints, list[NDArray[np.int32]]]:
    """Return the number of every class's set of codes below 64, and the members of each set, in the
    order in which classes have them."""
    marks = np.uint64(1) << codes.astype(np.uint64)
    mark = np.bitwise_or.reduceat(marks, np.cumsum(sizes) - sizes)
    sets, first, place = np.unique(mark, return_index=True, return_inverse=True)
    turn = np.argsort(first)
    number = np.empty(len(sets), dtype=np.int64)
    number[turn] = np.arange(len(sets))
    members = sets[turn, None] >> np.arange(_BITS, dtype=np.uint64) & np.uint64(1)
    return number[place], [np.flatnonzero(one).astype(np.int32) for one in members]


def _members(codes: NDArray[np.int32], sizes: Ints, width: int) -> tuple[NDArray[np.int32], Ints]:
    """Return the distinct codes of every class, class by class, and where each class ends."""
    keys = np.repeat(np.arange(len(sizes), dtype=np.int64) * width, sizes)
    keys += codes
    keys.sort()
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    owner, members = np.divmod(keys[first], width)
    return members.astype(np.int32), np.cumsum(np.bincount(owner, minlength=len(sizes)))


def _check_lengths(name: str, texts: list[str | None], cell: Ints, sizes: Ints) -> None:
    lengths = np.array([len(text or "") for text in texts])
    if lengths.max() > _LONGEST_CELL or (lengths[cell] * sizes).sum() > _LONGEST_COLUMN:
        message = (
            f"The texts of {name!r} differ so much that a set would take {lengths.max():,} "
            f"characters. Allowed are {_LONGEST_CELL:,} in a cell."
        )
        hint = "Is the column an identifier? Else leave it out, or shorten its texts."
        raise DataError.of("R005", message, hint)


def price_cells(name: str, cells: list[Cell], *, wildcard: bool) -> NDArray[np.float64]:
    """Return the loss of sets, (cells,): their share of the column's values, missing included.

    A single value costs 0, and `*`, which stands for all values, 1. Missing counts as a member
    unless it is a wildcard. Raises CertificateError (V002) where a cell is a range.
    """
    if any(cell.is_range for cell in cells):
        message = f"The column {name!r} holds a range, but its generalisation is set."
        raise CertificateError.of("V002", message)
    domain = len({value for cell in cells for value in cell.values})
    domain += any(cell.may_be_missing for cell in cells)
    sizes = [len(cell.values) + (cell.may_be_missing and not wildcard) for cell in cells]
    members = np.array(sizes, dtype=np.float64)
    hidden = np.array([cell.values == (ALL,) for cell in cells], dtype=np.bool_)
    return np.where(hidden, 1.0, np.where(members > 1, members / max(domain, 1), 0.0))


def code_finder(column: ColumnCodes) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from a set to the codes of the values that it may stand for."""
    labels = value_labels(column)
    code_of = {label: code for code, label in enumerate(labels, start=int(column.has_missing))}

    def covered(cell: Cell) -> NDArray[np.int32]:
        if cell.values == (ALL,):
            return all_values(column)
        codes = [code_of[value] for value in cell.values if value in code_of]
        return np.array(sorted(codes), dtype=np.int32)

    return covered
