"""Whether counts tell that some units, known in all else, are alike: all holders, or none of them.

Who asks may know everything of everybody but whether they are holders, such as whether they are
ill. Then each count of holders is an equation between 0 and the size of each atom of the known
populations, and no atom may be known to be at either end; of what has many values, as a region, at
none but that all are holders.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import (
    FixedEnds,
    KnownSums,
    can_solve,
    fixed_ends,
)
from policy_engine.release.output_ledger.bounding import SECONDS, TOO_NARROW, UNDECIDED
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.linear_systems import LinearSystem
from policy_engine.release.output_ledger.spans import TOO_LARGE, cells_of

_Masks = NDArray[np.bool_]


def alike_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield the new cells of how many are holders that tell of some units that all of them are, or
    none is, each with those that tell it together."""
    holders = system.holders
    assert holders is not None  # noqa: S101 (an answer has those of its measures)
    least = 0 if system.name not in trial.one_sided else -1
    is_end: _Masks = np.isin(holders, least) | np.equal(holders, system.weights)
    if not is_end.any() or not system.is_fresh.any():
        return
    places = cells_of(trial, system, system.fresh_numbers)
    if system.is_too_large or not can_solve():
        yield Fault(TOO_LARGE if system.is_too_large else UNDECIDED, places)
        return
    is_open = is_end & ~_told_alone(trial, system)
    fixed = _fixed_anew(system, holders.astype(np.float64), is_open)
    if fixed is None:
        yield Fault(UNDECIDED, places)
    elif fixed.atoms.any():
        is_used = system.is_fresh & fixed.equations
        numbers = system.numbers[is_used if is_used.any() else system.is_fresh].tolist()
        yield Fault(TOO_NARROW, cells_of(trial, system, numbers))


def _told_alone(trial: Trial, system: LinearSystem) -> _Masks:
    """Return the atoms of which one cell tells, and may, that all are holders, or none is."""
    values = trial.after.values
    is_alone = [values.get((system.name, one)) is not None for one in system.numbers.tolist()]
    return np.asarray(system.rows[np.array(is_alone, np.bool_)].any(axis=0), np.bool_)


def _fixed_anew(
    system: LinearSystem, holders: NDArray[np.float64], is_end: _Masks
) -> FixedEnds | None:
    """Return the atoms that stay at an end, but not where earlier answers alone tell it, and the
    equations that tell it of them."""
    every = np.ones(len(system.rows), np.bool_)
    fixed = _fixed(system, every, holders, is_end)
    if fixed is None or not fixed.atoms.any():
        return fixed
    earlier = _fixed(system, ~system.is_fresh, holders, fixed.atoms)
    if earlier is None or not earlier.atoms.any():
        return fixed if earlier is not None else None
    return _fixed(system, every, holders, fixed.atoms & ~earlier.atoms)


def _fixed(
    system: LinearSystem, is_row: _Masks, holders: NDArray[np.float64], is_end: _Masks
) -> FixedEnds | None:
    rows, sizes = system.rows[is_row], system.weights.astype(np.float64)
    is_end = is_end & rows.any(axis=0)
    if not is_end.any():
        return FixedEnds(is_end, np.zeros(len(rows), np.bool_))
    sums = KnownSums(rows, rows @ holders, np.zeros(len(sizes)), sizes)
    return fixed_ends(sums, holders, is_end, SECONDS)
