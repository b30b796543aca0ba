"""Whether counts tell of a withheld cell of nobody that it is one, where zeros disclose.

No unit is in it, so it is known by its condition: whoever satisfied that would be in other cells,
too. What is released are equations over the atoms of units and groups of such persons, of which
there is nobody, and of none this may be known.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.kernels.output_checks.sparse_span import SparseRows, spanning_columns
from policy_engine.release.output_ledger.alike_holders import (
    EndEquations,
    telling_rows,
    unsolved,
)
from policy_engine.release.output_ledger.answers import COUNT, PERSONS, ToldFigures, systems_of
from policy_engine.release.output_ledger.atom_contents import AtomContents
from policy_engine.release.output_ledger.bounding import UNDECIDED
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.linear_systems import CELLS
from policy_engine.release.output_ledger.met_limits import met, out_of_time
from policy_engine.release.output_ledger.spans import SUPPRESSED_DERIVED, TOO_LARGE
from policy_engine.release.output_ledger.told_cells import told_cells

_Masks = NDArray[np.bool_]


class _Released(NamedTuple):
    """A released cell of one system: its population, its condition, and whether it is new."""

    number: int
    condition: str
    is_fresh: bool


def empty_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the new cells that tell together that a withheld cell is one of nobody."""
    if trial.empty_parts is None:
        return
    for system in (COUNT, PERSONS):
        empties, cells = _empties(trial, system), _released(trial, system)
        if not empties or not any(one.is_fresh for one in cells):
            continue
        if len(cells) > CELLS:
            yield Fault(TOO_LARGE, trial.fresh, partial(met, "populations", len(cells), CELLS))
            return
        yield from _faults_of(trial, table, system, empties, cells)


def _empties(trial: Trial, system: str) -> list[str]:
    """Return the conditions of withheld cells of nobody."""
    texts = {
        text
        for (measure, number), cell in trial.after.suppressed.items()
        if system in systems_of(measure) and not trial.after.sizes[number]
        for text in cell.conditions
    }
    return sorted(texts - {""})


def _released(trial: Trial, system: str) -> list[_Released]:
    before = trial.before.conditions
    return sorted(
        {
            _Released(number, text, text not in before.get((measure, number), ()))
            for (measure, number), texts in trial.after.conditions.items()
            if system in systems_of(measure) and trial.after.sizes[number]
            for text in texts
        }
    )


def _faults_of(
    trial: Trial, table: AtomTable, system: str, empties: Sequence[str], cells: list[_Released]
) -> Iterator[Fault]:
    assert trial.empty_parts is not None  # noqa: S101 (its caller checks)
    parts = trial.empty_parts(empties, [one.condition for one in cells])
    is_fresh = np.array([any(cells[n].is_fresh for n in one) for one in parts.sums], np.bool_)
    atoms = _CellAtoms.of_cells(table, [one.number for one in cells])
    for kind in range(int(parts.kinds.max(initial=-1)) + 1):
        own = parts.kinds == kind
        is_split = np.bincount(parts.tables, parts.are_split[:, own].any(axis=1)) > 0
        is_whole = np.asarray(~is_split[parts.tables], np.bool_)
        if not (is_fresh & is_whole).any() or not parts.are_within[is_whole][:, own].any():
            continue
        sums = [parts.sums[place] for place in np.flatnonzero(is_whole).tolist()]
        trial.limit.check()
        ends = _ends(trial, atoms, sums, parts.are_within[is_whole][:, own], is_fresh[is_whole])
        numbers = [[cells[place].number for place in one] for one in sums]
        about = trial, system, numbers
        trial.limit.check()
        yield from _faults_at(
            ends, trial.limit, partial(_places, *about), partial(_figures, *about)
        )


