"""The distance of a record from the decision boundary, estimated from labels alone."""

from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check, learnt_threshold
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.observations import (
    LABELS,
    SHADOW_MEMBERS,
    SHADOWS,
    VIEWS,
    Bools,
    Evidence,
    Floats,
    Observations,
    Terms,
)


class LabelOnlyBoundary:
    """A record that is classified rightly however it is disturbed is called a member.

    Choquette-Choo et al., ICML 2021, section 4.3: training pushes the decision boundary away from
    the records trained on, and so the label holds out longer against random noise. The score is
    the share of the views classified rightly, the record itself among them; of which strength,
    or of all strengths together, is decided by the shadows' own records, and so is the threshold.
    """

    notation: ClassVar[str] = "label-only-boundary"
    needs: ClassVar[Terms] = frozenset({LABELS, VIEWS})
    uses: ClassVar[Terms] = frozenset({SHADOWS})

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the shares, and one threshold for all. Raises AuditError (A005)."""
        check(self, evidence)
        assert evidence.target.views is not None  # noqa: S101 (checked above)
        strengths = evidence.target.views.strengths
        chosen = _best_strengths(evidence, strengths)

        def score(observed: Observations) -> Floats:
            return _share_right(observed, chosen)

        strengths_text = "all strengths together" if len(chosen) > 1 else f"strength {chosen[0]:g}"
        notes = (
            f"Records were disturbed {len(strengths)} times, and counted with {strengths_text}.",
        )
        return Judgement(score(evidence.target), learnt_threshold(evidence, score), notes=notes)


def _best_strengths(evidence: Evidence, strengths: tuple[float, ...]) -> tuple[float, ...]:
    """Return the strengths that best identify the shadows' own members; without shadows, all."""
    levels = tuple(dict.fromkeys(strengths))
    ways = (levels, *((one,) for one in levels))
    if SHADOW_MEMBERS not in evidence.gives:
        return levels
    is_member = np.concatenate([one.is_member for one in evidence.shadows])
    scores = [
        np.concatenate([_share_right(one.own, way) for one in evidence.shadows]) for way in ways
    ]
    areas = [auc(one, is_member).value for one in scores]
    return ways[int(np.argmax(areas))]


def _share_right(observed: Observations, chosen: tuple[float, ...]) -> Floats:
    views = observed.views
    assert views is not None  # noqa: S101 (the shadows are asked as the target is)
    kept = np.isin(views.strengths, chosen)
    right: Bools = views.logits[kept].argmax(axis=2) == observed.labels
    share: Floats = np.concatenate([right, observed.is_right[None]]).mean(axis=0)
    return share
