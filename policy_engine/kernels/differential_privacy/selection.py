"""Choices by noisy scores: permute-and-flip, the exponential mechanism, quantiles and the top k.

McKenna and Sheldon: Permute-and-Flip: A New Mechanism for Differentially Private Selection,
NeurIPS 2020; McSherry and Talwar: Mechanism Design via Differential Privacy, FOCS 2007.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.differential_privacy.measurements import noisy_max, saturated


def permute_and_flip(scores: Sequence[int], scale: Fraction) -> int:
    """Return the index of a great score, never of a worse one than `exponential` in expectation.

    Where neighbours change no score by more than `sensitivity`, epsilon is 2 sensitivity / scale,
    or half of it where all scores that change do so in one direction. Raises ValueError without
    scores, or for a scale that is not above 0 and at most 2^60.
    """
    return _choice(scores, scale, is_exponential=False)


def exponential(scores: Sequence[int], scale: Fraction) -> int:
    """Return an index drawn in proportion to e^(score / scale). Else as `permute_and_flip`."""
    return _choice(scores, scale, is_exponential=True)


def top_k(scores: Sequence[int], k: int, scale: Fraction) -> list[int]:
    """Return the indices of k great scores, in the order of k rounds of `permute_and_flip`.

    A round chooses among those that none before has chosen, so that epsilon is k times that of
    one. All are returned if they are k or fewer.
    """
    left = list(range(len(scores)))
    chosen = []
    for _ in range(min(k, len(left))):
        place = permute_and_flip([scores[index] for index in left], scale)
        chosen.append(left.pop(place))
    return chosen


def quantile_scores(counts: Sequence[int] | NDArray[np.int64], at: Fraction) -> list[int]:
    """Return how well each candidate divides the rows as the quantile `at` = a / b does.

    `counts` are the rows at each candidate, in their order. Of n rows, the ranks of a candidate are
    from the number below it to the number up to it; its score is b times their distance from
    n a / b, negative: 0 for a quantile, of which there is always one. One row more or less changes
    it by at most `quantile_sensitivity`: that of a median's rank is a half. Raises ValueError
    unless 0 <= at <= 1.
    """
    below, above = _weights(at)
    rows = [int(count) for count in counts]
    less, scores = 0, []
    greater = sum(rows)
    for count in rows:
        greater -= count
        too_high = below * less - above * (count + greater)
        too_low = above * greater - below * (less + count)
        scores.append(-max(too_high, too_low, 0))
        less += count
    return scores


def quantile_sensitivity(at: Fraction) -> int:
    """Return by how much one row more or less changes a score of `quantile_scores` at most.

    A row that is exchanged for another changes it by up to the denominator: one of each side.
    """
    return max(_weights(at))


def _weights(at: Fraction) -> tuple[int, int]:
    if not 0 <= at <= 1:
        raise ValueError(f"A quantile is at 0 to 1. Given: {at}.")
    return at.denominator - at.numerator, at.numerator


def _choice(scores: Sequence[int], scale: Fraction, *, is_exponential: bool) -> int:
    if not len(scores):
        raise ValueError("There is nothing to choose from.")
    return int(noisy_max(scale, is_exponential=is_exponential)(saturated(scores)))
