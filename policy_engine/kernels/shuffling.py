"""Data shuffling: the values of a column are dealt out in the order of draws from a model.

Muralidhar, Sarathy: Data shuffling: a new masking approach for numerical data, Management Science
52(5), 2006. Their model is a normal copula: ranks, as normal scores, have a joint normal
distribution.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.moments import Moments, exponents
from policy_engine.kernels.normal import normal_quantiles, normals
from policy_engine.kernels.ranking import sort_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


def shuffle(values: NDArray[Any], given_values: NDArray[Any], words: Words) -> Ints:
    """Return for each value the row whose value replaces it, (rows, columns).

    Every row's normal scores of the columns of `values` (rows, columns) are drawn anew from their
    distribution given the scores of the row's `given_values` (rows, given columns); then the least
    value goes to the row with the least draw, and so on. So every column keeps its values, and the
    columns keep their rank correlations with one another and with those given; nothing else of a
    row's values enters. Where the columns given determine a value, it therefore stays what it was.

    Values and given columns are of any type with an order. `words` (rows, columns) are random bits
    of each value, which decide between equal draws too. Given columns that are constant, or follow
    from others, make no difference.
    """
    scores = np.stack([normal_scores(column) for column in (*given_values.T, *values.T)])
    factor = _factor(Moments.of(scores.T, exponents(scores.T)).covariance)
    draws = _draws(scores[: given_values.shape[1]], factor, normals(words))
    positions = np.empty(values.shape, dtype=np.int64)
    for place, draw in enumerate(draws):
        column, own = values[:, place], words[:, place]
        positions[sort_rows(draw, own), place] = sort_rows(column, own)
    return positions


def expected_scores(values: NDArray[Any], given_values: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the mean of the normal scores that `shuffle` draws for each row, (rows, columns), and
    the factor of their covariance around it, lower triangular, (columns, columns).

    Arguments as for `shuffle`.
    """
    scores = np.stack([normal_scores(column) for column in (*given_values.T, *values.T)])
    factor = _factor(Moments.of(scores.T, exponents(scores.T)).covariance)
    count = given_values.shape[1]
    means = _draws(scores[:count], factor, np.zeros(values.shape))
    return np.column_stack(means), factor[count:, count:]


