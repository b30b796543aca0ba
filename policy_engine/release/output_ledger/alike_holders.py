"""Whether sums tell of some units, known in all else, what each has: all holders, or none of them.

Who asks may know everything of everybody but whether they are holders, such as whether they are
ill. Then each count of holders is an equation between 0 and the size of each atom of the known
populations, and no atom may be known to be at either end; of what has many values, as a region, at
none but that all are holders. In the same way a total of a column tells of some units that each has
the least value in it, such as nothing, or the most.

A proof that an atom is at an end adds up equations so that all atoms vanish that are at none. So it
uses only such equations, and between dozens of tables there are few.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.components import components
from policy_engine.kernels.output_checks.released_bounds import (
    FixedEnds,
    KnownSums,
    can_solve,
    fixed_ends,
)
from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.kernels.output_checks.sparse_span import Combinations, SparseRows
from policy_engine.release.output_ledger.answers import ToldFigures, exact_held, is_held
from policy_engine.release.output_ledger.atom_contents import AtomContents
from policy_engine.release.output_ledger.bounding import (
    MOST_DENSE,
    SECONDS,
    UNDECIDED,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.linear_systems import LinearSystem
from policy_engine.release.output_ledger.met_limits import (
    no_solver,
    out_of_time,
    too_dense,
    too_many_populations,
)
from policy_engine.release.output_ledger.spans import TOO_LARGE, cells_of
from policy_engine.release.output_ledger.told_figures import system_figures
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

_Masks = NDArray[np.bool_]


def alike_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield the new cells of how much units have that tell of some that each has the least, or the
    most, each with those that tell it together."""
    contents = system.contents
    if contents is None or not system.is_fresh.any():
        return
    is_one_sided = exact_held(system.name) in trial.one_sided
    is_end = contents.are_most if is_one_sided else contents.are_ends
    if not is_end.any():
        return
    places = cells_of(trial, system, system.fresh_numbers)
    if system.is_too_large:
        yield Fault(TOO_LARGE, places, too_many_populations(system))
        return
    about = system.rows, system.numbers, system.is_fresh
    ends = EndEquations.of_rows(*about, contents, is_end, _told_alone(trial, system))
    if not ends.is_open.any():
        return
    if fault := unsolved(ends, places):
        yield fault
        return
    fixed = ends.fixed_anew(trial.limit)
    trial.limit.check_found(is_found=fixed is not None)
    if fixed is None:
        yield Fault(UNDECIDED, places, partial(out_of_time, trial.limit))
        return
    for part in ends.parts_of(fixed):
        is_used = ends.is_fresh & part.equations
        numbers = ends.numbers[is_used if is_used.any() else ends.is_fresh].tolist()
        figures = partial(_figures, trial, system, ends, part)
        yield Fault(TOO_NARROW, cells_of(trial, system, numbers), figures)


def unsolved(ends: "EndEquations", places: tuple[int, ...]) -> Fault | None:
    """Return why it cannot be computed what equations tell, if it cannot."""
    if not can_solve():
        return Fault(UNDECIDED, places, no_solver)
    if ends.rows.count * ends.rows.width > MOST_DENSE:
        figures = too_dense(ends.rows.count, ends.rows.width, MOST_DENSE)
        return Fault(TOO_LARGE, places, figures)
    return None


def _figures(
    trial: Trial, system: LinearSystem, ends: "EndEquations", fixed: FixedEnds
) -> ToldFigures:
    """Return of how many units, all of whom are alike, some equations tell that they are."""
    rows, some = ends.rows, np.flatnonzero(fixed.atoms)
    row_sets = [
        {*rows.members[slice(*rows.starts[one : one + 2])].tolist()} for one in some.tolist()
    ]
    places = {number: place for place, number in enumerate(system.numbers.tolist())}
    of_rows = [frozenset(places[ends.numbers[row]] for row in one) for one in row_sets]
    used = {places[number] for number in ends.numbers.tolist()}
    starts, members = system.rows.starts, system.rows.members
    is_about = np.array(
        [
            frozenset(members[slice(*starts[atom : atom + 2])].tolist()) & used in of_rows
            for atom in range(system.rows.width)
        ],
        np.bool_,
    )
    is_used = np.isin(system.numbers, ends.numbers[fixed.equations])
    return system_figures(trial.after, system, is_used, is_about, "alike")


