"""What an intruder guesses of a sensitive value who knows how likely each record is a person's."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.attribute_inference.guesses import coded

Floats = NDArray[np.float64]

_ROUNDING = 1e-9


def guess_by_likelihood(
    log_likelihoods: Floats, values: Floats, truth: Floats, tolerance: float = 0.0
) -> Floats:
    """Return how probably values are guessed as the likeliest by all records together, (persons,).

    `log_likelihoods` (persons, rows) tell how likely a record is the person's, but for a constant
    of the person, -inf for one that is not: the posterior, where all are equally likely
    beforehand. The value is guessed that is right for the records that are the likeliest in sum,
    or one of m such values: then the probability is their share that is right. Whose record none
    can be is guessed as anybody. Otherwise as by `guess_values`.
    """
    value_codes, truth_codes, reach = coded(values, truth, tolerance)
    order = np.argsort(value_codes, kind="stable")
    ordered = value_codes[order]
    guesses = np.unique(value_codes)
    begins = np.searchsorted(ordered, reach.first[guesses], side="left")
    ends = np.searchsorted(ordered, reach.last[guesses], side="right")
    sums = np.zeros((len(log_likelihoods), len(values) + 1))
    np.cumsum(_posterior(log_likelihoods)[:, order], axis=1, out=sums[:, 1:])
    masses = sums[:, ends] - sums[:, begins]
    is_best = masses >= masses.max(axis=1, keepdims=True) * (1 - _ROUNDING)
    first, last = reach.first[truth_codes, None], reach.last[truth_codes, None]
    is_right = is_best & (guesses >= first) & (guesses <= last)
    shares: Floats = is_right.sum(axis=1) / is_best.sum(axis=1)
    return shares


def _posterior(log_likelihoods: Floats) -> Floats:
    greatest = log_likelihoods.max(axis=1, keepdims=True)
    is_possible = greatest > -np.inf
    weights = np.exp(log_likelihoods - np.where(is_possible, greatest, 0.0))
    return np.where(is_possible, weights, 1.0)
