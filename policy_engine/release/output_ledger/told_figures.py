"""What cells at fault would tell, and together with which cells: for owners and auditors alone."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.answers import ToldFigures, ToldKind, are_counts
from policy_engine.release.output_ledger.knowledge import Knowledge
from policy_engine.release.output_ledger.linear_systems import LinearSystem, is_row
from policy_engine.release.output_ledger.told_cells import released_value, told_cells

_Masks = NDArray[np.bool_]


def system_figures(
    after: Knowledge,
    system: LinearSystem,
    is_used: _Masks,
    is_about: _Masks,
    kind: ToldKind,
    ends: tuple[float | None, float | None] = (None, None),
) -> ToldFigures:
    """Return what the rows of a system that are used, (rows,), tell together of some atoms,
    (atoms,): that what is asked of these is between two ends."""
    owners = system.owners
    if owners.pairs is None:
        count = int(owners.sizes[is_about].sum())
    else:
        count = len(np.unique(owners.pairs[1][is_about[owners.pairs[0]]]))
    numbers = {*system.numbers[is_used].tolist()}
    cells = told_cells(after, numbers, lambda measure: is_row(system.name, measure))
    return ToldFigures(kind, int(system.weights[is_about].sum()), count, *ends, cells)


def row_values(after: Knowledge, system: LinearSystem) -> NDArray[np.float64]:
    """Return the values of the rows of a system of counts or totals, (rows,), NaN where a value is
    not known."""
    if are_counts(system.name):
        return system.rows.sums(system.weights.astype(np.float64))
    values = [released_value(after, system.name, one) for one in system.numbers.tolist()]
    return np.array([np.nan if value is None else value for value in values], np.float64)
