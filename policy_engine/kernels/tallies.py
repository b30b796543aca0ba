"""What the same rows show before and after masking, (rows, columns) each, to be added over parts.

In every tally, `broken` counts the cells of each column, (columns,), that no such masking makes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.draw_tails import excess_tail
from policy_engine.kernels.noise_shares import far_noise, noise_shares
from policy_engine.kernels.pram import transition_counts
from policy_engine.kernels.rank_swapping import (
    Variant,
    largest_rank_move,
    least_rank_move,
    most_ranks,
)
from policy_engine.kernels.swapped_pairs import swapped_pairs

Tally = Mapping[str, NDArray[Any]]


def nothing_broken(before: NDArray[Any]) -> Tally:
    """Return the tally of a masking that may make any value of any other."""
    return {"broken": np.zeros(before.shape[1], dtype=np.int64)}


def noise_tally(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    noise: NDArray[np.float64],
    sds: NDArray[np.float64],
) -> Tally:
    """Return how many values of each column were `negative`, and how many others `turned` so.

    `noise` is what was added, (rows, columns), with standard deviations `sds` (columns,), in which
    `amount` is the sum of its sizes.
    """
    turned = (before >= 0) & (after < 0)
    counts = {"negative": (before < 0).sum(axis=0), "turned": turned.sum(axis=0)}
    return {**nothing_broken(before), **counts, **_amount(noise / _scales(sds))}


def sign_tally(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    log_sd: float,
    roundings: Sequence[float],
    draws: int,
) -> Tally:
    """Return the tally of a masking that keeps signs; a value rounded to zero keeps its sign.

    So many `draws` were made in each column, of which some may be in other parts.
    `amount` is the sum of the sizes of the logarithms of what values were multiplied by, less their
    mean and at least, the values being rounded, in their standard deviations.
    """
    is_there = (before != 0) & (after != 0)
    one, other = (np.where(is_there, np.abs(values), 1.0) for values in (before, after))
    logarithms = np.log(other) - np.log(one) + log_sd**2 / 2
    distance = np.abs(logarithms)
    rounding = -np.log1p(-np.minimum(np.array(roundings) / other, _ALMOST_ALL))
    sizes = np.where(is_there, np.maximum(distance - rounding, 0.0), 0.0)
    broken = (np.sign(before) * np.sign(after) < 0).sum(axis=0)
    # Those of which no factor makes so little that writing it hides how much it was.
    least = np.abs(before) * np.exp(-(log_sd**2) / 2 - _MOST_NORMAL * log_sd)
    is_judged = least >= np.maximum(2 * np.array(roundings), _LEAST_VALUE)
    most = np.where(is_there, distance + rounding, _MOST_NORMAL * log_sd)
    judged = _amount(np.where(is_judged, most, 0.0) / log_sd)["amount"]
    # Both values are rounded, and so are their logarithms.
    errors = 2 * rounding - np.log1p(-np.minimum(np.array(roundings) / one, _ALMOST_ALL))
    least_known = np.maximum(np.array(roundings) / _ALMOST_ALL, _LEAST_VALUE)
    is_known = is_there & (np.minimum(one, other) >= least_known)
    errors = np.where(is_known, errors + _LOGARITHM_ERROR, np.inf) / log_sd
    is_far = far_noise(logarithms / log_sd, errors, draws)
    errors = np.where(is_judged & is_there, errors, np.inf)
    return {
        "broken": broken + is_far.sum(axis=0),
        **_amount(sizes / log_sd),
        "shares": noise_shares(logarithms / log_sd, errors),
        "judged": is_judged.sum(axis=0),
        "most": judged,
    }


_ALMOST_ALL = 0.999
_LOGARITHM_ERROR = 2.0**-41
_MOST_NORMAL = 9.3
_LEAST_VALUE = 1e-300


def _amount(noise: NDArray[np.float64]) -> Tally:
    # As whole numbers, whose sum no order of rows changes up to 2**53: the noise that is likely of
    # 10**11 rows. As floats, since the sum of unlikely noise may have more than 64 bits.
    sizes = np.rint(np.minimum(np.abs(noise), _MOST_NOISE) * _NOISE_UNITS)
    return {"rows": np.array([len(noise)]), "amount": sizes.sum(axis=0)}


_MOST_NOISE, _NOISE_UNITS = 2.0**20, 2.0**16


def noisy_cells(
    tally: Tally,
    roundings: Sequence[float] = (0.0,),
    sds: NDArray[np.float64] | float = 1.0,
    *,
    is_laplace: bool = False,
) -> NDArray[np.int64]:
    """Return how many cells of each column are broken, (columns,): besides those that are anyway,
    all of them where more noise was added than there is likely to be.

    `roundings` are the most that writing a value adds to its noise, `sds` its standard deviations.
    """
    rows, logarithm = max(int(tally["rows"][0]), 1), np.log(1 / _LEAST_PROBABILITY)
    if is_laplace:
        # Sizes are exponential: Chernoff's bound on their sum.
        most = (1 + _chernoff(logarithm / rows)) / np.sqrt(2)
    else:
        # The mean of the sizes of normal numbers is a function of them with slope 1/sqrt(rows).
        most = np.sqrt(2 / np.pi) + np.sqrt(2 * logarithm / rows)
    is_much = tally["amount"] / (rows * _NOISE_UNITS) > (most + roundings / _scales(sds)) * _SLACK
    return np.asarray(tally["broken"] + rows * is_much)


def least_noise(
    tally: Tally, roundings: Sequence[float], sds: NDArray[np.float64]
) -> Sequence[tuple[float, int]]:
    """Return the greatest mean size, in standard deviations, that the noise of each column can have
    had, and of how many values; `roundings` and `sds` as for `noisy_cells`."""
    rows = int(tally["rows"][0])
    means = tally["amount"] / max(rows, 1) / _NOISE_UNITS + roundings / _scales(sds)
    is_known = np.asarray(sds) > 0
    return [
        (_upper(mean), rows if is_measured else 0)
        for mean, is_measured in zip(means, is_known, strict=True)
    ]


def least_factors(tally: Tally) -> tuple[float, int]:
    """Return the greatest mean size, in standard deviations, that the logarithms of the factors can
    have had, and of how many values."""
    rows = int(tally["judged"][0])
    return _upper(float(tally["most"][0]) / max(rows, 1) / _NOISE_UNITS), rows


def _upper(mean: float) -> float:
    return float(mean) * _SLACK + 1 / _NOISE_UNITS


def standardised_noise(noise: NDArray[np.float64], sds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return noise, (rows, columns), in its standard deviations, (columns,); as it is where it has
    none."""
    return np.asarray(noise / _scales(sds))


