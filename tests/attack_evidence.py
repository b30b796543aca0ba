"""Evidence of attackers, made of margins."""

import numpy as np

from policy_engine.audits.membership.observations import (
    CONFIDENCE_ANSWERS,
    Evidence,
    Observations,
    OtherShadows,
    Shadow,
)


def observed(margins, labels=None, gives=CONFIDENCE_ANSWERS):
    """What a model of two classes says that has these margins."""
    margins = np.asarray(margins, float)
    labels = np.zeros(len(margins), int) if labels is None else np.asarray(labels)
    logits = np.zeros((len(margins), 2))
    logits[np.arange(len(margins)), labels] = margins
    return Observations(logits, labels, gives)


def of_probabilities(probabilities, labels):
    with np.errstate(divide="ignore"):
        return Observations(np.log(np.asarray(probabilities, float)), np.asarray(labels))


def shadow(own, is_member, judged, others=None, knew=None):
    """A shadow; `others` are the other shadows' margins on its own records, and who knew them."""
    peers = None if others is None else OtherShadows(np.array(others, float), np.array(knew, bool))
    return Shadow(observed(own), np.array(is_member, bool), observed(judged), peers)


def evidence(target, shadows=(), online=(), seed=0, gives=CONFIDENCE_ANSWERS):
    target = target if isinstance(target, Observations) else observed(target, gives=gives)
    pairs = tuple((observed(margins), np.array(seen, bool)) for margins, seen in online)
    return Evidence(target, tuple(shadows), pairs, seed)


def unseen(*judged):
    """Shadows that were not trained on the audited records, of whose own nothing is known."""
    return tuple(shadow([3, -1], [True, False], margins) for margins in judged)


def gaussian_evidence(records=2000, models=16, gap=1.0, spread=3.0):
    """Margins of records of their own difficulty, `gap` deviations higher for members."""
    draw = np.random.default_rng(7)
    difficulty = draw.normal(0, spread, 2 * records)
    is_member = np.arange(2 * records) < records

    def said(seen):
        return difficulty + gap * seen + draw.normal(size=2 * records)

    halves = [draw.permutation(is_member) for _ in range(models // 2)]
    online = [(said(half), half) for one in halves for half in (one, ~one)]
    shadows = unseen(*(said(np.zeros(2 * records)) for _ in range(models)))
    return evidence(said(is_member), shadows, online), is_member
