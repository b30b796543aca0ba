"""The attack by confidences: the value with which the model is surest of the true label."""

from policy_engine.audits.attribute.attacks.attack import likeliest
from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
)
from policy_engine.audits.membership.observations import CONFIDENCES, LABELS, Terms


class ConfidenceAttack:
    """Guesses the value with which the model gives the true label the highest probability.

    Mehnaz et al.: Are Your Sensitive Attributes Private?, USENIX Security 2022, section 4.1
    (CSMIA): a value that alone leads to the true label, else the one of the surest right answer,
    else that of the least sure wrong one. With two classes that is this order; with more, the
    probability of the true label decides among wrong answers too. Of equal ones the commonest.
    """

    notation = "confidence"
    needs: Terms = frozenset({LABELS, CONFIDENCES})
    imputation = "marginals"
    knows_members = False

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,  # noqa: ARG002 (the protocol's)
        published: PublishedFigures,
        seed: int,  # noqa: ARG002
    ) -> Codes:
        """Return the value with the surest true label of each record, (n,)."""
        shares = evidence.true_class_shares
        is_right = evidence.tried.argmax(axis=2) == evidence.labels[:, None]
        return likeliest(shares + is_right, published.marginals)
