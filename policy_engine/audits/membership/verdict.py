"""An audit in a few plain sentences, the verdict first."""

from collections.abc import Iterator, Sequence

from policy_engine.audits.membership.measuring import FEWEST_IN_WORST
from policy_engine.audits.membership.result import (
    AttackResult,
    EpsilonLower,
    EpsilonUpper,
    Slice,
    TprAtFpr,
)
from policy_engine.estimates import Estimate, NotApplicable, clopper_pearson

_GUESSING = 0.5


def verdict(
    attacks: Sequence[AttackResult],
    *,
    baseline: str,
    strongest: str,
    epsilon_upper: EpsilonUpper | NotApplicable,
    epsilon_lower: EpsilonLower | NotApplicable,
) -> tuple[str, ...]:
    """Return what an attacker gains, against which baseline, with which 95% interval.

    `baseline` and `strongest` are notations, as in a `MembershipAudit`; the baseline may be
    missing from the attacks. At most six sentences; the first can stand alone.
    """
    by_notation = {one.attack: one for one in attacks}
    best, other = by_notation[strongest], by_notation.get(baseline)
    return (
        *_gain(best, other if other is not best else None, attacks),
        *_confident(attacks),
        *_in_the_world(best),
        *_worst(best),
        *_epsilon(epsilon_upper, epsilon_lower),
    )


def share_text(share: float) -> str:
    """Return a share in percent, of one decimal, or of two digits where it is below 1%."""
    return f"{share:.1%}" if share >= 0.00995 or share == 0 else f"{share * 100:.2g}%"


def interval_text(estimate: Estimate) -> str:
    """Return the interval of a share, as `69.8% to 72.6%`."""
    return f"{share_text(estimate.low)} to {share_text(estimate.high)}"


def rate_text(rate: float) -> str:
    """Return a rate that was chosen, not measured, in percent: `0.1%`."""
    return f"{rate * 100:.6g}%"


def slice_text(part: Slice) -> str:
    """Return what a slice is called in a sentence."""
    return _SLICES[part.kind].format(part.name)


_SLICES = {
    "class": "the class {}",
    "correctness": "the records {}",
    "confidence": "the {}",
    "column": "the records with {}",
}


def beats_guessing(found: TprAtFpr, non_members: int) -> bool:
    """Return whether so many members are found at so few false alarms beyond what chance gives.

    The false-positive rate is itself counted on few records: none among 100 may well be 3% in
    the world. So the low end of the true-positive rate is held against the high end of the
    false-positive rate, and both are at 97.5%.
    """
    allowed = int(found.fpr * non_members + 1e-9)
    return found.tpr.low > clopper_pearson(allowed, non_members).high


def _gain(
    best: AttackResult, baseline: AttackResult | None, attacks: Sequence[AttackResult]
) -> Iterator[str]:
    accuracy = best.figures.accuracy
    if accuracy.low <= _GUESSING:
        yield (
            f"No attack did better than guessing: {_of(attacks)} ({best.attack}) tells members "
            f"from others in {share_text(accuracy.value)} of cases (95% interval "
            f"{interval_text(accuracy)}), which cannot be told from the 50% of guessing; that is "
            "no proof of safety."
        )
        yield from _ranked(attacks)
        return
    against = (
        f", and the label-only baseline {share_text(baseline.figures.accuracy.value)}"
        if baseline
        else ""
    )
    yield (
        f"Given a model's answer about a record, {_of(attacks)} ({best.attack}) tells "
        f"members from others in {share_text(accuracy.value)} of cases (95% interval "
        f"{interval_text(accuracy)}); guessing reaches 50%{against}."
    )
    if baseline and not any(one.exceeds_baseline for one in attacks):
        yield (
            f"No attack gains more than the label-only baseline ({baseline.attack}), which calls "
            "a record a member where the model classifies it rightly: what leaks is that the "
            "model is better on the records that it has seen."
        )
    elif baseline is None and best.needs == ("labels",):
        yield (
            "It is the label-only baseline, which calls a record a member where the model "
            "classifies it rightly: no attack gains more."
        )


def _of(attacks: Sequence[AttackResult]) -> str:
    """Return what is said of how many: the best of several is so partly by chance."""
    return f"the strongest of {len(attacks)} attacks" if len(attacks) > 1 else "the one attack"


