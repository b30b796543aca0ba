"""The likelihood-ratio attack with shadows that have not seen the record."""

from typing import Any, ClassVar

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.likelihood import gaussians
from policy_engine.audits.membership.attacks.references import (
    compare_with_shadows,
    left_out_threshold,
)
from policy_engine.audits.membership.observations import (
    SCORES,
    SHADOWS,
    Bools,
    Evidence,
    Floats,
    Terms,
)


class LiraOffline:
    """A record whose margin is too high for one unseen is called a member.

    Carlini et al., IEEE S&P 2022, section V-B: a one-sided test against the Gaussian of the
    margins of shadows not trained on the record. The score is the distance in deviations, of
    which the test's probability is a rising function, so that nothing ties in its tail. The
    threshold is the best with each shadow taken in turn for the target; two shadows leave one,
    which has no deviation to measure distances in, and there is none.
    """

    notation: ClassVar[str] = "lira-offline"
    needs: ClassVar[Terms] = frozenset({SCORES, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence[Any]) -> Judgement:
        """Return the distances, and one threshold for all."""
        check(self, evidence)
        threshold = left_out_threshold(evidence, _score) if _has_deviations(evidence) else None
        return Judgement(compare_with_shadows(evidence, _score), threshold)


def _has_deviations(evidence: Evidence[Any]) -> bool:
    """Tell whether of every shadow's own records some are unseen by two others or more."""
    peer_sets = [
        shadow.other_shadows for shadow in evidence.shadows if shadow.other_shadows is not None
    ]
    return all(int((~peers.is_member).sum(axis=0).max()) > 1 for peers in peer_sets)


def _score(margin: Floats, margins: Floats, counts: Bools) -> Floats:
    return gaussians(margins, counts).distance(margin)
