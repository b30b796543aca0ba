"""The loss less how hard the record is for models that have not seen it."""

from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.references import (
    compare_with_shadows,
    left_out_threshold,
    mean_of,
)
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOWS,
    Bools,
    Evidence,
    Floats,
    Terms,
)


class CalibratedLoss:
    """A record easier than it is for others is called a member (Watson et al., ICLR 2022).

    The score is the mean loss of the shadows that were not trained on the record, less the
    target's. The threshold is the best with each shadow taken in turn for the target.
    """

    notation: ClassVar[str] = "calibrated-loss"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the differences of the losses, and one threshold for all."""
        check(self, evidence)
        return Judgement(
            compare_with_shadows(evidence, _score), left_out_threshold(evidence, _score)
        )


def _score(margin: Floats, margins: Floats, counts: Bools) -> Floats:
    return mean_of(np.logaddexp(0, -margins), counts) - np.logaddexp(0, -margin)
