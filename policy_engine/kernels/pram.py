"""PRAM, the post-randomisation method: categories changed at random, by known probabilities.

Gouweleeuw, Kooiman, Willenborg, de Wolf: Post Randomisation for Statistical Disclosure Control:
Theory and Implementation, Journal of Official Statistics 14(4), 1998. A matrix, (categories,
categories), holds in row i the probabilities of what category i becomes. Everything is added up in
one order: the same matrix and the same words give the same categories on every machine.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

TOLERANCE = 1e-9
"""The rows of a matrix sum to 1 but for so much."""


def transition_matrix(keep: float, categories: int) -> Floats:
    """Return the matrix that keeps a category with one probability, and else takes any other."""
    if categories == 1:
        return np.ones((1, 1))
    matrix = np.full((categories, categories), (1 - keep) / (categories - 1))
    np.fill_diagonal(matrix, keep)
    return matrix


def ordered_matrix(rows: Sequence[Sequence[float]], order: Sequence[int]) -> Floats:
    """Return the matrix of some of the categories of another, in an order."""
    places = np.array(order, dtype=np.int64)
    return np.array(rows, dtype=np.float64)[np.ix_(places, places)]


def invariant_matrix(matrix: Floats, counts: Ints) -> Floats:
    """Return a matrix R that on average keeps the `counts`, (categories,), of rows: T R = T.

    R = P Q (Gouweleeuw et al.): a category is changed by the matrix P, and then to one that it may
    come from, by the probabilities Q of the category before given that after. More is changed
    than by P. No row gets a category that no row had; what no row can become, Q keeps.
    """
    joint = counts[:, np.newaxis] * matrix
    totals = np.array([math.fsum(column) for column in joint.T.tolist()])
    origins = joint.T / np.where(totals > 0, totals, 1.0)[:, np.newaxis]
    np.fill_diagonal(origins, np.where(totals > 0, np.diag(origins), 1.0))
    invariant = np.zeros(matrix.shape)
    for changes, origin in zip(matrix.T, origins, strict=True):
        invariant += np.outer(changes, origin)
    return np.minimum(invariant, 1.0)  # a sum of shares may be rounded up


def is_from_keeping(matrix: Sequence[Sequence[float]], keep: float, *, is_invariant: bool) -> bool:
    """Tell whether a matrix, rounded to 12 digits, is that of `transition_matrix`; or the one that
    `invariant_matrix` makes of it, for some counts of which none is 0.

    The counts follow from the matrix, since T_i R_ij = T_j R_ji.
    """
    entries = np.array(matrix)
    size = len(entries)
    if entries.shape != (size, size) or not 0 <= entries.min() <= entries.max() <= 1:
        return False
    if (np.abs(entries.sum(axis=1) - 1) > TOLERANCE + size * _ROUNDED).any():
        return False
    base = int(np.argmax(entries.sum(axis=0)))
    there, back = entries[base], entries[:, base]
    if not is_invariant or size == 1:
        return bool(np.allclose(entries, transition_matrix(keep, size), rtol=0, atol=TOLERANCE))
    with np.errstate(divide="ignore"):
        uncertainty = float((_ROUNDED / there + _ROUNDED / back).max())
    if uncertainty > _MOST_UNCERTAIN:
        return True
    shares = there / back / (there / back).sum()
    tolerance = TOLERANCE + 10 * uncertainty
    return bool(np.allclose(entries, _invariant_of(keep, shares), rtol=0, atol=tolerance))


_ROUNDED = 1e-12
_MOST_UNCERTAIN = 1e-3
"""Of rounded probabilities that are smaller, the counts hardly follow."""


def _invariant_of(keep: float, shares: Floats) -> Floats:
    """Return the invariant matrix of `transition_matrix` for the shares of the categories."""
    # Sums of P_ik P_jk / (T P)_k over k, where P is b everywhere and b + a on the diagonal.
    other = (1 - keep) / (len(shares) - 1)
    more = keep - other
    inverse = 1 / (more * shares + other)
    sums = more * other * (inverse[:, np.newaxis] + inverse) + other**2 * inverse.sum()
    sums[np.diag_indices(len(shares))] += more**2 * inverse
    return np.asarray(sums * shares)


def check_stochastic(matrix: Floats) -> None:
    """Raise ValueError where a matrix is not square, or its rows are not of probabilities."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"The matrix is not square. Its shape is {matrix.shape}.")
    for row, probabilities in enumerate(matrix.tolist()):
        for column, probability in enumerate(probabilities):
            if not 0 <= probability <= 1:
                place = f"row {row + 1}, column {column + 1}"
                raise ValueError(f"{probability!r} in {place} is not a probability, from 0 to 1.")
        total = math.fsum(probabilities)
        if abs(total - 1) > TOLERANCE:
            raise ValueError(f"Row {row + 1} sums to {total!r}. A row sums to 1.")


