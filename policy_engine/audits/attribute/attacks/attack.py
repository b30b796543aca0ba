"""The protocol of attacks on a secret column, and how they decide."""

from typing import Protocol

import numpy as np

from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
    Shares,
)
from policy_engine.audits.membership.observations import Terms


class SecretAttack(Protocol):
    """A way to guess the secrets of records by what a model says of them."""

    @property
    def notation(self) -> str:
        """Its name."""
        ...

    @property
    def needs(self) -> Terms:
        """The terms of the model's answers that it needs."""
        ...

    @property
    def imputation(self) -> str:
        """Who guesses in the same way without the model."""
        ...

    @property
    def knows_members(self) -> bool:
        """Whether it uses the secrets of known members."""
        ...

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,
        published: PublishedFigures,
        seed: int,
    ) -> Codes:
        """Return the code of the value that is guessed for each record, (n,)."""
        ...


def likeliest(scores: Shares, marginals: Shares) -> Codes:
    """Return the value with the highest score of each record, (n,) of (n, V).

    Of equal ones the commonest, and of these the first.
    """
    order = np.argsort(-marginals, kind="stable")
    best = scores[:, order] >= scores.max(axis=1, keepdims=True) - _ROUNDING
    return np.asarray(order[best.argmax(axis=1)], dtype=np.int64)


_ROUNDING = 1e-12
