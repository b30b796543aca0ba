"""Whether numbers of units by different values of a column tell together that some have the same.

Nobody has two values of a column. So if 32 persons of two regions have the value a, and 20 of the
40 in one of them have b, at most 20 of these have a: the twelve in the other region all have it.
What is told of each set of values, over atoms of units that no population tells apart, are
equations in how many units of each atom have each value, and an atom's are all of its units. No
atom may be known to have only values of one of the sets, nor, but of a key, only others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import KnownSums, can_solve, fixed_ends
from policy_engine.release.output_ledger.answers import (
    SecretValues,
    ToldFigures,
    ToldSet,
    set_told,
    set_told_measure,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.merged_atoms import members_of, merged_atoms
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_ENTRIES = 2_000_000
"""How many coefficients the equations may have: more is not looked at."""
SECONDS = 10.0
NOBODYS = "none"
"""What those have who have no value."""
_TWO = 2

_Counts = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Masks = NDArray[np.bool_]


def set_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells of how many units have some values of a column that tell, with those of
    other values, that all units of some have the same, each with those that tell it together."""
    if not can_solve():
        return
    fresh = [set_told(trial.cells[place].measure) for place in trial.fresh]
    for column in sorted({one.column for one in fresh if one}):
        values = trial.secret_values.get(column)
        figures = () if values is None else _figures_of(trial, column, values)
        if values is None or not _are_several({one.told for one in figures}, values):
            continue
        for is_known in (False, True) if (values.codes < 0).any() else (False,):
            trial.limit.check()
            sums = _SetSums.of(trial, table, figures, values, is_known=is_known)
            used, units = ((), 0) if sums is None else sums.told_anew(trial.limit)
            if used:
                places = tuple(place for one in used for place in one.places)
                yield Fault(TOO_NARROW, places, partial(_told_figures, trial, used, units))
                break


class _Figure(NamedTuple):
    """A number of units of a population that have values of a set, and the places of the fresh
    cells that tell it: none where it is known."""

    told: ToldSet
    number: int
    places: tuple[int, ...]


def _figures_of(trial: Trial, column: str, values: SecretValues) -> tuple[_Figure, ...]:
    """Return what is told of the values of a column."""
    places = trial.fresh_places()
    names = {*values.names, NOBODYS}
    return tuple(
        _Figure(own, number, places.get((measure, number), ()))
        for measure, numbers in sorted(trial.after.released.items())
        if (own := set_told(measure)) and own.column == column and own.values <= names
        for number in sorted(numbers)
    )


def _are_several(sets: set[ToldSet], values: SecretValues) -> bool:
    """Return whether there are sets of which one is not the other, nor all other values."""
    every = frozenset((*values.names, NOBODYS))
    kinds = {min(one.values, every - one.values, key=sorted) for one in sets}
    return len(kinds) >= _TWO


