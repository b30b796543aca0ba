"""The groups of columns that were averaged together, as who knows all their values has them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.mechanisms import group_members

Floats = NDArray[np.float64]


def known_groups(group: Sequence[KnownColumn], files: TwoFiles) -> list[ColumnLikelihood]:
    """Return a column by which persons are in their groups; none where nobody can tell them.

    MDAV draws nothing: made again of all values, its means are those published. They are not where
    an intruder lacks a column that was averaged with these, or where rows were left out.
    """
    simulations = [files.again.get(one.name) for one in group]
    made, names = [], {one.name for one in group}
    for simulation in simulations:
        if simulation is None or {*simulation.together} != names or simulation.made is None:
            return []
        made.append(simulation.made)
    own_means = np.column_stack(made)
    known_values = np.column_stack([one.known_numbers() for one in group])
    means = np.column_stack([one.released_numbers()[0] for one in group])
    persons, records = _are_whole(own_means), _are_whole(means)
    averaged = known_values[: len(own_means)][persons]
    members = group_members(averaged, own_means[persons], means[records])
    if members is None:
        return []
    # Of persons who were never in the original, nobody knows a group.
    everybody = np.concatenate([persons, np.zeros(len(known_values) - len(persons), np.bool_)])
    is_whole = bool(everybody.all() and records.all())
    return [members if is_whole else members.among(everybody, records)]


def _are_whole(rows: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(rows).any(axis=1))
