"""The attack by labels alone: what the clear cases teach of the others."""

import numpy as np

from policy_engine.audits.attribute.evidence import (
    Codes,
    KnownRecords,
    PublishedFigures,
    SecretEvidence,
)
from policy_engine.audits.attribute.learning import guess_by_forest
from policy_engine.audits.membership.observations import LABEL_ANSWERS, Terms


class TriedLabelsAttack:
    """Guesses the only value that leads to the true label; such records teach the others' values.

    Mehnaz et al.: Are Your Sensitive Attributes Private?, USENIX Security 2022, section 4.2
    (LOMIA). The attacker knows nobody's secret; where no record is a clear case, the commonest
    value is guessed.
    """

    notation = "tried-labels"
    needs: Terms = LABEL_ANSWERS
    imputation = "marginals"
    knows_members = False

    def guess(
        self,
        evidence: SecretEvidence,
        lesson: KnownRecords,  # noqa: ARG002 (the protocol's)
        published: PublishedFigures,
        seed: int,
    ) -> Codes:
        """Return the value that alone leads to the true label, or what such records teach, (n,)."""
        is_right = evidence.tried.argmax(axis=2) == evidence.labels[:, None]
        is_clear = is_right.sum(axis=1) == 1
        values: Codes = is_right.argmax(axis=1).astype(np.int64)
        if not is_clear.any():
            return np.full(len(evidence), int(published.marginals.argmax()), dtype=np.int64)
        if not is_clear.all():
            clear_cases = evidence.known[is_clear], values[is_clear]
            values[~is_clear] = guess_by_forest(*clear_cases, evidence.known[~is_clear], seed)
        return values
