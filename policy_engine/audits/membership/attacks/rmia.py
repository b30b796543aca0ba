"""The robust attack: how much likelier the record is to the target than to models at large."""

from functools import partial
from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.attacks.references import (
    compare_with_shadows,
    left_out_scores,
    left_out_threshold,
    mean_of,
)
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    SHADOW_MEMBERS,
    SHADOWS,
    Bools,
    Evidence,
    Floats,
    Terms,
)


class Rmia:
    """A record whose ratio dominates the ratios of others is called a member.

    Zarifzadeh, Liu and Shokri, ICML 2024, offline: the ratio of a record is p / P, its
    probability by the target over that by models at large, P = ((1 + a) q + 1 - a) / 2 with q
    the mean over shadows not trained on it. The published score is the share of records z of a
    population that are dominated, ratio(x) >= gamma ratio(z). All records are compared with
    the same z, so that the share is a rising step function of ratio(x), whatever gamma and z:
    the score here is the ratio's logarithm, which ranks as the share does and breaks its ties.

    `a` ties the two worlds, p_in = a p_out + 1 - a. As in the paper it is tuned with shadows taken
    for the target: of the slope for which this holds on average over their own members and
    non-members, and of the steps from 0 to 1, it is the one with the highest AUC. The threshold is
    the best with each shadow taken in turn for the target.
    """

    notation: ClassVar[str] = "rmia"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the logarithms of the ratios, and one threshold for all."""
        check(self, evidence)
        score = partial(_score, a=tune_slope(evidence))
        return Judgement(compare_with_shadows(evidence, score), left_out_threshold(evidence, score))


def tune_slope(evidence: Evidence) -> float:
    """Return the a that separates shadows' own members from their other records best.

    It is the slope where what shadows say of each other's records is not known.
    """
    areas: dict[float, float] = {}
    for a in (estimate_slope(evidence), *_STEPS):
        scores_and_truths = left_out_scores(evidence, partial(_score, a=a))
        if scores_and_truths is None:
            return a
        areas.setdefault(a, auc(*scores_and_truths).value)
    return max(areas, key=lambda a: areas[a])


_STEPS = tuple(step / 10 for step in range(11))


def estimate_slope(evidence: Evidence) -> float:
    """Return a: the mean doubt on the shadows' members over that on non-members, at most 1.

    Of reference models no members are known. Theirs on the audited records is that on others, and
    the target's the mean of both kinds where half of these are members, as they mostly are.
    """
    if SHADOW_MEMBERS not in evidence.gives:
        on_others = float(np.mean([doubts(one.audited.margin).mean() for one in evidence.shadows]))
        on_members = 2 * float(doubts(evidence.target.margin).mean()) - on_others
        return min(max(on_members / on_others, 0.0), 1.0) if on_others else 1.0
    inside = [doubts(one.own.margin[one.is_member]) for one in evidence.shadows]
    outside = [doubts(one.own.margin[~one.is_member]) for one in evidence.shadows]
    on_others = float(np.concatenate(outside).mean())
    return min(float(np.concatenate(inside).mean()) / on_others, 1.0) if on_others else 1.0


def doubts(margins: Floats) -> Floats:
    """Return 1 - p of margins, which p itself would round off."""
    return np.exp(-np.logaddexp(0, margins))


def _score(margin: Floats, margins: Floats, counts: Bools, a: float) -> Floats:
    """Return log p - log P."""
    doubt, q = mean_of(doubts(margins), counts), mean_of(doubts(-margins), counts)
    return log_ratio(margin, (1 + a) / 2 * doubt, (1 + a) / 2 * q + (1 - a) / 2)


def log_ratio(margin: Floats, doubt: Floats, share: Floats) -> Floats:
    """Return log p - log P of a margin; P close to 1 is reckoned from 1 - P, else from itself."""
    near_one = np.log1p(-np.minimum(doubt, 0.5))
    near_none = np.log(np.maximum(share, np.finfo(np.float64).tiny))
    return -np.logaddexp(0, -margin) - np.where(doubt < 0.5, near_one, near_none)
