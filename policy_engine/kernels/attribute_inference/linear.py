"""Guesses of a sensitive value by least squares: what many columns tell a little each.

Linear models of a release, with the penalty of Hoerl and Kennard: Ridge regression, Technometrics
12(1), 1970. Whether one is used is chosen on the release alone, by how well it guesses the values
of records that were left out, one at a time: which follows from the model of all (Allen: The
relationship between variable selection and data augmentation, Technometrics 16(1), 1974).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.attribute_inference.smoothing import blind_share, exceeds
from policy_engine.kernels.moments import Moments, exponents

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_VALUES = 50
"""So many values are guessed, the most frequent, of those that more than one record has."""
PENALTY = 1e-6
"""What is added to the variances of columns, each 1: equal columns share their weight."""
FEWEST = 10
"""Fewer records have no model."""
FARTHEST = 100
"""Numbers so many tolerances away from the median are not fitted: a few would decide all."""
DIGITS = 9
"""Of what a model says: no order of rows changes these."""


def guess_by_line(
    known_values: Floats,
    released: Floats,
    values: Floats,
    truth: Floats,
    tolerance: float = 0.0,
    *,
    are_means: bool = False,
) -> Floats | None:
    """Return whether values are guessed as those whose linear model says most, (persons,).

    `known_values` (persons, columns) and `released` (rows, columns) are numbers, nan where there is
    none, which counts as the mean. Each value has a model of who has it. None where the commonest
    value of all is as good for the others of the release, but for an error of one standard
    deviation.

    If they `are_means`, those released are what to expect of the person of each record, who is not
    as near the mean: then the model is that of the persons (regression calibration: Carroll,
    Ruppert, Stefanski and Crainiceanu: Measurement error in nonlinear models, 2006, chapter 4), and
    guesses more than it can of the release. None then where the model is not nearer to others of
    the release than the mean is.
    """
    domain, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    chosen = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    chosen = chosen[counts[chosen] > 1]
    if len(chosen) < 2:
        return None
    has_value = (codes.reshape(-1)[:, None] == chosen).astype(float)

    def likeliest(scores: Floats) -> Floats:
        return np.asarray(domain[chosen][np.argmax(scores, axis=1)])

    everybody = np.ones(len(values), dtype=np.bool_)
    files = known_values, released, values, truth
    return _right(*files, tolerance, has_value, everybody, likeliest, are_means=are_means)


def guess_on_line(
    known_values: Floats,
    released: Floats,
    values: Floats,
    truth: Floats,
    tolerance: float,
    present: Bools,
    *,
    are_means: bool = False,
) -> Floats | None:
    """Return whether numbers are guessed as those that a linear model of them says, (persons,).

    It is fitted to the rows whose value is `present` (rows,); otherwise as by `guess_by_line`.
    """
    if not (tolerance and present.any()):
        return None
    middle = float(np.quantile(values[present], 0.5, method="lower"))
    with np.errstate(over="ignore"):
        scaled = (values - middle) / tolerance
    fitted = present & (np.abs(scaled) <= FARTHEST)

    def number(scores: Floats) -> Floats:
        return np.asarray(middle + tolerance * scores[:, 0])

    files = known_values, released, values, truth
    return _right(*files, tolerance, scaled[:, None], fitted, number, are_means=are_means)


def _right(
    known_values: Floats,
    released: Floats,
    values: Floats,
    truth: Floats,
    tolerance: float,
    targets: Floats,
    fitted: Bools,
    guess: Callable[[Floats], Floats],
    *,
    are_means: bool,
) -> Floats | None:
    """Return whether what is guessed of the models of `targets` (rows, models) is right."""
    if fitted.sum() < FEWEST:
        return None
    # Squares of numbers in any unit are neither 0 nor infinite.
    units = np.fmax.reduce(np.abs(released), axis=0, initial=0.0)
    units = np.where(units > 0, units, 1.0)
    known_values, released = known_values / units, released / units
    model = _Line.of(released[fitted], targets[fitted])
    if model is None:
        return None
    left_out = model.scores_left_out(released[fitted], targets[fitted])
    if are_means:
        if not _tells(left_out, targets[fitted]):
            return None
    else:
        scores = model.scores(released)
        scores[fitted] = left_out
        share = float((np.abs(guess(scores.round(DIGITS)) - values) <= tolerance).mean())
        blind = blind_share(values, np.arange(len(values)), tolerance)
        if not exceeds(round(share, 9), blind, len(values)):
            return None
    guesses = guess(model.scores(known_values).round(DIGITS))
    return np.asarray(np.abs(guesses - truth) <= tolerance, dtype=np.float64)


def _tells(left_out: Floats, targets: Floats) -> bool:
    """Tell whether what models say of rows left out is nearer to their targets than the mean is."""
    missed = float(np.sort((targets - left_out) ** 2, axis=None).sum())
    spread = float(np.sort((targets - targets.mean(axis=0)) ** 2, axis=None).sum())
    return round(missed / spread, DIGITS) < 1 if spread > 0 else False


@dataclass(frozen=True)
class _Line:
    """Linear models: of columns less their `means` in units of `deviations`, the `weights`
    (columns, models) and the `levels` (models,); `inverse` is that of the columns' correlations."""

    means: Floats
    deviations: Floats
    weights: Floats
    levels: Floats
    inverse: Floats
    count: int

    @classmethod
    def of(cls, released: Floats, targets: Floats) -> "_Line | None":
        """Return the models of rows; None where no column differs."""
        width = released.shape[1]
        present = ~np.isnan(released)
        filled = np.where(present, released, 0.0)
        shares = np.maximum(present.mean(axis=0), 1 / len(released))
        means = _moments(filled).means / shares
        moments = _moments(np.column_stack([np.where(present, released - means, 0.0), targets]))
        covariance, levels = moments.covariance, moments.means[width:]
        deviations = np.sqrt(np.diagonal(covariance)[:width])
        differ = deviations > 0
        if not differ.any():
            return None
        units = np.where(differ, deviations, np.inf)
        correlations = covariance[:width, :width] / np.outer(units, units)
        inverse = np.linalg.inv(correlations + PENALTY * np.eye(width) + np.diag(~differ))
        weights = inverse @ (covariance[:width, width:] / units[:, None])
        return cls(means, units, weights, levels, inverse, len(released))

    def scores(self, numbers: Floats) -> Floats:
        """Return what the models say of rows, (rows, models)."""
        return np.asarray(self._standardised(numbers) @ self.weights + self.levels)

    def scores_left_out(self, released: Floats, targets: Floats) -> Floats:
        """Return what they would say of the rows they are of, had each been left out."""
        points = self._standardised(released)
        own = (1 + ((points @ self.inverse) * points).sum(axis=1)) / self.count
        own = np.minimum(own, 1 - 1e-6)[:, None]
        return np.asarray((self.scores(released) - own * targets) / (1 - own))

    def _standardised(self, numbers: Floats) -> Floats:
        return np.where(np.isnan(numbers), 0.0, (numbers - self.means) / self.deviations)


def _moments(values: Floats) -> Moments:
    return Moments.of(values, exponents(values))
