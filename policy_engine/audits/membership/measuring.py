"""The figures of an attack, counted on records whose membership is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine import terms
from policy_engine.audits.membership.attacks.attack import Attack, Judgement, best_threshold
from policy_engine.audits.membership.attacks.label_only import LabelOnly
from policy_engine.audits.membership.comparison import gain
from policy_engine.audits.membership.curves import Curve, curve, falling_order, histogram
from policy_engine.audits.membership.degeneracy import degeneracy, is_one_value
from policy_engine.audits.membership.figures import (
    ACCURACY,
    AtPrior,
    Figures,
    StrengthMeasure,
    TprAtFpr,
)
from policy_engine.audits.membership.intervals import (
    advantage,
    area_under,
    beats_guessing,
    most_false_positives,
    rate_at,
    share_at_prior,
    widen_for,
)
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    ONLINE_SHADOWS,
    SCORES,
    SHADOWS,
    VIEWS,
    Bools,
    Evidence,
    Floats,
    ModelSignal,
    Observations,
)
from policy_engine.audits.membership.result import AttackResult, Gain, Slice
from policy_engine.audits.membership.slices import RecordSlice
from policy_engine.errors import AuditError, InternalError
from policy_engine.kernels.estimates import Estimate, NotApplicable, clopper_pearson

FPRS = (0.01, 0.001)
PRIORS = (0.5, 0.1, 0.01)
FEWEST_IN_WORST = 30
_GUESSING = 0.5


def attack_result(
    attack: Attack,
    judgement: Judgement,
    evidence: Evidence[Any],
    is_member: Bools,
    parts: Sequence[RecordSlice],
    fprs: Sequence[float] = FPRS,
) -> AttackResult:
    """Return what an attack reaches on the audited records, on all and on `parts` of them.

    Parts of members alone, or of others alone, tell nothing and are left out. `fprs` are those
    of the overall figures. The worst slice is the one with the highest AUC among those with at
    least 30 members and 30 non-members; its interval is its own, not that of a maximum. Raises
    AuditError (A011) where there are no members, or only members.
    """
    _check(judgement.scores, is_member)
    called = called_members(judgement, is_member, evidence.seed)
    order = falling_order(judgement.scores)
    overall = _figures(judgement.scores, called, is_member, order, fprs)
    slices = _slices(judgement.scores, called, is_member, order, parts)
    by_class = tuple(one for one in slices if one.kind == "class")
    return AttackResult(
        attack=attack.notation,
        needs=tuple(sorted(attack.needs)),
        shadow_models=_shadow_models(attack, evidence),
        figures=overall,
        mean_precision=_mean([one.figures.precision for one in by_class]),
        mean_recall=_mean([one.figures.recall for one in by_class]),
        classes=by_class,
        slices=tuple(one for one in slices if one.kind != "class"),
        worst=_worst_slice(slices),
        gain=_gain(attack, judgement.scores, called, evidence.target, is_member),
        degenerate=judgement.dead
        or _degenerate(
            attack,
            judgement.scores,
            evidence.target,
            [one.figures for one in by_class] or [overall],
        ),
        roc=curve(judgement.scores[order], is_member[order]).thin(),
        histogram=histogram(judgement.scores, is_member),
        notes=judgement.notes,
    )


def _degenerate(
    attack: Attack, scores: Floats, target: ModelSignal, figures_within: Sequence[Figures]
) -> str:
    """Return why a score shows next to nothing; empty where it is shown to find members.

    That must be shown within a class: a score that follows from the class finds members only
    where the classes differ.
    """
    attack_terms = terms.attacks()
    if attack.notation in attack_terms and not attack_terms[attack.notation].flag("ranks"):
        return ""
    if _shows_members(figures_within):
        return ""
    if not isinstance(target, Observations):
        return degeneracy(scores)
    return degeneracy(scores, target.labels) or _single_answer(attack, target)


def _shows_members(figures_within: Sequence[Figures]) -> bool:
    among = sum(1 + len(one.tpr_at_fpr) for one in figures_within)
    return any(
        widen_for(one.auc, among).low > _GUESSING
        or any(beats_guessing(rate, among) for rate in one.tpr_at_fpr)
        for one in figures_within
    )


def _single_answer(attack: Attack, target: Observations) -> str:
    """Return that there is one answer for each class: what an attack ranks by is then not its."""
    if not {CONFIDENCES, SCORES} & attack.needs or VIEWS in attack.needs:
        return ""
    one = is_one_value(target.margin, target.labels)
    return "the model gives all records of a class one answer" if one else ""


def strongest_attack(
    results: Sequence[AttackResult], measure: StrengthMeasure = ACCURACY
) -> AttackResult:
    """Return the attack that reaches most; of equals a live one, and no baseline."""
    return max(
        results,
        key=lambda one: (
            _value(one.figures.figure(measure)),
            not one.degenerate,
            one.attack != LabelOnly.notation,
        ),
    )


def _value(figure: Estimate | NotApplicable) -> float:
    return figure.value if isinstance(figure, Estimate) else 0.0


def figures(
    scores: Floats,
    called: Bools,
    is_member: Bools,
    fprs: Sequence[float] = FPRS,
    priors: Sequence[float] = PRIORS,
) -> Figures:
    """Return what scores reach, and the calls made of them, all (n,).

    Intervals are of 95%: exact for the shares (Clopper and Pearson), hybrid for the advantage and,
    as it is half of 1 more, the accuracy; see `area_under` for the AUC's. Both
    ends of a true-positive rate at a false-positive one allow for the latter's being counted.
    Without members the recall is 0, from 0 to 1.
    """
    return _figures(scores, called, is_member, falling_order(scores), fprs, priors)


def _figures(
    scores: Floats,
    called: Bools,
    is_member: Bools,
    order: NDArray[np.int64],
    fprs: Sequence[float] = FPRS,
    priors: Sequence[float] = PRIORS,
) -> Figures:
    """Return the figures of the records of `order`, which holds them by falling score."""
    called, is_member = called[order], is_member[order]
    all_points = curve(scores[order], is_member)
    members, non_members = all_points.members, all_points.non_members
    true_positives = int(np.count_nonzero(called & is_member))
    false_positives = int(np.count_nonzero(called)) - true_positives
    gained = advantage((true_positives, members), (false_positives, non_members))
    return Figures(
        members=members,
        non_members=non_members,
        precision=_precision(true_positives, false_positives),
        recall=clopper_pearson(true_positives, members),
        accuracy=_balanced_accuracy(gained),
        advantage=gained,
        auc=area_under(all_points),
        tpr_at_fpr=tuple(_tpr_at(all_points, fpr) for fpr in fprs),
        at_priors=tuple(
            _precision_at_prior((true_positives, members), (false_positives, non_members), prior)
            for prior in priors
        ),
    )


def _balanced_accuracy(gained: Estimate) -> Estimate:
    ends = {name: (1 + figure) / 2 for name, figure in gained.model_dump().items()}
    return Estimate(**ends)


def _precision(true_positives: int, false_positives: int) -> Estimate | NotApplicable:
    if not true_positives + false_positives:
        return NotApplicable(reason="no record is called a member")
    return clopper_pearson(true_positives, true_positives + false_positives)


def _tpr_at(points: Curve, fpr: float) -> TprAtFpr:
    return TprAtFpr(
        fpr=fpr,
        tpr=rate_at(points, fpr),
        randomised=points.needs_coin(fpr, most_false_positives(fpr, points.non_members)),
    )


def _precision_at_prior(
    true_positives: tuple[int, int], false_positives: tuple[int, int], prior: float
) -> AtPrior:
    if not true_positives[0] + false_positives[0]:
        return AtPrior(prior=prior, precision=NotApplicable(reason="no record is called a member"))
    return AtPrior(prior=prior, precision=share_at_prior(true_positives, false_positives, prior))


def called_members(judgement: Judgement, is_member: Bools, seed: int) -> Bools:
    """Return which records are called members, (n,).

    Where the attack has no threshold of its own, the one that is best on a seeded half of the
    members and of the non-members is used on the other half, and the other way round: no record is
    called by a threshold that its own membership had a part in.
    """
    if judgement.threshold is not None:
        return judgement.scores > judgement.threshold
    half = _draw_half(is_member, seed)
    called = np.empty(len(is_member), bool)
    for chosen in (half, ~half):
        threshold = best_threshold(judgement.scores[chosen], is_member[chosen])
        called[~chosen] = judgement.scores[~chosen] > threshold
    return called


def _draw_half(is_member: Bools, seed: int) -> Bools:
    """Draw half of the members and half of the non-members."""
    generator = np.random.default_rng([seed, _HALVES])
    half = np.zeros(len(is_member), bool)
    for side in (is_member, ~is_member):
        rows = generator.permutation(np.flatnonzero(side))
        half[rows[: len(rows) // 2]] = True
    return half


_HALVES = 20220523


def _gain(
    attack: Attack, scores: Floats, called: Bools, target: ModelSignal, is_member: Bools
) -> Gain | NotApplicable:
    if not isinstance(target, Observations):
        return NotApplicable(reason="the model gives no labels, and there is no baseline")
    if attack.notation == LabelOnly.notation:
        return NotApplicable(reason="this is the baseline")
    return gain(scores, called, target.is_right, is_member)


def _slices(
    scores: Floats,
    called: Bools,
    is_member: Bools,
    order: NDArray[np.int64],
    parts: Sequence[RecordSlice],
) -> tuple[Slice, ...]:
    """Measure each part; sorting the ranks of its rows keeps it by falling score."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    slices = []
    for part in parts:
        if 0 < np.count_nonzero(is_member[part.rows]) < len(part.rows):
            rows = order[np.sort(rank[part.rows])]
            part_figures = _figures(scores, called, is_member, rows)
            slices.append(Slice(kind=part.kind, name=part.name, figures=part_figures))
    return tuple(slices)