def _scales(sds: NDArray[np.float64] | float) -> NDArray[np.float64]:
    # Noise that is less than any float changes nothing, which is refused elsewhere.
    return np.where(np.asarray(sds) > 0, sds, 1.0)


_SLACK = 1.0001
"""For the steps in which noise is published."""


def _chernoff(bound: float) -> float:
    """Return a number d such that d - log(1 + d) is at least a bound."""
    # d - log(1 + d) >= d**2 / (2 (1 + d)).
    return float(bound + np.sqrt(bound**2 + 2 * bound))


def rank_tally(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    share: float,
    variant: Variant,
    times: Sequence[NDArray[np.int64]] = (),
) -> Tally:
    """Return the tally of `move_tally`; where a value moves too far, all cells are broken."""
    rows, moves = len(before), move_tally(before, after, times)["moves"]
    most = most_ranks(int(times[0].sum()) if times else rows, share, variant)
    tally: Tally = {"broken": np.where(moves > most, rows, 0), "moves": moves}
    if not (times and most and _are_counts(times[0], before[:, 0], after[:, 0])):
        return tally
    pairs = swapped_pairs(before[:, 0], after[:, 0], most)
    # Of the other variants, shares are not uniform.
    steps = pairs.steps if variant == "plain" else 0
    counts = np.array([pairs.stayed, pairs.single, steps])
    return {**tally, "pairs": counts, "shares": np.array([pairs.shares])}


