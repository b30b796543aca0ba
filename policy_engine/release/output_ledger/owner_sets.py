"""Whether numbers of owners by different values of a column tell together that some have them all.

An owner of three units has three values at most, and counts in the number of owners of each. If 39
owners have one unit, and one has three, they count 42 times at most: where 13, 15 and 14 have a, b
and c, he has all three. As often as they might count more, somebody with as many units may lack one
of the values. Who asks may know of himself that he does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.answers import (
    SecretValues,
    ToldFigures,
    ToldSet,
    persons_set_told,
    persons_set_told_measure,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.rows_of_owners import MOST_COMPARED
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.told_sets import NOBODYS
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

_NEARLY_ALL = 10
_TWO = 2

_Counts = NDArray[np.int64]
_Masks = NDArray[np.bool_]


def owner_set_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells of how many owners have some values of a column that tell, with those
    of other values, that owners of several units have all of these, or nearly."""
    if trial.owners is None:
        return
    fresh = [persons_set_told(trial.cells[place].measure) for place in trial.fresh]
    for column in sorted({one.column for one in fresh if one}):
        values = trial.secret_values.get(column)
        if values is None:
            continue
        for is_known in (False, True) if (values.codes < 0).any() else (False,):
            faults = [*_ToldOwners.of(trial, table, column, values, is_known=is_known).faults()]
            yield from faults
            if faults:
                break


class _Units(NamedTuple):
    """Units of which it is told how many owners have some values there: a population, or what one
    has beside another one in which nobody has units that is in both. `numbers` are theirs."""

    numbers: tuple[int, ...]
    members: _Masks


@dataclass(frozen=True, eq=False)
class _ToldOwners:
    """How many owners have some `sets` of values, by the number of a population.

    `codes` are those of the values of units, (units,), -1 where it is known that there is none.
    """

    trial: Trial
    table: AtomTable
    sets: dict[int, list[ToldSet]]
    names: tuple[str, ...]
    codes: _Counts

    @classmethod
    def of(
        cls, trial: Trial, table: AtomTable, column: str, values: SecretValues, *, is_known: bool
    ) -> "_ToldOwners":
        """Return what is told of the values of a column; where it `is_known` who has a value, of
        the units that have one."""
        sets: dict[int, list[ToldSet]] = {}
        names = (*values.names, NOBODYS)
        for measure, numbers in sorted(trial.after.released.items()):
            own = persons_set_told(measure)
            if own and own.column == column and own.values <= {*names}:
                for number in numbers:
                    sets.setdefault(number, []).append(own)
        codes = values.codes if is_known else values.codes % len(names)
        return cls(trial, table, sets, names, codes)

    def faults(self) -> Iterator[Fault]:
        """Yield the fresh cells that tell of owners with others."""
        fresh = self._fresh_places()
        for units in self._told_units():
            self.trial.limit.check()
            sets = set.intersection(*(set(self.sets[one]) for one in units.numbers))
            owners = _OwnersOfUnits.of(self, units.members)
            for some in owners.told_families(sorted(sets, key=lambda one: sorted(one.values))):
                pairs = [(one, number) for one in some for number in units.numbers]
                places = tuple(place for one in pairs for place in fresh.get(one, ()))
                if places:
                    figures = partial(self._figures, pairs, units.members)
                    yield Fault(TOO_NARROW, places, figures)

    def _told_units(self) -> Iterator[_Units]:
        """Yield the populations of which several sets are told, and what two of them differ by."""
        members = {}
        for layer in self.table.members:
            for number in np.intersect1d(layer, [*self.sets]).tolist():
                if len(self.sets[number]) >= _TWO:
                    members[number] = (layer == number)[self.table.atoms.numbers]
        yield from (_Units((number,), mask) for number, mask in members.items())
        for one, other in permutations(members, 2) if len(members) <= MOST_COMPARED else ():
            whole, part = members[one], members[other]
            rest = whole & ~part
            if rest.any() and not (part & ~whole).any() and not self._have_both(rest, part):
                yield _Units((one, other), rest)

    def _have_both(self, some: _Masks, others: _Masks) -> bool:
        """Return whether an owner has units among some and among others."""
        return bool(np.isin(self.owners[some], self.owners[others]).any())

    @cached_property
    def owners(self) -> _Counts:
        """Whose each unit is: (units,)."""
        assert self.trial.owners is not None  # noqa: S101 (owner_set_faults has no other)
        return self.trial.owners.numbers

    def _fresh_places(self) -> dict[tuple[ToldSet, int], list[int]]:
        places: dict[tuple[ToldSet, int], list[int]] = {}
        for place in self.trial.fresh:
            own = persons_set_told(self.trial.cells[place].measure)
            if own:
                places.setdefault((own, self.trial.numbers[place]), []).append(place)
        return places

    def _figures(self, pairs: Sequence[tuple[ToldSet, int]], members: _Masks) -> ToldFigures:
        measures = {persons_set_told_measure(one) for one, _ in pairs}
        cells = told_cells(self.trial.after, {number for _, number in pairs}, measures.__contains__)
        owners = len(np.unique(self.owners[members]))
        return ToldFigures("alike", int(members.sum()), owners, cells=cells)


