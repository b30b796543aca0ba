"""Whether numbers of persons and of rows under one condition tell together whose the rows are.

Who asks may know how many rows each person has where, and all but who is a holder. Where figures
tell both how many persons have a row that is a holder, and how many rows are, these are those of
persons with many rows if there are many, and of those with few if there are few. If each of the
others has one at least, so few may be left for a person with many rows that some of his are none.
How many persons have a row that is a holder, and one that is none, tells of who has several rows.

Each number of persons is judged with each number of rows that shares some rows with it, and with
the union of these. So is the difference of two numbers of persons where the rows of one include
those of the other, and no person has rows on both sides. The exact number of holders among the
shared rows is assumed to be known. A linear programme finds what more figures tell exactly.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.person_choices import PersonChoices, may_have_all
from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.release.output_ledger.answers import (
    ToldFigures,
    is_owned,
    persons_told_measure,
    rows_told_of,
)
from policy_engine.release.output_ledger.bounding import UNDECIDED
from policy_engine.release.output_ledger.derived_rows import with_derived_rows
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.merged_atoms import members_of, merged_atoms
from policy_engine.release.output_ledger.met_limits import no_solver
from policy_engine.release.output_ledger.owner_programmes import (
    ChosenOwners,
    OwnerSums,
    told_together,
)
from policy_engine.release.output_ledger.rows_of_owners import (
    MOST_COMPARED,
    SidesAsked,
    row_faults,
)
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_MEMBERS = 200_000_000
"""How many populations times atoms are looked at: beyond that, persons or rows are withheld."""
_FEW, _TWO = 50, 2

_Counts = NDArray[np.int64]
_Masks = NDArray[np.bool_]


def person_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells of how many persons, or rows, are some holders, by which it is told
    with others of persons that they have a row that is one, or none, or nearly."""
    if trial.owners is None:
        return
    rows = with_derived_rows(trial, table)
    yield from map(rows.fault, _person_faults(rows.trial, table))


def _person_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    fresh = (trial.cells[place].measure for place in trial.fresh)
    for measure in sorted({rows_told_of(one) for one in fresh if is_owned(one)}):
        alone = [*row_faults(trial, table, measure)]
        yield from alone
        if alone:
            continue
        released, both = trial.after.released, (True, False)
        persons = {one: persons_told_measure(measure, of_holders=one) for one in both}
        kinds = [measure, *persons.values()]
        counts = [len(released.get(one, ())) for one in kinds]
        if sum(counts) < _TWO:
            continue
        is_mixed = sum(map(bool, counts)) >= _TWO
        figures = _Told.of(trial, table, measure, persons)
        if figures is None and is_mixed:
            yield Fault(TOO_NARROW, _owned_places(trial, kinds))
        if figures is None or not (is_mixed or can_solve()):
            continue
        pairs = [*figures.pairs_told()]
        yield from pairs
        if pairs:
            continue
        if not can_solve():
            yield Fault(UNDECIDED, trial.fresh, no_solver)
            continue
        yield from figures.programmes_told()


