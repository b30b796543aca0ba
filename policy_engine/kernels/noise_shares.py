"""How much of some noise lies between numbers, and how likely that is by the noise's own law.

Values are written with so many digits, so that of each one's noise two bounds are known. Draws
whose bounds both lie in an interval are no more than those that do, which are binomial.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.draw_tails import UNLIKELY, Sizes, excess_tail

Floats = NDArray[np.float64]
_SLACK = 2.0**-18
"""For the steps in which noise is published, in its standard deviations."""


def noise_shares(noise: Floats, errors: Floats | float, law: Sizes = "normal") -> NDArray[np.int64]:
    """Return between which edges the bounds of numbers of mean 0 and the standard deviation 1 lie,
    (columns, cells), to be added over parts.

    `noise` has them, (rows, columns), and `errors` how far each is from what was drawn at most, in
    a shape that numpy broadcasts; of infinite ones, nothing is known.
    """
    edges = np.array(_edges(law))
    size = len(edges) + 1
    around = np.broadcast_to(_with_slack(errors), noise.shape)
    is_known = np.isfinite(noise) & np.isfinite(around)
    lower = np.where(is_known, noise, 0.0) - np.where(is_known, around, np.inf)
    upper = np.where(is_known, noise, 0.0) + np.where(is_known, around, np.inf)
    first = np.searchsorted(edges, lower, side="right")
    last = np.searchsorted(edges, upper, side="left")
    cells = first * size + last
    counts = [np.bincount(column, minlength=size * size) for column in cells.T]
    return np.array(counts, dtype=np.int64).reshape(noise.shape[1], size * size)


def _with_slack(errors: Floats | float) -> Floats:
    return np.asarray(errors) * (1 + _SLACK) + _SLACK


def far_noise(
    noise: Floats, errors: Floats | float, draws: int, law: Sizes = "normal"
) -> NDArray[np.bool_]:
    """Return which of some numbers of mean 0 and the standard deviation 1, (rows, columns), are so
    far away that any of so many `draws` of a column would be with a probability below 1e-13;
    `errors` as for `noise_shares`."""
    logarithm = math.log(max(draws, 1)) - UNLIKELY
    # A normal number is beyond z with the probability exp(-z**2 / 2) at most, one by Laplace's
    # distribution with exp(-z * sqrt(2)).
    most = math.sqrt(2 * logarithm) if law == "normal" else logarithm / math.sqrt(2)
    # What is infinite is a difference of the largest floats, each of which is known.
    sizes = np.minimum(np.abs(noise), sys.float_info.max)
    return np.asarray(sizes - _with_slack(errors) > most)


def noise_errors(roundings: Sequence[float], exponents: Sequence[int], sds: Floats) -> Floats:
    """Return how far the noise that is seen is from what was drawn at most, (columns,), in its
    standard deviations `sds`; infinite where it has none.

    `roundings` are the most that writing a value adds to it, of values below 2**exponents, which
    arithmetic rounds.
    """
    written = np.array(roundings) if len(roundings) else np.zeros(len(sds))
    # The finest decimals are written twice, before noise is added and after.
    total = (
        written + np.minimum(written, _FINEST) + np.ldexp(1.0, np.array(exponents) + _ROUNDED_BITS)
    )
    return np.where(sds > 0, total / np.where(sds > 0, sds, 1.0), np.inf)


_FINEST = 1e-12
_ROUNDED_BITS = -46


def with_pairs(noise: Floats, errors: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return columns of noise that is correlated, (rows, columns), beside the sum and the
    difference of each two in `noise_pairs`, of the standard deviation 1, and the errors of all.

    Its `covariance`, (columns, columns), may be in any unit. Those that have nearly no variance are
    unknown.
    """
    columns, limits = [noise], [errors]
    deviations = np.sqrt(covariance.diagonal())
    scales = np.where(deviations > 0, deviations, 1.0)
    correlations = covariance / scales / scales[:, np.newaxis]
    for one, other in noise_pairs(len(errors)):
        for sign in (1, -1):
            variance = 2 + 2 * sign * float(correlations[one, other])
            scale = math.sqrt(max(variance, _LEAST_VARIANCE))
            columns.append(((noise[:, one] + sign * noise[:, other]) / scale)[:, np.newaxis])
            limit = (errors[one] + errors[other]) / scale
            limits.append(np.array([limit if variance > _LEAST_VARIANCE else np.inf]))
    return np.concatenate(columns, axis=1), np.concatenate(limits)


