"""How much noise the figures of a release need for an epsilon and a delta together.

Floats only look for scales: whatever they find is rounded up to exact ones, and then proven.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from policy_engine.kernels.differential_privacy.accounting import (
    Strengths,
    is_proven,
    proven,
    rounded_up,
    zcdp_epsilon,
)
from policy_engine.kernels.differential_privacy.measurements import GREATEST_SCALE
from policy_engine.kernels.differential_privacy.parts import NoisyPart, PrivacyLoss

WORTH_A_DELTA = Fraction(51, 50)
"""Pure parts spend no delta for less than a fiftieth less noise."""
LEAST_DELTA = Fraction(1, 2**100)
_DIGITS = 3
_STEP = 1.004
_STEPS = 125
_MARGIN = 2


@dataclass(frozen=True)
class Calibration:
    """The scale of every part, what each would cost alone, and what is proven of all together.

    Partitions are selected with an epsilon of 1 / scale and a delta of its cost's / cells for each
    partition. `epsilon` and `delta` are at most those that were asked for.
    """

    scales: tuple[Fraction, ...]
    costs: tuple[PrivacyLoss, ...]
    epsilon: Fraction
    delta: Fraction
    accountant: str


def calibrate(parts: Sequence[NoisyPart], epsilon: Fraction, delta: Fraction) -> Calibration:
    """Return the least scales by which the parts lose epsilon and delta at most, by their shares.

    Without a delta each part has its share of epsilon, exactly. With one, shares are of epsilon or
    of rho, as gives less noise, and scales have 3 significant digits, rounded up, so that they are
    the same on every machine; but pure parts spend a delta only where it lowers the noise by a
    fiftieth. A partition selection has its share of epsilon, and half of delta where others spend
    any, else all. Raises ValueError for shares above 1 in all, no parts, a mechanism that delta
    does not allow, or a scale above 2^60.
    """
    _check(parts, epsilon, delta)
    budget = _Budget(parts, epsilon, delta)
    scales, others, partition_delta = budget.scales()
    if max(scales) > GREATEST_SCALE:
        raise ValueError(f"So much noise cannot be drawn: a scale of {float(max(scales)):.3g}.")
    aim = epsilon * sum(part.share for part in parts)
    loss = proven(parts, scales, others + partition_delta, partition_delta, aim)
    costs = tuple(budget.cost(*one, partition_delta) for one in zip(parts, scales, strict=True))
    return Calibration(tuple(scales), costs, loss.epsilon, loss.delta, loss.accountant)


def _check(parts: Sequence[NoisyPart], epsilon: Fraction, delta: Fraction) -> None:
    if not (parts and epsilon > 0 and (not delta or LEAST_DELTA <= delta < 1)):
        raise ValueError("Parts, epsilon above 0, and delta of 0 or from 2^-100 to 1 are needed.")
    if sum(part.share for part in parts) > 1:
        raise ValueError("The shares of the parts are above 1 in all.")
    if not delta and any(part.is_gaussian or part.is_partition_selection for part in parts):
        raise ValueError("Gaussian noise and the selection of partitions need a delta above 0.")


@dataclass(frozen=True)
class _Budget:
    """Parts, and what they may lose together."""

    parts: Sequence[NoisyPart]
    epsilon: Fraction
    delta: Fraction

    def scales(self) -> tuple[list[Fraction], Fraction, Fraction]:
        """Return the scale of every part, and the deltas of noise and of the partitions."""
        noisy = [part for part in self.parts if not part.is_partition_selection]
        selections = [part for part in self.parts if part.is_partition_selection]
        delta = self.delta / 2 if selections else self.delta
        less = _with_delta(noisy, self.epsilon, delta) if delta and noisy else None
        spent = delta if less else Fraction(0)
        scales = iter(less or _shared(noisy, self.epsilon))
        keys = iter(_shared(selections, self.epsilon))
        both = [next(keys if part.is_partition_selection else scales) for part in self.parts]
        return both, spent, self.delta - spent if selections else Fraction(0)

    def cost(self, part: NoisyPart, scale: Fraction, partition_delta: Fraction) -> PrivacyLoss:
        """Return what a part costs alone: Gaussian noise at the delta that the others have."""
        strength = part.strength(scale)
        if part.is_gaussian:
            delta = self.delta - partition_delta
            return PrivacyLoss(zcdp_epsilon(part.rho(strength), delta), delta)
        selections = [one.share for one in self.parts if one.is_partition_selection]
        share = part.share / sum(selections) if part.is_partition_selection else Fraction(0)
        return PrivacyLoss(part.cells * strength, partition_delta * share)


def _shared(parts: Sequence[NoisyPart], epsilon: Fraction) -> list[Fraction]:
    """Return the scales by which each part loses its share of epsilon."""
    return [part.scale(epsilon * part.share / part.cells) for part in parts]


def _with_delta(
    parts: Sequence[NoisyPart], epsilon: Fraction, delta: Fraction
) -> list[Fraction] | None:
    """Return scales of parts that lose their shares of epsilon together, at delta.

    None for pure parts that need hardly less noise than without a delta.
    """
    epsilon = epsilon * sum(part.share for part in parts)
    first = max(_split(parts, epsilon, delta), _joint(parts, epsilon, delta), key=_noiselessness)
    scales = _strengthened(first, epsilon, delta)
    if any(part.is_gaussian for part in parts):
        return scales
    shared = _shared(parts, epsilon / sum(part.share for part in parts))
    gain = _noiselessness(_strengths(parts, scales)) - _noiselessness(_strengths(parts, shared))
    return scales if gain >= len(parts) * math.log(WORTH_A_DELTA) else None


def _strengths(parts: Sequence[NoisyPart], scales: Sequence[Fraction]) -> Strengths:
    return [(part, part.strength(scale)) for part, scale in zip(parts, scales, strict=True)]


def _noiselessness(strengths: Strengths) -> float:
    """Return the log of the product of the strengths: as good for one part as for another."""
    return sum(math.log(strength) for _, strength in strengths)


def _split(parts: Sequence[NoisyPart], epsilon: Fraction, delta: Fraction) -> Strengths:
    """Return strengths by which pure parts lose their shares of epsilon, and the Gaussians theirs
    by zCDP."""
    total = sum(part.share for part in parts)
    gaussian = [part for part in parts if part.is_gaussian]
    share = sum((part.share for part in gaussian), Fraction(0)) / total
    rest = iter(_joint(gaussian, epsilon * share, delta) if gaussian else [])
    return [
        next(rest) if part.is_gaussian else (part, epsilon * part.share / total / part.cells)
        for part in parts
    ]


def _joint(parts: Sequence[NoisyPart], epsilon: Fraction, delta: Fraction) -> Strengths:
    """Return strengths by which all parts have their shares of the rho of epsilon and delta."""
    rho, total = _greatest_rho(epsilon, delta), sum(part.share for part in parts)
    ones = [(part, part.rho(Fraction(1))) for part in parts]
    return [(part, _root(rho * part.share / total / one)) for part, one in ones]


def _greatest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return nearly the greatest rho whose epsilon at delta is at most this."""
    low, high = Fraction(0), epsilon**2 / 2 + epsilon
    while high - low > high / 2**20:
        middle = Fraction(float(low + high) / 2)
        is_low = zcdp_epsilon(middle, delta) <= epsilon
        low, high = (middle, high) if is_low else (low, middle)
    return low


