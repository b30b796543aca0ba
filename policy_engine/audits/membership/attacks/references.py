"""Comparing the target with models that were not trained on the record, and learning from it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from policy_engine.audits.membership.attacks.attack import best_threshold
from policy_engine.audits.membership.observations import Bools, Evidence, Floats

Comparison = Callable[[Floats, Floats, Bools], Floats]
"""From signals of one model, (n,), of S others, (S, n), and which of these count, the scores."""


def compared(evidence: Evidence[Any], score: Comparison) -> Floats:
    """Return the scores of the judged records against all shadows, none of which knows them."""
    signals = np.stack([shadow.judged.signal for shadow in evidence.shadows])
    return score(evidence.target.signal, signals, np.ones(signals.shape, bool))


def left_out_threshold(evidence: Evidence[Any], score: Comparison) -> float | None:
    """Return the threshold that tells best whether shadows were trained on their own records.

    Each shadow in turn is taken for the target, and compared with those others that were not
    trained on the record; records without any are passed over. None where it is not known what
    the others say of a shadow's records.
    """
    scores, truths = [], []
    for shadow in evidence.shadows:
        if shadow.peers is None:
            continue
        counts = ~shadow.peers.is_member
        known = counts.any(axis=0)
        signals = shadow.peers.signals[:, known]
        scores.append(score(shadow.own.signal[known], signals, counts[:, known]))
        truths.append(shadow.is_member[known])
    return best_threshold(np.concatenate(scores), np.concatenate(truths)) if scores else None


def mean_of(figures: Floats, counts: Bools) -> Floats:
    """Return the mean of those figures of each record that count, (n,)."""
    mean: Floats = np.where(counts, figures, 0).sum(axis=0) / counts.sum(axis=0)
    return mean