def _ranked(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the attack that ranks members above others though its own threshold misses them."""
    best = max(attacks, key=lambda one: one.figures.auc.low)
    auc = best.figures.auc
    if auc.low > _GUESSING:
        yield (
            f"Yet members do rank above others by {best.attack} (AUC {auc.value:.3f}, 95% interval "
            f"{auc.low:.3f} to {auc.high:.3f}): with a better threshold it would beat guessing."
        )


def _confident(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield how many members the best attack at few false alarms finds.

    An attack that is no better than guessing on the average may know some members for certain
    (Carlini et al., IEEE S&P 2022), so it need not be the strongest one.
    """
    found = [(min(one.figures.tpr_at_fpr, key=lambda at: at.fpr), one) for one in attacks]
    at, best = max(found, key=lambda pair: pair[0].tpr.value)
    others = best.figures.non_members
    allowed = int(at.fpr * others + 1e-9)
    where = (
        f"At {rate_text(at.fpr)} false alarms"
        if allowed
        else f"Without one of the {others:,} others called a member"
    )
    more = "" if beats_guessing(at, others) else ", which guessing might as well"
    yield (
        f"{where}, {best.attack} finds {share_text(at.tpr.value)} of the members "
        f"(95% interval {interval_text(at.tpr)}){more}."
    )


def _in_the_world(best: AttackResult) -> Iterator[str]:
    at = min(best.figures.at_priors, key=lambda one: one.prior, default=None)
    if at is not None and isinstance(at.precision, Estimate):
        yield (
            f"Where {rate_text(at.prior)} of the world are members, a record that {best.attack} "
            f"calls a member is one in {share_text(at.precision.value)} of cases (95% interval "
            f"{interval_text(at.precision)})."
        )


def _worst(best: AttackResult) -> Iterator[str]:
    if isinstance(best.worst, Slice):
        found, whole = best.worst.figures, best.figures
        several = sum(_is_large(one) for one in (*best.classes, *best.slices))
        yield (
            f"The worst {f'of {several} slices' if several > 1 else 'slice'} is "
            f"{slice_text(best.worst)} ({found.members:,} members, "
            f"{found.non_members:,} others): there the AUC of {best.attack} is "
            f"{found.auc.value:.3f} (95% interval {found.auc.low:.3f} to {found.auc.high:.3f}), "
            f"against {whole.auc.value:.3f} over all records."
        )


def _is_large(part: Slice) -> bool:
    return min(part.figures.members, part.figures.non_members) >= FEWEST_IN_WORST


def _epsilon(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> Iterator[str]:
    proof = _proof(upper) if isinstance(upper, EpsilonUpper) else ""
    attack = _shown(lower) if isinstance(lower, EpsilonLower) else ""
    if contradict(upper, lower):
        yield (
            f"The {attack}, but the {proof}: one of the two is wrong, so rely on neither, and "
            "report it."
        )
    elif proof or attack:
        yield f"The {'; the '.join(filter(None, (proof, attack)))}."


def contradict(upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable) -> bool:
    """Return whether the attack shows more than the accountant proves, of one record exchanged.

    What holds at a delta holds at any larger one, so a bound at a smaller delta is no witness.
    Nor is one where no lot decided who is a member, or where more than the training, of which
    alone the accountant speaks, depends on who is.
    """
    return (
        isinstance(upper, EpsilonUpper)
        and isinstance(lower, EpsilonLower)
        and lower.members == "drawn"
        and lower.delta >= upper.substitution_delta
        and lower.value > upper.substitution
    )


def _proof(upper: EpsilonUpper) -> str:
    at = f"{upper.substitution:.3g} at delta {upper.substitution_delta:.1g}"
    return (
        f"accountant proves epsilon at most {upper.value:.3g} at delta {upper.delta:.1g} for one "
        f"record more or less, and {at} for one exchanged for another"
    )


def _shown(lower: EpsilonLower) -> str:
    least = f"an epsilon of at least {lower.value:.2g}" if lower.value else "no epsilon above 0"
    shows, of = _SHOWN[lower.members]
    return (
        f"attack ({lower.attack}) {shows} {least} at delta {lower.delta:.1g} for one record "
        f"exchanged{of} (no attack on so many records could show more than {lower.ceiling:.2g})"
    )


_SHOWN = {
    "drawn": ("shows", ""),
    "drawn-first": ("shows", ", by the training and by how columns became features"),
    "told": ("would show, had members been drawn by lot,", ""),
}