def _ends(
    trial: Trial,
    atoms: "_CellAtoms",
    sums: Sequence[Sequence[int]],
    within: _Masks,
    is_fresh: _Masks,
) -> EndEquations:
    """Return the equations of sums over atoms, and groups that are within them or not."""
    rows, columns = np.nonzero(within)
    groups = SparseRows.of_pairs(rows, columns, *within.shape)
    few = atoms.some.summed(sums)
    is_group = np.arange(few.width + groups.width) >= few.width
    is_used = telling_rows(few.beside(groups), is_group)
    own = [one for one, is_telling in zip(sums, is_used, strict=True) if is_telling]
    every = atoms.rows.summed(own).merged().beside(groups.chosen(is_used))
    is_empty = np.arange(every.width) >= every.width - groups.width
    about = _contents(trial, is_empty), is_empty, np.zeros(len(is_empty), np.bool_)
    return EndEquations.of_rows(every, np.flatnonzero(is_used), is_fresh[is_used], *about)


def _faults_at(
    ends: EndEquations,
    limit: TimeLimit,
    places: Callable[[NDArray[np.int64]], tuple[int, ...]],
    figures: Callable[[NDArray[np.int64]], ToldFigures],
) -> Iterator[Fault]:
    if not ends.is_open.any() or not ends.is_fresh.any():
        return
    fresh = places(ends.numbers[ends.is_fresh])
    if fault := unsolved(ends, fresh):
        yield fault
        return
    fixed = ends.fixed_anew(limit)
    limit.check_found(is_found=fixed is not None)
    if fixed is None:
        yield Fault(UNDECIDED, fresh, partial(out_of_time, limit))
        return
    for part in ends.parts_of(fixed):
        yield Fault(
            SUPPRESSED_DERIVED,
            places(ends.numbers[ends.is_fresh & part.equations]),
            partial(figures, ends.numbers[part.equations]),
        )


def _places(
    trial: Trial,
    system: str,
    sums: Sequence[Sequence[int]],
    chosen: NDArray[np.int64],
) -> tuple[int, ...]:
    """Return the places of the fresh cells of some sums, or of all in a system."""
    numbers = {number for place in chosen.tolist() for number in sums[place]}
    own = [one for one in trial.fresh if system in systems_of(trial.cells[one].measure)]
    some = tuple(one for one in own if trial.numbers[one] in numbers)
    return some or tuple(own) or trial.fresh


def _figures(
    trial: Trial, system: str, sums: Sequence[Sequence[int]], chosen: NDArray[np.int64]
) -> ToldFigures:
    """Return which cells tell together that a withheld one is of nobody."""
    numbers = {number for place in chosen.tolist() for number in sums[place]}
    cells = told_cells(trial.after, numbers, lambda measure: system in systems_of(measure))
    return ToldFigures("withheld", 0, 0, 0.0, 0.0, cells)


class _CellAtoms(NamedTuple):
    """Cells over the atoms that they tell apart, and over `some` of these: where combinations of
    cells vanish in these, they vanish in all."""

    rows: SparseRows
    some: SparseRows

    @classmethod
    def of_cells(cls, table: AtomTable, cells: Sequence[int]) -> "_CellAtoms":
        """Return the cells of populations of these numbers, (cells,)."""
        numbers = sorted({*cells})
        places = np.full(max(int(table.members.max(initial=0)), numbers[-1]) + 2, -1, np.int64)
        places[numbers] = np.arange(len(numbers))
        rows = places[table.members]
        words = np.append(np.random.default_rng().integers(1, 2**63, len(numbers), np.uint64), 0)
        names = words.astype(np.uint64)[rows].sum(axis=0)
        rows = rows[:, np.sort(np.unique(names, return_index=True)[1])]
        layers, columns = np.nonzero(rows >= 0)
        pairs = rows[layers, columns], columns, len(numbers), rows.shape[1]
        populations = SparseRows.of_pairs(*pairs)
        whole = populations.repeated(places[[*cells]])
        is_spanning = spanning_columns(populations, random_prime())
        count = int(is_spanning.sum())
        return cls(whole, whole.of_columns(is_spanning, np.cumsum(is_spanning) - 1, count))


def _contents(trial: Trial, is_empty: _Masks) -> AtomContents:
    """Return what is known of atoms and parts before any equation: nothing of those with anybody,
    whatever their size, and of parts that they have nobody or more."""
    most = np.full(len(is_empty), 4 * trial.after.units, np.int64)
    sums = np.where(is_empty, 0.0, 2.0 * trial.after.units)
    return AtomContents(most, sums, is_empty, np.zeros(len(is_empty), np.bool_))
