"""The label-only gap, the baseline: what a model gets right, it has seen."""

from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.observations import (
    LABELS,
    Evidence,
    Terms,
)


class LabelOnly:
    """A record classified correctly is called a member (Yeom et al., CSF 2018, adversary 1).

    Its accuracy is half of 1 and the gap between the accuracies on members and on others: what
    anybody gains who merely sees the model's answers.
    """

    notation: ClassVar[str] = "label-only"
    needs: ClassVar[Terms] = frozenset({LABELS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return 1 for what is classified correctly and 0 for the rest."""
        check(self, evidence)
        return Judgement(evidence.target.is_right.astype(np.float64), 0.5)
