"""The epsilon that is proven of a release's figures together: the least of several accountants.

In all of them, a unit that changes `cells` cells is a composition of as many mechanisms of one cell
each: the cells are drawn independently, and those that do not change lose nothing.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from policy_engine.kernels.differential_privacy.loss_distributions import (
    ComposedLoss,
    LossDistribution,
    compose,
    gaussian_losses,
    laplace_losses,
    pure_losses,
)
from policy_engine.kernels.differential_privacy.measurements import float_above
from policy_engine.kernels.differential_privacy.parts import NoisyPart

SEQUENTIAL = "sequential"
"""The sum of the epsilons (Dwork et al. 2006), exact."""
ZCDP = "zcdp"
"""The sum of the rhos, converted as Canonne, Kamath and Steinke (2020, proposition 12) do."""
SEQUENTIAL_ZCDP = "sequential-zcdp"
"""The sum of the epsilons, and of the Gaussians' by zCDP."""
PLD = "pld"
"""The composition of privacy-loss distributions."""

_ROUNDING = 1e-12
_TAIL = 1e-7
"""The share of delta that answers far out may have."""


Strengths = Sequence[tuple[NoisyPart, Fraction]]
"""Parts, and what one cell of each loses: epsilon, or the sensitivity in sigmas."""


@dataclass(frozen=True)
class ProvenLoss:
    """An epsilon that is proven at a delta (0 where it needs none), and by which accountant."""

    epsilon: Fraction
    delta: Fraction
    accountant: str


def proven(
    parts: Sequence[NoisyPart],
    scales: Sequence[Fraction],
    delta: Fraction,
    partition_delta: Fraction = Fraction(0),
    aim: Fraction | None = None,
) -> ProvenLoss:
    """Return the least epsilon that an accountant proves of parts with these scales.

    Partitions are selected with `partition_delta` in all, and an epsilon of 1 / scale for each
    cell; that is added to what the others lose at delta - `partition_delta`. Delta is that of the
    accountant: of pure parts it is 0 where none proves less than the sum. The noise may be drawn
    adaptively, as for the partitions that are selected, but the scales are fixed beforehand. An
    epsilon that they aim at is found again where it is proven. Raises ValueError for Gaussian noise
    without a delta.
    """
    pairs = list(zip(parts, scales, strict=True))
    keys = [(part, scale) for part, scale in pairs if part.is_partition_selection]
    others = [(part, part.strength(scale)) for part, scale in pairs if (part, scale) not in keys]
    selection = sum((part.cells * part.strength(scale) for part, scale in keys), Fraction(0))
    rest = None if aim is None else aim - selection
    loss = _least(others, delta - partition_delta, rest)
    return ProvenLoss(selection + loss.epsilon, partition_delta + loss.delta, loss.accountant)


def _least(strengths: Strengths, delta: Fraction, aim: Fraction | None) -> ProvenLoss:
    proofs = _simple_proofs(strengths, delta)
    if delta > 0 and strengths:
        most = min(one.epsilon for one in proofs)
        proofs.append(ProvenLoss(_pld_epsilon(strengths, delta, most, aim), delta, PLD))
    if not proofs:
        raise ValueError("Gaussian noise is of a delta above 0.")
    return min(proofs, key=lambda one: one.epsilon)


def _simple_proofs(strengths: Strengths, delta: Fraction) -> list[ProvenLoss]:
    """Return what is proven without distributions, first what needs no delta."""
    pure, gaussian = pure_epsilon(strengths), [one for one in strengths if one[0].is_gaussian]
    proofs = [] if gaussian else [ProvenLoss(pure, Fraction(0), SEQUENTIAL)]
    if delta > 0 and strengths:
        proofs.append(ProvenLoss(zcdp_epsilon(total_rho(strengths), delta), delta, ZCDP))
    if delta > 0 and gaussian and pure:
        epsilon = pure + zcdp_epsilon(total_rho(gaussian), delta)
        proofs.append(ProvenLoss(epsilon, delta, SEQUENTIAL_ZCDP))
    return proofs