def _root(number: Fraction) -> Fraction:
    return Fraction(math.sqrt(number))


def _strengthened(first: Strengths, epsilon: Fraction, delta: Fraction) -> list[Fraction]:
    """Return the least scales that are proven, in the proportions of the first that nearly are."""
    low, high = -_MARGIN, _STEPS
    while low < high:
        middle = (low + high + 1) // 2
        scales = _rounded(first, _STEP**middle)
        parts = [part for part, _ in first]
        is_low = is_proven(_strengths(parts, scales), epsilon, delta)
        low, high = (middle, high) if is_low else (low, middle - 1)
    return _rounded(first, _STEP**low)


def _rounded(strengths: Strengths, factor: float) -> list[Fraction]:
    return [
        rounded_up(part.scale(strength * Fraction(factor)), _DIGITS) for part, strength in strengths
    ]


def analytic_gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least sigma of continuous Gaussian noise (Balle and Wang: Improving the Gaussian
    Mechanism for Differential Privacy, ICML 2018, theorem 8).

    Nothing is drawn by it: it is what the scales of discrete noise are compared with.
    """
    low, high = 0.0, 1.0
    while _gaussian_delta(epsilon, high) > delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        is_low = _gaussian_delta(epsilon, middle) > delta
        low, high = (middle, high) if is_low else (low, middle)
    return high * sensitivity


def _gaussian_delta(epsilon: float, sigma: float) -> float:
    half, far = 1 / (2 * sigma), epsilon * sigma
    return _normal_cdf(half - far) - math.exp(epsilon) * _normal_cdf(-half - far)


def _normal_cdf(value: float) -> float:
    return math.erfc(-value / math.sqrt(2)) / 2
