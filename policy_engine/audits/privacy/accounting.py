"""What training with noise spends: epsilon by Renyi DP and by privacy-loss distributions."""

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.privacy.epsilon import EpsilonUpper
from policy_engine.errors import AuditError, Problem

GRID = 1e-4
"""The discretisation of privacy losses. At 1e-3 the figure can be worse than that of RDP."""
LEAST_NOISE, MOST_NOISE = 0.02, 10_000.0
_FINE_UP_TO = 50.0
_AIM = 0.998
_BESIDE = 100
"""How much smaller the delta of a substitution is than that of one record more or less."""
_SPLITS = (1.005, 1.015, 1.025, 1.035, 1.05, 1.1)
"""How much of epsilon the first of two steps may have, as parts of that of a single step."""
_LEAST_ORDER = 4
"""From which order on group privacy of two is known by Renyi DP."""
_ORDERS_2019 = (*(1 + tenth / 10 for tenth in range(1, 100)), *range(12, 64))
"""The orders in the examples of TensorFlow Privacy of 2019, with which papers of then count."""


@cache
def epsilon_of(
    noise_multiplier: float, sampling_rate: float, steps: int, delta: float
) -> EpsilonUpper:
    """Return what `steps` of DP-SGD spend at `delta`, of Poisson samples and Gaussian noise.

    Neighbours differ by one record more or less; for `substitution`, in which one record is
    exchanged for another, see `substitution_epsilon`: it is at a hundredth of the delta, for of
    so large a delta as one over the records, no attack on so many records shows anything. `rdp`
    converts as Canonne, Kamath and Steinke
    (NeurIPS 2020, proposition 12) do, `classic` as Mironov (CSF 2017, proposition 3); `pld`
    composes privacy-loss distributions on a grid of 1e-4, coarser in proportion where epsilon is
    above 50, and an upper bound all the same. Takes .2 to .5 CPU s, more where epsilon is large.
    Raises AuditError (A006) without noise, which has no epsilon, and with arguments out
    of range.
    """
    rdp, pld = _rdp_and_pld(noise_multiplier, sampling_rate, steps, delta)
    classic = _classic(noise_multiplier, sampling_rate, steps, delta)
    substitution_delta = delta / _BESIDE
    substitution = substitution_epsilon(noise_multiplier, sampling_rate, steps, substitution_delta)
    if not all(map(math.isfinite, (rdp, pld, classic, substitution))):
        message = f"A noise multiplier of {noise_multiplier:g} has no epsilon that can be computed."
        raise AuditError.of("A006", message, "Take more noise.")
    return EpsilonUpper(
        delta=delta,
        noise_multiplier=noise_multiplier,
        sampling_rate=sampling_rate,
        steps=steps,
        rdp=rdp,
        pld=pld,
        classic=classic,
        value=min(rdp, pld),
        substitution=substitution,
        substitution_delta=substitution_delta,
    )


@cache
def substitution_epsilon(
    noise_multiplier: float, sampling_rate: float, steps: int, delta: float
) -> float:
    """Return what `steps` of DP-SGD spend at `delta` where one record is exchanged for another.

    To exchange a record is to take one away and add another. Where both are a step of at most
    delta(epsilon), as the privacy-loss distribution has it, an exchange has, for any a + b, a delta
    of delta(a) + e^a delta(b): group privacy (Vadhan 2017, lemma 2.2) with the best split of what
    is allowed. By Renyi DP an epsilon of order alpha becomes three times that of order alpha / 2
    (Mironov, CSF 2017, proposition 2). The smaller of both is returned. dp-accounting has a PLD
    for exchanges, with a tenth less for small sampling rates; that its pair of distributions is
    the worst one under Poisson sampling is not shown, so that it is not used.
    """
    from dp_accounting.rdp import compute_epsilon  # noqa: PLC0415 (slow to import, an extra)

    budget = TrainingBudget(noise_multiplier, sampling_rate, delta)
    orders, of_a_step = budget.renyi()
    usable = np.array(orders) >= _LEAST_ORDER
    halved = np.array(orders)[usable] / 2
    rdp = float(compute_epsilon(halved, 3 * of_a_step[usable] * _check_steps(steps), delta)[0])
    accountant = _composed(noise_multiplier, sampling_rate, steps, budget.spent(steps))
    single = float(accountant.get_epsilon(delta))
    splits = [_split_epsilon(accountant, single * share, delta) for share in _SPLITS]
    return min(rdp, *splits)


