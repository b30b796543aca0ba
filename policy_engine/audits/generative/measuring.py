"""The figures of an attack on a generator, counted on records whose membership is known."""

from collections.abc import Sequence

import numpy as np

from policy_engine.audits.generative.material import Bools, Scores
from policy_engine.audits.generative.result import GenerativeAttack, SetEvidence
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.audits.membership.curves import Curve, curve, falling_order, histogram
from policy_engine.audits.membership.figures import TprAtFpr
from policy_engine.audits.membership.games import play_games
from policy_engine.audits.membership.intervals import area_under, most_false_positives, rate_at

_SETS, _ORDER = 77, 78
"""Streams of random numbers of their own."""


def attack_figures(
    name: str,
    scores: Scores,
    is_member: Bools,
    settings: GenerativeSettings,
    seed: int,
    *,
    needs: Sequence[str] = (),
    space: str = "",
    notes: Sequence[str] = (),
) -> GenerativeAttack:
    """Return what scores (n,) reach, the higher the rather a member.

    Equal scores count as half in the area under the curve, and are put in a random order where the
    records with the highest scores are taken.
    """
    points = _curve_of(scores, is_member)
    return GenerativeAttack(
        attack=name,
        needs=tuple(needs),
        space=space,
        auc=area_under(points),
        tpr_at_fpr=_rates(points, settings.fprs),
        tpr_turned_round=_rates(_curve_of(-scores, is_member), settings.fprs),
        games=play_games(name, [(scores, is_member)], seed, settings.records, settings.draws),
        set_evidence=set_evidence(scores, is_member, settings.records, seed),
        roc=points.thin(),
        histogram=histogram(scores, is_member),
        notes=tuple(notes),
    )


def _curve_of(scores: Scores, is_member: Bools) -> Curve:
    order = falling_order(scores)
    return curve(scores[order], is_member[order])


def _rates(points: Curve, fprs: Sequence[float]) -> tuple[TprAtFpr, ...]:
    return tuple(
        TprAtFpr(
            fpr=fpr,
            tpr=rate_at(points, fpr),
            randomised=points.needs_coin(fpr, most_false_positives(fpr, points.non_members)),
        )
        for fpr in fprs
    )


def single_share(points: Curve) -> float:
    """Return the share of members in the upper half of all records, as many of either kind.

    It is what single inference reaches in the mean; of equal scores the part in the upper half has
    as many members as all of them.
    """
    true_rates = points.true_positives / points.members
    false_rates = points.false_positives / points.non_members
    return float(np.interp(1.0, true_rates + false_rates, true_rates))


def set_evidence(scores: Scores, is_member: Bools, records: int, seed: int) -> SetEvidence:
    """Return how many of a set of members are in the upper half of two sets, and how likely that
    is by chance.

    Both sets have so many records, fewer where there are fewer, drawn without regard to scores: the
    same for every attack.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 (slow to import, an extra)

    generator = np.random.default_rng([seed, _SETS])
    sides = [np.flatnonzero(is_member), np.flatnonzero(~is_member)]
    drawn = min(records, *map(len, sides))
    rows = np.concatenate([generator.choice(one, drawn, replace=False) for one in sides])
    ties = np.random.default_rng([seed, _ORDER]).random(2 * drawn)
    top = np.lexsort((ties, -scores[rows]))[:drawn]
    count = int((top < drawn).sum())
    return SetEvidence(
        records=drawn, found=count, p=float(hypergeom.sf(count - 1, 2 * drawn, drawn, drawn))
    )
