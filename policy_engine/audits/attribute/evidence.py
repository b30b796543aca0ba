"""What an attacker on a secret column has."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SecretEvidence:
    """What an attacker has of n records, their secrets left out.

    `known` (n, d) are the features of all other columns and of the label, `labels` (n,) the true
    classes, `answers` (n, C) the probabilities of the classes by the model, asked about the records
    as they are, and `tried` (n, V, C) those with each of the V values in the place of the secret.
    Where the model gives labels alone, probabilities are 0 and 1.
    """

    known: NDArray[np.float32]
    labels: Codes
    answers: Shares
    tried: Shares

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def true_class_shares(self) -> Shares:
        """The probability of the true class with each value in the place of the secret, (n, V)."""
        return np.take_along_axis(self.tried, self.labels[:, None, None], axis=2)[:, :, 0]

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> "SecretEvidence":
        """Return what the attacker has of some of the records."""
        return SecretEvidence(
            self.known[rows], self.labels[rows], self.answers[rows], self.tried[rows]
        )


@dataclass(frozen=True, eq=False)
class KnownRecords:
    """Members whose secrets, (n,), the attacker knows."""

    evidence: SecretEvidence
    secrets: Codes


@dataclass(frozen=True, eq=False)
class PublishedFigures:
    """What is told of a model beside it.

    `marginals` (V,) are the shares of the secret's values among the records that it was trained on,
    and `confusion` (C, C) is how many of them it classifies as what: true classes by rows.
    """

    marginals: Shares
    confusion: Codes
