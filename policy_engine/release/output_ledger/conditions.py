"""Whether a new population has the units of a released one by chance: under another condition.

Two conditions that happen to hold of the same units tell as much as two that differ by a few: that
none of the few by whom they could differ does. So what is given must not depend on which it is.
"""

from collections.abc import Iterator
from functools import partial

from policy_engine.release.output_ledger.answers import OutputCell
from policy_engine.release.output_ledger.differences import (
    NEAR_EARLIER,
    NEAR_OWN,
    Fault,
    Trial,
    are_compatible,
    difference_figures,
)


def condition_faults(trial: Trial) -> Iterator[Fault]:
    """Yield the released cells whose units are those of another cell of a compatible measure,
    released before or in the answer, under a condition that is not the same."""
    if trial.is_same_condition is None:
        return
    earlier = _earlier_conditions(trial)
    own: dict[int, list[OutputCell]] = {}
    for place, (cell, number) in enumerate(zip(trial.cells, trial.numbers, strict=True)):
        if not (cell.is_released and cell.condition) or number < 0:
            continue
        if not trial.after.sizes[number]:
            continue
        if cell.condition in trial.before.conditions.get((cell.measure, number), ()):
            own.setdefault(number, []).append(cell)
            continue
        texts = {
            text
            for measure, conditions in earlier.get(number, {}).items()
            if are_compatible(cell.measure, measure)
            for text in conditions
        }
        more = {
            one.condition
            for one in own.get(number, ())
            if are_compatible(cell.measure, one.measure)
        }
        figures = partial(difference_figures, trial, place, number)
        if not _are_same(trial, cell.condition, texts):
            yield Fault(NEAR_EARLIER, (place,), figures)
        elif not _are_same(trial, cell.condition, more):
            yield Fault(NEAR_OWN, (place,), figures)
        else:
            own.setdefault(number, []).append(cell)


def _earlier_conditions(trial: Trial) -> dict[int, dict[str, frozenset[str]]]:
    """Return the conditions of what was released before, by population and measure."""
    numbers = {*trial.numbers}
    conditions: dict[int, dict[str, frozenset[str]]] = {}
    for (measure, number), texts in trial.before.conditions.items():
        if number in numbers:
            conditions.setdefault(number, {})[measure] = texts
    return conditions


def _are_same(trial: Trial, condition: str, others: set[str]) -> bool:
    if not others or others == {condition}:
        return True
    is_same = trial.is_same_condition
    assert is_same is not None  # noqa: S101 (its caller checks)
    return all(one == condition or is_same(one, condition) for one in sorted(others))
