"""What every generalisation of a quasi-identifier can do, and what all of them share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.engines.encoding import Encoded
from policy_engine.errors import DataError, Problem
from policy_engine.kernels.axis import Interval, Members, Tree
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition

Ints = NDArray[np.int64]
Levels = Sequence[NDArray[np.int32]]
Losses = Sequence[NDArray[np.float64]]


@dataclass(frozen=True)
class Generalizer(ABC):
    """A column, its codes in the order that it is generalised in, and how that is done."""

    column: Encoded

    @abstractmethod
    def shape(self) -> Interval | Members | Tree:
        """Return what the cells of the column cost, for the partitioner."""

    @abstractmethod
    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the number of each class's cell, (classes,), and the distinct cells.

        A cell is None where the value is missing in every row. Raises DataError (R005) where
        a cell would be too long to be written.
        """

    @abstractmethod
    def ladder(self) -> Ladder:
        """Return the heights that the whole column can be generalised to."""

    def labels_at(self, height: int) -> list[str | None]:
        """Return the cell of every generalised value at a height of the ladder."""
        ladder = self.ladder()
        group = ladder.levels[height][ladder.codes]
        starts = np.cumsum([0, *np.bincount(group)])
        cell, texts = self.cells(Partition(np.argsort(group, kind="stable"), starts))
        return [texts[number] for number in cell.tolist()]


class Hulls(NamedTuple):
    """The least and greatest code of every class, (classes,), missing values apart.

    -1 where all are missing; `missing` (classes,) tells where some are.
    """

    low: Ints
    high: Ints
    missing: NDArray[np.bool_]


def hulls(column: Encoded, classes: Partition) -> Hulls:
    """Return what the values of every class lie between."""
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


def cells_of_hulls(
    column: Encoded, classes: Partition, bodies: Callable[[Ints, Ints], list[str]]
) -> tuple[Ints, list[str | None]]:
    """Return the cells of classes where the ends alone tell them.

    `bodies(low, high)` writes the bodies for pairs of codes; no pair is asked for twice.
    """
    found, width = hulls(column, classes), len(column.labels) + 1
    pairs, pair = np.unique((found.low + 1) * width + found.high + 1, return_inverse=True)
    written = bodies(*(end - 1 for end in np.divmod(pairs[pairs > 0], width)))
    texts = [None, *written] if len(pairs) and pairs[0] == 0 else written
    keys, cell = np.unique(pair * 2 + found.missing, return_inverse=True)
    mixed = [(texts[key // 2], key % 2) for key in keys.tolist()]
    return distinct(cell, [None if body is None else body_or(body, miss) for body, miss in mixed])


def body_or(body: str, missing: object) -> str:
    """Return the body as the cell of a class, in which values may be missing too."""
    return body + cells.MISSING if missing else body


def distinct(cell: Ints, texts: Sequence[str | None]) -> tuple[Ints, list[str | None]]:
    """Number the cells anew, so that none appears twice."""
    numbers: dict[str | None, int] = {}
    renumbered = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
    return renumbered[cell], list(numbers)


def reordered(column: Encoded, order: Ints) -> Encoded:
    """Return the column with its values in another order: value i is the one at `order[i]`."""
    blank = int(column.has_missing)
    kept = np.concatenate([np.zeros(blank, np.int64), order + blank])
    code = np.empty(len(kept), dtype=np.int32)
    code[kept] = np.arange(len(kept), dtype=np.int32)
    places = np.linspace(0.0, 1.0, len(order)) if len(order) > 1 else np.zeros(len(order))
    return replace(
        column,
        codes=code[column.codes],
        labels=column.labels[kept],
        position=np.concatenate([np.zeros(blank), places]),
        is_ordered=False,
    )


def values_of(column: Encoded) -> NDArray[np.object_]:
    """Return the labels of the values, without that of the missing one."""
    return column.labels[int(column.has_missing) :]


def all_values(column: Encoded) -> NDArray[np.int32]:
    """Return the codes of all values."""
    return np.arange(int(column.has_missing), len(column.labels), dtype=np.int32)


def ladder_of(column: Encoded, levels: Levels, losses: Losses, codes: Ints | None = None) -> Ladder:
    """Return the ladder of a column, given the levels and losses of its values alone.

    On the last level all values are one. A missing value is one by itself below that, and hidden
    among the others there. `codes` (rows,) are those of the levels where not the column's own.
    """
    rows = column.codes if codes is None else codes.astype(np.int32)
    if not column.has_missing:
        return Ladder(rows, tuple(levels), tuple(losses))
    if not len(levels[0]):
        return Ladder(rows, (np.zeros(1, np.int32),), (np.zeros(1),))
    *lower, top = levels if len(levels) > 1 else [*levels, *levels]
    apart = [np.concatenate([[0], level + 1]).astype(np.int32) for level in lower]
    spared = [np.concatenate([[0.0], loss]) for loss in losses[: len(lower)]]
    hidden = np.zeros(len(top) + 1, dtype=np.int32)
    return Ladder(rows, (*apart, hidden), (*spared, np.ones(1)))


def labels_of_level(column: Encoded, labels: list[str], *, is_top: bool) -> list[str | None]:
    """Return the cells of a level of `ladder_of`, given those of its values alone."""
    if not column.has_missing:
        return list(labels)
    if not labels:
        return [None]
    return [body_or(labels[0], missing=True)] if is_top else [None, *labels]


def numbered(groups: Ints) -> NDArray[np.int32]:
    """Return the numbers, from 0, of groups in which equal ones follow each other."""
    number = np.zeros(len(groups), dtype=np.int32)
    number[1:] = np.cumsum(groups[1:] != groups[:-1])
    return number


def unfit(message: str, hint: str = "") -> DataError:
    """Return the error of values that do not fit the generalization asked for."""
    return DataError(Problem("R006", message, hint))
