"""The likelihood-ratio attack on several views of each record."""

from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.likelihood import gaussians
from policy_engine.audits.membership.attacks.references import unseen_by_shadows
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOWS,
    VIEWS,
    Evidence,
    Floats,
    Observations,
    Terms,
)

_WEAK = 2
"""The views of so many strengths, the weakest, are those of the record itself."""


class LiraViews:
    """A record whose margins, averaged over views of it, are too high for one unseen is a member.

    Carlini et al., IEEE S&P 2022, section VI-C, ask the models about augmentations of each record
    too. As `lira-offline`, with the mean of the margins over the record and its weakly disturbed
    views instead of one margin: the noise of single views averages out. There is
    no threshold of its own.
    """

    notation: ClassVar[str] = "lira-views"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, VIEWS, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return how many deviations the means are above those of shadows without the record."""
        check(self, evidence)
        margins = np.stack([_mean_margin(one.audited) for one in evidence.shadows])
        distribution = gaussians(margins, unseen_by_shadows(evidence))
        return Judgement(distribution.distance(_mean_margin(evidence.target)), None)


def _mean_margin(observed: Observations) -> Floats:
    views = observed.views
    assert views is not None  # noqa: S101 (the shadows are asked as the target is)
    weak = sorted(set(views.strengths))[:_WEAK]
    kept = [
        one for one, strength in zip(views.logits, views.strengths, strict=True) if strength in weak
    ]
    margins = [Observations(one, observed.labels).margin for one in kept]
    mean: Floats = np.mean([observed.margin, *margins], axis=0)
    return mean
