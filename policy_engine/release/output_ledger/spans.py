"""What can be derived exactly from all that is released: of suppressed cells, and of few units."""

from collections.abc import Iterator

import numpy as np

from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.kernels.output_checks.sparse_span import SparseRows, WholeForm
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.linear_systems import LinearSystem, is_row
from policy_engine.release.output_ledger.small_combinations import SmallCombinations

FEW_DERIVED, SUPPRESSED_DERIVED, TOO_LARGE = "K043", "K044", "K046"

_PRIMES = 2


def span_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield why the new cells of a system may not be given: by what they make derivable."""
    has_targets = bool(system.targets.count)
    is_small = system.owners.are_small
    if not has_targets and not (is_small.any() and system.is_fresh.any()):
        return
    if system.is_too_large:
        yield Fault(TOO_LARGE, cells_of(trial, system, system.fresh_numbers))
        return
    for _ in range(_PRIMES):
        prime = random_prime()
        faults = [*_target_faults(trial, system, prime), *_light_faults(trial, system, prime)]
        yield from faults
        if faults:
            return


def _target_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells from which suppressed ones can be derived, unless they could be before."""
    if not system.targets.count:
        return
    own, order = system.rows.chosen(system.is_own), system.order
    form = WholeForm.of_rows(own, order, prime)
    derived = form.spans(system.targets)
    if not derived.any():
        return
    earlier = system.rows.chosen(system.is_own & ~system.is_fresh)
    derived &= ~WholeForm.of_rows(earlier, order, prime).spans(system.targets)
    for place in np.flatnonzero(derived).tolist():
        numbers = _used(system, form, system.targets.chosen(np.arange(len(derived)) == place))
        yield Fault(SUPPRESSED_DERIVED, cells_of(trial, system, numbers))


def _used(system: LinearSystem, form: WholeForm, target: SparseRows) -> list[int]:
    """Return the numbers of the new rows that a target is combined of."""
    is_used = form.factors(target.dense())[:, 0] != 0
    is_fresh = system.is_fresh[system.is_own]
    numbers: list[int] = system.numbers[system.is_own][is_used & is_fresh].tolist()
    return numbers


def _light_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells that, together with others, tell of fewer owners than allowed."""
    if not system.owners.are_small.any() or not system.is_fresh.any():
        return
    small = SmallCombinations.of_system(system, prime)
    for numbers in small.told(is_known_free=True):
        yield Fault(FEW_DERIVED, cells_of(trial, system, numbers))


def cells_of(trial: Trial, system: LinearSystem, numbers: list[int]) -> tuple[int, ...]:
    """Return the places of the fresh cells of some populations in a system; if there are none,
    as for a suppressed cell that earlier answers tell of, those of all fresh cells."""
    chosen = {*numbers}
    places = tuple(
        place
        for place in trial.fresh
        if trial.numbers[place] in chosen and is_row(system.name, trial.cells[place].measure)
    )
    return places or trial.fresh
