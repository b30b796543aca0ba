"""Privacy-loss distributions of discrete mechanisms, and their composition on a grid.

Every step errs upwards, so that what comes out bounds the delta of the mechanisms as they are
drawn, not of their continuous likenesses. Koskela, Jälkö and Honkela: Computing Tight Differential
Privacy Guarantees Using FFT, AISTATS 2020; Doroshenko et al.: Connect the Dots, PETS 2022; Zhu,
Dong and Wang: Optimal Accounting of Differential Privacy via Characteristic Function, AISTATS
2022, theorem 10: a pair of distributions that dominates each mechanism dominates the composition.

**Why one pair is enough for a cell.** The noise is log-concave and symmetric. So the likelihood
ratio of the noise and its shift by d is monotone, the delta for an epsilon is the greatest of
P(X > t) - e^epsilon P(X > t + d) over t, and it grows with d: the pair of the greatest shift, the
sensitivity, dominates all smaller ones, and, as it is its own mirror image, in both directions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POINTS = 2**16
"""Of the grid of the composition."""
_MOST_STEPS = 2**13
_MOST_BLOCKS = 2**14
_UNIT_ROUNDOFF = 2.0**-53
_MASS_ROUNDING = 1e-12
"""More than the relative error of a mass: a few roundings, and exponents of up to a few hundred."""
_LOSS_ROUNDING = 1e-14
"""More than the error of a loss, as a share of the greatest: a few roundings."""


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """Masses of finite losses, both (losses,), and of an infinite one.

    Losses are multiples of `step`, if that is not 0.
    The masses are at least those of a pair that dominates the mechanism; their sum may exceed 1.
    """

    losses: Floats
    masses: Floats
    infinite: float = 0.0
    step: float = 0.0


def pure_losses(epsilon: float) -> LossDistribution:
    """Return the losses of randomised response, which dominates whatever loses epsilon at most
    (Kairouz, Oh and Viswanath: The Composition Theorem for Differential Privacy, ICML 2015)."""
    losses = np.array([-epsilon, epsilon], dtype=np.float64)
    masses: Floats = np.asarray(1 / (1 + np.exp(-losses)), dtype=np.float64)
    return LossDistribution(losses, masses, step=epsilon)


def laplace_losses(epsilon: float, sensitivity: int) -> LossDistribution:
    """Return the losses of the discrete Laplace distribution of scale sensitivity / epsilon.

    At its losses, (sensitivity - 2 j) / scale, its delta is 1 - e^((x - epsilon) / 2), and between
    them it is linear in e^x. A coarser one whose losses are some of these therefore dominates it:
    it takes the place of those with very many, the sensitivity rounded up to a multiple.
    """
    width = -(-sensitivity // _MOST_STEPS)
    steps = -(-sensitivity // width)
    rate = epsilon * width / sensitivity
    answers = np.arange(steps + 1, dtype=np.float64)
    masses = np.exp(-rate * answers) * math.tanh(rate / 2)
    # On either side all answers have one loss.
    masses[0] = 1 / (1 + math.exp(-rate))
    masses[-1] = masses[0] * math.exp(-rate * steps)
    return LossDistribution(rate * (steps - 2 * answers), masses, step=rate)


def gaussian_losses(shift: float, sensitivity: int, tail: float) -> LossDistribution:
    """Return the losses of the discrete Gaussian distribution of sigma sensitivity / shift.

    Answers beyond which less than `tail` lies have an infinite loss on one side, the loss of the
    outermost on the other: P(X > r) <= e^(-r^2 / (2 sigma^2)) (Canonne, Kamath and Steinke,
    proposition 25). A large sigma has its answers in blocks, each with its greatest loss; that the
    sum of all masses exceeds sigma sqrt(2 pi) is Poisson's summation formula.
    """
    sigma = sensitivity / shift
    reach = math.ceil(sigma * math.sqrt(2 * math.log(1 / tail)))
    width = -(-(2 * reach + 1) // _MOST_BLOCKS)
    answers = np.arange(-reach, reach + 1, width, dtype=np.float64)
    masses = _block_masses(answers / sigma, width, sigma)
    masses /= masses.sum() if width == 1 else sigma * math.sqrt(2 * math.pi)
    masses[-1] += tail
    losses = shift * (shift / 2 - answers / sigma)
    return LossDistribution(losses, masses, infinite=tail, step=shift**2 / (2 * sensitivity))


def _block_masses(firsts: Floats, width: int, sigma: float) -> Floats:
    """Return bounds on the sums of e^(-x^2 / 2) over blocks of as many answers, in sigmas.

    Within a sigma it is concave: the sum is at most that of as many at the middle. Beyond it is
    convex: at most that of as many at the mean of both ends. Else at most that of the greatest.
    """
    lasts = firsts + (width - 1) / sigma
    inmost = np.maximum(firsts, np.minimum(lasts, 0.0))
    outmost = np.maximum(np.abs(firsts), np.abs(lasts))
    chords = (_bell(firsts) + _bell(lasts)) / 2
    means = np.where(np.abs(inmost) >= 1, chords, _bell(inmost))
    return np.asarray(width * np.where(outmost <= 1, _bell((firsts + lasts) / 2), means))


def _bell(values: Floats) -> Floats:
    return np.asarray(np.exp(-(values**2) / 2))


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """The losses of a composition; the masses are `tilted` by e^(tilt loss - scale).

    `error` bounds the sum of the errors of the tilted masses.
    """

    losses: Floats
    tilted: Floats
    tilt: float
    scale: float
    infinite: float
    error: float
    times: int

    def delta(self, epsilon: float) -> float:
        """Return a bound on delta at an epsilon: the mean of (1 - e^(epsilon - loss)) above it.

        The errors of the masses above epsilon count as much as if all of them were there. Far
        below what the tilt was chosen for, they say nothing, and the bound is 1.
        """
        first = int(np.searchsorted(self.losses, epsilon))
        losses = self.losses[first:]
        masses = self.tilted[first:] * np.exp(self.scale - self.tilt * losses)
        finite = float((masses * -np.expm1(epsilon - losses)).sum())
        error = self.error * math.exp(self.scale - self.tilt * epsilon)
        masses_error = (self.times + 1) * _MASS_ROUNDING
        return min((finite + self.infinite) * (1 + masses_error) + error, 1.0)

    def epsilon(self, delta: float, most: float) -> float:
        """Return the least epsilon of this delta up to `most`, or infinity where there is none."""
        if self.delta(most) > delta:
            return math.inf
        low, high = 0.0, most
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


def compose(
    distributions: Sequence[LossDistribution], times: Sequence[int], epsilon: float, delta: float
) -> ComposedLoss | None:
    """Return the losses of a composition in which each distribution is so many `times`.

    About `epsilon`, if its delta is about that given, the bound is tight; it holds everywhere.
    Returns None for more distributions than the grid has room for.
    """
    grid = _Grid.of(distributions, times)
    return None if grid is None else grid.composed(epsilon, delta)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Distributions on multiples of a step: for each the first multiple, and the masses from it."""

    step: float
    firsts: list[int]
    masses: list[Floats]
    times: Sequence[int]
    infinite: float

    @classmethod
    def of(cls, distributions: Sequence[LossDistribution], times: Sequence[int]) -> "_Grid | None":
        room = POINTS - 3 * sum(times) - 1
        if room < POINTS // 2:
            return None
        spans = [float(np.ptp(one.losses)) for one in distributions]
        total = sum(span * count for span, count in zip(spans, times, strict=True))
        # What has most of the losses lies on the grid where it can: then nothing is rounded.
        variances = [span**2 * count for span, count in zip(spans, times, strict=True)]
        main = distributions[variances.index(max(variances))].step
        step = total / room
        step = main / math.floor(main / step) if main > step else step
        placed = [_placed(one, step) for one in distributions]
        infinite = sum(
            one.infinite * count for one, count in zip(distributions, times, strict=True)
        )
        return cls(
            step, [first for first, _ in placed], [mass for _, mass in placed], times, infinite
        )

    def composed(self, epsilon: float, delta: float) -> ComposedLoss:
        tilt = self._best_tilt(epsilon, delta)
        product: NDArray[np.complex128] = np.ones(POINTS // 2 + 1, dtype=np.complex128)
        for place, count in enumerate(self.times):
            tilted = self.masses[place] * np.exp(self._exponents(place, tilt))
            product *= _power(np.fft.rfft(tilted, POINTS), count)
        first = sum(one * count for one, count in zip(self.firsts, self.times, strict=True))
        return ComposedLoss(
            losses=np.asarray((first + np.arange(POINTS)) * self.step),
            tilted=np.maximum(np.fft.irfft(product, POINTS), 0),
            tilt=tilt,
            scale=self._log_moment(tilt),
            infinite=self.infinite,
            error=_transform_error(sum(self.times) + len(self.times)),
            times=sum(self.times),
        )

    def _best_tilt(self, epsilon: float, delta: float) -> float:
        """Return the tilt of the least bound by Chernoff, of some about that of a Gaussian.

        It makes the losses about epsilon the likely ones, so that what the transform gets wrong is
        small beside delta.
        """
        about = -math.log(delta) / epsilon
        tilts = [about * 2 ** (half / 2) for half in range(-4, 5)]
        return min(tilts, key=lambda one: self._log_moment(one) - one * epsilon)

    def _log_moment(self, tilt: float) -> float:
        return sum(self._log_moments(tilt, place) * count for place, count in enumerate(self.times))

    def _log_moments(self, tilt: float, place: int) -> float:
        exponents = tilt * self._losses(place)
        most = float(exponents.max())
        return most + math.log(float((self.masses[place] * np.exp(exponents - most)).sum()))

    def _exponents(self, place: int, tilt: float) -> Floats:
        return tilt * self._losses(place) - self._log_moments(tilt, place)

    def _losses(self, place: int) -> Floats:
        return np.asarray((self.firsts[place] + np.arange(len(self.masses[place]))) * self.step)


def _placed(distribution: LossDistribution, step: float) -> tuple[int, Floats]:
    """Return the first multiple of the step, and the masses on it and those that follow.

    The mass of a loss between two multiples is divided between them so that the mean of e^-loss
    stays. A convex function of it, as the delta of any epsilon is, grows by that: the result
    dominates ("connect the dots"), and its error is of the second order in the step.
    """
    reach = float(np.abs(distribution.losses).max())
    # A loss that is rounded upwards loses more.
    places = (distribution.losses + _LOSS_ROUNDING * reach) / step
    below = np.floor(places).astype(np.int64)
    share = np.expm1((below + 1 - places) * step) / math.expm1(step)
    share = np.clip(share * (1 - _MASS_ROUNDING), 0, 1)
    first = int(below.min())
    size = int(below.max()) - first + 2
    lower = np.bincount(below - first, distribution.masses * share, size)
    upper = np.bincount(below - first + 1, distribution.masses * (1 - share), size)
    return first, np.asarray(lower + upper)


def _power(numbers: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return powers by repeated squaring, whose rounding is known."""
    result = np.ones_like(numbers)
    while exponent:
        if exponent & 1:
            result = result * numbers
        exponent >>= 1
        if exponent:
            numbers = numbers * numbers
    return result


def _transform_error(factors: int) -> float:
    """Return a bound on the sum of the errors of a product of so many transforms, transformed back.

    Each transform of masses that sum to 1 has, in the Euclidean norm, a relative error of at most
    8 log2(points) unit roundoffs (Higham: Accuracy and Stability of Numerical Algorithms, 2002,
    theorem 24.2), each product 4 more; no factor exceeds 1, so that the errors add up, and the sum
    of errors is at most the square root of the points times their norm.
    """
    each = (8 * math.log2(POINTS) + 4) * _UNIT_ROUNDOFF
    return math.sqrt(POINTS) * (factors + 1) * each
