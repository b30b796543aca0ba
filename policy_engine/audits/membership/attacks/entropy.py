"""The entropy threshold: what a model is of one mind about, it has seen."""

from typing import ClassVar

from policy_engine.audits.membership.attacks.attack import Judgement, check, threshold_by_class
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOWS,
    Evidence,
    Floats,
    Observations,
    Terms,
)


class Entropy:
    """A record with a small entropy is called a member (Song and Mittal, 2021, eq. 7).

    The score is minus the entropy's logarithm. With shadows there is a threshold for each
    class, the best on their own records; it asks for no label of the record but to choose it.
    """

    notation: ClassVar[str] = "entropy"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES})
    uses: ClassVar[Terms] = frozenset({SHADOWS})

    def judge(self, evidence: Evidence) -> Judgement:
        """Return minus the logarithms of the entropies, and the threshold of each one's class."""
        check(self, evidence)
        return Judgement(_score(evidence.target), threshold_by_class(evidence, _score))


def _score(observed: Observations) -> Floats:
    return -observed.log_entropy
