"""Representatives: one number or value that replaces all values of a class."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_value
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.decimals import (
    Decimals,
    decimals,
    format_scaled,
    is_number,
)
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    cell_text,
    hulls,
    merge_equal_cells,
    unfit_values_error,
    value_labels,
)
from policy_engine.engines.generalizations.ranges import Ranges
from policy_engine.engines.generalizations.sets import Sets
from policy_engine.errors import CertificateError
from policy_engine.kernels.axis import Interval, Members
from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.mondrian import Partition

_MORE_PLACES = 2


@dataclass(frozen=True)
class Medians(Generalizer):
    """Ordered values, replaced by the lower median of their class: a value that occurs in it."""

    underlying: Ranges | Sets

    @classmethod
    def of(cls, name: str, column: ColumnCodes) -> Self:
        """Return the representatives of a column, which is partitioned like ranges or sets.

        Raises DataError (R006) where its values have no such representative.
        """
        cls._check(name, column)
        return cls(column, Ranges(column) if column.is_ordered else Sets(column, name))

    @classmethod
    def _check(cls, name: str, column: ColumnCodes) -> None:
        if not column.is_ordered and len(value_labels(column)):
            message = f"The column {name!r} holds texts, which have no median."
            raise unfit_values_error(
                message, "Allowed are numbers, dates and times. Texts take 'mode'."
            )

    def shape(self) -> Interval | Members:
        """Return the price of classes: that of ranges where values are ordered, else of sets."""
        return self.underlying.shape()

    def ladder(self) -> Ladder:
        """Return the levels of ranges, or those of sets."""
        return self.underlying.ladder()

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the number of each class's representative, (classes,), and the representatives."""
        missing = hulls(self.column, classes).missing
        number, bodies = self._class_bodies(classes)
        keys, cell = np.unique(number * 2 + missing, return_inverse=True)
        bodies_and_missing = [(bodies[key // 2], key % 2) for key in keys.tolist()]
        texts = [
            None if body is None else cell_text(body, miss) for body, miss in bodies_and_missing
        ]
        return merge_equal_cells(cell, texts)

    def _class_bodies(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the number of each class's text, and the texts: None without a value."""
        codes, number = np.unique(self.central_codes(classes), return_inverse=True)
        bodies = [write_value(label) for label in self.column.labels[codes]]
        empty = self.column.has_missing and codes[0] == 0
        return number, [None, *bodies[1:]] if empty else list(bodies)

    def central_codes(self, classes: Partition) -> Ints:
        """Return the code of each class's representative, (classes,)."""
        codes, starts = _sort_codes(self.column, classes), classes.starts[:-1]
        missing = _count_missing(self.column, codes, starts)
        present = np.diff(classes.starts) - missing
        return codes[starts + np.where(present > 0, missing + (present - 1) // 2, 0)]


@dataclass(frozen=True)
class Modes(Medians):
    """Values, replaced by the most frequent one of their class: of several, the least."""

    @classmethod
    def _check(cls, name: str, column: ColumnCodes) -> None:
        """Accept any column."""

    def central_codes(self, classes: Partition) -> Ints:
        """Return the code of each class's mode, (classes,)."""
        codes, starts = _sort_codes(self.column, classes), classes.starts[:-1]
        owner = np.repeat(np.arange(len(starts)), np.diff(classes.starts))
        first = np.ones(len(codes), dtype=np.bool_)
        first[1:] = (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])
        runs = np.flatnonzero(first)
        times = np.diff(runs, append=len(codes))
        if self.column.has_missing:
            times[codes[runs] == 0] = 0
        order = np.lexsort((codes[runs], -times, owner[runs]))
        _, best = np.unique(owner[runs], return_index=True)
        return codes[runs][order[best]]


@dataclass(frozen=True)
class Means(Medians):
    """Numbers, replaced by the arithmetic mean of their class.

    It has two decimal places more than the numbers, exactly rounded, half to even.
    """

    @classmethod
    def _check(cls, name: str, column: ColumnCodes) -> None:
        values = value_labels(column)
        if len(values) and not (column.is_ordered and is_number(values[0])):
            message = f"The column {name!r} holds values that are not numbers, and have no mean."
            raise unfit_values_error(message, "Dates and times take 'median', texts 'mode'.")

    @cached_property
    def _numbers(self) -> Decimals:
        return decimals(value_labels(self.column))

    def peaks(self, classes: Partition) -> list[tuple[int, int]]:
        """Return the greatest absolute value and the sum of absolute values of every class.

        Their unit is such that the sum over 10**18 rows has at most 36 digits. Of a column without
        numbers, nothing is returned.
        """
        if not len(self._numbers.quanta):
            return []
        sizes = np.abs(self._numbers.quanta.astype(object))
        parts = sizes // max(1, int(sizes.max()) // 10**18)
        blank = np.zeros(int(self.column.has_missing), dtype=object)
        values = np.concatenate([blank, parts])
        values = values[self.column.codes[classes.order]]
        starts = classes.starts[:-1]
        greatest, sums = (part.reduceat(values, starts) for part in (np.maximum, np.add))
        return [(int(one), int(total)) for one, total in zip(greatest, sums, strict=True)]

    def _class_bodies(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        numbers, blank = self._numbers, int(self.column.has_missing)
        codes, starts = self.column.codes[classes.order], classes.starts[:-1]
        sums = np.add.reduceat(_addends(numbers, blank, len(codes))[codes], starts)
        counts = np.diff(classes.starts) - _count_missing(self.column, codes, starts)
        numbers_of_pairs: dict[tuple[Any, int], int] = {}
        pairs = zip(sums.tolist(), counts.tolist(), strict=True)
        number = [numbers_of_pairs.setdefault(pair, len(numbers_of_pairs)) for pair in pairs]
        bodies = [_mean(total, count, numbers.exponent) for total, count in numbers_of_pairs]
        return np.array(number, dtype=np.int64), bodies


def count_dominated(peaks: Iterable[tuple[int, int]]) -> int:
    """Return how many classes have a value that is greater than all their others together."""
    return sum(2 * greatest > total for greatest, total in peaks)


def centroid(
    name: str, column: ColumnCodes, order: Literal["lexicographic", "frequency"] | None = None
) -> Medians:
    """Return the representatives that a column has by its values: the means of numbers, the medians
    of dates, times and texts with an `order`, and the modes of other texts."""
    if order is not None:
        members = Sets.of(name, column, order)
        return Medians(members.column, members)
    labels = value_labels(column)
    if not column.is_ordered or not len(labels):
        return Modes.of(name, column)
    return (Means if is_number(labels[0]) else Medians).of(name, column)


def representative(
    kind: Literal["mean", "median", "mode", "median-mode", "nearest"],
    name: str,
    column: ColumnCodes,
) -> Medians:
    """Return the representatives of a kind: of accuracy-guided classes, the median of a column
    whose values are ordered, else the mode."""
    kinds = {"mean": Means, "median": Medians, "mode": Modes}
    return kinds.get(kind, Medians if column.is_ordered else Modes).of(name, column)


def _addends(numbers: Decimals, blank: int, rows: int) -> NDArray[Any]:
    """Return what each code adds to a sum, as integers wide enough for the sum of all rows."""
    most = (
        max(map(abs, (numbers.quanta[[0, -1]]).tolist()), default=0) if len(numbers.quanta) else 0
    )
    kind = np.int64 if most * rows < 2**63 else object
    return np.concatenate([np.zeros(blank, np.int64), numbers.quanta]).astype(kind)


def _mean(total: int, count: int, exponent: int) -> str | None:
    if not count:
        return None
    quotient, remainder = divmod(total * 10**_MORE_PLACES, count)
    up = 2 * remainder > count or (2 * remainder == count and quotient % 2 == 1)
    return format_scaled(quotient + up, exponent - _MORE_PLACES)


def _sort_codes(column: ColumnCodes, classes: Partition) -> Ints:
    """Return the codes of the rows, class by class, sorted within each class."""
    width = len(column.labels)
    sizes = np.diff(classes.starts)
    keys = np.repeat(np.arange(len(sizes), dtype=np.int64) * width, sizes)
    keys += column.codes[classes.order]
    keys.sort()
    return keys % width


def _count_missing(column: ColumnCodes, codes: NDArray[Any], starts: Ints) -> Ints:
    """Return how many values of every class are missing, (classes,)."""
    if not column.has_missing:
        return np.zeros(len(starts), dtype=np.int64)
    return np.add.reduceat((codes == 0).astype(np.int64), starts)


def check_cells(name: str, cells: list[Cell], kind: str) -> None:
    """Raise CertificateError (V002) where a cell is not a single value, or a mean not a number."""
    for cell in cells:
        is_one = not cell.is_range and len(cell.values) < 2
        if not is_one or (kind == "mean" and not all(map(is_number, cell.values))):
            words = _CELL_WORDS.get(kind, kind)
            message = f"The column {name!r} holds a cell that is not a {words}."
            raise CertificateError.of("V002", message)


_CELL_WORDS = {"median-mode": "median or a mode", "nearest": "value of a row"}