def _told_alone(trial: Trial, system: LinearSystem) -> _Masks:
    """Return the atoms of which one cell tells, and may, that all are holders, or none is."""
    if not is_held(system.name):
        return np.zeros(len(system.weights), np.bool_)
    values = trial.after.values
    name = exact_held(system.name)
    is_alone = [values.get((name, one)) is not None for one in system.numbers.tolist()]
    return system.rows.chosen(np.array(is_alone, np.bool_)).covered


@dataclass(frozen=True, eq=False)
class EndEquations:
    """The equations that a proof may use that atoms are at an end, over atoms that they do not tell
    apart taken together: `numbers` are those of populations, and `is_open` which of these atoms are
    asked about."""

    rows: SparseRows
    numbers: NDArray[np.int64]
    is_fresh: _Masks
    contents: AtomContents
    is_open: _Masks

    @classmethod
    def of_rows(
        cls,
        every: SparseRows,
        numbers: NDArray[np.int64],
        is_fresh: _Masks,
        contents: AtomContents,
        is_end: _Masks,
        is_free: _Masks,
    ) -> "EndEquations":
        """Return those of all rows, some atoms of which are at an end; of those that are free, it
        may be known."""
        is_used = telling_rows(every, is_end | (contents.units == 0))
        rows = every.chosen(is_used)
        atoms = rows.alike_columns()
        count = int(atoms.max(initial=-1)) + 1
        merged, is_in = contents.merged(atoms, count), atoms >= 0
        is_asked = np.bincount(atoms[is_in], is_end[is_in] & ~is_free[is_in], minlength=count) > 0
        is_wrong = np.bincount(atoms[is_in], (contents.units > 0)[is_in] & ~is_end[is_in], count)
        first = np.unique(atoms, return_index=True)[1][int((~is_in).any()) :]
        own = np.zeros(len(atoms), np.bool_)
        own[first] = True
        return cls(
            rows.of_columns(own, atoms, count),
            numbers[is_used],
            is_fresh[is_used],
            merged,
            is_asked & (is_wrong == 0) & merged.are_ends,
        )

    def fixed_anew(self, limit: TimeLimit) -> FixedEnds | None:
        """Return the atoms that stay at an end, but not where earlier answers alone tell it, and
        the equations that tell it of them."""
        every = np.ones(self.rows.count, np.bool_)
        fixed = self._fixed(every, self.is_open, limit)
        if fixed is None or not fixed.atoms.any():
            return fixed
        earlier = self._fixed(~self.is_fresh, fixed.atoms, limit)
        if earlier is None or not earlier.atoms.any():
            return fixed if earlier is not None else None
        return self._fixed(every, fixed.atoms & ~earlier.atoms, limit)

    def parts_of(self, fixed: FixedEnds) -> Iterator[FixedEnds]:
        """Yield what is told of atoms at an end in parts that share no atom: each is a proof of its
        own, and is to be mended by itself."""
        own = self.rows.chosen(fixed.equations)
        parts, rows = components(own.members, own.columns), np.flatnonzero(fixed.equations)
        for part in range(int(parts.max(initial=-1)) + 1):
            atoms, equations = np.zeros_like(fixed.atoms), np.zeros_like(fixed.equations)
            atoms[own.columns[parts == part]] = True
            equations[rows[own.members[parts == part]]] = True
            if (atoms & fixed.atoms).any():
                yield FixedEnds(atoms & fixed.atoms, equations)
        if not own.covered[fixed.atoms].all():
            yield FixedEnds(fixed.atoms & ~own.covered, fixed.equations)

    def _fixed(self, is_row: _Masks, is_end: _Masks, limit: TimeLimit) -> FixedEnds | None:
        rows, sizes = self.rows.chosen(is_row), self.contents.units.astype(np.float64)
        is_end = is_end & rows.covered
        if not is_end.any():
            return FixedEnds(is_end, np.zeros(rows.count, np.bool_))
        values = self.contents.sums
        sums = KnownSums(rows.dense(), rows.sums(values), np.zeros(len(sizes)), sizes)
        return fixed_ends(sums, values, is_end, min(SECONDS, limit.left))


def telling_rows(rows: SparseRows, is_end: _Masks) -> _Masks:
    """Return the rows that combinations use which vanish in all atoms but those at an end, of
    those that do not vanish in all."""
    order = np.flatnonzero(~is_end)
    own = Combinations.of_rows(rows, random_prime()).constrained(order).alone()
    is_telling = own.constrained(np.flatnonzero(is_end)).pivots >= 0
    return np.asarray((own.coefficients[:, is_telling] != 0).any(axis=1))
