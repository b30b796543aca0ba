"""What counts that are shown nearly, rounded or with noise, tell with those that are known exactly.

Each of two counts that are shown as 5, to multiples of 5, is 9 at most: if both are 18 together,
they are 9 each. So of each count that is withheld, whether or not it is shown nearly, two whole
numbers have to be possible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import (
    KnownInterval,
    KnownSums,
    can_solve,
    intervals,
)
from policy_engine.release.output_ledger.answers import (
    COUNT,
    ToldFigures,
    is_exact_count,
    near_ends,
)
from policy_engine.release.output_ledger.bounding import SECONDS
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable, Knowledge
from policy_engine.release.output_ledger.linear_systems import target_systems
from policy_engine.release.output_ledger.merged_atoms import members_of, merged_atoms
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_ENTRIES = 5_000_000
"""How many coefficients the equations may have: of more, nothing is shown nearly."""
_TINY = 1e-6

_Counts = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Masks = NDArray[np.bool_]


def near_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells by which a count that is withheld, or shown only nearly, is known
    exactly, if any are shown nearly."""
    figures = _figures_of(trial.after)
    is_old = np.array([trial.before.has_released(*one.key) for one in figures], np.bool_)
    if is_old.all() or not any(one.is_near for one in figures):
        return
    every = np.ones(len(figures), np.bool_)
    equations = _KnownCounts.of(trial, table, figures)
    if equations is None or not can_solve():
        yield Fault(TOO_NARROW, _fresh_places(trial, figures, every))
        return
    ends = equations.ends(equations.targets, every, min(SECONDS, trial.limit.left))
    trial.limit.check_found(is_found=ends is not None)
    narrow = [place for place, one in enumerate(ends or ()) if _is_narrow(one)]
    earlier = equations.ends(equations.targets[narrow], is_old, min(SECONDS, trial.limit.left))
    if ends is None or earlier is None:  # Then it counts as told.
        yield Fault(TOO_NARROW, _fresh_places(trial, figures, every))
        return
    for place, before in zip(narrow, earlier, strict=True):
        if not _is_narrow(before):
            content = partial(_told_figures, trial, equations, place, ends[place])
            yield Fault(TOO_NARROW, _fresh_places(trial, figures, ends[place].equations), content)


class _Figure(NamedTuple):
    """A count that is known of a population, exactly or between two ends, and by which measure."""

    measure: str
    number: int
    ends: tuple[float, float] | None

    @property
    def key(self) -> tuple[str, int]:
        """Under what it is known."""
        return self.measure, self.number

    @property
    def is_near(self) -> bool:
        """Whether it is known between two ends alone."""
        return self.ends is not None


def _figures_of(knowledge: Knowledge) -> list[_Figure]:
    """Return the counts that are known."""
    return [
        _Figure(measure, number, near_ends(measure))
        for measure, numbers in sorted(knowledge.released.items())
        if near_ends(measure) or is_exact_count(measure)
        for number in sorted(numbers)
    ]


def _fresh_places(trial: Trial, figures: Sequence[_Figure], is_used: _Masks) -> tuple[int, ...]:
    """Return the places of the fresh cells of some figures, (figures,), or of all counts and what
    is near to them where these are of none."""
    own = {one.key for one, is_own in zip(figures, is_used.tolist(), strict=True) if is_own}
    fresh = [(place, (trial.cells[place].measure, trial.numbers[place])) for place in trial.fresh]
    every = {one.key for one in figures}
    places = tuple(place for place, key in fresh if key in own)
    return places or tuple(place for place, key in fresh if key in every)


@dataclass(frozen=True, eq=False)
class _KnownCounts:
    """Equations in how many units atoms have: of the figures, (figures, atoms), and what of them
    must stay open: (targets, atoms). The `sizes` of atoms are what who asks does not know."""

    figures: Sequence[_Figure]
    sizes: _Floats
    rows: _Floats
    targets: _Floats

    @classmethod
    def of(
        cls, trial: Trial, table: AtomTable, figures: Sequence[_Figure]
    ) -> "_KnownCounts | None":
        """Return the equations; None where there are too many."""
        withheld = {
            number
            for measure, number in trial.after.suppressed
            if COUNT in target_systems(measure) and trial.after.sizes[number]
        }
        exact = {one.number for one in figures if not one.is_near}
        targets = sorted(withheld - exact)
        numbers = np.array(sorted({one.number for one in figures} | withheld), np.int64)
        places = np.full(len(trial.after.sizes) + 1, len(numbers), np.int64)
        places[numbers] = np.arange(len(numbers))
        labels = places[table.members]
        merged = merged_atoms(labels, len(numbers))
        atoms = int(merged.max(initial=-1)) + 1
        near = sum(one.is_near for one in figures)
        if (len(figures) + len(targets) + len(numbers)) * (atoms + near) > MOST_ENTRIES:
            return None
        members = members_of(labels, merged, (len(numbers), atoms)).astype(np.float64)
        sizes = np.bincount(merged[merged >= 0], table.atoms.sizes[merged >= 0], minlength=atoms)
        rows = members[np.searchsorted(numbers, [one.number for one in figures])]
        own = members[np.searchsorted(numbers, np.array(targets, np.int64))]
        return cls(figures, sizes.astype(np.float64), rows, own.reshape(len(targets), atoms))

    def ends(self, targets: _Floats, is_used: _Masks, seconds: float) -> list[KnownInterval] | None:
        """Return between what some counts, (targets, atoms), are known to lie by some figures,
        (figures,), whose equations are used; None where time ends before that is found."""
        if not len(targets):
            return []
        figures = [
            one for one, is_own in zip(self.figures, is_used.tolist(), strict=True) if is_own
        ]
        near = [(place, one.ends) for place, one in enumerate(figures) if one.ends is not None]
        rows = np.hstack([self.rows[is_used], np.zeros((len(figures), len(near)))])
        values, atoms = self.rows[is_used] @ self.sizes, len(self.sizes)
        most = np.concatenate([np.full(atoms, np.inf), np.zeros(len(near))])
        for column, (place, (low, high)) in enumerate(near, start=atoms):
            # How far the count is from the lower end is a number of its own.
            rows[place, column], values[place], most[column] = -1.0, low, high - low
        sums = KnownSums(rows, values, np.zeros(len(most)), most)
        padded = np.hstack([targets, np.zeros((len(targets), len(near)))])
        results = [
            one._replace(equations=_all_equations(one.equations, is_used))
            for one in intervals(sums, padded, seconds)
        ]
        return results if len(results) == len(targets) else None


def _all_equations(equations: _Masks, is_used: _Masks) -> _Masks:
    """Return which of all figures some of those that are used are: (figures,)."""
    mask = np.zeros(len(is_used), np.bool_)
    mask[is_used] = equations
    return mask


def _is_narrow(ends: KnownInterval) -> bool:
    """Return whether one whole number alone is possible."""
    return bool(np.floor(ends.high + _TINY) - np.ceil(ends.low - _TINY) < 1)


def _told_figures(
    trial: Trial, equations: _KnownCounts, place: int, ends: KnownInterval
) -> ToldFigures:
    """Return between what a count would be known to lie, and by which figures."""
    used = [one for one, is_own in zip(equations.figures, ends.equations, strict=True) if is_own]
    measures = {one.measure for one in used}
    cells = told_cells(trial.after, {one.number for one in used}, measures.__contains__)
    units = int(equations.targets[place] @ equations.sizes)
    owners = units if trial.owners is None else 0
    return ToldFigures("withheld", units, owners, ends.low, ends.high, cells)
