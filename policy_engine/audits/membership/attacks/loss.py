"""The loss threshold: what a model is surer of than of other records, it has seen."""

from typing import ClassVar

from policy_engine.audits.membership.attacks.attack import Judgement, check, learnt_threshold
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOWS,
    Evidence,
    Floats,
    Observations,
    Terms,
)


class Loss:
    """A record with a small loss is called a member (Yeom et al., CSF 2018, adversary 2).

    The score is the margin, of which the loss is a falling function, so that no two losses near
    0 are taken for one. With shadows the threshold is the best on their own records.
    """

    notation: ClassVar[str] = "loss"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES})
    uses: ClassVar[Terms] = frozenset({SHADOWS})

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the margins, and one threshold for all."""
        check(self, evidence)
        return Judgement(evidence.target.margin, learnt_threshold(evidence, _margin))


def _margin(observed: Observations) -> Floats:
    return observed.margin
