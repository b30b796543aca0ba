"""The estimator of Fredrikson et al.: the likeliest value, by marginals and a confusion matrix."""

import numpy as np

from policy_engine.audits.attribute.attacks.attack import likeliest
from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
)
from policy_engine.audits.membership.observations import LABEL_ANSWERS, Terms


class FredriksonAttack:
    """Guesses the value v with the highest P(v) P(f(x with v) | y), by labels alone.

    Fredrikson et al.: Privacy in Pharmacogenetics, USENIX Security 2014; Model Inversion Attacks
    that Exploit Confidence Information, CCS 2015, section 4.1: P(v) is a marginal, and the
    probability that the model f answers as it does where y is true is read off its confusion
    matrix. Where the model has never so answered, whatever the value, the marginal decides.
    """

    notation = "fredrikson"
    needs: Terms = LABEL_ANSWERS
    imputation = "marginals"
    knows_members = False

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,  # noqa: ARG002 (the protocol's)
        published: PublishedFigures,
        seed: int,  # noqa: ARG002
    ) -> Codes:
        """Return the likeliest value of each record, (n,)."""
        totals = np.maximum(published.confusion.sum(axis=1, keepdims=True), 1)
        rates = published.confusion / totals
        predicted = evidence.tried.argmax(axis=2)
        scores = rates[evidence.labels[:, None], predicted] * published.marginals
        return likeliest(scores, published.marginals)
