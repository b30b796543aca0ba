"""Comparing the target with models whose records are known, and learning from it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from policy_engine.audits.membership.attacks.attack import best_threshold
from policy_engine.audits.membership.observations import FEWEST_SHADOWS, Bools, Evidence, Floats
from policy_engine.errors import AuditError

_TRIED = 8

Comparison = Callable[[Floats, Floats, Bools], Floats]
"""From signals of one model, (n,), of S others, (S, n), and which of these count, the scores.

Those that count have not seen the record; of online shadows, those that have.
"""


def compare_with_shadows(evidence: Evidence[Any], score: Comparison) -> Floats:
    """Return the scores of the audited records against the shadows that do not know them."""
    signals = np.stack([shadow.audited.signal for shadow in evidence.shadows])
    return score(evidence.target.signal, signals, unseen_by_shadows(evidence))


def unseen_by_shadows(evidence: Evidence[Any]) -> Bools:
    """Return which of the audited records, (S, 2m), each shadow was not trained on."""
    shape = evidence.shadows[0].audited.signal.shape
    return np.stack(
        [
            ~one.trained_on if one.trained_on is not None else np.ones(shape, bool)
            for one in evidence.shadows
        ]
    )


def left_out_threshold(evidence: Evidence[Any], score: Comparison) -> float | None:
    """Return the best threshold for whether shadows were trained on their own records.

    None where it is not known what the others say of a shadow's records.
    """
    scores_and_truths = left_out_scores(evidence, score)
    return best_threshold(*scores_and_truths) if scores_and_truths else None


def left_out_scores(evidence: Evidence[Any], score: Comparison) -> tuple[Floats, Bools] | None:
    """Return the scores of the shadows' own records, and which of these were members.

    Each shadow in turn is taken for the target, and compared with those others that were not
    trained on the record; records without any are passed over. None where it is not known what
    the others say of a shadow's records.
    """
    scores, truths = [], []
    for shadow in evidence.shadows:
        if shadow.other_shadows is None:
            continue
        counts = ~shadow.other_shadows.is_member
        has_counts = counts.any(axis=0)
        signals = shadow.other_shadows.signals[:, has_counts]
        scores.append(score(shadow.own.signal[has_counts], signals, counts[:, has_counts]))
        truths.append(shadow.is_member[has_counts])
    return (np.concatenate(scores), np.concatenate(truths)) if scores else None


def online_models(evidence: Evidence[Any]) -> tuple[Floats, Bools]:
    """Return the signals of the online shadows, (S, 2m), and which of them was trained on what.

    Raises AuditError (A007) where a record was in none or in all of them.
    """
    signals = np.stack([observed.signal for observed, _ in evidence.online])
    is_member = np.stack([is_member for _, is_member in evidence.online])
    if not _has_both(is_member).all():
        message = "A record was used to train none or all of the online shadow models."
        hint = "Each record must be in half of them."
        raise AuditError.of("A007", message, hint)
    return signals, is_member


def online_threshold(signals: Floats, is_member: Bools, score: Comparison) -> float:
    """Return the best threshold with online shadows, at most eight, taken in turn for the target.

    With fewer than six it is 0, where a record is as likely seen as not. Who was trained on the
    other half is left out: how many models have seen a record would tell whether this one has. Of
    two that would then be left, nobody could say how far their signals scatter.
    """
    if len(signals) < 3 * FEWEST_SHADOWS:
        return 0.0
    scores, is_member_of_each = [], []
    for number in range(min(len(signals), _TRIED)):
        is_other = ~(is_member == ~is_member[number]).all(axis=1)
        is_other[number] = False
        other_members = is_member[is_other]
        has_both = _has_both(other_members)
        peers = signals[is_other][:, has_both]
        if has_both.any():
            scores.append(score(signals[number, has_both], peers, other_members[:, has_both]))
            is_member_of_each.append(is_member[number, has_both])
    return (
        best_threshold(np.concatenate(scores), np.concatenate(is_member_of_each)) if scores else 0.0
    )


def _has_both(is_member: Bools) -> Bools:
    return np.logical_and(is_member.any(axis=0), ~is_member.all(axis=0))


def mean_of(figures: Floats, counts: Bools) -> Floats:
    """Return the mean of those figures of each record that count, (n,)."""
    mean: Floats = np.where(counts, figures, 0).sum(axis=0) / counts.sum(axis=0)
    return mean
