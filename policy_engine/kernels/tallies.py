"""What the same rows show before and after masking, (rows, columns) each, to be added over parts.

In every tally, `broken` counts the cells of each column, (columns,), that no such masking makes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.pram import transition_counts
from policy_engine.kernels.rank_swapping import (
    Variant,
    largest_rank_move,
    least_rank_move,
    most_ranks,
)

Tally = Mapping[str, NDArray[Any]]


def nothing_broken(before: NDArray[Any]) -> Tally:
    """Return the tally of a masking that may make any value of any other."""
    return {"broken": np.zeros(before.shape[1], dtype=np.int64)}


def noise_tally(before: NDArray[np.float64], after: NDArray[np.float64]) -> Tally:
    """Return how many values of each column were `negative`, and how many others `turned` so."""
    turned = (before >= 0) & (after < 0)
    negative = (before < 0).sum(axis=0)
    return {**nothing_broken(before), "negative": negative, "turned": turned.sum(axis=0)}


def sign_tally(before: NDArray[np.float64], after: NDArray[np.float64]) -> Tally:
    """Return the tally of a masking that keeps signs; a value rounded to zero keeps its sign."""
    return {"broken": (np.sign(before) * np.sign(after) < 0).sum(axis=0)}


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
    return {"broken": np.where(moves > most, rows, 0), "moves": moves}


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