def _worst_slice(slices: Sequence[Slice]) -> Slice | NotApplicable:
    large = [one for one in slices if _smaller_side(one.figures) >= FEWEST_IN_WORST]
    if not large:
        return NotApplicable(
            reason=f"no slice has {FEWEST_IN_WORST} members and as many non-members"
        )
    return max(large, key=lambda one: one.figures.auc.value)


def _smaller_side(part_figures: Figures) -> int:
    return min(part_figures.members, part_figures.non_members)


def _mean(estimates: Sequence[Estimate | NotApplicable]) -> float | NotApplicable:
    values = [one.value for one in estimates if isinstance(one, Estimate)]
    if not values:
        return NotApplicable(reason="no class has a record that is called a member")
    return float(np.mean(values))


def _shadow_models(attack: Attack, evidence: Evidence) -> int:
    kinds = (attack.needs | attack.uses) & {SHADOWS, ONLINE_SHADOWS}
    return sum(count for term, count in evidence.counts.items() if term in kinds)


def _check(scores: Floats, is_member: Bools) -> None:
    members = int(np.count_nonzero(is_member))
    if not 0 < members < len(is_member):
        message = f"{members} of {len(is_member)} records are members. Both kinds are needed."
        raise AuditError.of("A011", message)
    if np.isnan(scores).any():
        raise InternalError.of("X001", "An attack gave a score that is not a number.")
