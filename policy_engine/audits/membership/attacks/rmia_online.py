"""The robust attack with shadow models, half of which were trained on the record."""

from typing import ClassVar

from policy_engine.audits.membership.attacks.attack import Judgement, check
from policy_engine.audits.membership.attacks.references import (
    mean_of,
    online_models,
    online_threshold,
)
from policy_engine.audits.membership.attacks.rmia import doubts, log_ratio
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    ONLINE_SHADOWS,
    Bools,
    Evidence,
    Floats,
    Terms,
)


class RmiaOnline:
    """A record whose ratio dominates the ratios of others is called a member.

    Zarifzadeh, Liu and Shokri, ICML 2024, online: as `rmia`, but P, the record's probability by
    models at large, is the mean of those trained on it and of those that were not, and so needs
    nothing to tie the two worlds. The score is the logarithm of p / P, which ranks as the share of
    a population that is dominated. The threshold is the best with online shadows taken in turn
    for the target.
    """

    notation: ClassVar[str] = "rmia-online"
    needs: ClassVar[Terms] = frozenset({CONFIDENCES, ONLINE_SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the logarithms of the ratios, and one threshold for all.

        Raises AuditError (A005, A007), also where a record was in none or in all of the shadows.
        """
        check(self, evidence)
        margins, is_member = online_models(evidence)
        threshold = online_threshold(margins, is_member, _score)
        return Judgement(_score(evidence.target.margin, margins, is_member), threshold)


def _score(margin: Floats, margins: Floats, is_member: Bools) -> Floats:
    return log_ratio(
        margin,
        _mean_of_halves(doubts(margins), is_member),
        _mean_of_halves(doubts(-margins), is_member),
    )


def _mean_of_halves(figures: Floats, is_member: Bools) -> Floats:
    """Return the mean of the two means, of the models with the record and of those without."""
    return (mean_of(figures, is_member) + mean_of(figures, ~is_member)) / 2