_LEAST_VARIANCE = 1e-3


def in_pairs(is_found: NDArray[np.bool_], columns: int) -> NDArray[np.bool_]:
    """Return in which cells of so many columns, (rows, columns), something is found, given where it
    is found in those of `with_pairs`: what is in a pair is in both of its columns."""
    flags = is_found[:, :columns].copy()
    for place, (one, other) in enumerate(noise_pairs(columns)):
        start = columns + 2 * place
        is_in_pair = is_found[:, start : start + 2].any(axis=1)
        flags[:, one] |= is_in_pair
        flags[:, other] |= is_in_pair
    return flags


def noise_pairs(columns: int) -> list[tuple[int, int]]:
    """Return the pairs of columns whose noise is compared: of each, with the next four."""
    return [
        (one, other)
        for one in range(columns)
        for other in range(one + 1, min(one + 1 + _NEXT, columns))
    ]


_NEXT = 4


def unlikely_share(cells: NDArray[np.int64], draws: int, law: Sizes = "normal") -> str:
    """Return what is less likely than 1e-13 of one column's cells in `noise_shares`, empty where
    nothing is; so many `draws` were made, of which some may not be there."""
    edges = _edges(law)
    size = len(edges) + 1
    counts = cells.reshape(size, size)
    bound, most = UNLIKELY - math.log(size * (size - 1)), (0.0, "")
    for description, count, share in _shares(counts, edges, law):
        excess = count - draws * share
        tail = excess_tail(excess, draws * share * (1 - share), share, draws)
        if tail < min(bound, most[0]):
            expected = f"where {draws * share:,.3g} are expected to be"
            most = tail, f"the noise of {count:,} of {draws:,} values is {description}, {expected}"
    return most[1]


def _shares(
    counts: NDArray[np.int64], edges: tuple[float, ...], law: Sizes
) -> Iterator[tuple[str, int, float]]:
    """Yield where draws may be, how many are there for sure, and the share that is expected."""
    # Those whose lower bound is above an edge or more, and whose upper bound is below one.
    within = counts[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
    below = [_distribution(edge, law) for edge in edges]
    last = len(edges)
    for start in range(-1, last):
        for end in range(start + 1, last + 1):
            low, high = below[start] if start >= 0 else 0.0, below[end] if end < last else 1.0
            if start < 0 and end == last:
                continue
            ends = [f"{edges[one]:.3g}" if 0 <= one < last else "" for one in (start, end)]
            yield _place(*ends), int(within[start + 1, end]), high - low
            if start >= 0 and end < last:
                outside = within[0, start] + within[end + 1, last]
                yield f"not {_place(*ends)}", int(outside), 1 - high + low


def _place(low: str, high: str) -> str:
    if low and high:
        return f"from {low} to {high} of its standard deviations"
    return f"{'above' if low else 'below'} {low or high} of its standard deviations"


_NEAR = range(3, 13)
_CELLS = 16


@cache
def _edges(law: Sizes) -> tuple[float, ...]:
    """Return quantiles: those of equal shares, and others ever nearer to 0 and further away."""
    shares = {place / _CELLS for place in range(1, _CELLS)}
    shares |= {0.5 + sign * 2.0**-power for power in _NEAR for sign in (-1, 1)}
    shares |= {end for power in (6, 8, 10) for end in (2.0**-power, 1 - 2.0**-power)}
    return tuple(_quantile(share, law) for share in sorted(shares))


def _quantile(share: float, law: Sizes) -> float:
    if law == "normal":
        return NormalDist().inv_cdf(share)
    return math.copysign(math.log1p(-2 * abs(share - 0.5)), share - 0.5) / math.sqrt(2)


def _distribution(number: float, law: Sizes) -> float:
    if law == "normal":
        return NormalDist().cdf(number)
    tail = math.exp(-abs(number) * math.sqrt(2)) / 2
    return 1 - tail if number > 0 else tail