def move_tally(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    times: Sequence[NDArray[np.int64]] = (),
) -> Tally:
    """Return the tally of a masking that may move a value to any rank: the furthest `moves` in
    ranks, (columns,).

    They are those of all rows; or, with how many rows of a column have each rank before, of rows
    that another run masked, which may lack some and hold any values of the column.
    """
    columns = range(before.shape[1])
    moves = [_move(before[:, i], after[:, i], times[i] if times else None) for i in columns]
    return {**nothing_broken(before), "moves": np.array(moves, dtype=np.int64)}


def _move(
    before: NDArray[np.int64], after: NDArray[np.int64], times: NDArray[np.int64] | None
) -> int:
    if times is None or _are_counts(times, before, after):
        return largest_rank_move(before, after)
    return least_rank_move(before, after, times)


def _are_counts(times: NDArray[np.int64], *columns: NDArray[np.int64]) -> bool:
    counts = (np.bincount(column, minlength=len(times)) for column in columns)
    return all(np.array_equal(times, one) for one in counts)


def transition_tally(
    before: NDArray[np.int64], after: NDArray[np.int64], matrix: NDArray[np.float64]
) -> Tally:
    """Return how often each category became each other, (categories, categories); those are broken
    that a matrix of probabilities rules out."""
    counts = transition_counts(before[:, 0], after[:, 0], len(matrix))
    return {"broken": counts[matrix == 0].sum().reshape(1), "transitions": counts}


def largest_deviation(transitions: NDArray[np.int64], matrix: NDArray[np.float64]) -> float:
    """Return the largest deviation of a count of transitions from its expectation, in standard
    deviations of that count, or of 1 where it has less."""
    rows = transitions.sum(axis=1, keepdims=True)
    deviation = np.sqrt(np.maximum(rows * matrix * (1 - matrix), 1))
    return float((np.abs(transitions - rows * matrix) / deviation).max(initial=0))


def stayed_tail(
    transitions: NDArray[np.int64], matrix: NDArray[np.float64]
) -> tuple[int, float, float]:
    """Return how many rows kept their category, how many are expected to, and a bound on the
    logarithm of the probability that as many do."""
    rows, keeps = transitions.sum(axis=1), np.diag(matrix)
    stayed, expected = int(transitions.trace()), float(rows @ keeps)
    total = int(rows.sum())
    variance = float(rows @ (keeps * (1 - keeps)))
    mean = expected / max(total, 1)
    return stayed, expected, excess_tail(stayed - expected, variance, mean, total)


def are_transitions_unlikely(transitions: NDArray[np.int64], matrix: NDArray[np.float64]) -> bool:
    """Tell whether some count of transitions is too far from its expectation to be random."""
    expected = transitions.sum(axis=1, keepdims=True) * matrix
    return _is_unlikely(transitions - expected, expected * (1 - matrix))


def are_counts_unlikely(
    before: NDArray[np.int64], after: NDArray[np.int64], matrix: NDArray[np.float64]
) -> bool:
    """Tell whether some category's count after, (categories,), is too far from its expectation,
    given the counts before, to be random."""
    variances = (before[:, np.newaxis] * matrix * (1 - matrix)).sum(axis=0)
    return _is_unlikely(after - before @ matrix, variances)


def are_moves_unlikely(moved: int, rows: int, stays: Sequence[float]) -> bool:
    """Tell whether fewer or more of some rows moved than may do at random.

    `stays` are the probabilities that a row does not, each row having one of them.
    """
    probabilities = np.array(stays)
    low, high = (rows * (1 - share) for share in (probabilities.max(), probabilities.min()))
    deviation = moved - min(max(moved, low), high)
    variance = rows * (probabilities * (1 - probabilities)).max()
    return _is_unlikely(np.array([deviation]), np.array([variance]))


_LEAST_PROBABILITY = 1e-13


def _is_unlikely(deviations: NDArray[np.float64], variances: NDArray[np.float64]) -> bool:
    # Bernstein's inequality, for sums of independent variables from 0 to 1.
    scale = np.maximum(2 * (variances + np.abs(deviations) / 3), 1)
    return bool((deviations**2 / scale > np.log(2 / _LEAST_PROBABILITY)).any())
