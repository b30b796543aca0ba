"""Sets: all values of a class."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import ALL, Cell, write_set, write_value
from policy_engine.engines.encoding import Encoded
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    all_values,
    body_or,
    distinct,
    labels_of_level,
    ladder_of,
    reordered,
    values_of,
)
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels.axis import Members
from policy_engine.kernels.full_domain import Ladder, leaf_shares
from policy_engine.kernels.mondrian import Partition

_LONGEST_CELL = 100_000
_LONGEST_COLUMN = 1_000_000_000


@dataclass(frozen=True)
class Sets(Generalizer):
    """Values beside each other, generalised to those that a class holds."""

    name: str

    @classmethod
    def of(
        cls, name: str, column: Encoded, order: Literal["lexicographic", "frequency"] | None = None
    ) -> Self:
        """Return the sets of a column, in its own order or the most frequent value first."""
        if order != "frequency":
            return cls(column, name)
        blank = int(column.has_missing)
        counts = column.counts()[blank:]
        return cls(reordered(column, np.argsort(-counts, kind="stable")), name)

    def shape(self) -> Members:
        """Return that a set costs its share of the values, missing being one."""
        return Members(len(self.column.labels))

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the cells `{a, b}` of the classes, their members in the order of the codes."""
        sizes = np.diff(classes.starts)
        cell, texts = self._sets(self.column.codes[classes.order], sizes)
        _check_lengths(self.name, texts, cell, sizes)
        return distinct(cell, texts)

    def ladder(self) -> Ladder:
        """Return each value by itself, and all together, written `*`."""
        size = len(values_of(self.column))
        alone = np.arange(size, dtype=np.int32)
        levels = [alone, np.zeros(size, dtype=np.int32)] if size > 1 else [alone]
        return ladder_of(self.column, levels, leaf_shares(levels))

    def labels_at(self, height: int) -> list[str | None]:
        """Return the values, or `*` for all of them: a set of all would often be too long."""
        values = values_of(self.column).tolist()
        is_top = height == int(len(values) > 1 or self.column.has_missing)
        if is_top and len(values) > 1:
            return labels_of_level(self.column, [ALL], is_top=True)
        return labels_of_level(self.column, list(map(write_value, values)), is_top=is_top)

    def _sets(self, codes: NDArray[np.int32], sizes: Ints) -> tuple[Ints, list[str | None]]:
        width = len(self.column.labels)
        members, ends = _members(codes, sizes, width)
        numbers: dict[bytes, int] = {}
        content, step = members.tobytes(), members.itemsize
        edges = [0, *(ends * step).tolist()]
        sets = (content[start:end] for start, end in pairwise(edges))
        cell = [numbers.setdefault(one, len(numbers)) for one in sets]
        return np.array(cell, np.int64), [self._cell(np.frombuffer(s, np.int32)) for s in numbers]

    def _cell(self, members: NDArray[np.int32]) -> str | None:
        missing = self.column.has_missing and members[0] == 0
        values = self.column.labels[members[int(missing) :]]
        return body_or(write_set(values.tolist()), missing) if len(values) else None


def _members(codes: NDArray[np.int32], sizes: Ints, width: int) -> tuple[NDArray[np.int32], Ints]:
    """Return the distinct codes of every class, one class after the other, and their ends."""
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


def priced(name: str, found: list[Cell], *, wildcard: bool) -> NDArray[np.float64]:
    """Return what sets cost: their members over all values of the column, missing being one.

    A single value costs nothing, and `*`, which stands for all, 1. Missing counts as a member,
    unless it is a wildcard. Raises CertificateError (V002) where a cell is a range.
    """
    if any(cell.is_range for cell in found):
        message = f"The column {name!r} holds a range, where sets are asked for."
        raise CertificateError.of("V002", message)
    domain = len({value for cell in found for value in cell.values})
    domain += any(cell.may_be_missing for cell in found)
    sizes = [len(cell.values) + (cell.may_be_missing and not wildcard) for cell in found]
    members = np.array(sizes, dtype=np.float64)
    hidden = np.array([cell.values == (ALL,) for cell in found], dtype=np.bool_)
    return np.where(hidden, 1.0, np.where(members > 1, members / max(domain, 1), 0.0))


def covering(column: Encoded) -> Callable[[Cell], NDArray[np.int32]]:
    """Return what tells the codes of the values that a set may stand for."""
    labels = values_of(column)
    code_of = {label: code for code, label in enumerate(labels, start=int(column.has_missing))}

    def covered(cell: Cell) -> NDArray[np.int32]:
        if cell.values == (ALL,):
            return all_values(column)
        codes = [code_of[value] for value in cell.values if value in code_of]
        return np.array(sorted(codes), dtype=np.int32)

    return covered
