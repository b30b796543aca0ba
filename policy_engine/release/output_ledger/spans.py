"""What can be derived exactly from all that is released: of suppressed cells, and of few units."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.kernels.output_checks.sparse_span import SparseRows, WholeForm
from policy_engine.release.output_ledger.answers import ToldFigures, are_counts
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.linear_systems import (
    LinearSystem,
    is_row,
    target_systems,
)
from policy_engine.release.output_ledger.met_limits import too_many_populations
from policy_engine.release.output_ledger.small_combinations import SmallCombinations
from policy_engine.release.output_ledger.told_figures import system_figures

FEW_DERIVED, SUPPRESSED_DERIVED, TOO_LARGE = "K043", "K044", "K046"

PRIMES = 2
"""How many primes are tried: what is derived modulo one may not be, by chance, modulo another."""


def span_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield why the new cells of a system may not be given: by what they make derivable."""
    has_targets = bool(system.targets.count)
    is_small = system.owners.are_small
    if not has_targets and not (is_small.any() and system.is_fresh.any()):
        return
    if system.is_too_large:
        places = cells_of(trial, system, system.fresh_numbers)
        yield Fault(TOO_LARGE, places, too_many_populations(system))
        return
    for _ in range(PRIMES):
        trial.limit.check()
        prime = random_prime()
        faults = [*_target_faults(trial, system, prime), *light_faults(trial, system, prime)]
        yield from faults
        if faults:
            return


def _target_faults(trial: Trial, system: LinearSystem, prime: int) -> Iterator[Fault]:
    """Yield the cells from which suppressed ones can be derived, unless they could be before."""
    if not system.targets.count:
        return
    own, order = system.rows.chosen(system.is_own), system.order
    form = WholeForm.of_rows(own, order, prime)
    trial.limit.check()
    derived = form.spans(system.targets)
    if not derived.any():
        return
    earlier = system.rows.chosen(system.is_own & ~system.is_fresh)
    derived &= ~WholeForm.of_rows(earlier, order, prime).spans(system.targets)
    is_needed = np.zeros(system.rows.count, np.bool_)
    is_needed[system.is_own] = form.are_needed
    for place in np.flatnonzero(derived).tolist():
        target = system.targets.chosen(np.arange(len(derived)) == place)
        is_used = _used(system, form, target)
        is_new = is_used & system.is_fresh
        # Without one that is needed the value does not follow, nor that one from the others.
        is_meant = is_new & is_needed if (is_new & is_needed).any() else is_new
        numbers = system.numbers[is_meant].tolist()
        figures = partial(_target_figures, trial, system, is_used, place)
        yield Fault(SUPPRESSED_DERIVED, cells_of(trial, system, numbers), figures)


def _used(system: LinearSystem, form: WholeForm, target: SparseRows) -> NDArray[np.bool_]:
    """Return the rows that a target is combined of: (rows,)."""
    is_used = np.zeros(system.rows.count, np.bool_)
    is_used[system.is_own] = form.factors(target.dense())[:, 0] != 0
    return is_used


def _target_figures(
    trial: Trial, system: LinearSystem, is_used: NDArray[np.bool_], place: int
) -> ToldFigures:
    """Return which withheld value follows from the rows that are used."""
    is_about = system.targets.chosen(np.arange(system.targets.count) == place).covered
    number = int(system.target_numbers[place])
    value: float | None = float(system.weights[is_about].sum())
    if not are_counts(system.name):
        size = trial.after.sizes[number]
        values = (
            one.value * size if measure.startswith("mean:") else one.value
            for (measure, other), one in trial.after.suppressed.items()
            if other == number and system.name in target_systems(measure) and one.value is not None
        )
        value = next(values, None)
    ends = value, value
    return system_figures(trial.after, system, is_used, is_about, "withheld", ends)


def light_faults(
    trial: Trial, system: LinearSystem, prime: int, is_judged: NDArray[np.bool_] | None = None
) -> Iterator[Fault]:
    """Yield the cells that, together with others, tell of fewer owners than allowed; not what rows
    tell by themselves that are `judged`, (rows,)."""
    if not system.owners.are_small.any() or not system.is_fresh.any():
        return
    trial.limit.check()
    small = SmallCombinations.of_system(system, prime, limit=trial.limit, is_judged=is_judged)
    for combination in small.told(is_known_free=True):
        figures = partial(small.figures_of, combination, trial.after)
        yield Fault(FEW_DERIVED, cells_of(trial, system, combination.numbers), figures)


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