def randomise(codes: NDArray[Any], matrix: Floats, words: Words) -> NDArray[Any]:
    """Return the category that each row's becomes, (rows,), by its word, (rows,).

    `codes` number the categories from 0; the result has their type. Raises ValueError for a matrix
    as `check_stochastic` does, and for codes that it does not have. Probabilities are exact to
    2**-64 (what the rows are short of 1 goes to their largest); what has none never happens.
    """
    check_stochastic(matrix)
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(matrix):
        raise ValueError(f"Codes are from 0 to {len(matrix) - 1}.")
    bounds, last = _bounds(matrix)
    drawn = np.empty(len(codes), dtype=np.int64)
    _draw_categories(codes.astype(np.int64), bounds, last, np.array(words), drawn)
    return drawn.astype(codes.dtype)


def _bounds(matrix: Floats) -> tuple[Words, Ints]:
    """Return how many words make one of the first j + 1 categories, and the last that any makes.

    Those of the last, and of the categories behind it, are 2**64, and not told.
    """
    bounds = np.zeros(matrix.shape, dtype=np.uint64)
    last = np.zeros(len(matrix), dtype=np.int64)
    for row, probabilities in enumerate(matrix.tolist()):
        # A float is a whole number of 2**-64 already, unless it is below 2**-11.
        weights = [int(math.ldexp(probability, 64)) for probability in probabilities]
        weights[weights.index(max(weights))] += 2**64 - sum(weights)
        last[row] = max(column for column, weight in enumerate(weights) if weight)
        total = 0
        for column in range(last[row]):
            total += weights[column]
            bounds[row, column] = total
    return bounds, last


@compiled
def _draw_categories(codes: Ints, bounds: Words, last: Ints, words: Words, drawn: Ints) -> None:
    for row in range(len(codes)):
        code, word = codes[row], words[row]
        low, high = 0, last[code]
        while low < high:
            middle = (low + high) // 2
            if bounds[code, middle] <= word:
                low = middle + 1
            else:
                high = middle
        drawn[row] = low


def transition_counts(before: NDArray[Any], after: NDArray[Any], categories: int) -> Ints:
    """Return how many rows of category i became of category j, (categories, categories)."""
    pairs = before.astype(np.int64) * categories + after
    return np.bincount(pairs, minlength=categories**2).reshape(categories, categories)


def impossible_transitions(counts: Ints, matrix: Floats) -> list[tuple[int, int]]:
    """Return from which category to which rows have moved although the matrix never does so."""
    return [(i, j) for i, j in np.argwhere((counts > 0) & (matrix == 0)).tolist()]


def estimate_frequencies(matrix: Floats, counts: Ints) -> Floats:
    """Return unbiased estimates of the counts before, (categories,), from those after.

    The solution T of T P = T' (Gouweleeuw et al.); some may be negative. Raises ValueError
    for a singular matrix: after that, counts that differed before may be alike.
    """
    # Gauss's elimination, by rows: libraries for matrices add up in other orders on other machines.
    size = len(matrix)
    system = np.column_stack([matrix.T, counts]).astype(np.float64)
    for step in range(size):
        pivot = step + int(np.argmax(np.abs(system[step:, step])))
        if abs(system[pivot, step]) < _SINGULAR:
            raise ValueError("The matrix is singular: frequencies cannot be estimated.")
        system[[step, pivot]] = system[[pivot, step]]
        system[step] /= system[step, step]
        others = system[:, step].copy()
        others[step] = 0.0
        system -= np.outer(others, system[step])
    return system[:, size]


_SINGULAR = 1e-12


def is_singular(matrix: Floats) -> bool:
    """Tell whether frequencies before cannot be estimated from those after."""
    try:
        estimate_frequencies(matrix, np.zeros(len(matrix), dtype=np.int64))
    except ValueError:
        return True
    return False


def local_epsilon(matrix: Floats) -> float:
    """Return the epsilon of local differential privacy that a matrix gives a row's category.

    The largest logarithm of the ratio of two probabilities of one result; infinite where a result
    is possible for one category and impossible for another (Kasiviswanathan, Lee, Nissim,
    Raskhodnikova, Smith: What Can We Learn Privately?, SIAM Journal on Computing 40(3), 2011).
    """
    ends = zip(matrix.min(axis=0).tolist(), matrix.max(axis=0).tolist(), strict=True)
    return max(_log_ratio(least, most) for least, most in ends if most > 0)


def _log_ratio(least: float, most: float) -> float:
    # A difference, since a quotient may be larger than any float.
    return math.log(most) - math.log(least) if least > 0 else math.inf