@cache
def noise_for(epsilon: float, sampling_rate: float, steps: int, delta: float) -> float:
    """Return the least noise multiplier with which `steps` spend no more than `epsilon`.

    It is at least .02, and its epsilon within 1% of what is allowed. Takes .5 CPU s, and some
    seconds where epsilon is above 10. Raises AuditError (A006) where even a noise multiplier of
    10,000 spends more, or with arguments out of range.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        message = f"The epsilon is not positive. Given: {epsilon!r}. Allowed: a number above 0."
        raise AuditError.of("A006", message)
    smallest = min(_rdp_and_pld(MOST_NOISE, sampling_rate, steps, delta))
    if smallest > epsilon:
        message = (
            f"No noise reaches an epsilon of {epsilon:g} at a delta of {delta:g} in {steps:,} "
            f"steps. The smallest within reach is {smallest:.2g}."
        )
        raise AuditError.of("A006", message, "Allow more, or train for fewer epochs.")
    return _least_noise(epsilon, sampling_rate, steps, delta)


class TrainingBudget:
    """What is spent step by step, by RDP alone: cheap enough to ask after every epoch.

    A little above `epsilon_of`, by a tenth or so, and never below it. Raises AuditError (A006)
    with arguments out of range.
    """

    def __init__(self, noise_multiplier: float, sampling_rate: float, delta: float) -> None:
        _check(noise_multiplier, sampling_rate, delta)
        self.delta = delta
        self._orders, self._of_a_step = _renyi(noise_multiplier, sampling_rate, None)

    def renyi(self) -> tuple[list[float], NDArray[np.float64]]:
        """Return orders, and the Renyi divergence of one step at each of them."""
        return self._orders, self._of_a_step

    def spent(self, steps: int) -> float:
        """Return the epsilon of some steps; 0 for none, infinity if it cannot be computed."""
        from dp_accounting.rdp import compute_epsilon  # noqa: PLC0415 (slow to import, an extra)

        if steps == 0:
            return 0.0
        return float(compute_epsilon(self._orders, self._of_a_step * steps, self.delta)[0])

    def most_steps(self, max_epsilon: float) -> int:
        """Return how many steps spend at most `max_epsilon`; 0 where the first is too many.

        10**12 at most.
        """
        low, high = 0, 1
        while high < 10**12 and self.spent(high) <= max_epsilon:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.spent(middle) <= max_epsilon else (low, middle)
        return low


def _least_noise(epsilon: float, sampling_rate: float, steps: int, delta: float) -> float:
    """Bracket by the cheap bound, which asks for as much noise or more; then find by both."""
    from scipy.optimize import brentq  # noqa: PLC0415 (slow to import, an extra)

    def excess(log_noise: float) -> float:
        value = min(_rdp_and_pld(math.exp(log_noise), sampling_rate, steps, delta))
        return math.log(max(value, 1e-12) / (_AIM * epsilon))

    def is_enough_by_rdp(noise: float) -> bool:
        return TrainingBudget(noise, sampling_rate, delta).spent(steps) <= epsilon

    high = math.log(_bisect(is_enough_by_rdp, LEAST_NOISE, MOST_NOISE, 1.02))
    low = high
    while excess(low) < 0 and low > math.log(LEAST_NOISE):
        high, low = low, max(low - 0.15, math.log(LEAST_NOISE))
    if excess(low) * excess(high) >= 0:
        return math.exp(high)
    noise = math.exp(brentq(excess, low, high, xtol=5e-4))
    while min(_rdp_and_pld(noise, sampling_rate, steps, delta)) > epsilon:
        noise *= 1.001
    return float(noise)


def _bisect(holds: Callable[[float], bool], low: float, high: float, factor: float) -> float:
    """Return a place between the two where a rising condition holds, to a factor."""
    if holds(low):
        return low
    while high / low > factor:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@cache
def _renyi(
    noise: float, rate: float, orders: tuple[float, ...] | None
) -> tuple[list[float], NDArray[np.float64]]:
    """Return orders and the Renyi divergence of one step at each of them."""
    from dp_accounting.rdp import RdpAccountant  # noqa: PLC0415 (slow to import, an extra)

    accountant = RdpAccountant(orders=orders)
    with _quiet():
        accountant.compose(_steps(noise, rate, 1))
    return list(accountant.orders), np.array(accountant.rdp)


@cache
def _rdp_and_pld(noise: float, rate: float, steps: int, delta: float) -> tuple[float, float]:
    """Return epsilon by RDP and by PLD."""
    rdp = TrainingBudget(noise, rate, delta).spent(_check_steps(steps))
    return rdp, float(_composed(noise, rate, steps, rdp).get_epsilon(delta))


def _split_epsilon(accountant: Any, first: float, delta: float) -> float:
    """Return the epsilon of two steps the first of which has so much of it; infinity for none."""
    delta_left = (delta - float(accountant.get_delta(first))) * math.exp(-min(first, 700.0))
    return first + float(accountant.get_epsilon(delta_left)) if delta_left > 0 else math.inf


def _composed(noise: float, rate: float, steps: int, rdp: float) -> Any:
    """Return an accountant of a number of steps; `rdp` is about how large epsilon is."""
    from dp_accounting.pld import PLDAccountant  # noqa: PLC0415 (slow to import, an extra)

    grid = GRID * max(1.0, rdp / _FINE_UP_TO) if math.isfinite(rdp) else 1.0
    accountant = PLDAccountant(value_discretization_interval=grid)
    accountant.compose(_steps(noise, rate, steps))
    return accountant


def _classic(noise: float, rate: float, steps: int, delta: float) -> float:
    orders, of_a_step = _renyi(noise, rate, _ORDERS_2019)
    return float(np.min(of_a_step * steps + math.log(1 / delta) / (np.array(orders) - 1)))


def _steps(noise: float, rate: float, steps: int) -> Any:
    from dp_accounting import (  # noqa: PLC0415 (slow to import, an extra)
        GaussianDpEvent,
        PoissonSampledDpEvent,
        SelfComposedDpEvent,
    )

    return SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise)), steps)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the accountant from saying which orders it leaves out: the others are a bound."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _check(noise: float, rate: float, delta: float) -> None:
    problems = []
    if noise == 0:
        problems.append("Without noise there is no epsilon. Given: a noise multiplier of 0.")
    elif not (math.isfinite(noise) and noise > 0):
        problems.append(f"A noise multiplier is a positive number. Given: {noise!r}.")
    if not 0 < rate <= 1:
        problems.append(f"A sampling rate is above 0 and at most 1. Given: {rate!r}.")
    if not 0 < delta < 1:
        problems.append(f"A delta is above 0 and below 1. Given: {delta!r}.")
    if problems:
        raise AuditError(*[Problem("A006", message) for message in problems])


def _check_steps(steps: int) -> int:
    if steps < 1:
        raise AuditError.of("A006", f"At least one step is needed. Given: {steps!r}.")
    return steps
