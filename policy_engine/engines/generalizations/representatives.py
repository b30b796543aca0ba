"""Representatives: one number or value in the place of all of a class."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_value
from policy_engine.engines.encoding import Encoded
from policy_engine.engines.generalizations.decimals import Decimals, decimals, is_number, written
from policy_engine.engines.generalizations.generalizer import (
    Generalizer,
    Ints,
    body_or,
    distinct,
    hulls,
    unfit,
    values_of,
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
    """Ordered values, each class replaced by its lower median: a value that occurs in it."""

    parted: Ranges | Sets

    @classmethod
    def of(cls, name: str, column: Encoded) -> Self:
        """Return what stands for the classes of a column, partitioned as ranges or sets.

        Raises DataError (R006) where its values have no such thing.
        """
        cls._check(name, column)
        return cls(column, Ranges(column) if column.is_ordered else Sets(column, name))

    @classmethod
    def _check(cls, name: str, column: Encoded) -> None:
        if not column.is_ordered and len(values_of(column)):
            message = f"The column {name!r} holds texts, which have no median."
            raise unfit(message, "Allowed are numbers, dates and times. Texts take 'mode'.")

    def shape(self) -> Interval | Members:
        """Return that a class costs its range where values are ordered, else its set."""
        return self.parted.shape()

    def ladder(self) -> Ladder:
        """Return the heights of ranges, or those of sets."""
        return self.parted.ladder()

    def cells(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return what stands for each class."""
        missing = hulls(self.column, classes).missing
        number, bodies = self._chosen(classes)
        keys, cell = np.unique(number * 2 + missing, return_inverse=True)
        chosen = [(bodies[key // 2], key % 2) for key in keys.tolist()]
        texts = [None if body is None else body_or(body, miss) for body, miss in chosen]
        return distinct(cell, texts)

    def _chosen(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        """Return the number of each class's body, and the bodies: None without any value."""
        codes, number = np.unique(self._codes(classes), return_inverse=True)
        bodies = [write_value(label) for label in self.column.labels[codes]]
        empty = self.column.has_missing and codes[0] == 0
        return number, [None, *bodies[1:]] if empty else list(bodies)

    def _codes(self, classes: Partition) -> Ints:
        """Return the code that stands for each class."""
        codes, starts = _sorted(self.column, classes), classes.starts[:-1]
        missing = _missing(self.column, codes, starts)
        present = np.diff(classes.starts) - missing
        return codes[starts + np.where(present > 0, missing + (present - 1) // 2, 0)]


@dataclass(frozen=True)
class Modes(Medians):
    """Values, each class replaced by its most frequent one: of several, the least."""

    @classmethod
    def _check(cls, name: str, column: Encoded) -> None:
        """Accept any column."""

    def _codes(self, classes: Partition) -> Ints:
        codes, starts = _sorted(self.column, classes), classes.starts[:-1]
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
    """Numbers, each class replaced by its arithmetic mean.

    It has two decimal places more than the numbers, exactly rounded, half to even.
    """

    @classmethod
    def _check(cls, name: str, column: Encoded) -> None:
        values = values_of(column)
        if len(values) and not (column.is_ordered and is_number(values[0])):
            message = f"The column {name!r} holds values that are no numbers, and have no mean."
            raise unfit(message, "Dates and times take 'median', texts 'mode'.")

    @cached_property
    def _numbers(self) -> Decimals:
        return decimals(values_of(self.column))

    def _chosen(self, classes: Partition) -> tuple[Ints, list[str | None]]:
        numbers, blank = self._numbers, int(self.column.has_missing)
        codes, starts = self.column.codes[classes.order], classes.starts[:-1]
        sums = np.add.reduceat(_addends(numbers, blank, len(codes))[codes], starts)
        counts = np.diff(classes.starts) - _missing(self.column, codes, starts)
        numbered: dict[tuple[Any, int], int] = {}
        pairs = zip(sums.tolist(), counts.tolist(), strict=True)
        number = [numbered.setdefault(pair, len(numbered)) for pair in pairs]
        bodies = [_mean(total, count, numbers.exponent) for total, count in numbered]
        return np.array(number, dtype=np.int64), bodies


def _addends(numbers: Decimals, blank: int, rows: int) -> NDArray[Any]:
    """Return what each code adds to a sum, in integers that the sum of all rows fits into."""
    most = (
        max(map(abs, (numbers.quanta[[0, -1]]).tolist()), default=0) if len(numbers.quanta) else 0
    )
    kind = np.int64 if most * rows < 2**63 else object
    return np.concatenate([np.zeros(blank, np.int64), numbers.quanta]).astype(kind)


def _mean(total: int, count: int, exponent: int) -> str | None:
    if not count:
        return None
    whole, rest = divmod(total * 10**_MORE_PLACES, count)
    up = 2 * rest > count or (2 * rest == count and whole % 2 == 1)
    return written(whole + up, exponent - _MORE_PLACES)


def _sorted(column: Encoded, classes: Partition) -> Ints:
    """Return the codes of the rows, class by class, sorted within each."""
    width = len(column.labels)
    sizes = np.diff(classes.starts)
    keys = np.repeat(np.arange(len(sizes), dtype=np.int64) * width, sizes)
    keys += column.codes[classes.order]
    keys.sort()
    return keys % width


def _missing(column: Encoded, codes: NDArray[Any], starts: Ints) -> Ints:
    """Return how many values of every class are missing."""
    if not column.has_missing:
        return np.zeros(len(starts), dtype=np.int64)
    return np.add.reduceat((codes == 0).astype(np.int64), starts)


def check_cells(name: str, found: list[Cell], kind: str) -> None:
    """Raise CertificateError (V002) where a cell is not one value, or of a mean no number."""
    for cell in found:
        is_one = not cell.is_range and len(cell.values) < 2
        if not is_one or (kind == "mean" and not all(map(is_number, cell.values))):
            message = f"The column {name!r} holds a cell that is no {kind}."
            raise CertificateError.of("V002", message)


KINDS: dict[Literal["mean", "median", "mode"], type[Medians]] = {
    "mean": Means,
    "median": Medians,
    "mode": Modes,
}
