"""Whether one number of rows tells of persons with many of them that they have some.

Who asks may know how many rows each person has where. If 40 of 50 rows are of the ill, and a person
has 20 of the 50, ten of his at least are among the 40: the others have 30. So the rows that are
holders, and those that are none, have to be as many as any person has together with another one,
who knows of his own. So have those by which two numbers differ, if one counts all rows that the
other one does. Who has one of the values of a key with several has none of the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.person_choices import may_have_all
from policy_engine.release.output_ledger.answers import ToldFigures, held_of
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_COMPARED = 100
"""How many numbers of rows are compared with each other."""

_Counts = NDArray[np.int64]


class SidesAsked(NamedTuple):
    """What may not be told of an owner: that he has a unit that is one of some holders, or that he
    has one that is none."""

    holders: bool = True
    others: bool = True

    @classmethod
    def of_measure(cls, trial: Trial, measure: str) -> "SidesAsked":
        """Return what may not be told by a `rows_told_measure`: of a value of a key that has more
        than two, only that it is his."""
        held = held_of(measure)
        if measure not in trial.one_sided or held not in trial.holders:
            return cls()
        if cls._are_whole(trial, held):  # Whoever has not the one value may have no other one.
            return cls()
        is_value = trial.holders[held]
        # Holders are named so that the first unit is none: they may be those of all other values.
        is_named = bool((trial.holders[measure] & is_value).any())
        return cls(holders=is_named, others=not is_named)

    @staticmethod
    def _are_whole(trial: Trial, held: str) -> bool:
        """Return whether each owner has the value in all units, or in none."""
        assert trial.owners is not None  # noqa: S101 (numbers of rows are told of owners alone)
        owners, mask = trial.owners.numbers, trial.holders[held]
        sizes, some = np.bincount(owners), np.bincount(owners, mask)
        return bool(((some == 0) | (some == sizes)).all())

    def are_told(self, sizes: _Counts, held: int) -> bool:
        """Return whether so many units that are holders tell it, where owners have `sizes` units:
        (owners,). That all are, or none is, is for group disclosure to judge."""
        others = int(sizes.sum()) - held
        if not (held and others):
            return False
        if self.holders and not may_have_all(sizes, others):
            return True
        return self.others and not may_have_all(sizes, held)


BOTH_SIDES = SidesAsked()


def row_faults(trial: Trial, table: AtomTable, measure: str) -> Iterator[Fault]:
    """Yield the fresh cells of how many units are some holders that tell by themselves, or by what
    they differ by from another number, of an owner of many: `measure` is a `rows_told_measure`."""
    fresh = {
        number: place
        for place, number in ((one, trial.numbers[one]) for one in trial.fresh)
        if trial.cells[place].measure == measure
    }
    rows = _AskedRows(trial, table, measure, SidesAsked.of_measure(trial, measure))
    for numbers, units in rows.populations([*fresh]):
        trial.limit.check()
        if rows.are_told(units):
            places = tuple(fresh[one] for one in numbers if one in fresh)
            yield Fault(TOO_NARROW, places, partial(_figures, trial, measure, numbers, units))


@dataclass(frozen=True, eq=False)
class _AskedRows:
    """The populations of how many of whose units are holders it is told."""

    trial: Trial
    table: AtomTable
    measure: str
    sides: SidesAsked

    def are_told(self, units: _Counts) -> bool:
        """Return whether the number of holders among some units tells of an owner of many."""
        holders, owners = self.trial.holders[self.measure], self.trial.owners
        assert owners is not None  # noqa: S101 (row_faults has no other)
        held = int(holders[units].sum())
        if min(held, len(units) - held) >= owners.units_of(3):  # Any two have fewer.
            return False
        return self.sides.are_told(np.unique(owners.numbers[units], return_counts=True)[1], held)

    def populations(self, fresh: Sequence[int]) -> Iterator[tuple[tuple[int, ...], _Counts]]:
        """Yield the units of fresh populations, and of what one differs by from another one."""
        for layer, number in self._layers(fresh):
            yield (number,), np.flatnonzero((layer == number)[self.table.atoms.numbers])
        every = sorted(self.trial.after.released.get(self.measure, ()))
        if len(every) > MOST_COMPARED:
            return
        atoms = {number: layer == number for layer, number in self._layers(every)}
        for one, other in permutations(every, 2):
            if {one, other}.isdisjoint(fresh) or (atoms[other] & ~atoms[one]).any():
                continue
            rest = atoms[one] & ~atoms[other]
            yield (one, other), np.flatnonzero(rest[self.table.atoms.numbers])

    def _layers(self, numbers: Sequence[int]) -> Iterator[tuple[_Counts, int]]:
        """Yield each of some populations with the layer of those among which it is."""
        for layer in self.table.members:
            for number in np.intersect1d(layer, numbers).tolist():
                yield layer, number


def _figures(trial: Trial, measure: str, numbers: tuple[int, ...], units: _Counts) -> ToldFigures:
    assert trial.owners is not None  # noqa: S101 (row_faults has no other)
    owners = len(np.unique(trial.owners.numbers[units]))
    cells = told_cells(trial.after, numbers, measure.__eq__)
    return ToldFigures("alike", len(units), owners, cells=cells)
