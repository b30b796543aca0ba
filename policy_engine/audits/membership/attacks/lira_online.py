"""The likelihood-ratio attack with shadow models, half of which were trained on the record."""

from typing import Any, ClassVar

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.likelihood import gaussians
from policy_engine.audits.membership.attacks.references import online_models, online_threshold
from policy_engine.audits.membership.observations import (
    ONLINE_SHADOWS,
    SCORES,
    Bools,
    Evidence,
    Floats,
    Terms,
)


class LiraOnline:
    """A record whose margin is likelier of one seen than of one unseen is called a member.

    Carlini et al., IEEE S&P 2022, algorithm 1: the score is the logarithm of the ratio of two
    Gaussians, of the margins of the online shadows trained on the record and of the others. The
    threshold is the best with some of these shadows, at most eight, taken in turn for the
    target; with fewer than six it is 0, where both are equally likely.
    """

    notation: ClassVar[str] = "lira-online"
    needs: ClassVar[Terms] = frozenset({SCORES, ONLINE_SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence[Any]) -> Judgement:
        """Return the logarithms of the ratios, and one threshold for all.

        Raises AuditError (A007) where a record was in none or in all of the shadows.
        """
        check(self, evidence)
        margins, is_member = online_models(evidence)
        threshold = online_threshold(margins, is_member, _ratio)
        return Judgement(_ratio(evidence.target.signal, margins, is_member), threshold)


def _ratio(margin: Floats, margins: Floats, is_member: Bools) -> Floats:
    inside, outside = gaussians(margins, is_member), gaussians(margins, ~is_member)
    return inside.log_density(margin) - outside.log_density(margin)
