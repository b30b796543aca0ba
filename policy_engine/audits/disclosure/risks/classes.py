"""The classes of a release by the columns known, and how many of a population are in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn
from policy_engine.kernels.box_counts import box_counts
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.grouping import classes_of, first_rows
from policy_engine.kernels.match_counts import match_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_BOXES = 1 << 22
"""Classes whose cells are sets are cut into so many boxes, at most."""
_WEIGHT_UNITS = 1 << 16


@dataclass(frozen=True)
class KnownClasses:
    """The classes of records that an intruder cannot tell apart by the columns `known`.

    `cells` (classes, columns) are the numbers of their cells, `class_of` (rows,) the class of each
    row, and `sizes` (classes,) how many records each has. `frequencies` (classes,) are how many
    records could be the same: more than the size, where a suppressed cell may be any value. A row
    is a record, unless `counts` (rows,) says how many records are equal to it.
    """

    known: tuple[str, ...]
    cells: NDArray[np.int32]
    class_of: Ints
    sizes: Ints
    frequencies: Ints
    is_overlapping: bool = False
    counts: Ints | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[KnownColumn],
        missing: Sequence[int] | None = None,
        counts: Ints | None = None,
    ) -> "KnownClasses":
        """Return the classes of a release by the cells of columns, at least one.

        With `missing`, by column the number of the cell that may be any value, -1 if none is.
        """
        codes = [column.after.cell_of.astype(np.int32) for column in columns]
        class_of, count = classes_of(codes)
        cells = np.column_stack(codes)[first_rows(class_of, count)]
        sizes = frequencies = _counted(class_of, count, counts)
        if missing is not None:
            cells = np.where(cells == np.array(missing, dtype=np.int32), np.int32(-1), cells)
            frequencies = match_counts(cells, sizes, "wildcard")
        names = tuple(column.name for column in columns)
        return cls(names, cells, class_of, sizes, frequencies, missing is not None, counts)

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.sizes.sum())

    def records_of_cells(self) -> Ints:
        """Return the cells of every record, (records, columns), in the order of the classes."""
        return np.repeat(self.cells.astype(np.int64), self.sizes, axis=0)

    def sums(self, weights: Floats) -> Floats:
        """Return the sum of the weights (rows,) of the records of each class, (classes,).

        By class and weight, ascending, so that no order of rows matters.
        """
        order = np.lexsort((weights, self.class_of))
        classes, ordered = self.class_of[order], weights[order]
        changes = np.append(True, np.diff(classes).astype(bool) | np.diff(ordered).astype(bool))
        first = np.flatnonzero(changes)
        times = None if self.counts is None else self.counts[order]
        parts = ordered[first] * _counted(np.cumsum(changes) - 1, len(first), times)
        starts = np.searchsorted(classes[first], np.arange(len(self.sizes)))
        return np.asarray(np.add.reduceat(parts, starts))

    def totals(self, weights: Floats) -> Floats:
        """Return the sum of the weights (rows,) of all records that could be of each class."""
        sums = self.sums(weights)
        if not self.is_overlapping:
            return sums
        units = np.round(sums * _WEIGHT_UNITS).astype(np.int64)
        return match_counts(self.cells, units, "wildcard") / _WEIGHT_UNITS


def _counted(numbers: Ints, size: int, counts: Ints | None) -> Ints:
    """Return how many rows have each number, or the sum of their counts."""
    if counts is None:
        return np.bincount(numbers, minlength=size)
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, numbers, counts)
    return totals


def population_counts(
    classes: KnownClasses, columns: Sequence[KnownColumn], counts: Ints | None = None
) -> Ints | NotApplicable:
    """Return how many persons of a population could be of each class, (classes,).

    `columns` have the population before, and the release after; `counts` (rows,) are how many
    persons a row of the population is, by default one. A person is counted in a class if each value
    could have become its cell. `NotApplicable` where cells have too many parts.
    """
    before = [column.before.astype(np.int32) for column in columns]
    point_of, count = classes_of(before)
    points = np.column_stack(before)[first_rows(point_of, count)]
    persons = _counted(point_of, count, counts)
    first = first_rows(classes.class_of, len(classes.sizes))
    if all(column.is_exact for column in columns):
        cells = np.column_stack([column.released_codes()[first] for column in columns])
        return _equal(points, persons, cells.astype(np.int32))
    return _covered(points, persons, [_Runs.of(column, first) for column in columns])


def _equal(points: NDArray[np.int32], persons: Ints, cells: NDArray[np.int32]) -> Ints:
    numbers, count = classes_of(list(np.concatenate([points, cells]).T))
    of_class = np.zeros(count, dtype=np.int64)
    of_class[numbers[: len(points)]] = persons
    return of_class[numbers[len(points) :]]


@dataclass(frozen=True)
class _Runs:
    """The runs of codes of each class's cell in a column: those of class i from `starts[i]` on,
    `counts[i]` of them."""

    starts: Ints
    counts: Ints
    low: Ints
    high: Ints

    @classmethod
    def of(cls, column: KnownColumn, first: Ints) -> "_Runs":
        spread = column.after
        cells = spread.cell_of[first]
        return cls(spread.starts[cells], np.diff(spread.starts)[cells], spread.low, spread.high)


def _covered(
    points: NDArray[np.int32], persons: Ints, runs: Sequence[_Runs]
) -> Ints | NotApplicable:
    """Return how many persons are in the product of each class's cells, (classes,)."""
    parts = np.prod([one.counts.astype(np.float64) for one in runs], axis=0)
    if parts.sum() > MOST_BOXES:
        return NotApplicable(reason="the cells of the release are sets of too many parts")
    simple = np.flatnonzero(parts == 1)
    boxes = [np.column_stack([one.starts[simple] for one in runs])]
    owners = [simple]
    for place in np.flatnonzero(parts > 1):
        every = [range(one.starts[place], one.starts[place] + one.counts[place]) for one in runs]
        boxes.append(np.array(list(product(*every)), dtype=np.int64))
        owners.append(np.full(len(boxes[-1]), place))
    chosen, owner = np.concatenate(boxes), np.concatenate(owners)
    low = np.column_stack([one.low[at] for one, at in zip(runs, chosen.T, strict=True)])
    high = np.column_stack([one.high[at] - 1 for one, at in zip(runs, chosen.T, strict=True)])
    counts_by_box = box_counts(points.astype(float), persons, low.astype(float), high.astype(float))
    totals = np.zeros(len(parts), dtype=np.int64)
    np.add.at(totals, owner, counts_by_box)
    return totals
