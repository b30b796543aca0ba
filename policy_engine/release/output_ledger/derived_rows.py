"""Numbers of units with some value of a column that follow from those with its other values.

If 27 of 81 rows have y and 27 have z, and there is only x besides, the 27 others have x: nobody has
to ask for them. What is told of sets of values, over atoms of units that no population tells apart,
are equations in how many units of each atom have each value, and all of an atom have one. Each
number that is a combination of these counts as told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.answers import (
    OutputCell,
    SecretValues,
    ToldSet,
    held_measure,
    persons_set_told,
    rows_told_measure,
    set_told,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.merged_atoms import members_of, merged_atoms
from policy_engine.release.output_ledger.told_sets import NOBODYS

MOST_ENTRIES, MOST_WORK = 20_000_000, 4_000_000_000
"""How many coefficients equations and questions may have, and how many of them times the equations:
more is not looked at."""
_EXACT = 1e-6

_Floats = NDArray[np.float64]
_Counts = NDArray[np.int64]
_Masks = NDArray[np.bool_]


class _Derived(NamedTuple):
    """A number of units that follows: the `rows_told_measure` and the population, and the places of
    the fresh cells without which it does not; none where it follows from earlier ones."""

    measure: str
    number: int
    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class DerivedRows:
    """A trial in which numbers of units that follow from others are told as well.

    Its last cells are those that follow, each of which is made of the `origins`.
    """

    trial: Trial
    origins: tuple[tuple[int, ...], ...] = ()

    def fault(self, fault: Fault) -> Fault:
        """Return a fault of the trial as one of the cells that are there."""
        first = len(self.trial.cells) - len(self.origins)
        places = dict.fromkeys(
            own
            for place in fault.cells
            for own in ((place,) if place < first else self.origins[place - first])
        )
        return replace(fault, cells=tuple(places))


def with_derived_rows(trial: Trial, table: AtomTable) -> DerivedRows:
    """Return a trial in which all numbers of units with some values of a column are told that
    follow from others: those of each value, and of the values that persons or units were counted
    by."""
    row_counts, holders, one_sided = list[_Derived](), dict(trial.holders), set(trial.one_sided)
    for column in sorted(trial.secret_values if trial.owners is not None else ()):
        trial.limit.check()
        values = trial.secret_values[column]
        sums = _ValueSums.of(trial, table, column, values)
        if sums is None:
            continue
        for one, row_count in sums.derived():
            mask, named_holders = _holders(values, one.values)
            held = held_measure(named_holders)
            measure = rows_told_measure(held)
            if row_count.number in trial.after.released.get(measure, ()):
                continue
            row_counts.append(row_count._replace(measure=measure))
            holders.setdefault(measure, named_holders)
            if one.is_one_sided:
                one_sided.add(measure)
                holders.setdefault(held, mask)
    return _with_cells(replace(trial, holders=holders, one_sided=frozenset(one_sided)), row_counts)


def _holders(values: SecretValues, names: frozenset[str]) -> tuple[_Masks, _Masks]:
    """Return who has one of some values, and the same named so that the first unit that has a value
    is none of them: (units,) each."""
    mask = np.isin(values.codes, [values.names.index(one) for one in names if one != NOBODYS])
    is_valued = values.codes >= 0
    return mask, (mask ^ mask[int(np.argmax(is_valued))]) & is_valued


def _with_cells(trial: Trial, row_counts: Sequence[_Derived]) -> DerivedRows:
    """Return a trial with further cells, the last ones, for what follows."""
    released = {measure: set(numbers) for measure, numbers in trial.after.released.items()}
    cells, numbers = [*trial.cells], [*trial.numbers]
    fresh, origins = [*trial.fresh], list[tuple[int, ...]]()
    for one in row_counts:
        released.setdefault(one.measure, set()).add(one.number)
        if one.places:
            fresh.append(len(cells))
        cells.append(OutputCell(0, one.measure, None, trial.after.threshold))
        numbers.append(one.number)
        origins.append(one.places)
    after = replace(trial.after, released=released)
    made = replace(
        trial, after=after, cells=tuple(cells), numbers=tuple(numbers), fresh=tuple(fresh)
    )
    return DerivedRows(made if row_counts else trial, tuple(origins))


class ValueFigure(NamedTuple):
    """A number of units of a population that have some values, and the places of the fresh cells
    that tell it."""

    told: ToldSet
    number: int
    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _ValueSums:
    """Equations in how many units of atoms have each value, of which it counts as known how many
    have any.

    `members` are the atoms of populations, (populations, atoms), by the place of each number in
    `numbers`; `asked` are the sets of which it matters whether a number follows.
    """

    figures: Sequence[ValueFigure]
    asked: Sequence[ToldSet]
    numbers: _Counts
    members: _Masks
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, trial: Trial, table: AtomTable, column: str, values: SecretValues
    ) -> "_ValueSums | None":
        """Return the equations; None where nothing can follow, or there are too many of them."""
        figures = [*row_figures(trial, column, values)]
        if len(figures) <= 1:
            return None
        questions = [*dict.fromkeys(_asked(trial, column, figures, values.names))]
        numbers = np.array(sorted(_numbers(trial, column, figures)), np.int64)
        places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
        places[numbers] = np.arange(len(numbers))
        labels = places[table.members]
        merged = merged_atoms(labels, len(numbers))
        atoms = int(merged.max(initial=-1)) + 1
        width = len(values.names)
        count = len(figures)
        is_long = atoms * width * count**2 > MOST_WORK
        if is_long or atoms * width * (count + len(questions) * len(numbers)) > MOST_ENTRIES:
            return None
        members = members_of(labels, merged, (len(numbers), atoms))
        return cls(figures, questions, numbers, members, values.names)

    def derived(self) -> Iterator[tuple[ToldSet, _Derived]]:
        """Yield which numbers of units follow from others."""
        questions = [(one, number) for one in self.asked for number in self.numbers.tolist()]
        answers = {(one.told.values, one.number) for one in self.figures}
        questions = [
            (one, number)
            for one, number in questions
            if not answers & {(one.values, number), (frozenset(self.names) - one.values, number)}
        ]
        if not questions:
            return
        rows = np.array([self._row(one.told.values, one.number) for one in self.figures])
        wanted = np.array([self._row(one.values, number) for one, number in questions])
        is_old = np.array([not one.places for one in self.figures], np.bool_)
        factors, follows = _combined(rows, wanted)
        earlier = _combined(rows[is_old], wanted)[1]
        for place in np.flatnonzero(follows).tolist():
            (one, number), used = questions[place], np.abs(factors[:, place]) > _EXACT
            places = () if earlier[place] else self._places(used)
            is_one_sided = all(
                own.told.is_one_sided
                for own, is_used in zip(self.figures, used, strict=True)
                if is_used
            )
            yield one._replace(is_one_sided=is_one_sided), _Derived("", number, places)

    def _places(self, used: _Masks) -> tuple[int, ...]:
        figures = (one for one, is_used in zip(self.figures, used, strict=True) if is_used)
        return tuple(dict.fromkeys(place for one in figures for place in one.places))

    def _row(self, values: frozenset[str], number: int) -> _Floats:
        """Return the equation of how many units of a population have some values, less what is
        known of them: how many units each atom has."""
        own = np.array([name in values for name in self.names], np.float64)
        members = self.members[np.searchsorted(self.numbers, number)]
        return np.outer(members, own - own.mean()).reshape(-1)


def _combined(rows: _Floats, wanted: _Floats) -> tuple[_Floats, _Masks]:
    """Return by which factors of rows each of those wanted is a combination, and whether it is:
    (rows, wanted) and (wanted,)."""
    if not len(rows):
        return np.zeros((0, len(wanted))), np.zeros(len(wanted), np.bool_)
    factors = np.asarray(np.linalg.lstsq(rows.T, wanted.T, rcond=None)[0], np.float64)
    follows: _Masks = np.abs(factors.T @ rows - wanted).max(axis=1) < _EXACT
    return factors, follows


def row_figures(trial: Trial, column: str, values: SecretValues) -> Iterator[ValueFigure]:
    """Yield what is told of how many units have values of a column: numbers of owners are marked as
    such, too, and tell less."""
    places = trial.fresh_places()
    names = {*values.names, NOBODYS}
    for measure, numbers in sorted(trial.after.released.items()):
        one = set_told(measure)
        if one is None or one.column != column or not one.values <= names:
            continue
        rows = rows_told_measure(held_measure(_holders(values, one.values)[1]))
        for number in sorted(numbers & trial.after.released.get(rows, set())):
            own = *places.get((measure, number), ()), *places.get((rows, number), ())
            yield ValueFigure(one, number, own)


def _numbers(trial: Trial, column: str, figures: Sequence[ValueFigure]) -> set[int]:
    """Return the populations of which something is told of the values of a column: of units, or of
    their owners."""
    numbers = {one.number for one in figures}
    for measure, own in trial.after.released.items():
        one = persons_set_told(measure)
        if one is not None and one.column == column:
            numbers |= own
    return numbers


def _asked(
    trial: Trial, column: str, figures: Sequence[ValueFigure], names: Sequence[str]
) -> Iterator[ToldSet]:
    """Yield the sets of values that somebody may not be told to have: each value, all that were
    counted, and those that persons were counted by."""
    for name in names:
        yield ToldSet(column, frozenset([name]), is_one_sided=True)
    sets = [one.told for one in figures]
    sets += [
        one for measure in trial.after.released if (one := persons_set_told(measure)) is not None
    ]
    for one in sets:
        if one.column == column and one.values <= {*names}:
            yield one._replace(is_one_sided=True)
    union = frozenset[str]().union(
        *(one.told.values for one in figures if not one.told.is_one_sided)
    )
    if union and union < {*names}:
        yield ToldSet(column, union, is_one_sided=True)