@dataclass(frozen=True, eq=False)
class _OwnersOfUnits:
    """Owners of some units: how many each has, (owners,), and how many have each value: (owners,
    values). As many as the `least` are enough."""

    names: tuple[str, ...]
    sizes: _Counts
    have: _Counts
    least: int

    @classmethod
    def of(cls, figures: _ToldOwners, members: _Masks) -> "_OwnersOfUnits":
        """Return the owners of some units, (units,), that may have a value."""
        is_in, width = members & (figures.codes >= 0), len(figures.names)
        _, own = np.unique(figures.owners[is_in], return_inverse=True)
        count = int(own.max(initial=-1)) + 1
        have = np.bincount(own * width + figures.codes[is_in], minlength=count * width)
        sizes = np.bincount(own, minlength=count)
        least = figures.table.owners.least
        return cls(figures.names, sizes, have.reshape(count, width), least)

    def told_families(self, sets: Sequence[ToldSet]) -> Iterator[tuple[ToldSet, ...]]:
        """Yield sets without a value in common of which it is told that some owners have them all.

        Of so many sets, those tell most that most owners have.
        """
        counting = {one: self._counting(one) for one in sets}
        order = sorted(sets, key=lambda one: -int(counting[one].sum()))
        seen = set[frozenset[ToldSet]]()
        for first in order:
            family, values = [first], set(first.values)
            for one in order:
                if not values.isdisjoint(one.values):
                    continue
                family.append(one)
                values |= one.values
                if frozenset(family) in seen:
                    continue
                seen.add(frozenset(family))
                counts = np.sum([counting[own] for own in family], axis=0)
                if self._are_told(len(family), counts):
                    yield tuple(family)
                    break

    def _counting(self, one: ToldSet) -> _Counts:
        """Return which owners count in the number of those with some values: (owners,)."""
        own = [place for place, name in enumerate(self.names) if name in one.values]
        return np.asarray((self.have[:, own] > 0).any(axis=1).astype(np.int64))

    def _are_told(self, sets: int, counts: _Counts) -> bool:
        """Return whether it is told that owners with as many units as there are sets have one of
        each, or nearly all of them do: `counts` says in how many sets each counts, (owners,)."""
        gaps = np.minimum(self.sizes, sets) - counts
        candidates = np.flatnonzero(self.sizes >= sets)
        if not len(candidates):
            return False
        least = min(self.least, max(-(-len(candidates) // _NEARLY_ALL), 1))
        # One of the others may know that he lacks some himself, and how many.
        most = np.sort(gaps)[-_TWO:]
        is_alone = len(candidates) == 1 and gaps[candidates[0]] == most[-1]
        others = np.append(0, most[:-1]) if is_alone else most
        return int(gaps.sum()) - int(others[-1]) < least
