"""The equivalence classes of an output, found by code that shares nothing with the partitioners.

So an error of a partitioner is not repeated when its result is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.diversity import ValueHistogram, histogram
from policy_engine.kernels.key_order import order_of_keys


@dataclass(frozen=True)
class Groups:
    """The classes of a table, and the columns by which they are measured.

    `class_of` (rows,) numbers each row's class 0 .. count-1. `sensitive` holds (rows,) codes
    by column, -1 for missing, and `ancestries` the taxonomies of those that have one. `loss`
    holds by quasi-identifier the normalised certainty penalty of every class's cell, (count,),
    from 0 to 1, None where it cannot be read off the cells. `persons` (rows,) numbers the
    persons from 0; without it, every row is a person of its own. `overall` counts the sensitive
    values of the whole table by column, where these classes are only a part of it. `matched`
    counts the rows that could be the same as those of every class, (count,), where they may
    be of other classes too. `mark` is a number that depends on the cells and sizes of the
    classes, None where nothing is compared with them.
    """

    class_of: NDArray[np.int64]
    count: int
    sensitive: Mapping[str, NDArray[np.int32]]
    loss: Mapping[str, NDArray[np.float64] | None]
    ancestries: Mapping[str, Ancestry] = field(default_factory=dict)
    persons: NDArray[np.int64] | None = None
    overall: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    matched: NDArray[np.int64] | None = None
    mark: int | None = None
    _histograms: dict[str, ValueHistogram] = field(default_factory=dict, repr=False)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of every class, (count,)."""
        return np.bincount(self.class_of, minlength=self.count)

    def units(self) -> NDArray[np.int64]:
        """Return the number of distinct persons of every class, (count,), or of rows that could
        be the same."""
        if self.matched is not None:
            return self.matched
        if self.persons is None:
            return self.sizes()
        width = int(self.persons.max(initial=0)) + 1
        return np.bincount(distinct(self.class_of * width + self.persons) // width)

    def histogram(self, column: str) -> ValueHistogram:
        """Return how often each value of a sensitive column occurs in each class."""
        if column not in self._histograms:
            codes = self.sensitive[column]
            counts = histogram(self.class_of, self.count, codes, self.persons)
            overall = self.overall.get(column, counts.overall)
            self._histograms[column] = replace(counts, overall=overall)
        return self._histograms[column]

    def class_totals(self) -> "ClassTotals":
        """Return the totals over the classes."""
        sizes = self.sizes()
        losses = {
            name: None if loss is None else total_loss(loss, sizes)
            for name, loss in self.loss.items()
        }
        return ClassTotals(
            rows=len(self.class_of),
            classes=self.count,
            squares=int((sizes * sizes).sum()),
            losses=losses,
            smallest=int(sizes.min(initial=len(self.class_of))),
            largest=int(sizes.max(initial=0)),
        )


@dataclass(frozen=True)
class ClassTotals:
    """The totals over the classes of a table.

    `squares` is the sum of the squared class sizes; `losses` holds by quasi-identifier the sum
    of the cells' normalised certainty penalty over the rows, None where it cannot be read off;
    `smallest` and `largest` are the least and greatest number of rows of a class.
    """

    rows: int
    classes: int
    squares: int
    losses: Mapping[str, float | None]
    smallest: int
    largest: int

    def discernability(self, suppressed: int = 0) -> int:
        """Return the sum of the squared class sizes (Bayardo and Agrawal, ICDE 2005).

        A row that was suppressed counts as many as the table had.
        """
        return self.squares + suppressed * (self.rows + suppressed)

    def column_losses(self, suppressed: int = 0) -> dict[str, float]:
        """Return the mean certainty penalty of every column that has one, from 0 to 1.

        A row that was suppressed has lost everything.
        """
        return {
            name: (loss + suppressed) / (self.rows + suppressed)
            for name, loss in self.losses.items()
            if loss is not None
        }

    def certainty_penalty(self, suppressed: int = 0) -> float | None:
        """Return the global certainty penalty, from 0 (as it was) to 1 (all is hidden).

        The mean of the cells' normalised certainty penalty over rows and quasi-identifiers
        (Xu et al., KDD 2006; Ghinita et al., VLDB 2007), as far as it can be read off cells;
        None where it can be read off none.
        """
        losses = self.column_losses(suppressed).values()
        return sum(losses) / len(losses) if losses else None


def total_loss(loss: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    """Return the sum of losses, each over a number of rows, rounded once."""
    # So it is the same to the last bit however the rows are grouped: by classes or by cells, in one
    # table or in its parts. A certificate of the Spark engine equals one of the local engine.
    return rounded_loss(exact_loss(loss, rows))


def exact_loss(loss: NDArray[np.float64], rows: NDArray[np.int64]) -> int:
    """Return the sum of losses, each over a number of rows, in units of 2**-1074."""
    # Python's integers instead of math.fsum, whose result could not be added up over parts.
    distinct_losses, place = np.unique(loss, return_inverse=True)
    totals = np.zeros(len(distinct_losses), dtype=np.int64)
    np.add.at(totals, place, rows)
    fraction, exponent = np.frexp(distinct_losses)
    whole = np.ldexp(fraction, 53).astype(np.int64)
    sums: dict[int, int] = {}
    for one, times, power in zip(whole.tolist(), totals.tolist(), exponent.tolist(), strict=True):
        sums[power] = sums.get(power, 0) + one * times
    # A loss with fewer than 53 digits, below 2**-1021, ends in zeros: none is cut off.
    return sum(
        total << power + 1021 if power > -1022 else total >> -1021 - power
        for power, total in sums.items()
    )


def rounded_loss(exact: int) -> float:
    """Return what `exact_loss` returned as the nearest float."""
    return exact / (1 << 1074)


def classes_of(columns: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct rows of code columns: (rows,) class numbers, and how many there are."""
    return _numbered(row_keys(columns)[0])


def sorted_order(columns: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return the rows in the order of code columns, (rows,): by the first column, then by the next;
    of equal rows, the first first."""
    return order_of_keys(*row_keys(columns))


def row_keys(columns: Sequence[NDArray[np.integer]]) -> tuple[NDArray[np.int64], int]:
    """Return a key of each row of code columns, (rows,), and a number that all keys are below.

    Rows have one key if they have the same codes.
    """
    # In mixed radix, renumbered before a key would overflow. The numbers follow the order of the
    # codes, not of the rows.
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    count = 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        if count > _MOST_KEYS // width:
            keys, count = _numbered(keys)
        keys *= width
        keys += codes
        count *= width
    return keys, count


_MOST_KEYS = 2**62


def _numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    # In a release, rows of a class follow each other: only the first of them is looked for.
    changes = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    starts = np.flatnonzero(changes)
    distinct_keys, numbers = np.unique(keys[starts], return_inverse=True)
    return np.repeat(numbers, np.diff(np.append(starts, len(keys)))), len(distinct_keys)


def distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct keys in order."""
    # Sorted first, which numpy does faster than `np.unique`, whose hash table is slow for these.
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(keys) else ordered


def first_rows(class_of: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the first row of every class, (count,)."""
    # Assigned backwards: of several assignments to one element, the last stays.
    first = np.empty(count, dtype=np.int64)
    first[class_of[::-1]] = np.arange(len(class_of) - 1, -1, -1)
    return first
