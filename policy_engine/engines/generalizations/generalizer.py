"""The interface of generalisations of quasi-identifiers, and what they have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.errors import DataError, Problem
from policy_engine.kernels.axis import Interval, Members, Tree
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition

Ints = NDArray[np.int64]
Levels = Sequence[NDArray[np.int32]]
Losses = Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class Generalizer(ABC):
    """A way to generalise a column, whose codes are in the order that it generalises by."""

    column: ColumnCodes

    @abstractmethod
    def shape(self) -> Interval | Members | Tree:
        """Return how the partitioner prices cells of the column."""

    @abstractmethod
    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the number of each class's cell, (classes,), and the distinct cells.

        A cell is None where the value is missing in every row. Raises DataError (R005) where
        a cell would be too long to be written.
        """

    @abstractmethod
    def ladder(self) -> Ladder:
        """Return the levels that the whole column can be generalised to."""

    def labels_at(self, height: int) -> list[str | None]:
        """Return the cell of every generalised value at a height of the ladder."""
        ladder = self.ladder()
        group = ladder.levels[height][ladder.codes]
        starts = np.cumsum([0, *np.bincount(group)])
        cell, texts = self.cells(Partition(np.argsort(group, kind="stable"), starts))
        return [texts[number] for number in cell.tolist()]


class Hulls(NamedTuple):
    """The least and greatest code of every class, (classes,), without missing values.

    -1 where all are missing; `missing` (classes,) tells which classes have missing values.
    """

    low: Ints
    high: Ints
    missing: NDArray[np.bool_]


def hulls(column: ColumnCodes, classes: Partition) -> Hulls:
    """Return the hull of the values of every class."""
    codes, starts = column.codes[classes.order], classes.starts[:-1]
    high = np.maximum.reduceat(codes, starts).astype(np.int64)
    low = np.minimum.reduceat(codes, starts).astype(np.int64)
    if not column.has_missing:
        return Hulls(low, high, np.zeros(len(low), dtype=np.bool_))
    missing = low == 0
    present = np.where(codes == 0, np.int32(len(column.labels)), codes)
    low = np.minimum.reduceat(present, starts).astype(np.int64)
    empty = high == 0
    return Hulls(np.where(empty, -1, low), np.where(empty, -1, high), missing)


def hull_cells(
    column: ColumnCodes, classes: Partition, bodies: Callable[[Ints, Ints], list[str]]
) -> tuple[Ints, list[str | None]]:
    """Return the cells of classes that depend only on their least and greatest value.

    `bodies(low, high)` returns the text of the cells for distinct pairs of codes.
    """
    extent, width = hulls(column, classes), len(column.labels) + 1
    pairs, pair = np.unique((extent.low + 1) * width + extent.high + 1, return_inverse=True)
    texts_of_pairs = bodies(*(end - 1 for end in np.divmod(pairs[pairs > 0], width)))
    texts = [None, *texts_of_pairs] if len(pairs) and pairs[0] == 0 else texts_of_pairs
    keys, cell = np.unique(pair * 2 + extent.missing, return_inverse=True)
    bodies_and_missing = [(texts[key // 2], key % 2) for key in keys.tolist()]
    return merge_equal_cells(
        cell, [None if body is None else cell_text(body, miss) for body, miss in bodies_and_missing]
    )


def cell_text(body: str, missing: object) -> str:
    """Return the text of a cell, marked where values of the class may be missing too."""
    return body + cells.MISSING if missing else body


def merge_equal_cells(cell: Ints, texts: Sequence[str | None]) -> tuple[Ints, list[str | None]]:
    """Return the number of each class's cell, (classes,), and the cells, each of them once."""
    numbers: dict[str | None, int] = {}
    new_number = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
    return new_number[cell], list(numbers)


def reorder_values(column: ColumnCodes, order: Ints) -> ColumnCodes:
    """Return the column with its values reordered: value i is the former `order[i]`."""
    blank = int(column.has_missing)
    code_order = np.concatenate([np.zeros(blank, np.int64), order + blank])
    code = np.empty(len(code_order), dtype=np.int32)
    code[code_order] = np.arange(len(code_order), dtype=np.int32)
    places = np.linspace(0.0, 1.0, len(order)) if len(order) > 1 else np.zeros(len(order))
    return replace(
        column,
        codes=code[column.codes],
        labels=column.labels[code_order],
        position=np.concatenate([np.zeros(blank), places]),
        is_ordered=False,
    )


def value_labels(column: ColumnCodes) -> NDArray[np.object_]:
    """Return the labels of the values, (values,), without the missing one."""
    return column.labels[int(column.has_missing) :]


def all_values(column: ColumnCodes) -> NDArray[np.int32]:
    """Return the codes of all values, (values,), without the missing one."""
    return np.arange(int(column.has_missing), len(column.labels), dtype=np.int32)


def make_ladder(
    column: ColumnCodes, levels: Levels, losses: Losses, codes: Ints | None = None
) -> Ladder:
    """Return the ladder of a column, given the levels and losses of its values without missing.

    On the last level all values are one group, which includes the missing value; below, it is a
    group by itself. `codes` (rows,) replace the column's own where the levels have others.
    """
    rows = column.codes if codes is None else codes.astype(np.int32)
    if not column.has_missing:
        return Ladder(rows, tuple(levels), tuple(losses))
    if not len(levels[0]):
        return Ladder(rows, (np.zeros(1, np.int32),), (np.zeros(1),))
    *lower, top = levels if len(levels) > 1 else [*levels, *levels]
    apart = [np.concatenate([[0], level + 1]).astype(np.int32) for level in lower]
    lower_losses = [np.concatenate([[0.0], loss]) for loss in losses[: len(lower)]]
    hidden = np.zeros(len(top) + 1, dtype=np.int32)
    return Ladder(rows, (*apart, hidden), (*lower_losses, np.ones(1)))


def level_labels(column: ColumnCodes, labels: list[str], *, is_top: bool) -> list[str | None]:
    """Return the cells of a level of `make_ladder`, given those without the missing value."""
    if not column.has_missing:
        return list(labels)
    if not labels:
        return [None]
    return [cell_text(labels[0], missing=True)] if is_top else [None, *labels]


def number_groups(groups: Ints) -> NDArray[np.int32]:
    """Number runs of equal groups from 0, (values,)."""
    number = np.zeros(len(groups), dtype=np.int32)
    number[1:] = np.cumsum(groups[1:] != groups[:-1])
    return number


def unfit_values_error(message: str, hint: str = "") -> DataError:
    """Return the error (R006) of values that a generalisation does not apply to."""
    return DataError(Problem("R006", message, hint))
