"""Whether counts tell that some units, known in all else, are alike: all holders, or none of them.

Who asks may know everything of everybody but whether they are holders, such as whether they are
ill. Then each count of holders is an equation between 0 and the size of each atom of the known
populations, and no atom may be known to be at either end.
"""

from collections.abc import Iterator

import numpy as np

from policy_engine.kernels.output_checks.released_bounds import KnownSums, can_solve, fixed_ends
from policy_engine.release.output_ledger.bounding import SECONDS, TOO_NARROW, UNDECIDED
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.linear_systems import LinearSystem
from policy_engine.release.output_ledger.spans import TOO_LARGE, cells_of


def alike_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield the new cells of how many are holders that tell of some units that all of them are, or
    none is, each with those that tell it together."""
    holders = system.holders
    assert holders is not None  # noqa: S101 (an answer has those of its measures)
    is_end = (holders == 0) | (holders == system.weights)
    if not is_end.any() or not system.is_fresh.any():
        return
    places = cells_of(trial, system, system.fresh_numbers)
    if system.is_too_large or not can_solve():
        yield Fault(TOO_LARGE if system.is_too_large else UNDECIDED, places)
        return
    sizes = system.weights.astype(np.float64)
    sums = KnownSums(system.rows, system.rows @ holders, np.zeros(len(sizes)), sizes)
    fixed = fixed_ends(sums, holders.astype(np.float64), SECONDS)
    if fixed is None:
        yield Fault(UNDECIDED, places)
    elif fixed.atoms.any():
        is_used = system.is_fresh & fixed.equations
        numbers = system.numbers[is_used if is_used.any() else system.is_fresh].tolist()
        yield Fault(TOO_NARROW, cells_of(trial, system, numbers))
