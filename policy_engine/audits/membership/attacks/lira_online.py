"""The likelihood-ratio attack with shadows of which half have seen the record."""

from typing import Any, ClassVar

import numpy as np

from policy_engine.audits.membership.attacks.attack import Judgement, best_threshold, check
from policy_engine.audits.membership.attacks.likelihood import gaussians
from policy_engine.audits.membership.observations import (
    FEWEST_SHADOWS,
    ONLINE_SHADOWS,
    SCORES,
    Bools,
    Evidence,
    Floats,
    Terms,
)
from policy_engine.errors import AuditError

_TRIED = 8


class LiraOnline:
    """A record whose margin is likelier of one seen than of one unseen is called a member.

    Carlini et al., IEEE S&P 2022, algorithm 1: the score is the logarithm of the ratio of two
    Gaussians, of the margins of the online shadows trained on the record and of the others. The
    threshold is the best with some of these shadows, at most eight, taken in turn for the
    target; with fewer than four it is 0, where both are equally likely.
    """

    notation: ClassVar[str] = "lira-online"
    needs: ClassVar[Terms] = frozenset({SCORES, ONLINE_SHADOWS})
    uses: ClassVar[Terms] = frozenset()

    def judge(self, evidence: Evidence[Any]) -> Judgement:
        """Return the logarithms of the ratios, and one threshold for all.

        Raises AuditError (A007) where a record was in none or in all of the shadows.
        """
        check(self, evidence)
        margins = np.stack([observed.signal for observed, _ in evidence.online])
        seen = np.stack([is_member for _, is_member in evidence.online])
        if not _has_both(seen).all():
            message = "A record was used to train none or all of the online shadow models."
            hint = "Each record belongs into half of them."
            raise AuditError.of("A007", message, hint)
        return Judgement(_ratio(evidence.target.signal, margins, seen), _threshold(margins, seen))


def _has_both(seen: Bools) -> Bools:
    return np.logical_and(seen.any(axis=0), ~seen.all(axis=0))


def _ratio(margin: Floats, margins: Floats, seen: Bools) -> Floats:
    inside, outside = gaussians(margins, seen), gaussians(margins, ~seen)
    return inside.log_density(margin) - outside.log_density(margin)


def _threshold(margins: Floats, seen: Bools) -> float:
    if len(margins) < 2 * FEWEST_SHADOWS:
        return 0.0
    scores, truths = [], []
    for one in range(min(len(margins), _TRIED)):
        others = np.delete(seen, one, axis=0)
        both = _has_both(others)
        peers = np.delete(margins, one, axis=0)[:, both]
        if both.any():
            scores.append(_ratio(margins[one, both], peers, others[:, both]))
            truths.append(seen[one, both])
    return best_threshold(np.concatenate(scores), np.concatenate(truths)) if scores else 0.0
