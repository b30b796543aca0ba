"""The robust attack: how much likelier the record is to the target than to models at large."""

from functools import partial
from typing import ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.references import (
    compared,
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


class Rmia:
    """A record whose ratio dominates the ratios of others is called a member.

    Zarifzadeh, Liu and Shokri, ICML 2024, offline: the ratio of a record is p / P, its
    probability by the target over that by models at large, P = ((1 + a) q + 1 - a) / 2 with q
    the mean over shadows not trained on it. The published score is the share of records z of a
    population that are dominated, ratio(x) >= gamma ratio(z). All records are compared with
    the same z, so that the share is a rising step function of ratio(x), whatever gamma and z:
    the score here is the ratio's logarithm, which ranks as the share does and breaks its ties.

    `a` ties the two worlds, p_in = a p_out + 1 - a. The paper tunes it on shadows; here it
    is the one for which this holds on average over the shadows' own members and others. The
    threshold is the best with each shadow taken in turn for the target.
    """

    notation: ClassVar[str] = "rmia"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the logarithms of the ratios, and one threshold for all."""
        check(self, evidence)
        score = partial(_score, a=slope(evidence))
        return Judgement(compared(evidence, score), left_out_threshold(evidence, score))


def slope(evidence: Evidence) -> float:
    """Return a: the mean doubt on the shadows' members over that on others, at most 1."""
    inside = [_doubt(one.own.margin[one.is_member]) for one in evidence.shadows]
    outside = [_doubt(one.own.margin[~one.is_member]) for one in evidence.shadows]
    unseen = float(np.concatenate(outside).mean())
    return min(float(np.concatenate(inside).mean()) / unseen, 1.0) if unseen else 1.0


def _doubt(margins: Floats) -> Floats:
    """Return 1 - p, which p itself would round off."""
    return np.exp(-np.logaddexp(0, margins))


def _score(margin: Floats, margins: Floats, counts: Bools, a: float) -> Floats:
    """Return log p - log P; P close to 1 is reckoned from 1 - q, else from q itself."""
    doubt, q = mean_of(_doubt(margins), counts), mean_of(_doubt(-margins), counts)
    near_one = np.log1p(-(1 + a) / 2 * np.minimum(doubt, 0.5))
    near_none = np.log(np.maximum((1 + a) / 2 * q + (1 - a) / 2, np.finfo(np.float64).tiny))
    return -np.logaddexp(0, -margin) - np.where(doubt < 0.5, near_one, near_none)
