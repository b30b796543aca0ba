"""The persons that cells are about, each once, for the ledger of what was released.

Numbers of persons do not add up as numbers of rows do: of two cells and both together, they tell
who is in both. So a cell of them is about another population, too: a row of each person in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.kernels.distinct_numbers import distinct_numbers
from policy_engine.release.output_ledger import (
    COUNT,
    DISTINCT_PERSONS,
    PERSONS,
    PERSONS_AND_ROWS,
    OutputCell,
    Populations,
    systems_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

MOST_PATTERNS = 2_000
"""How many different sets of the cells of a table persons may be in: of more, it is beyond the
limits of the ledger what their numbers tell together, and they are compared as rows alone."""


@dataclass(frozen=True, eq=False)
class DistinctPersons:
    """Whose rows are in the cells of a part of an answer.

    `units` is the unit of each row of the dataset; `numbers` and `places` are a row and its cell
    among `count` ones, (members,) each. `least` persons are enough in a cell.
    """

    units: "Counts"
    numbers: "Counts"
    places: "Counts"
    count: int
    least: int

    @cached_property
    def _pairs(self) -> "tuple[Counts, Counts, Counts]":
        """A cell, a unit in it, and how many of its rows are: (pairs,) each."""
        width = int(self.units.max(initial=0)) + 1
        pairs, times = np.unique(self.places * width + self.units[self.numbers], return_counts=True)
        places, units = np.divmod(pairs, width)
        return places, units, times

    @cached_property
    def have_several(self) -> "NDArray[np.bool_]":
        """Whether enough persons have several rows in a cell: (cells,). If these are few, their
        rows are nearly as many as they are."""
        places, _, times = self._pairs
        several = np.bincount(places[times > 1], minlength=self.count)
        return np.asarray(several >= self.least, dtype=np.bool_)

    @property
    def is_small(self) -> bool:
        """Whether persons are in few enough different sets of cells."""
        places, units, _ = self._pairs
        words = np.random.default_rng(0).integers(0, 2**62, max(self.count, 1), np.int64)
        sums = np.zeros(len(self.units), np.int64)
        np.add.at(sums, units, words[places])
        return len(distinct_numbers(sums)) <= MOST_PATTERNS

    def populations(self) -> Populations:
        """Return the first row of each person in a cell, as populations of rows."""
        _, firsts = np.unique(self.units, return_index=True)
        places, units, _ = self._pairs
        own = np.zeros(int(self.units.max(initial=0)) + 1, np.int64)
        own[self.units[firsts]] = firsts
        return Populations.of_pairs(own[units], places, len(self.units), self.count)

    def cells(self, cells: Sequence[OutputCell], first: int) -> Iterator[OutputCell]:
        """Yield the cells that tell how many persons there are, in place of those of their rows:
        numbers of persons and, where rows are nearly as many, numbers of rows and statistics that
        may tell how many these are.

        The populations of `cells` are numbered from `first` on, and those of persons behind them.
        """
        for cell in cells:
            place = cell.population - first
            is_count = _may_be_counts(cell.measure) and not self.have_several[place]
            if is_count or cell.measure in (PERSONS, PERSONS_AND_ROWS):
                value = None if is_count else cell.value
                number = cell.population + self.count
                yield replace(cell, population=number, measure=DISTINCT_PERSONS, value=value)


def _may_be_counts(measure: str) -> bool:
    """Return whether a measure is a number of rows, or nothing is known of it."""
    return measure == COUNT or not systems_of(measure)