def disordered_columns(
    before: NDArray[Any], after: NDArray[Any], given_values: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell of each column whether no draw of `shuffle` puts its values in this order, (columns,).

    `before` and `after` are what the same rows hold, (rows, columns), `given_values` the columns
    that they were shuffled given, (rows, given columns). The normal scores after shuffling are
    correlated with what the columns given tell of those before, about as much as in any other draw,
    but for `_most_apart`, or it is far from random.
    """
    # In one order of rows, so that each draws the same words and sums the same numbers.
    order = np.lexsort((*after.T, *before.T, *given_values.T)) if len(before) else np.arange(0)
    before, after, given_values = before[order], after[order], given_values[order]
    scores = np.stack([normal_scores(column) for column in (*given_values.T, *before.T)])
    factor = _factor(Moments.of(scores.T, exponents(scores.T)).covariance)
    means = _draws(scores[: given_values.shape[1]], factor, np.zeros(before.shape))
    positions = shuffle(before, given_values, _fixed_words(before.shape))
    is_disordered = []
    for place, mean in enumerate(means):
        drawn = normal_scores(before[positions[:, place], place])
        one, other = (_correlation(mean, x) for x in (normal_scores(after[:, place]), drawn))
        is_disordered.append(abs(one - other) > _most_apart(mean, drawn))
    return np.array(is_disordered)


def alike_columns(before: NDArray[Any], after: NDArray[Any], given_values: NDArray[Any]) -> Floats:
    """Return for each column the correlation of the normal scores after shuffling with those
    before, and the greatest that another draw of `shuffle` lets expect, (columns, 2).

    Arguments as for `disordered_columns`. Once the columns given are known, the values before tell
    nothing of a draw: both correlations differ as those of two draws.
    """
    order = np.lexsort((*after.T, *before.T, *given_values.T)) if len(before) else np.arange(0)
    before, after, given_values = before[order], after[order], given_values[order]
    drawn_rows = shuffle(before, given_values, _fixed_words(before.shape))
    correlations = []
    for place in range(before.shape[1]):
        old = before[:, place]
        scores, drawn = normal_scores(old), normal_scores(old[drawn_rows[:, place]])
        likely = _correlation(scores, drawn) + _most_apart(scores, drawn)
        correlations.append((_correlation(scores, normal_scores(after[:, place])), likely))
    return np.array(correlations)


def _fixed_words(shape: tuple[int, ...]) -> Words:
    random = np.random.Generator(np.random.Philox(0))
    return random.integers(0, 2**64, shape, dtype=np.uint64)


def _most_apart(one: Floats, other: Floats) -> float:
    """Return how far the correlations of numbers with two draws of others, (rows,), are apart.

    Their difference in n rows has a standard deviation of sqrt(2 / n) at most. But where both have
    a few numbers far from all others, whether these are in the same rows decides it.
    """
    rows, size = max(len(one), 1), math.sqrt(float((one**2).sum()) * float((other**2).sum()))
    largest = float(np.abs(one).max(initial=0) * np.abs(other).max(initial=0))
    share = largest / size if size > 0 else 1.0
    return _MOST_APART / math.sqrt(rows) + _FEW_ROWS * max(share - _FEW_ROWS / rows, 0.0)


_MOST_APART = 12.0
_FEW_ROWS = 20.0


def _correlation(one: Floats, other: Floats) -> float:
    """Return the correlation of numbers that have the mean 0, 0 where some are all 0."""
    size = math.sqrt(float((one**2).sum()) * float((other**2).sum()))
    return float((one * other).sum()) / size if size > 0 else 0.0


def normal_scores(values: NDArray[Any]) -> Floats:
    """Return the quantiles of the normal distribution at the shares of rows below values, (rows,).

    Half of the rows with the same value, itself included, count as below it.
    """
    _, number_of, counts = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    scores: Floats = normal_quantiles((below + counts / 2) / max(len(values), 1))[number_of]
    return scores


def _factor(covariance: Floats) -> Floats:
    """Return the Cholesky factor of covariances, lower triangular.

    A column that follows from those before it, but for rounding, has none of its own: 0.
    """
    factor = np.zeros_like(covariance)
    for place in range(len(covariance)):
        rest = covariance[place:, place].copy()
        # Term by term: libraries add in different orders on different machines.
        for before in range(place):
            rest -= factor[place:, before] * factor[place, before]
        if rest[0] > _ROUNDING * covariance[place, place]:
            factor[place:, place] = rest / math.sqrt(rest[0])
    return factor


_ROUNDING = 1e-9


def _draws(given_scores: Floats, factor: Floats, fresh: Floats) -> list[Floats]:
    """Return a draw of every column's scores, (rows,), given the scores of others.

    `factor` is that of the columns given, whose scores are `given_scores` (given columns, rows),
    and of the columns to draw; `fresh` (rows, columns) are independent normal numbers.
    """
    # The factor makes scores of independent numbers. For the columns given, those that make their
    # scores are solved for; for the others they are fresh.
    numbers = np.concatenate([np.zeros_like(given_scores), fresh.T])
    for place, scores in enumerate(given_scores):
        if own := factor[place, place]:
            numbers[place] = (scores - _weighted_sum(factor[place, :place], numbers)) / own
    return [_weighted_sum(weights, numbers) for weights in factor[len(given_scores) :]]


def _weighted_sum(weights: Floats, columns: Floats) -> Floats:
    """Return the sum of the first columns, (columns, rows), each times its weight, (rows,)."""
    # Not by multiplying matrices, where a row's place may decide its last bit.
    total = np.zeros(columns.shape[1])
    for weight, column in zip(weights.tolist(), columns, strict=False):
        total += weight * column
    return total
