"""How an audit is run: which attacks, with how many shadow models, from which seed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from policy_engine.audits.membership.attacks import Attack, attack_of, expand_attacks, notations
from policy_engine.audits.membership.attacks.attack import told
from policy_engine.audits.membership.measuring import FPRS
from policy_engine.audits.membership.observations import (
    FEWEST_SHADOWS,
    ONLINE_SHADOWS,
    SHADOWS,
    Terms,
)
from policy_engine.errors import AuditError, Problem, listed

BASELINE = "label-only"
_OF_SHADOWS = frozenset({SHADOWS, ONLINE_SHADOWS})


@dataclass(frozen=True)
class Settings:
    """What is asked of an audit; everything in it follows from these, the data and the model.

    Without `attacks`, all are run that the model and the data allow. `shadows` is how many
    disjoint shadow models there are, and how many online ones, as far as attacks need them.
    `slices` names columns by whose values the figures are told apart. With `local_epsilon` all
    training data are perturbed, every attribute with that epsilon, and the attacker asks about
    records of the original or the perturbed domain. `fprs` are the false-positive rates at which
    true-positive rates are told. Raises AuditError with all that is wrong:
    an unknown attack (A012), fewer than two shadows where some are needed (A007), an epsilon
    that is not above 0 (A006).
    """

    attacks: tuple[str, ...] = ()
    shadows: int = 10
    seed: int = 0
    slices: tuple[str, ...] = ()
    local_epsilon: float | None = None
    attack_domain: Literal["original", "perturbed"] = "original"
    fprs: tuple[float, ...] = FPRS

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
            yield Problem("A006", f"The local epsilon is to be above 0. Given: {epsilon!r}.")
        if self.shadows < FEWEST_SHADOWS and self._needs_shadows():
            message = f"There are to be {FEWEST_SHADOWS} shadow models or more."
            yield Problem("A007", f"{message} Given: {self.shadows}.")

    def _needs_shadows(self) -> bool:
        try:
            return not self.attacks or any(needs_shadows(attack_of(one)) for one in self.attacks)
        except AuditError:
            return False


def attacks_of_model(settings: Settings, gives: Terms) -> tuple[Attack, ...]:
    """Return the attacks to be run on a model, the baseline among them.

    `gives` are the terms of what the model answers and of whatever else is offered beside the
    shadow models, of which there may be as many as an attack needs. Raises AuditError (A005)
    with all that were asked for and need more.
    """
    asked = tuple(map(attack_of, settings.attacks))
    offered = gives | _OF_SHADOWS
    beyond = [one for one in asked if not one.needs <= offered]
    if beyond:
        lacking = sorted(frozenset[str]().union(*(one.needs - offered for one in beyond)))
        names = listed([one.notation for one in beyond])
        message = f"The model gives {told(gives)}. {names} need {' and '.join(lacking)}."
        raise AuditError.of("A005", message, f"Run {BASELINE!r}.")
    known = asked or tuple(map(attack_of, notations()))
    return _with_baseline([one for one in known if one.needs <= offered])


def attacks_of_predictions(settings: Settings, gives: Terms) -> tuple[Attack, ...]:
    """Return the attacks to be run on predictions, where no shadow model can be trained.

    Raises AuditError with all that were asked for and need shadow models (A007) or more than
    labels (A005).
    """
    asked = tuple(map(attack_of, settings.attacks))
    needing = [one.notation for one in asked if needs_shadows(one)]
    if needing:
        message = (
            f"From predictions alone no shadow models are trained. {listed(needing)} need some."
        )
        raise AuditError.of("A007", message, "Give the data and a model.")
    runnable = [one for one in attacks_of_model(settings, gives) if not needs_shadows(one)]
    return _with_baseline(runnable)


def needs_shadows(attack: Attack) -> bool:
    """Tell whether an attack cannot be run without shadow models."""
    return bool(attack.needs & _OF_SHADOWS)


def _with_baseline(attacks: list[Attack]) -> tuple[Attack, ...]:
    has_it = any(one.notation == BASELINE for one in attacks)
    return (*attacks, *([] if has_it else [attack_of(BASELINE)]))
