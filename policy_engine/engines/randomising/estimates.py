"""What the answers of a published table tell of the values that they were drawn for, on average."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.randomising.answers import Answers
from policy_engine.engines.randomising.persons import no_persons_error, record_weights
from policy_engine.engines.randomising.tables import read_answers
from policy_engine.engines.randomising.values import codes_of, steps_of
from policy_engine.kernels.local_privacy.bounded_numbers import estimate_mean
from policy_engine.kernels.local_privacy.frequencies import estimate_frequencies
from policy_engine.kernels.local_privacy.local_hashing import LocalHashing
from policy_engine.kernels.local_privacy.randomised_response import RandomisedResponse
from policy_engine.kernels.local_privacy.spreads import Estimates
from policy_engine.methods.randomiser import (
    CategoryRandomiser,
    NumberRandomiser,
    Randomiser,
    exact,
)
from policy_engine.plan.randomisation import Randomisation

Floats = NDArray[np.float64]

MEAN = "mean"


@dataclass(frozen=True)
class ColumnEstimates:
    """Estimates of a column, by their `labels`: of the frequency of each category, or of the mean.

    `truth` is what they estimate, in a table that is at hand; None where it is not.
    """

    randomiser: Randomiser
    labels: tuple[str, ...]
    estimates: Estimates
    truth: Floats | None = None


@dataclass(frozen=True)
class Original:
    """A table that was randomised, and by how much each of its records counts, (rows,).

    Records count alike or, where one of each person is drawn, as likely as it is.
    """

    table: pa.Table
    weights: Floats

    @classmethod
    def of(cls, table: pa.Table, randomisation: Randomisation) -> "Original":
        """Return a table as the records of a randomisation count. Raises DataError (R001) for one
        without persons, if those are asked for."""
        if not randomisation.unit:
            return cls(table, np.ones(table.num_rows))
        weights = record_weights(table, randomisation)
        if not weights.any():
            raise no_persons_error()
        return cls(table, weights)

    def shares(self, randomiser: CategoryRandomiser) -> Floats:
        """Return the frequency of each value of a randomiser, (values,)."""
        codes = codes_of(self.table.column(randomiser.name), randomiser)
        sums = np.bincount(codes, weights=self.weights, minlength=len(randomiser.values))
        return np.asarray(sums / self.weights.sum())

    def mean_step(self, randomiser: NumberRandomiser) -> float:
        """Return the mean of the steps on the grid of a randomiser."""
        steps = steps_of(self.table.column(randomiser.name), randomiser)
        return float(np.average(steps, weights=self.weights))


def estimate_column(
    published: pa.ChunkedArray,
    randomiser: Randomiser,
    randomisation: Randomisation,
    original: Original | None = None,
) -> ColumnEstimates:
    """Return unbiased estimates of a published column of categories or numbers, and the truth in
    an `original` table, as it counts for the randomiser.

    Raises ValueError for too few answers.
    """
    epsilon = randomisation.epsilon_of(randomiser)
    answers = read_answers(published, randomiser, epsilon)
    if isinstance(randomiser, CategoryRandomiser):
        mechanism = randomiser.mechanism(epsilon)
        estimates = estimate_frequencies(
            _support_counts(answers, mechanism),
            answers.number,
            mechanism.supports,
            sampled=randomisation.sampled_share,
        )
        truth = None if original is None else original.shares(randomiser)
        return ColumnEstimates(randomiser, randomiser.values, estimates, truth)
    assert isinstance(randomiser, NumberRandomiser)  # noqa: S101 (images are not estimated)
    assert answers.codes is not None  # noqa: S101 (numbers have them)
    lower, grid = float(exact(randomiser.lower)), float(exact(randomiser.grid))
    share = randomisation.sampled_share
    mean = estimate_mean(randomiser.mechanism(epsilon), answers.codes, sampled=share)
    scaled = mean.rescaled(lower, grid)
    if original is None:
        return ColumnEstimates(randomiser, (MEAN,), scaled)
    truth = np.array([lower + grid * original.mean_step(randomiser)])
    return ColumnEstimates(randomiser, (MEAN,), scaled, truth)


def _support_counts(answers: Answers, mechanism: object) -> NDArray[np.int64]:
    """Return how many answers support each category, (categories,)."""
    if isinstance(mechanism, RandomisedResponse) and answers.codes is not None:
        return mechanism.count(answers.codes)
    if isinstance(mechanism, LocalHashing) and answers.codes is not None:
        assert answers.hashes is not None  # noqa: S101 (they come with what is told)
        return mechanism.count(answers.hashes, answers.codes)
    assert answers.bits is not None  # noqa: S101 (there are no others)
    return np.asarray(np.count_nonzero(answers.bits, axis=0).astype(np.int64))
