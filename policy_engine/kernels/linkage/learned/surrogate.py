"""A smooth stand-in for the number of links, which is climbed from a distance to a better one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats
from policy_engine.kernels.linkage.learned.forms import matrix_of

Ints = NDArray[np.int64]

_STEPS = 60
_SMALL = 1e-9
_LEAST = 1e-200
_STEEPEST = 40.0
_LEAST_SHARE = 0.1

Move = Callable[[Floats], tuple[Floats, Callable[[Floats], Floats]]]
"""From where one is to parameters, and from a gradient by the parameters to one by where one is."""


def climb(
    own: Floats, others: Floats, persons: Ints, distances: Distances, start: Floats, power: float
) -> Floats:
    """Return parameters that make more of the links of a file likely than the start does.

    `own` (persons, columns) are the differences from each person's own record, `others` (rows,
    columns) those from some rivals of the `persons`, (rows,). A link is as likely as an intruder's
    choice is who takes a record in proportion to its distance to the power of -`power`: the greater
    that is, the nearer is the sum of them to the number of links, and the rougher.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import, an extra)

    mine, theirs = distances.features(own), distances.features(others)
    first, move = _form(start) if distances.ordered is None else _mean(distances, mine, start)

    def missed(place: Floats) -> tuple[float, Floats]:
        parameters, back = move(place)
        value, gradient = _missed(mine, theirs, persons, parameters, power)
        return value, back(gradient)

    solution = minimize(missed, first, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return move(solution.x)[0]


def _missed(
    mine: Floats, theirs: Floats, persons: Ints, parameters: Floats, power: float
) -> tuple[float, Floats]:
    """Return how many links are missed as a smooth function, and its gradient."""
    one, other = mine @ parameters, theirs @ parameters
    least = _SMALL * float(one.mean() + other.mean()) + _LEAST
    one, other = np.maximum(one, 0) + least, np.maximum(other, 0) + least
    steepness = np.minimum(power * np.log(one[persons] / other), _STEEPEST)
    rates = np.exp(steepness)
    likely = 1 / (1 + np.bincount(persons, rates, len(mine)))
    slopes = np.where(steepness < _STEEPEST, likely[persons] ** 2 * rates * power, 0.0)
    gradient = (np.bincount(persons, slopes, len(mine)) / one) @ mine - (slopes / other) @ theirs
    return float(len(mine) - likely.sum()), gradient


def _mean(distances: Distances, mine: Floats, start: Floats) -> tuple[Floats, Move]:
    """Return where the start is among the means of it and the corners of the family."""
    corners = np.vstack([start, distances.corners])
    typical = distances.corners @ mine.mean(axis=0)
    shares = 1 / np.maximum(typical, _SMALL * typical.max() or 1.0)
    first = np.log(np.append(1 - _LEAST_SHARE, _LEAST_SHARE * shares / shares.sum()))

    def move(place: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        weights = np.exp(place - place.max())
        weights /= weights.sum()

        def back(gradient: Floats) -> Floats:
            by_corner = corners @ gradient
            slopes: Floats = weights * (by_corner - weights @ by_corner)
            return slopes

        return weights @ corners, back

    return first, move


def _form(start: Floats) -> tuple[Floats, Move]:
    """Return where the start is among the squares of matrices."""
    values, vectors = np.linalg.eigh(matrix_of(start))
    root = vectors * np.sqrt(np.maximum(values, _SMALL * values.max()))
    size = len(root)
    upper = np.triu_indices(size)

    def move(place: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        factor = root @ place.reshape(size, size)
        parameters = (factor @ factor.T)[upper]
        total = float(np.square(factor).sum())

        def back(gradient: Floats) -> Floats:
            # Each parameter beside the diagonal stands for two elements of the matrix. The links
            # do not change with the total, to which the parameters are divided.
            both = matrix_of(gradient)
            both[np.diag_indices(size)] *= 2
            slopes: Floats = root.T @ both @ factor / total
            return slopes.ravel()

        return parameters / total, back

    return np.eye(size).ravel(), move
