"""What an attack proves: a lower bound of epsilon, with its ceiling."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.result import EpsilonLower
from policy_engine.errors import AuditError
from policy_engine.estimates import CONFIDENCE, clopper_pearson

_MOST_THRESHOLDS = 500
_STREAM = 41
_ONE_SIDE = (1 - CONFIDENCE) / 2
"""Two bounds, each wrong with this probability at most, both hold with the confidence wanted."""


def epsilon_lower(
    attacks: Mapping[str, NDArray[np.float64]],
    is_member: NDArray[np.bool_],
    delta: float,
    seed: int = 0,
) -> EpsilonLower:
    """Return the epsilon that the best of some attacks proves of one model, with 95% confidence.

    Their scores (n,), by their notation, are higher for likelier members. Attack and threshold
    are the best ones on a random half of the members and of the others; the rates are counted on
    the other half, which had no part in the choice, and bounded as
    Clopper and Pearson do: with probability 95%, (TPR - delta) / FPR or (TNR - delta) / FNR of
    the attack are no less than what `value` is the logarithm of (Kairouz, Oh and Viswanath,
    ICML 2015, theorem 2.1; Jagielski, Ullman and Oprea, NeurIPS 2020). The confidence is as if
    every record were a draw of its own: one model is trained, on all of them. Raises AuditError
    (A011) with fewer than two members or two others.
    """
    members, others = _shuffled(is_member, seed)
    if min(len(members), len(others)) < 2:
        message = f"{len(members)} members and {len(others)} others cannot be halved."
        raise AuditError.of("A011", message, "Give two of each at least.")
    chosen = {
        name: _best_threshold(scores[members[::2]], scores[others[::2]], delta)
        for name, scores in attacks.items()
    }
    attack = max(chosen, key=lambda name: chosen[name].proves)
    scores, threshold = attacks[attack], chosen[attack].threshold
    counted = scores[members[1::2]], scores[others[1::2]]
    found = int((counted[0] > threshold).sum())
    accused = int((counted[1] > threshold).sum())
    sizes = len(counted[0]), len(counted[1])
    return EpsilonLower(
        attack=attack,
        delta=delta,
        value=_bound(found, sizes[0], accused, sizes[1], delta),
        ceiling=ceiling(*sizes, delta),
    )


def ceiling(members: int, others: int, delta: float) -> float:
    """Return what an attack without a mistake on so many records would prove."""
    return _bound(members, members, 0, others, delta)


def _bound(found: int, members: int, accused: int, others: int, delta: float) -> float:
    tpr = clopper_pearson(found, members).low
    fpr = clopper_pearson(accused, others).high
    return float(_logarithm(np.array(tpr), np.array(fpr), delta))


def _logarithm(
    tpr_low: NDArray[np.float64], fpr_high: NDArray[np.float64], delta: float
) -> NDArray[np.float64]:
    """Return the larger of the two bounds, none below 0; FNR and TNR are 1 less the others."""
    with np.errstate(divide="ignore"):
        gains = (tpr_low - delta) / fpr_high, (1 - fpr_high - delta) / (1 - tpr_low)
    return np.log(np.maximum(np.maximum(*gains), 1.0))


class _Choice(NamedTuple):
    threshold: float
    proves: float


def _best_threshold(
    members: NDArray[np.float64], others: NDArray[np.float64], delta: float
) -> _Choice:
    """Return the threshold that proves most on these records, by the same bounds, and how much."""
    candidates = np.unique(np.concatenate([members, others]))
    if len(candidates) > _MOST_THRESHOLDS:
        ranks = np.linspace(0, len(candidates) - 1, _MOST_THRESHOLDS)
        candidates = candidates[np.unique(ranks.astype(np.int64))]
    found, accused = _above(members, candidates), _above(others, candidates)
    tpr_low, _ = _interval(found, len(members))
    _, fpr_high = _interval(accused, len(others))
    proven = _logarithm(tpr_low, fpr_high, delta)
    best = int(np.argmax(proven))
    return _Choice(float(candidates[best]), float(proven[best]))


def _interval(
    hits: NDArray[np.int64], trials: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the intervals of `clopper_pearson`, of many counts at once."""
    from scipy.stats import beta  # noqa: PLC0415 (slow to import, an extra)

    low = np.where(hits == 0, 0.0, beta.ppf(_ONE_SIDE, np.maximum(hits, 1), trials - hits + 1))
    high = beta.ppf(1 - _ONE_SIDE, hits + 1, np.maximum(trials - hits, 1))
    return low, np.where(hits == trials, 1.0, high)


def _above(scores: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    places = np.searchsorted(np.sort(scores), thresholds, side="right")
    return len(scores) - places.astype(np.int64)


def _shuffled(
    is_member: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the members and of the others, each in a random order."""
    random = np.random.default_rng([seed, _STREAM])
    places = np.flatnonzero(is_member), np.flatnonzero(~is_member)
    return random.permutation(places[0]), random.permutation(places[1])
