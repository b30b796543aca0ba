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

    `cells` (classes, columns) are the numbers of their cells, `class_of` (records,) the class of
    each record, and `sizes` (classes,) how many each has. `frequencies` (classes,) are how many
    records could be the same: more than the size, where a suppressed cell may be any value.
    """

    known: tuple[str, ...]
    cells: NDArray[np.int32]
    class_of: Ints
    sizes: Ints
    frequencies: Ints
    is_overlapping: bool = False

    @classmethod
    def of(
        cls, columns: Sequence[KnownColumn], missing: Sequence[int] | None = None
    ) -> "KnownClasses":
        """Return the classes of a release by the cells of columns, at least one.

        With `missing`, by column the number of the cell that may be any value, -1 if none is.
        """
        codes = [column.after.cell_of.astype(np.int32) for column in columns]
        class_of, count = classes_of(codes)
        cells = np.column_stack(codes)[first_rows(class_of, count)]
        sizes = np.bincount(class_of, minlength=count)
        frequencies = sizes
        if missing is not None:
            cells = np.where(cells == np.array(missing, dtype=np.int32), np.int32(-1), cells)
            frequencies = match_counts(cells, sizes, "wildcard")
        names = tuple(column.name for column in columns)
        return cls(names, cells, class_of, sizes, frequencies, missing is not None)

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.class_of)

    def totals(self, weights: Floats) -> Floats:
        """Return the sum of the weights (records,) of all records that could be of each class.

        By class and weight, ascending, so that no order of rows matters.
        """
        order = np.lexsort((weights, self.class_of))
        sorted_classes, sorted_weights = self.class_of[order], weights[order]
        changes = np.diff(sorted_classes).astype(bool) | np.diff(sorted_weights).astype(bool)
        first = np.flatnonzero(np.append(True, changes))
        parts = sorted_weights[first] * np.diff(np.append(first, len(weights)))
        starts = np.searchsorted(sorted_classes[first], np.arange(len(self.sizes)))
        sums = np.add.reduceat(parts, starts)
        if not self.is_overlapping:
            return np.asarray(sums)
        units = np.round(sums * _WEIGHT_UNITS).astype(np.int64)
        return match_counts(self.cells, units, "wildcard") / _WEIGHT_UNITS


def population_counts(
    classes: KnownClasses, columns: Sequence[KnownColumn]
) -> Ints | NotApplicable:
    """Return how many persons of a population could be of each class, (classes,).

    `columns` have the population before, and the release after. A person is counted in a class if
    each value could have become its cell. `NotApplicable` where cells have too many parts.
    """
    before = [column.before.astype(np.int32) for column in columns]
    point_of, count = classes_of(before)
    points = np.column_stack(before)[first_rows(point_of, count)]
    persons = np.bincount(point_of, minlength=count)
    first = first_rows(classes.class_of, len(classes.sizes))
    if all(column.is_exact for column in columns):
        asked = np.column_stack([column.released_codes()[first] for column in columns])
        return _equal(points, persons, asked.astype(np.int32))
    return _covered(points, persons, [_Runs.of(column, first) for column in columns])


def _equal(points: NDArray[np.int32], persons: Ints, asked: NDArray[np.int32]) -> Ints:
    numbers, count = classes_of(list(np.concatenate([points, asked]).T))
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
    found = box_counts(points.astype(float), persons, low.astype(float), high.astype(float))
    totals = np.zeros(len(parts), dtype=np.int64)
    np.add.at(totals, owner, found)
    return totals