@dataclass(frozen=True, eq=False)
class _SetSums:
    """Equations in how many units of atoms have values that no set tells apart.

    `counts` are these, (atoms, classes); `rows` are the atoms of each figure, (figures, atoms), and
    `classes` those of its values: (figures, classes).
    """

    figures: Sequence[_Figure]
    counts: _Counts
    rows: _Masks
    classes: _Masks

    @classmethod
    def of(
        cls,
        trial: Trial,
        table: AtomTable,
        figures: Sequence[_Figure],
        values: SecretValues,
        *,
        is_known: bool,
    ) -> "_SetSums | None":
        """Return the equations; only of those who have a value, if it `is_known` who does. None
        where there are too many."""
        numbers = np.array(sorted({one.number for one in figures}), np.int64)
        places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
        places[numbers] = np.arange(len(numbers))
        labels = places[table.members]
        merged = merged_atoms(labels, len(numbers))
        atoms = int(merged.max(initial=-1)) + 1
        names = (*values.names, NOBODYS)
        is_of = np.array([[name in one.told.values for name in names] for one in figures])
        classes, own = np.unique(is_of, axis=1, return_inverse=True)
        width = classes.shape[1]
        if (atoms + len(figures)) * atoms * width > MOST_ENTRIES:
            return None
        where = merged[table.atoms.numbers]
        is_in = (where >= 0) & ((values.codes >= 0) | (not is_known))
        codes = own.reshape(-1)[values.codes[is_in]]
        counts = np.bincount(where[is_in] * width + codes, minlength=atoms * width)
        members = members_of(labels, merged, (len(numbers), atoms))
        rows = members[np.searchsorted(numbers, [one.number for one in figures])]
        return cls(figures, counts.reshape(atoms, width), rows, classes)

    def told_anew(self, limit: TimeLimit) -> tuple[tuple[_Figure, ...], int]:
        """Return the figures that tell together that some atoms' units all have values of one set,
        and how many units these are; none where earlier ones tell it. Raises OutOfTimeError where
        time ends."""
        questions = self._questions()
        equations = len(self.figures) + len(self.counts) + len(questions)
        if not len(questions) or equations * (self.counts.size + len(questions)) > MOST_ENTRIES:
            return (), 0
        is_fresh = np.array([bool(one.places) for one in self.figures], np.bool_)
        every = self._fixed(questions, np.ones_like(is_fresh), limit)
        if not every[0].any():
            return (), 0
        earlier = self._fixed(questions[every[0]], ~is_fresh, limit)
        if earlier[0].all():
            return (), 0
        used = every[1] if (every[1] & is_fresh).any() else np.ones_like(is_fresh)
        atoms = np.unique(questions[every[0]][~earlier[0], 0])
        figures = tuple(one for one, is_own in zip(self.figures, used, strict=True) if is_own)
        return figures, int(self.counts[atoms].sum())

    def _questions(self) -> _Counts:
        """Return atoms and sets, (questions, 2), all of whose units have a value of the set: sets
        are figures by their places, or all others by these from the last one on.

        A figure that tells by itself that all have one, or none has, is for others to judge.
        """
        sizes = self.counts.sum(axis=1)
        sides = {mask.tobytes(): (place, mask) for place, mask in self._sides()}
        result = [np.zeros((0, 2), np.int64)]
        for place, mask in sides.values():
            is_all = (sizes > 0) & (self.counts[:, mask].sum(axis=1) == sizes)
            for row, classes in zip(self.rows, self.classes, strict=True) if is_all.any() else ():
                is_same = (classes == mask).all() or (classes != mask).all()
                is_all &= ~(row & is_same & self._is_alone(row, mask))
            atoms = np.flatnonzero(is_all)
            result.append(np.column_stack([atoms, np.full(len(atoms), place)]))
        return np.concatenate(result)

    def _sides(self) -> Iterator[tuple[int, _Masks]]:
        """Yield the place of each set that is asked about, and its classes."""
        for place, (one, classes) in enumerate(zip(self.figures, self.classes, strict=True)):
            yield place, classes
            if not one.told.is_one_sided:
                yield place + len(self.figures), ~classes

    def _is_alone(self, row: _Masks, mask: _Masks) -> bool:
        """Return whether all units of some atoms have a value of a set."""
        return int(self.counts[row][:, ~mask].sum()) == 0

    def _fixed(
        self, questions: _Counts, is_told: _Masks, limit: TimeLimit
    ) -> tuple[_Masks, _Masks]:
        """Return of which atoms and sets it follows from some figures, and which figures are used:
        (questions,) and (figures,)."""
        sums, solution = self._programme(questions, is_told)
        is_end = np.zeros(len(solution), np.bool_)
        is_end[self.counts.size :] = True
        fixed = fixed_ends(sums, solution, is_end, min(SECONDS, limit.left))
        limit.check_found(is_found=fixed is not None)
        used = np.zeros(len(is_told), np.bool_)
        if fixed is None:  # Then it counts as told.
            return np.ones(len(questions), np.bool_), is_told
        used[is_told] = fixed.equations[: int(is_told.sum())]
        return fixed.atoms[self.counts.size :], used

    def _programme(self, questions: _Counts, is_told: _Masks) -> tuple[KnownSums, _Floats]:
        """Return the equations of some figures, of the sizes of atoms and of how many units of the
        atoms that are asked about have other values than those of the set."""
        atoms, width = self.counts.shape
        figures = (self.rows[:, :, None] & self.classes[:, None, :])[is_told]
        figures = figures.reshape(-1, atoms * width).astype(np.float64)
        sizes = np.repeat(np.eye(atoms), width, axis=1)
        others = np.zeros((len(questions), atoms, width))
        for number, (atom, place) in enumerate(questions.tolist()):
            own, is_other = place % len(self.figures), place >= len(self.figures)
            others[number, atom] = ~(self.classes[own] ^ is_other)
        left = np.vstack([figures, sizes, others.reshape(len(questions), -1)])
        right = np.zeros((len(left), len(questions)))
        right[len(left) - len(questions) :] = -np.eye(len(questions))
        rows = np.hstack([left, right])
        solution = np.concatenate([self.counts.reshape(-1), np.zeros(len(questions))]).astype(float)
        most = np.repeat(self.counts.sum(axis=1), width)
        limits = np.concatenate([most, self.counts.sum(axis=1)[questions[:, 0]]]).astype(np.float64)
        return KnownSums(rows, rows @ solution, np.zeros(len(solution)), limits), solution


def _told_figures(trial: Trial, used: Sequence[_Figure], units: int) -> ToldFigures:
    measures = {set_told_measure(one.told) for one in used}
    cells = told_cells(trial.after, {one.number for one in used}, measures.__contains__)
    owners = units if trial.owners is None else 0
    return ToldFigures("alike", units, owners, cells=cells)
