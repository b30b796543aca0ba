"""Within which bounds values are known: of whole counts, and of sums of bounded contributions."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.released_bounds import (
    KnownInterval,
    KnownSums,
    can_solve,
    has_interior,
    intervals,
)
from policy_engine.kernels.output_checks.released_span import random_prime
from policy_engine.kernels.output_checks.sparse_span import WholeForm
from policy_engine.release.output_ledger.answers import (
    DISTINCT_PERSONS,
    PERSONS,
    ToldFigures,
    are_counts,
    column_of,
)
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import Suppressed
from policy_engine.release.output_ledger.linear_systems import LinearSystem, target_systems
from policy_engine.release.output_ledger.met_limits import met, no_solver, too_dense
from policy_engine.release.output_ledger.spans import TOO_LARGE, cells_of
from policy_engine.release.output_ledger.told_cells import released_value
from policy_engine.release.output_ledger.told_figures import system_figures
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW, whole_faults

UNDECIDED = "K048"
SECONDS = 20.0
"""How long the bounds of the cells of a system may take."""

MOST_DENSE = 20_000_000
"""Of how many populations times atoms bounds are computed by linear programmes."""
_TINY = 1e-6


def bounds_faults(trial: Trial, system: LinearSystem) -> Iterator[Fault]:
    """Yield why the new cells of a system may not be given: by how narrow bounds become."""
    if not system.is_fresh.any():
        return
    if are_counts(system.name) or system.name in (PERSONS, DISTINCT_PERSONS):
        yield from whole_faults(trial, system)
    column = column_of(system.name)
    if not are_counts(system.name) and column not in trial.after.bounds:
        return  # Without bounds, what is not known exactly may be anything.
    goals = _goals(trial, system)
    has_small = bool(system.owners.are_small.any())
    needs_all = not are_counts(system.name) and (has_small or bool(system.targets.count))
    if goals or needs_all:
        yield from _interval_faults(trial, system, goals, needs_interior=needs_all)


def _goals(trial: Trial, system: LinearSystem) -> list[tuple[int, Suppressed]]:
    """Return the targets of which more is asked than that they are not known exactly."""
    goals = []
    for place, number in enumerate(system.target_numbers.tolist()):
        for (measure, other), cell in trial.after.suppressed.items():
            is_meant = other == number and system.name in target_systems(measure)
            if is_meant and cell.protection.is_interval:
                goals.append((place, _as_total(trial, measure, number, cell)))
    return goals


def _as_total(trial: Trial, measure: str, number: int, cell: Suppressed) -> Suppressed:
    """Return a suppressed cell as it is one of its system: a mean as the total that it tells."""
    if cell.value is None or not measure.startswith("mean:"):
        return cell
    return cell._replace(value=cell.value * trial.after.sizes[number])


def _interval_faults(
    trial: Trial,
    system: LinearSystem,
    goals: list[tuple[int, Suppressed]],
    *,
    needs_interior: bool,
) -> Iterator[Fault]:
    populations, atoms = system.rows.count + system.targets.count, len(system.weights)
    if populations * atoms > MOST_DENSE:
        places = cells_of(trial, system, system.fresh_numbers)
        yield Fault(TOO_LARGE, places, too_dense(populations, atoms, MOST_DENSE))
        return
    is_new = system.is_fresh & ~_follows(system)
    places = cells_of(trial, system, system.numbers[is_new].tolist())
    sums = _sums(trial, system, ~system.is_fresh | is_new)
    if sums is None or not can_solve() or any(_value(system, *goal) is None for goal in goals):
        yield Fault(UNDECIDED, places, partial(met, "value") if can_solve() else no_solver)
        return
    if not is_new.any():
        return
    if needs_interior and not has_interior(sums, min(SECONDS, trial.limit.left)):
        trial.limit.check()
        yield Fault(TOO_NARROW, places)
        return
    own = (system.is_own & (~system.is_fresh | is_new)).nonzero()[0]
    narrow = _narrow_goals(trial, system, sums, goals)
    earlier = _sums(trial, system, ~system.is_fresh)
    trial.limit.check_found(is_found=narrow is not None)
    if narrow is None or earlier is None:
        yield Fault(UNDECIDED, places, partial(met, "seconds", most=SECONDS))
        return
    ends_before = intervals(
        earlier,
        system.targets.dense()[[goal[0] for goal, _ in narrow]],
        min(SECONDS, trial.limit.left),
    )
    for (goal, ends), before in zip_longest(narrow, ends_before):
        if before is None or _is_narrower(ends, before, _value(system, *goal) or 0.0):
            used = own[ends.equations]
            numbers = system.numbers[used[is_new[used]]]
            figures = partial(_interval_figures, trial, system, used, goal[0], ends)
            yield Fault(TOO_NARROW, cells_of(trial, system, numbers.tolist()), figures)


def _interval_figures(
    trial: Trial,
    system: LinearSystem,
    used: NDArray[np.int64],
    target: int,
    ends: KnownInterval,
) -> ToldFigures:
    """Return between what a withheld cell would be known to lie, and by which rows."""
    is_used = np.isin(np.arange(system.rows.count), used)
    is_about = system.targets.chosen(np.arange(system.targets.count) == target).covered
    low, high = (one if math.isfinite(one) else None for one in (ends.low, ends.high))
    return system_figures(trial.after, system, is_used, is_about, "withheld", (low, high))


def _is_narrower(ends: KnownInterval, before: KnownInterval, value: float) -> bool:
    """Return whether an interval is narrower than one that was known before."""
    margin = _TINY * max(1.0, abs(value))
    return ends.low > before.low + margin or ends.high < before.high - margin


def _follows(system: LinearSystem) -> NDArray[np.bool_]:
    """Return which rows of a system follow from earlier ones of its measure: they tell nothing."""
    earlier = system.rows.chosen(system.is_own & ~system.is_fresh)
    form = WholeForm.of_rows(earlier, system.order, random_prime())
    return form.spans(system.rows)


_Goal = tuple[int, Suppressed]


def _narrow_goals(
    trial: Trial, system: LinearSystem, sums: KnownSums, goals: Sequence[_Goal]
) -> list[tuple[_Goal, KnownInterval]] | None:
    """Return the goals that are known too closely, each with what is known of it; None where that
    is not known in time."""
    targets = system.targets.dense()[[place for place, _ in goals]]
    all_ends = [*intervals(sums, targets, min(SECONDS, trial.limit.left))]
    if len(all_ends) < len(goals):
        return None
    pairs = zip(goals, all_ends, strict=True)
    return [(goal, ends) for goal, ends in pairs if _is_narrow(system, goal, ends)]


def _value(system: LinearSystem, place: int, cell: Suppressed) -> float | None:
    """Return the value of a suppressed cell: a count is known even where it is not given."""
    if are_counts(system.name):
        return float(system.targets.sums(system.weights.astype(np.float64))[place])
    return cell.value


def _is_narrow(system: LinearSystem, goal: tuple[int, Suppressed], ends: KnownInterval) -> bool:
    """Return whether an interval does not reach as far from a value as it has to."""
    low, high = ends.low, ends.high
    if are_counts(system.name):
        low = math.ceil(low - _TINY) if math.isfinite(low) else low
        high = math.floor(high + _TINY) if math.isfinite(high) else high
    value = _value(system, *goal) or 0.0
    below, above = goal[1].protection.reach(value)
    margin = _TINY * max(1.0, abs(value))
    return low > value - below + margin or high < value + above - margin


def _sums(trial: Trial, system: LinearSystem, is_used: NDArray[np.bool_]) -> KnownSums | None:
    """Return what some rows of a system tell of its atoms, in shares of the largest value; None
    where a released value is not known. Measures that are no totals, such as a median, tell none.
    """
    weights, is_used = system.weights.astype(np.float64), system.is_own & is_used
    own = system.rows.chosen(is_used).dense()
    if are_counts(system.name):
        ends = np.zeros(len(weights)), np.full(len(weights), np.inf)
        return KnownSums(own, own @ weights, *ends)
    least, most = trial.after.bounds[column_of(system.name)]
    numbers = system.numbers[is_used].tolist()
    values = [released_value(trial.after, system.name, one) for one in numbers]
    if any(value is None for value in values):
        return None
    sums = np.array(values, np.float64)
    scale = max(float(np.abs(sums).max(initial=0.0)), 1.0)
    return KnownSums(own, sums / scale, weights * least / scale, weights * most / scale, scale)
