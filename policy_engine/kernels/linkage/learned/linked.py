"""Which persons a distance links to their own records."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats
from policy_engine.kernels.linkage.learned.rivals import Rivals, margin_of, reach

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_CELLS = 1 << 22


def linked(differences: Floats, own: Ints, distances: Distances, parameters: Floats) -> Bools:
    """Return which persons a distance links, (persons,), given (persons, records, columns).

    A person is linked if every other record is farther than the person's `own`, (persons,), by
    more than rounding (see `MARGIN`): an unresolved tie is not a link. -1 is a person without a
    record. All pairs are counted, whatever was left out while the distance was learned.
    """
    is_linked = np.zeros(len(own), dtype=bool)
    for person in np.flatnonzero(own >= 0):
        mine, others = (
            differences[person, own[person]],
            np.delete(differences[person], own[person], 0),
        )
        margin = margin_of(mine, reach(mine, others, distances)[1])
        nearer = distances.features(others) @ parameters - distances.features(mine) @ parameters
        is_linked[person] = margin > 0 and bool((nearer >= margin).all())
    return is_linked


def apart(rivals: Rivals, distances: Distances, parameters: Floats) -> Floats:
    """Return by how much each rival is farther than the person's own record, (rows,)."""
    mine = distances.features(rivals.own) @ parameters
    values = np.empty(len(rivals.others))
    step = max(1, _CELLS // len(parameters))
    for start in range(0, len(values), step):
        part = slice(start, start + step)
        values[part] = distances.features(rivals.others[part]) @ parameters
    return values - mine[rivals.persons()]


def nearest(values: Floats, rivals: Rivals) -> Floats:
    """Return the least of the values of each person's rivals, (persons,)."""
    if not len(rivals.own):
        return np.zeros(0)
    least: Floats = np.minimum.reduceat(values, rivals.starts[:-1])
    return least
