"""The likelihood-ratio attack with shadows that have not seen the record."""

from typing import ClassVar, Literal

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.likelihood import gaussians
from policy_engine.audits.membership.attacks.references import compared, left_out_threshold
from policy_engine.audits.membership.observations import Bools, Evidence, Floats


class LiraOffline:
    """A record whose margin is too high for one unseen is called a member.

    Carlini et al., IEEE S&P 2022, section V-B: a one-sided test against the Gaussian of the
    margins of shadows not trained on the record. The score is the distance in deviations, of
    which the test's probability is a rising function, so that nothing ties in its tail. The
    threshold is the best with each shadow taken in turn for the target.
    """

    notation: ClassVar[str] = "lira-offline"
    needs: ClassVar[Literal["labels", "confidences"]] = "confidences"
    shadows: ClassVar[Literal["none", "optional", "disjoint", "online"]] = "disjoint"

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the distances, and one threshold for all."""
        check(self, evidence)
        return Judgement(compared(evidence, _score), left_out_threshold(evidence, _score))


def _score(margin: Floats, margins: Floats, counts: Bools) -> Floats:
    return gaussians(margins, counts).distance(margin)
