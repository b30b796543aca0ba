"""What numbers of owners and of units by several values of a column tell together of owners.

Of 106 owners who have x or y, 59 have x and 59 have y: twelve have both, and if no more than twelve
have two units, all of these do. Owners with as many units in each atom are alike to who asks. Of so
many alike owners, some units in each atom have each value, and some owners count in a number of
those who have a unit with some values: as many units there have these as owners count, and no more
than those have. What follows is found by linear programmes, as in `owner_programmes`.

It is asked of an owner who has a value, as all do who are alike, whether he may have it nowhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import can_solve
from policy_engine.release.output_ledger.answers import (
    SecretValues,
    ToldFigures,
    persons_set_told,
    persons_set_told_measure,
    set_told,
    set_told_measure,
)
from policy_engine.release.output_ledger.derived_rows import ValueFigure, row_figures
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.merged_atoms import members_of, merged_atoms
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.told_programmes import Programme, ToldEquations
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_TERMS = 100_000
"""How many terms the equations may have: more is not looked at."""
_TWO = 2

_Counts = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Masks = NDArray[np.bool_]


def owner_value_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells of how many owners, or units, have some values of a column that tell,
    with those of other values, that an owner has one."""
    if trial.owners is None or not can_solve():
        return
    fresh = [trial.cells[place].measure for place in trial.fresh]
    sets = [persons_set_told(one) or set_told(one) for one in fresh]
    for column in sorted({one.column for one in sets if one}):
        values = trial.secret_values.get(column)
        sums = None if values is None else _ValueSums.of(trial, table, column, values)
        if sums is not None and sums.are_told(trial.limit):
            figures = [*sums.rows, *sums.persons]
            places = tuple(dict.fromkeys(place for one in figures for place in one.places))
            yield Fault(TOO_NARROW, places, partial(_told_figures, trial, sums))


class _Pairs(NamedTuple):
    """Owners and the atoms that they have units in, (pairs,), and how many of these have values of
    each class: (pairs, classes)."""

    owners: _Counts
    atoms: _Counts
    held: _Counts


@dataclass(frozen=True, eq=False)
class _ValueSums:
    """Numbers of units and of owners that have some values.

    Atoms are those that their populations tell apart: `members`, (populations, atoms), by the place
    of each number in `numbers`. Values that no number tells apart are one class: `classes` says
    which values of `names` are of which, (classes, names).
    """

    rows: Sequence[ValueFigure]
    persons: Sequence[ValueFigure]
    numbers: _Counts
    members: _Masks
    names: tuple[str, ...]
    classes: _Masks
    pairs: _Pairs

    @classmethod
    def of(
        cls, trial: Trial, table: AtomTable, column: str, values: SecretValues
    ) -> "_ValueSums | None":
        """Return what is told of the values of a column, of units that have one; None where that is
        of one set alone, or too much."""
        rows = [*row_figures(trial, column, values)]
        persons = [*_person_figures(trial, column, values)]
        sets = {one.told.values for one in (*rows, *persons)}
        if not persons or len(sets) < _TWO:
            return None
        numbers = np.array(sorted({one.number for one in (*rows, *persons)}), np.int64)
        places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
        places[numbers] = np.arange(len(numbers))
        labels = places[table.members]
        merged = merged_atoms(labels, len(numbers))
        atoms = int(merged.max(initial=-1)) + 1
        members = members_of(labels, merged, (len(numbers), atoms))
        is_of = np.array([[name in one for name in values.names] for one in sets])
        _, own = np.unique(is_of, axis=1, return_inverse=True)
        count = int(own.max(initial=-1)) + 1
        classes = own.reshape(-1) == np.arange(count)[:, None]
        assert trial.owners is not None  # noqa: S101 (owner_value_faults has no other)
        where = merged[table.atoms.numbers]
        is_in = (where >= 0) & (values.codes >= 0)
        keys = trial.owners.numbers[is_in] * atoms + where[is_in]
        pairs, which = np.unique(keys, return_inverse=True)
        codes = own.reshape(-1)[values.codes[is_in]]
        held = np.bincount(which * count + codes, minlength=len(pairs) * count)
        made = _Pairs(*np.divmod(pairs, atoms), held.reshape(-1, count))
        return cls(rows, persons, numbers, members, values.names, classes, made)

    def are_told(self, limit: TimeLimit) -> bool:
        """Return whether all numbers tell that an owner has a value, where earlier ones do not.

        Raises OutOfTimeError where time ends.
        """
        old = tuple(
            np.array([not one.places for one in some], np.bool_)
            for some in (self.rows, self.persons)
        )
        if all(one.all() for one in old):
            return False
        limit.check()
        questions = [*self._questions()]
        if not questions:
            return False
        kinds = _Kinds.of(self.pairs, np.unique([owner for owner, _ in questions]))
        programme = kinds.programme(self)
        if programme is None:
            return False
        targets = kinds.targets(questions, programme.is_open)
        every = np.ones_like(old[0]), np.ones_like(old[1])
        is_told = programme.never_nothing(every, targets, limit, of_rest=False)
        if is_told is None:
            return True
        if not is_told.any():
            return False
        before = programme.never_nothing((old[0], old[1]), targets[is_told], limit, of_rest=False)
        return before is None or not before.all()

    def in_classes(self, values: frozenset[str]) -> _Masks:
        """Return which classes have some values: (classes,)."""
        own = np.array([name in values for name in self.names], np.bool_)
        return np.asarray((self.classes & own).any(axis=1))

    def atoms_of(self, figure: ValueFigure) -> _Masks:
        """Return the atoms of a figure's population: (atoms,)."""
        return np.asarray(self.members[np.searchsorted(self.numbers, figure.number)])

    def _questions(self) -> Iterator[tuple[int, _Masks]]:
        """Yield an owner, of those who are alike and all have one of some values, and the classes
        of these."""
        owners, places = np.unique(self.pairs.owners, return_inverse=True)
        kinds = _kinds_of(self.pairs)
        for classes in self._asked():
            some = self.pairs.held[:, classes].sum(axis=1)
            has = np.bincount(places, some, minlength=len(owners)) > 0
            lacking = np.bincount(kinds, ~has) > 0
            for kind in np.flatnonzero(~lacking).tolist():
                yield int(owners[np.argmax(kinds == kind)]), classes

    def _asked(self) -> Iterator[_Masks]:
        """Yield the classes of the sets of values that nobody may be told to have one of: those of
        a condition, and each value. Who has several may be told to have another besides."""
        singles = self.classes.sum(axis=1) == 1
        masks = [*np.eye(len(self.classes), dtype=np.bool_)[singles]]
        figures = (*self.rows, *self.persons)
        masks += [self.in_classes(one.told.values) for one in figures if not one.told.is_one_sided]
        unique = {one.tobytes(): one for one in masks}
        yield from (one for one in unique.values() if one.any() and not one.all())


