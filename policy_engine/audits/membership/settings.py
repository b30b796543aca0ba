"""How an audit is run: which attacks, with how many shadow models, from which seed."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from policy_engine.audits.membership.attacks import Attack, attack_of, expand_attacks, notations
from policy_engine.audits.membership.attacks.attack import format_terms
from policy_engine.audits.membership.conduct import Skipped
from policy_engine.audits.membership.figures import ACCURACY, StrengthMeasure
from policy_engine.audits.membership.measuring import FPRS
from policy_engine.audits.membership.observations import (
    FEWEST_SHADOWS,
    ONLINE_SHADOWS,
    REFERENCES,
    SHADOW_MEMBERS,
    SHADOWS,
    VIEWS,
    Terms,
)
from policy_engine.audits.membership.randomized_response import BINS, MOST_BINS
from policy_engine.errors import AuditError, Problem, join_names

BASELINE = "label-only"
OPTIONAL_TERMS = frozenset({VIEWS, REFERENCES})
"""What models have to give besides answers on the audited records, if a named attack needs it."""
_SHADOW_TERMS = frozenset({SHADOWS, ONLINE_SHADOWS, SHADOW_MEMBERS})


@dataclass(frozen=True)
class Settings:
    """The settings of an audit, which with the data and the model determine its result.

    Without `attacks`, all that the model and the data allow are run. `shadows` is the number of
    disjoint shadow models, and of online ones, if attacks need them. `slices` names columns; there
    are figures for each of their values. With `local_epsilon`, all training data are perturbed,
    every attribute with that epsilon, and the attacker has records of the original or the perturbed
    domain; columns with more than `bins` numbers are then replaced by that many ranges of equal
    width, between the ends that `ranges` has for a column (its name, the smallest and the largest
    number), or else between those in the records. `fprs` are the false-positive rates at which
    true-positive rates are reported. With several `targets`, every attack is run on as many models,
    each trained on another half of the audited records, and the report has means and deviations
    too. `strongest_by` is the measure that determines the strongest attack; tprAtFpr is taken at
    one of these rates. Raises AuditError with all problems:
    an unknown attack (A012), fewer than two shadows where some are needed or no target (A007), an
    epsilon that is not above 0, invalid bins or ranges (A006).
    """

    attacks: tuple[str, ...] = ()
    shadows: int = 10
    seed: int = 0
    slices: tuple[str, ...] = ()
    local_epsilon: float | None = None
    attack_domain: Literal["original", "perturbed"] = "original"
    bins: int = BINS
    ranges: tuple[tuple[str, float, float], ...] = ()
    fprs: tuple[float, ...] = FPRS
    targets: int = 1
    strongest_by: StrengthMeasure = ACCURACY

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        try:
            object.__setattr__(self, "attacks", expand_attacks(self.attacks))
        except AuditError as error:
            problems += error.problems
        problems += self._problems()
        if problems:
            raise AuditError(*problems)

    def _problems(self) -> Iterator[Problem]:
        epsilon = self.local_epsilon
        if epsilon is not None and not (epsilon > 0 and math.isfinite(epsilon)):
            yield Problem("A006", f"The local epsilon must be above 0. Given: {epsilon!r}.")
        if not 2 <= self.bins <= MOST_BINS:
            message = f"The number of bins must be from 2 to {MOST_BINS}. Given: {self.bins!r}."
            yield Problem("A006", message)
        for name, low, high in self.ranges:
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                message = f"The range of {name!r} must go from a number to a larger one. "
                yield Problem("A006", f"{message}Given: {low:g} to {high:g}.")
        if self.shadows < FEWEST_SHADOWS and self._needs_shadows():
            message = f"At least {FEWEST_SHADOWS} shadow models are needed."
            yield Problem("A007", f"{message} Given: {self.shadows}.")

        if self.targets < 1:
            yield Problem("A007", f"At least one target is needed. Given: {self.targets}.")

    def _needs_shadows(self) -> bool:
        try:
            return not self.attacks or any(needs_shadows(attack_of(one)) for one in self.attacks)
        except AuditError:
            return False


def attacks_of_model(
    settings: Settings, gives: Terms, more: Terms = OPTIONAL_TERMS
) -> tuple[Attack, ...]:
    """Return the attacks to be run on a model, the baseline among them.

    `gives` are the terms of what the model answers; shadow models there may be as many as an
    attack needs. What needs some of `more` is run only where it is asked for. Raises AuditError
    (A005) with all that were asked for and need more still.
    """
    requested = tuple(map(attack_of, settings.attacks))
    available = gives | _SHADOW_TERMS
    impossible = [one for one in requested if not one.needs <= available | more]
    if impossible:
        lacking = sorted(
            frozenset[str]().union(*(one.needs - available - more for one in impossible))
        )
        names = join_names([one.notation for one in impossible])
        message = f"The model gives {format_terms(gives)}. {names} need {' and '.join(lacking)}."
        raise AuditError.of("A005", message, f"Run {BASELINE!r}.")
    all_attacks = [one for one in map(attack_of, notations()) if one.needs <= available]
    return _add_baseline(list(requested) or all_attacks)


def attacks_of_predictions(settings: Settings, gives: Terms) -> tuple[Attack, ...]:
    """Return the attacks to be run on predictions, with what shadow models there are.

    `gives` are the terms of all that there is. Raises AuditError with all that were asked for and
    need shadow models that there are not (A007), or more than labels (A005).
    """
    requested = tuple(map(attack_of, settings.attacks))
    needing = [one.notation for one in requested if (one.needs - gives) & _SHADOW_TERMS]
    if needing:
        message = f"Predictions alone do not allow shadow models. {join_names(needing)} need some."
        hint = "Give the data and a model; beside a fitted model its recipe, or references to it."
        raise AuditError.of("A007", message, hint)
    learning = [one.notation for one in requested if REFERENCES in one.needs - gives]
    if learning:
        message = (
            f"{join_names(learning)} learns from records that are not audited, but all records of "
        )
        message += "a model that is already fitted, or known by its predictions, are audited."
        hint = "Leave it out, or have the model trained: give the data, and the model's recipe."
        raise AuditError.of("A005", message, hint)
    runnable = [one for one in attacks_of_model(settings, gives, frozenset()) if one.needs <= gives]
    return _add_baseline(runnable)


def skipped_attacks(run: Collection[str], gives: Terms, *, trains: bool) -> Iterator[Skipped]:
    """Yield the attacks of the vocabulary that were not run, each with the reason."""
    offered = gives | _SHADOW_TERMS | OPTIONAL_TERMS if trains else gives
    for attack in map(attack_of, notations()):
        lacking = sorted(attack.needs - offered)
        if attack.notation in run:
            continue
        reason = f"it needs {' and '.join(lacking)}" if lacking else "it was not asked for"
        yield Skipped(attack=attack.notation, reason=reason)


def needs_shadows(attack: Attack) -> bool:
    """Tell whether an attack cannot be run without shadow models."""
    return bool(attack.needs & _SHADOW_TERMS)


def _add_baseline(attacks: list[Attack]) -> tuple[Attack, ...]:
    has_it = any(one.notation == BASELINE for one in attacks)
    return (*attacks, *([] if has_it else [attack_of(BASELINE)]))
