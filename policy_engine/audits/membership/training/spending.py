"""What private training may do and what it has spent: noise, steps, epsilon."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.errors import AuditError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import CentralPrivacy


@dataclass(frozen=True)
class Spending:
    """How much noise there is in the training of a model, and how many steps are taken."""

    noise_multiplier: float
    clipping_norm: float
    sampling_rate: float
    steps: int
    delta: float

    def epsilon_after(self, steps: int) -> float:
        """Return the epsilon of a number of steps by Renyi DP."""
        from policy_engine.audits.privacy.accounting import TrainingBudget  # noqa: PLC0415 (heavy)

        return TrainingBudget(self.noise_multiplier, self.sampling_rate, self.delta).spent(steps)

    def epsilon(self) -> EpsilonUpper | NotApplicable:
        """Return the epsilon of all steps."""
        from policy_engine.audits.privacy.accounting import epsilon_of  # noqa: PLC0415 (heavy)

        if self.noise_multiplier == 0:
            return NotApplicable(reason="Clipping without noise bounds no epsilon.")
        return epsilon_of(self.noise_multiplier, self.sampling_rate, self.steps, self.delta)


def stage_of(spending: Spending | None, steps: int) -> str:
    """Return the name of the stage, with the epsilon that private training has spent so far."""
    if spending is None or spending.noise_multiplier == 0:
        return "training"
    return f"training, epsilon {spending.epsilon_after(steps):.2f} spent"


def steps_per_epoch(records: int, batch_size: int) -> int:
    """Return how many Poisson samples an epoch is: as many as see each record once on average."""
    return max(1, round(records / batch_size))


def most_spent(spendings: Sequence[Spending]) -> EpsilonUpper | NotApplicable:
    """Return the epsilon of the model that spent most; NotApplicable where one has none."""
    epsilons = [one.epsilon() for one in dict.fromkeys(spendings)]
    bounded = [one for one in epsilons if isinstance(one, EpsilonUpper)]
    if len(bounded) < len(epsilons):
        return next(one for one in epsilons if isinstance(one, NotApplicable))
    return max(bounded, key=lambda one: one.value)


def spending_of(privacy: CentralPrivacy, records: int, batch_size: int, epochs: int) -> Spending:
    """Return what training on so many records spends, cut to the steps that a budget allows.

    Raises AuditError (A006) where no noise reaches the epsilon, the budget allows no step, or
    both a noise multiplier and an epsilon are given.
    """
    from policy_engine.audits.privacy.accounting import noise_for  # noqa: PLC0415 (heavy)

    rate = min(1.0, batch_size / records)
    steps = epochs * steps_per_epoch(records, batch_size)
    delta = privacy.delta or min(0.5, 1 / records)
    noise, epsilon = privacy.noise_multiplier, privacy.epsilon or privacy.max_epsilon
    if noise is not None and privacy.epsilon is not None:
        message = (
            f"The noise follows from the epsilon, or is given. Given: both, an epsilon of "
            f"{privacy.epsilon:g} and a noise multiplier of {noise:g}."
        )
        raise AuditError.of("A006", message, "Leave out one; `max_epsilon` bounds either.")
    if noise is None and epsilon is None:
        message = "Private training needs a noise multiplier or an epsilon. Neither is given."
        raise AuditError.of("A006", message, "Set `noise_multiplier`, `epsilon` or `max_epsilon`.")
    target_epsilon = epsilon if noise is None and epsilon is not None else math.inf
    noise = noise_for(target_epsilon, rate, steps, delta) if noise is None else noise
    spending = Spending(noise, privacy.clipping_norm, rate, steps, delta)
    # Noise made for an epsilon keeps it by PLD; the quicker RDP of the budget would cut it short.
    is_within = privacy.max_epsilon is None or target_epsilon <= privacy.max_epsilon
    return (
        spending
        if is_within or privacy.max_epsilon is None
        else _cut_steps(spending, privacy.max_epsilon)
    )


def _cut_steps(spending: Spending, max_epsilon: float) -> Spending:
    from policy_engine.audits.privacy.accounting import TrainingBudget  # noqa: PLC0415 (heavy)

    allowed = 0
    if spending.noise_multiplier > 0:
        budget = TrainingBudget(spending.noise_multiplier, spending.sampling_rate, spending.delta)
        allowed = budget.most_steps(max_epsilon)
    if allowed == 0:
        message = (
            f"A noise multiplier of {spending.noise_multiplier:g} spends more than an epsilon of "
            f"{max_epsilon:g} in its first step. Training would stop before it starts."
        )
        raise AuditError.of("A006", message, "Use more noise, or allow a larger epsilon.")
    steps = min(spending.steps, allowed)
    return Spending(
        spending.noise_multiplier,
        spending.clipping_norm,
        spending.sampling_rate,
        steps,
        spending.delta,
    )