def _kinds_of(pairs: _Pairs, apart: _Counts | None = None) -> _Counts:
    """Return the kind of each owner, in their order: alike are those with as many units in each
    atom, but for those who are set apart."""
    owners, places = np.unique(pairs.owners, return_inverse=True)
    random = np.random.default_rng()
    words = random.integers(1, 2**63, int(pairs.atoms.max(initial=0)) + 1, np.uint64)
    names = np.zeros(len(owners), np.uint64)
    np.add.at(names, places, words[pairs.atoms] * pairs.held.sum(axis=1).astype(np.uint64))
    if apart is not None:
        own = np.searchsorted(owners, apart)
        names[own] += random.integers(1, 2**63, len(own), np.uint64)
    return np.unique(names, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Alike owners, kind by kind: the `kind` and the `atom` of each cell, (cells,), how many units
    have values of each class there, (cells, classes), and how many owners are `alike`, (kinds,).
    `places` are the kind of each of `owners`, whose `pairs` are all."""

    owners: _Counts
    places: _Counts
    kind: _Counts
    atom: _Counts
    held: _Floats
    alike: _Floats
    pairs: _Pairs

    @classmethod
    def of(cls, pairs: _Pairs, apart: _Counts) -> "_Kinds":
        """Return the kinds of owners, of whom some are set apart."""
        owners, whose = np.unique(pairs.owners, return_inverse=True)
        places, width = _kinds_of(pairs, apart), int(pairs.atoms.max(initial=0)) + 1
        cells, which = np.unique(places[whose] * width + pairs.atoms, return_inverse=True)
        held = np.zeros((len(cells), pairs.held.shape[1]))
        np.add.at(held, which.reshape(-1), pairs.held)
        alike = np.bincount(places).astype(np.float64)
        return cls(owners, places, *np.divmod(cells, width), held, alike, pairs)

    @cached_property
    def units(self) -> _Counts:
        """The places of the numbers of units in a programme: (cells, classes)."""
        return np.arange(self.held.size).reshape(self.held.shape)

    def targets(self, questions: Sequence[tuple[int, _Masks]], is_open: _Masks) -> _Masks:
        """Return the numbers of units of an owner with values of some classes: (questions,
        numbers)."""
        targets = np.zeros((len(questions), len(is_open)), np.bool_)
        for place, (owner, classes) in enumerate(questions):
            kind = self.places[np.searchsorted(self.owners, owner)]
            targets[place, self.units[np.ix_(self.kind == kind, classes)].reshape(-1)] = True
        return targets & is_open

    def programme(self, sums: _ValueSums) -> Programme | None:
        """Return the equations, None where there are too many."""
        figures = len(sums.rows) + len(sums.persons)
        if self.held.size * (figures + 1) > MOST_TERMS:
            return None
        lines = ToldEquations(MOST_TERMS)
        sizes = self.held.sum(axis=1)
        lines.numbers(self.held.reshape(-1), np.repeat(sizes, self.held.shape[1]))
        for units in self.units.tolist():
            lines.add([(one, 1.0) for one in units])
        for place, one in enumerate(sums.rows):
            cells = np.flatnonzero(sums.atoms_of(one)[self.atom])
            own = self.units[np.ix_(cells, sums.in_classes(one.told.values))]
            lines.add_told(own.reshape(-1), of_rows=place)
        if self._is_whole:
            self._add_shares(lines, sizes)
        counts: dict[tuple[int, bytes, bytes], int] = {}
        for place, one in enumerate(sums.persons):
            self._add_owners(lines, place, one, sums, counts)
        self._add_parts(lines, counts)
        return None if lines.is_too_large else lines.programme()

    def _add_owners(
        self,
        lines: ToldEquations,
        place: int,
        one: ValueFigure,
        sums: _ValueSums,
        counts: dict[tuple[int, bytes, bytes], int],
    ) -> None:
        """Add how many owners count by a value, and what that says of their units."""
        atoms, classes = sums.atoms_of(one), sums.in_classes(one.told.values)
        values, own = self._counting(atoms, classes), list[int]()
        meeting = np.unique(self.kind[atoms[self.atom]])
        for kind in meeting.tolist():
            cells = np.flatnonzero((self.kind == kind) & atoms[self.atom])
            key = kind, cells.tobytes(), classes.tobytes()
            if key not in counts:
                most = self.alike[[kind]]
                [counts[key]] = lines.numbers(values[[kind]], most, is_asked=False).tolist()
                units = self.units[np.ix_(cells, classes)]
                for cell, some in zip(cells.tolist(), units.tolist(), strict=True):
                    size = float(self.held[cell].sum() / self.alike[kind])
                    terms = [(counts[key], size), *((unit, -1.0) for unit in some)]
                    lines.add_at_least(terms, 0.0, is_equal=self._is_whole)
                terms = [(counts[key], -1.0), *((one, 1.0) for one in units.reshape(-1).tolist())]
                lines.add_at_least(terms, 0.0)
            own.append(counts[key])
            if values.sum() in (0.0, self.alike[meeting].sum()):
                # That all of them have a value, or nobody has, is told by this number alone.
                lines.leave(self.units[np.ix_(cells, classes)].reshape(-1))
        lines.add_told(np.array(own, np.int64), of_chosen=place)

    def _counting(self, atoms: _Masks, classes: _Masks) -> _Floats:
        """Return how many owners of each kind have a unit in some atoms with a value of some
        classes: (kinds,)."""
        own = atoms[self.pairs.atoms] & (self.pairs.held[:, classes].sum(axis=1) > 0)
        some = np.searchsorted(self.owners, np.unique(self.pairs.owners[own]))
        return np.bincount(self.places[some], minlength=len(self.alike)).astype(np.float64)

    @staticmethod
    def _add_parts(lines: ToldEquations, counts: dict[tuple[int, bytes, bytes], int]) -> None:
        """Add that who counts by some values counts by more of them, in the same units, too."""
        by_cells: dict[tuple[int, bytes], list[tuple[_Masks, int]]] = {}
        for (kind, cells, classes), place in counts.items():
            own = np.frombuffer(classes, np.bool_)
            by_cells.setdefault((kind, cells), []).append((own, place))
        for several in by_cells.values():
            for some, one in several:
                for more, other in several:
                    if one != other and not (some & ~more).any() and not lines.is_too_large:
                        lines.add_at_least([(other, 1.0), (one, -1.0)], 0.0)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether each owner has values of one class in all units: it may be known of all."""
        owners = np.searchsorted(self.owners, self.pairs.owners)
        has = np.zeros((len(self.owners), self.held.shape[1]), np.bool_)
        np.logical_or.at(has, owners, self.pairs.held > 0)
        return bool((has.sum(axis=1) <= 1).all())

    def _add_shares(self, lines: ToldEquations, sizes: _Floats) -> None:
        """Add that owners have the same values in all atoms."""
        order = np.argsort(self.kind, kind="stable")
        for one, other in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
            if self.kind[one] == self.kind[other]:
                for unit, more in self.units[[one, other]].T.tolist():
                    lines.add([(unit, sizes[other]), (more, -sizes[one])])


def _person_figures(trial: Trial, column: str, values: SecretValues) -> Iterator[ValueFigure]:
    """Yield what is told of how many owners have values of a column."""
    places = trial.fresh_places()
    for measure, numbers in sorted(trial.after.released.items()):
        one = persons_set_told(measure)
        if one is not None and one.column == column and one.values <= {*values.names}:
            for number in sorted(numbers):
                yield ValueFigure(one, number, places.get((measure, number), ()))


def _told_figures(trial: Trial, sums: _ValueSums) -> ToldFigures:
    measures = {set_told_measure(one.told) for one in sums.rows}
    measures |= {persons_set_told_measure(one.told) for one in sums.persons}
    cells = told_cells(trial.after, sums.numbers.tolist(), measures.__contains__)
    owners = len(np.unique(sums.pairs.owners))
    return ToldFigures("alike", int(sums.pairs.held.sum()), owners, cells=cells)
