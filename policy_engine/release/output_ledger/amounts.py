"""What combinations of figures tell of a column: of enough units that add something to them.

Who has nothing in a column, such as no pay, is not hidden by others who have none: that somebody is
out of work may be known. So what combinations of totals, means and deviations of a column tell is
to be of enough owners who have something in it. How many these are depends on what one of them has
only where they are just as many as are enough: atoms where nobody has anything count as few.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.release.output_ledger.answers import AMOUNTS, told_columns
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.linear_systems import LinearSystem, linear_systems
from policy_engine.release.output_ledger.met_limits import too_many_populations
from policy_engine.release.output_ledger.spans import PRIMES, TOO_LARGE, cells_of, light_faults
from policy_engine.release.output_ledger.unit_owners import AtomOwners

_COMMON = 2
"""How many values do not count, at most: nothing, and what most have."""


def amount_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells that tell, with others, something of a column about too few owners who
    have something in it."""
    if trial.contributing is None:
        return
    columns = {name for one in trial.fresh for name in told_columns(trial.cells[one].measure)}
    for column in sorted(columns):
        masks = trial.contributing(column, _parts(trial, table, column))
        for place, is_counted in enumerate(masks):
            own = contributing_table(trial, table, is_counted)
            if not _is_other(trial, table, own, column):
                continue
            for system in linear_systems(trial, own, [f"{AMOUNTS}{column}"]):
                yield from _faults_of(trial, system, are_judged=place > 0)


def contributing_table(trial: Trial, table: AtomTable, is_counted: NDArray[np.bool_]) -> AtomTable:
    """Return a table whose atoms are of the owners of those units alone that count, (units,)."""
    atoms, count = table.atoms.numbers[is_counted].astype(np.int64), len(table.atoms.sizes)
    least = table.owners.least
    if trial.owners is None:
        sizes = np.bincount(atoms, minlength=count).astype(np.int64)
        return table._replace(owners=AtomOwners.of_units(sizes, least))
    numbers = trial.owners.numbers[is_counted]
    return table._replace(owners=AtomOwners.of_pairs(atoms, numbers, count, least))


def _is_other(trial: Trial, table: AtomTable, own: AtomTable, column: str) -> bool:
    """Return whether somebody in a population of which something is told of a column does not
    count."""
    is_other = own.owners.sizes != table.owners.sizes
    return bool(np.isin(table.members[:, is_other], _told_numbers(trial, column)).any())


def _parts(trial: Trial, table: AtomTable, column: str) -> NDArray[np.int64]:
    """Return the part of each unit, (units,): those in the same populations of which something is
    told of a column are in one."""
    is_meant = np.isin(table.members, _told_numbers(trial, column))
    members = np.where(is_meant, table.members, -1)
    _, parts = np.unique(members, axis=1, return_inverse=True)
    return parts.reshape(-1)[table.atoms.numbers].astype(np.int64)


def _told_numbers(trial: Trial, column: str) -> list[int]:
    """Return the populations of which something is told of a column."""
    numbers = set[int]()
    for measure, populations in trial.after.released.items():
        if column in told_columns(measure):
            numbers |= populations
    return [*numbers]


def _judged(system: LinearSystem) -> NDArray[np.bool_]:
    """Return which new rows tell by themselves of nobody who has a rare value, (rows,), or of as
    many as a figure of a cell may that is judged by itself: of enough different values."""
    sizes = system.rows.sums(system.owners.sizes.astype(np.float64))
    is_meant = (sizes == 0) | (sizes >= system.owners.least - _COMMON)
    return np.asarray(system.is_fresh & is_meant, np.bool_)


def _faults_of(trial: Trial, system: LinearSystem, *, are_judged: bool) -> Iterator[Fault]:
    if system.is_too_large:
        places = cells_of(trial, system, system.fresh_numbers)
        yield Fault(TOO_LARGE, places, too_many_populations(system))
        return
    for _ in range(PRIMES):
        is_judged = _judged(system) if are_judged else None
        faults = [*light_faults(trial, system, random_prime(), is_judged)]
        yield from faults
        if faults:
            return