def is_proven(strengths: Strengths, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether an accountant proves epsilon at a delta above 0."""
    simple = min(one.epsilon for one in _simple_proofs(strengths, delta))
    return simple <= epsilon or _is_within(strengths, epsilon, delta)


def pure_epsilon(strengths: Strengths) -> Fraction:
    """Return the sum of the epsilons of all parts but the Gaussian."""
    pure = (part.cells * strength for part, strength in strengths if not part.is_gaussian)
    return sum(pure, Fraction(0))


def total_rho(strengths: Strengths) -> Fraction:
    """Return the sum of the rhos of all parts."""
    return sum((part.rho(strength) for part, strength in strengths), Fraction(0))


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the epsilon of a rho at a delta, rounded up.

    The least over alpha of alpha rho + log(1 / (alpha delta)) / (alpha - 1) + log(1 - 1 / alpha)
    (Canonne, Kamath and Steinke 2020, proposition 12); as it holds for every alpha, the search for
    the best need not be exact, and only the last value is to be rounded up.
    """
    rate, small = float_above(rho), _float_below(delta)

    def epsilon(exponent: float) -> float:
        more = math.exp(exponent)  # alpha - 1
        odds = math.log1p(more)  # log alpha
        return (1 + more) * rate - (math.log(small) + odds) / more + exponent - odds

    low, high = -10.0, 40.0
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if epsilon(left) <= epsilon(right) else (left, high)
    # The terms are of the size of epsilon, but for the last two, which are below 41.
    least = max(epsilon(low), 0.0)
    return rounded_up(Fraction(least * (1 + _ROUNDING) + _ROUNDING), 6)


def _is_within(strengths: Strengths, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether the composed privacy-loss distributions prove epsilon and delta."""
    composed = _composed(strengths, epsilon, delta)
    return composed is not None and composed.delta(_float_below(epsilon)) <= _float_below(delta)


def _pld_epsilon(
    strengths: Strengths, delta: Fraction, most: Fraction, aim: Fraction | None
) -> Fraction:
    """Return the epsilon by privacy-loss distributions, or `most` where they prove no less."""
    if aim is not None and 0 < aim < most:
        met = _proven_about(strengths, delta, aim)
        if met is not None:
            return met
    least = _proven_about(strengths, delta, most) or most
    return _proven_about(strengths, delta, least) or least


def _proven_about(strengths: Strengths, delta: Fraction, epsilon: Fraction) -> Fraction | None:
    """Return the least epsilon up to one about which the bound is tight, None if none is."""
    composed = _composed(strengths, epsilon, delta)
    if composed is None:
        return None
    least = composed.epsilon(_float_below(delta), _float_below(epsilon))
    return None if math.isinf(least) else min(epsilon, rounded_up(Fraction(least), 6))


def _composed(strengths: Strengths, epsilon: Fraction, delta: Fraction) -> ComposedLoss | None:
    times = Counter[tuple[str, float, int]]()
    for part, strength in strengths:
        times[part.mechanism, float_above(strength), part.sensitivity] += part.cells
    tail = _TAIL * float(delta) / sum(times.values())
    distributions = [_losses(*one, tail) for one in times]
    return compose(distributions, list(times.values()), float(epsilon), float(delta))


def _losses(mechanism: str, strength: float, sensitivity: int, tail: float) -> LossDistribution:
    if mechanism == "discrete-laplace":
        return laplace_losses(strength, sensitivity)
    if mechanism == "discrete-gaussian":
        return gaussian_losses(strength, sensitivity, tail)
    return pure_losses(strength)


def _float_below(number: Fraction) -> float:
    return -float_above(-number)


def rounded_up(number: Fraction, digits: int) -> Fraction:
    """Return the least number of so many significant digits that is not below a number."""
    if number <= 0:
        return Fraction(0)
    exponent = math.floor(math.log10(number)) - digits + 1
    unit = Fraction(10) ** exponent
    return math.ceil(number / unit) * unit
