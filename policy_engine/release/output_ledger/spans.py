"""What can be derived exactly from all that is released: of suppressed cells, and of few units."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import (
    Residues,
    combination,
    in_span,
    light_vector,
    random_prime,
    within,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.linear_systems import LinearSystem, is_row

FEW_DERIVED, SUPPRESSED_DERIVED, TOO_LARGE = "K043", "K044", "K046"
NODES = 2_000
"""How many subspaces are searched for combinations that tell of few units."""

_PRIMES = 2


def span_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield why the new cells of a system may not be given: by what they make derivable."""
    has_targets = bool(len(system.targets))
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
    if not len(system.targets):
        return
    own = system.rows[system.is_own]
    earlier = system.rows[system.is_own & ~system.is_fresh]
    derived = in_span(own, system.targets, prime) & ~in_span(earlier, system.targets, prime)
    for place in np.flatnonzero(derived):
        numbers = _used(system, system.is_own, system.targets[place], prime)
        yield Fault(SUPPRESSED_DERIVED, cells_of(trial, system, numbers))


def _light_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells that, together with others, tell of fewer owners than allowed."""
    owners = system.owners
    columns = owners.are_small
    if not columns.any() or not system.is_fresh.any():
        return
    earlier = system.rows[~system.is_fresh]

    def widened(vector: Residues) -> Residues:
        full = np.zeros(len(columns))
        full[columns] = vector
        return full

    def is_known(vector: Residues) -> bool:
        full = widened(vector)
        return owners.are_enough(full != 0) or bool(in_span(earlier, full[None, :], prime)[0])

    basis = within(system.rows, columns, prime)
    shares, least = owners.shares[columns], owners.least_share
    result = light_vector(basis, shares, least, prime, is_known, NODES)
    if result.state == "found":
        everything = np.ones(len(system.rows), np.bool_)
        numbers = _used(system, everything, widened(result.vector), prime)
        yield Fault(FEW_DERIVED, cells_of(trial, system, numbers))
    elif result.state == "undecided":
        yield Fault(TOO_LARGE, cells_of(trial, system, system.fresh_numbers))


def _used(
    system: LinearSystem, is_row: NDArray[np.bool_], vector: Residues, prime: int
) -> list[int]:
    """Return the numbers of the new rows that a vector is combined of, if old ones do not do."""
    order = np.flatnonzero(is_row)
    order = order[np.argsort(system.is_fresh[order], kind="stable")]
    used = order[combination(system.rows[order], vector, prime)]
    numbers: list[int] = system.numbers[used[system.is_fresh[used]]].tolist()
    return numbers


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