class _Asked(NamedTuple):
    """A number of persons: the atoms of the rows by which they count, whether these are holders or
    are not, and the populations that it follows from."""

    atoms: _Masks
    of_holders: bool
    numbers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Told:
    """What is told of some holders, over atoms that no population tells apart.

    A pair is an owner and an atom, with the `sizes` and the `held` ones of the units there. Of each
    population, `members` has the atoms, (populations, atoms), by the place of its number.
    What may not be told of an owner's units are the `sides`.
    """

    trial: Trial
    measure: str
    members: _Masks
    places: dict[int, int]
    owners: _Counts
    atoms: _Counts
    sizes: _Counts
    held: _Counts
    is_whole: bool
    least: int
    sides: SidesAsked
    persons: dict[bool, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, trial: Trial, table: AtomTable, measure: str, persons: dict[bool, str]
    ) -> "_Told | None":
        """Return what is told of the holders of a measure, and of those who have some; None where
        that is too much to look at."""
        released = trial.after.released
        every = set[int]().union(
            *(released.get(one, set()) for one in (measure, *persons.values()))
        )
        numbers = np.array(sorted(every), np.int64)
        places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
        places[numbers] = np.arange(len(numbers))
        labels = places[table.members]
        merged = merged_atoms(labels, len(numbers))
        count = int(merged.max(initial=-1)) + 1
        if count * len(numbers) > MOST_MEMBERS:
            return None
        members = members_of(labels, merged, (len(numbers), count))
        assert trial.owners is not None  # noqa: S101 (its caller checks)
        own, holders = merged[table.atoms.numbers], trial.holders[measure]
        is_in, whose = own >= 0, trial.owners.numbers
        width = int(whose.max(initial=0)) + 1
        pairs, inverse = np.unique(own[is_in] * width + whose[is_in], return_inverse=True)
        atoms, owners = np.divmod(pairs, width)
        sizes = np.bincount(inverse, minlength=len(pairs))
        held = np.bincount(inverse, holders[is_in], minlength=len(pairs)).astype(np.int64)
        sides = holders[is_in], ~holders[is_in]
        some = [np.bincount(whose[is_in][one], minlength=width) > 0 for one in sides]
        is_whole = not (some[0] & some[1]).any()
        by_number = {number: place for place, number in enumerate(numbers.tolist())}
        parts = members, by_number, owners, atoms, sizes, held, is_whole, table.owners.least
        return cls(trial, measure, *parts, SidesAsked.of_measure(trial, measure), persons)

    # -- two figures -------------------------------------------------------------------------------

    def pairs_told(self) -> Iterator[Fault]:
        """Yield the fresh cells that tell of persons with another figure."""
        fresh = self._fresh
        for number in self._asked():
            self.trial.limit.check()
            rows = self._rows_meeting(number.atoms)
            if not rows:
                continue
            is_new = not fresh[self.persons[number.of_holders]].isdisjoint(number.numbers)
            some = [(one,) for one in rows] + ([tuple(rows)] if len(rows) > 1 else [])
            for own in some:
                if not (is_new or not fresh[self.measure].isdisjoint(own)):
                    continue
                is_told = np.any(self.members[[self.places[one] for one in own]], axis=0)
                if self._are_told(number, is_told):
                    yield self._fault(number, own)
                    break

    def _are_told(self, number: _Asked, is_told: _Masks) -> bool:
        """Return whether a number of persons tells of some, with that of some of their rows."""
        own = self._pairs_in(number.atoms)
        owners, which = np.unique(self.owners[own], return_inverse=True)
        held = self.held[own] if number.of_holders else (self.sizes - self.held)[own]
        chosen = int((np.bincount(which, held, minlength=len(owners)) > 0).sum())
        is_in = is_told[self.atoms[own]]
        sizes = np.bincount(which, self.sizes[own] * is_in, minlength=len(owners)).astype(np.int64)
        rows = int(held[is_in].sum())
        if PersonChoices(sizes, chosen, rows, self.is_whole).tell_of(self.least):
            return True
        is_asked = self.sides.others if number.of_holders else self.sides.holders
        if self.is_whole or not is_asked or not rows:
            return False
        # Who has rows of which it is not told how many are holders may have his there.
        elsewhere = int((np.bincount(which, ~is_in, minlength=len(owners)) > 0).sum())
        return not may_have_all(sizes, rows, chosen - elsewhere - 2)

    def _asked(self) -> Iterator[_Asked]:
        """Yield the numbers of persons that are told, and what two of them differ by."""
        for of_holders, measure in self.persons.items():
            numbers = sorted(self.trial.after.released.get(measure, ()))
            yield from (
                _Asked(self.members[self.places[one]], of_holders, (one,)) for one in numbers
            )
            if len(numbers) > MOST_COMPARED:
                continue
            for one in numbers:
                for other in numbers:
                    whole, part = (self.members[self.places[own]] for own in (one, other))
                    rest = whole & ~part
                    is_part = one != other and rest.any() and not (part & ~whole).any()
                    if is_part and not self._have_both(rest, part):
                        yield _Asked(rest, of_holders, (one, other))

    def _pairs_in(self, atoms: _Masks) -> _Counts:
        """Return the places of the pairs in some atoms."""
        own = np.flatnonzero(atoms)
        if len(own) > _FEW:
            return np.flatnonzero(atoms[self.atoms])
        ends = np.searchsorted(self.atoms, own), np.searchsorted(self.atoms, own, "right")
        parts = [np.arange(one, other) for one, other in zip(*ends, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _have_both(self, some: _Masks, others: _Masks) -> bool:
        """Return whether a person has rows in some atoms and in others."""
        own, more = (self.owners[self._pairs_in(one)] for one in (some, others))
        return len(np.intersect1d(own, more)) > 0

    def _rows_meeting(self, atoms: _Masks) -> list[int]:
        meets = np.any(self._row_members[:, np.flatnonzero(atoms)], axis=1)
        return [self._row_numbers[one] for one in np.flatnonzero(meets).tolist()]

    @cached_property
    def _row_numbers(self) -> list[int]:
        return sorted(self.trial.after.released.get(self.measure, ()))

    @cached_property
    def _row_members(self) -> _Masks:
        return self.members[[self.places[one] for one in self._row_numbers]]

    # -- all figures -------------------------------------------------------------------------------

    def programmes_told(self) -> Iterator[Fault]:
        """Yield the fresh cells that tell of persons with all others."""
        fresh = self._fresh
        for part in self._sums().parts():
            rows, persons = part.numbers
            new_rows = [one for one in rows if one in fresh[self.measure]]
            new = [one for one, side in persons if one in fresh[self.persons[side]]] + new_rows
            is_pair = len(rows) == len(persons) == 1  # Those were judged already.
            if is_pair or not new:
                continue
            is_old = (
                np.array([one not in fresh[self.measure] for one in rows], np.bool_),
                np.array([one not in fresh[self.persons[side]] for one, side in persons], np.bool_),
            )
            if told_together(part, is_old, self.trial.limit):
                wanted = {(self.measure, one) for one in rows}
                wanted |= {(self.persons[side], one) for one, side in persons}
                numbers = {*rows, *(one for one, _ in persons)}
                places = self._places_of(wanted)
                yield Fault(TOO_NARROW, places, self._figures(numbers, part.owner_numbers))

    def _sums(self) -> OwnerSums:
        released = self.trial.after.released
        persons = [
            ChosenOwners(number, of_holders, self.members[self.places[number]])
            for of_holders, measure in self.persons.items()
            for number in sorted(released.get(measure, ()))
        ]
        pairs = self.owners, self.atoms, self.sizes, self.held
        rows = tuple(self._row_numbers), self._row_members
        return OwnerSums(*pairs, *rows, tuple(persons), self.is_whole, self.sides)

    # -- what is at fault --------------------------------------------------------------------------

    @cached_property
    def _fresh(self) -> dict[str, set[int]]:
        """The populations of fresh cells, by measure."""
        fresh = {one: set[int]() for one in (self.measure, *self.persons.values())}
        for place in self.trial.fresh:
            measure = self.trial.cells[place].measure
            if measure in fresh:
                fresh[measure].add(self.trial.numbers[place])
        return fresh

    def _fault(self, number: _Asked, rows: tuple[int, ...]) -> Fault:
        wanted = {(self.persons[number.of_holders], one) for one in number.numbers}
        wanted |= {(self.measure, one) for one in rows}
        owners = np.unique(self.owners[number.atoms[self.atoms]])
        figures = self._figures({*number.numbers, *rows}, owners)
        return Fault(TOO_NARROW, self._places_of(wanted), figures)

    def _places_of(self, wanted: set[tuple[str, int]]) -> tuple[int, ...]:
        trial = self.trial
        own = (place for place in trial.fresh if is_owned(trial.cells[place].measure))
        return tuple(
            place for place in own if (trial.cells[place].measure, trial.numbers[place]) in wanted
        )

    def _figures(self, numbers: set[int], owners: _Counts) -> Callable[[], ToldFigures]:
        return partial(self._told_figures, numbers, owners)

    def _told_figures(self, numbers: set[int], owners: _Counts) -> ToldFigures:
        measures = {self.measure, *self.persons.values()}
        cells = told_cells(self.trial.after, numbers, measures.__contains__)
        units = int(self.sizes[np.isin(self.owners, owners)].sum())
        return ToldFigures("alike", units, len(owners), cells=cells)


def _owned_places(trial: Trial, measures: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the fresh cells of some measures."""
    return tuple(place for place in trial.fresh if trial.cells[place].measure in measures)
