"""What an intruder guesses of a sensitive value who knows how likely each record is a person's."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.attribute_inference.guesses import coded
from policy_engine.kernels.balancing import record_scales

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-9
_ROUNDS = 30


def guess_by_likelihood(
    log_likelihoods: Floats, values: Floats, truth: Floats, tolerance: float = 0.0
) -> Floats:
    """Return how probably values are guessed as the likeliest by all records together, (persons,).

    `log_likelihoods` (persons, rows) tell how likely a record is the person's, but for a constant
    of the person, -inf for one that is not: the posterior, where all are equally likely
    beforehand. Whose record none can be is guessed as anybody. Otherwise as by `guess_by_weight`.
    """
    own = np.arange(len(truth))
    return guess_by_weight(_posterior(log_likelihoods), own, values, truth, tolerance)


def guess_by_weight(
    weights: Floats, cell_of: Ints, values: Floats, truth: Floats, tolerance: float = 0.0
) -> Floats:
    """Return how probably values are guessed as the likeliest by weighted records, (persons,).

    `weights` (cells, rows) are those of records for the persons of a cell, `cell_of` (persons,).
    The value is guessed that is right for the records with the greatest sum of weights, or one of m
    such values: then the probability is their share that is right. Otherwise as by `guess_values`.
    """
    value_codes, truth_codes, reach = coded(values, truth, tolerance)
    order = np.argsort(value_codes, kind="stable")
    ordered = value_codes[order]
    guesses = np.unique(value_codes)
    begins = np.searchsorted(ordered, reach.first[guesses], side="left")
    ends = np.searchsorted(ordered, reach.last[guesses], side="right")
    sums = np.zeros((len(weights), len(values) + 1))
    np.cumsum(weights[:, order], axis=1, out=sums[:, 1:])
    masses = sums[:, ends] - sums[:, begins]
    is_best = masses >= masses.max(axis=1, keepdims=True) * (1 - _ROUNDING)
    best = np.zeros((len(weights), len(guesses) + 1), dtype=np.int64)
    np.cumsum(is_best, axis=1, out=best[:, 1:])
    first = np.searchsorted(guesses, reach.first[truth_codes], side="left")
    last = np.searchsorted(guesses, reach.last[truth_codes], side="right")
    shares: Floats = (best[cell_of, last] - best[cell_of, first]) / best[cell_of, -1]
    return shares


def balance(log_likelihoods: Floats, persons: Floats) -> Floats:
    """Return log-likelihoods, (persons, rows), given that each record is one person's.

    Records that many persons may have are less likely each one's: see `record_scales`. `persons`
    (persons,) are weights of whom to expect there.
    """
    scales = record_scales(_posterior(log_likelihoods), persons, _ROUNDS)
    return np.asarray(log_likelihoods + np.log(scales))


def expected_points(log_likelihoods: Floats, points: Floats) -> Floats:
    """Return what to expect of the person of each record, (rows, columns), nan where nothing is.

    `log_likelihoods` (persons, rows) are told but for a constant of the record, and the `points`
    (persons, columns) have nan where there is no number, which counts as the mean.
    """
    present = ~np.isnan(points)
    means = np.where(present, points, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    weights = _posterior(log_likelihoods.T)
    filled = np.where(present, points - means, 0.0)
    return np.asarray(weights @ filled / weights.sum(axis=1, keepdims=True) + means)


def _posterior(log_likelihoods: Floats) -> Floats:
    greatest = log_likelihoods.max(axis=1, keepdims=True)
    is_possible = greatest > -np.inf
    weights = np.exp(log_likelihoods - np.where(is_possible, greatest, 0.0))
    return np.where(is_possible, weights, 1.0)
