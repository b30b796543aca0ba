"""An audit in a few plain sentences, the verdict first.

A sentence states something only where a test shows it, with a correction for the number of attacks.
What no test shows is called undecided, with what so many records could have shown: that nothing was
found is never presented as proof that there is nothing.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import NormalDist

from policy_engine.audits.membership.baseline_verdict import baseline_sentences
from policy_engine.audits.membership.epsilon_verdict import epsilon_sentences
from policy_engine.audits.membership.figures import Figures
from policy_engine.audits.membership.intervals import beats_guessing, deviations, widen_for
from policy_engine.audits.membership.measuring import FEWEST_IN_WORST
from policy_engine.audits.membership.result import AttackResult, Slice
from policy_engine.audits.membership.wording import (
    format_sizes,
    interval_text,
    rate_text,
    share_text,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.errors import format_count, join_names
from policy_engine.kernels.estimates import Estimate, NotApplicable

_GUESSING = 0.5
_NO_PROOF = "that is not a proof of safety"
_POWER = NormalDist().inv_cdf(0.8)


def verdict(
    attacks: Sequence[AttackResult],
    *,
    baseline: str | NotApplicable,
    strongest: str,
    measure: str = "accuracy",
    epsilon_upper: EpsilonUpper | NotApplicable,
    epsilon_lower: EpsilonLower | NotApplicable,
) -> tuple[str, ...]:
    """Return what an attacker gains, against which baseline, with which 95% interval.

    `baseline` and `strongest` are notations, as in a `MembershipAudit`; the baseline may be
    missing from the attacks. `measure` is that by which the strongest is so. At most eight
    sentences; the first can stand alone.
    """
    by_notation = {one.attack: one for one in attacks}
    best = by_notation[strongest]
    other = by_notation.get(baseline) if isinstance(baseline, str) else None
    return (
        *_gain_sentences(best, other if other is not best else None, attacks, measure),
        *baseline_sentences(attacks, other),
        *_degenerate_sentences(attacks),
        *_low_fpr_sentences(attacks),
        *_prior_sentences(best, len(attacks)),
        *_worst_slice_sentences(best),
        *epsilon_sentences(epsilon_upper, epsilon_lower),
    )


def slice_text(part: Slice) -> str:
    """Return what a slice is called in a sentence."""
    return _SLICES[part.kind].format(part.name)


_SLICES = {
    "class": "the class {}",
    "correctness": "the records {}",
    "confidence": "the {}",
    "column": "the records with {}",
}


def _gain_sentences(
    best: AttackResult, baseline: AttackResult | None, attacks: Sequence[AttackResult], measure: str
) -> Iterator[str]:
    accuracy = best.figures.accuracy
    attacker = f"{_format_strongest(attacks, measure)} ({best.attack})"
    widened = widen_for(accuracy, len(attacks))
    cases = f"{share_text(accuracy.value)} of cases (95% interval {interval_text(accuracy)})"
    if widened.low > _GUESSING:
        against = ""
        if baseline:
            against = f", and the label-only baseline {share_text(baseline.figures.accuracy.value)}"
        yield (
            f"Given a model's answer about a record, {attacker} tells members from non-members in "
            f"{cases}; guessing reaches 50%{against}."
        )
        return
    if widened.high < _GUESSING:
        yield (
            f"Given a model's answer about a record, {attacker} is right in {cases}, less than "
            f"the 50% of guessing: its answers inverted would do better; {_NO_PROOF}."
        )
    else:
        yield from _turned_sentences(attacks)
        yield _format_undecided(attacker, best.figures, len(attacks))
    yield from _ranking_sentences(attacks)


def inverted_accuracy(attacks: Sequence[AttackResult]) -> float:
    """Return the share of cases in which some attack with inverted scores is shown to be right.

    An attack whose best balanced accuracy with inverted scores is b has an AUC of at least
    2(1-b)^2. The upper end of the AUC's interval is used, corrected for the number of attacks.
    """
    highest = [widen_for(one.figures.auc, len(attacks)).high for one in attacks]
    return max(1 - sqrt(min(high, _GUESSING) / 2) for high in highest)


def _turned_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the attack by which members rank below non-members, if one is shown to do so."""
    best = min(attacks, key=lambda one: one.figures.auc.high)
    auc = best.figures.auc
    if widen_for(auc, len(attacks)).high < _GUESSING:
        yield (
            f"Members rank below non-members by {best.attack} (AUC {auc.value:.3f}, 95% interval "
            f"{auc.low:.3f} to {auc.high:.3f}): its scores inverted would tell members from "
            f"non-members better than guessing; {_NO_PROOF}."
        )


def _format_undecided(attacker: str, figures: Figures, among: int) -> str:
    accuracy = figures.accuracy
    best = f", and being the best of {among} is partly chance" if accuracy.low > _GUESSING else ""
    return (
        f"Whether {attacker} tells members from non-members better than guessing is undecided on "
        f"{format_sizes(figures)}: it is right in {interval_text(accuracy)} of cases (95% "
        f"interval), guessing in 50%{best}; {_least_accuracy(figures, among)}, and {_NO_PROOF}."
    )


def _least_accuracy(figures: Figures, among: int) -> str:
    """Return from which accuracy on so many records show that an attack beats guessing."""
    sizes = 1 / max(figures.members, 1) + 1 / max(figures.non_members, 1)
    least = _GUESSING + (deviations(among) + _POWER) * sqrt(sizes) / 4
    if least >= 1:
        return "so few records can hardly show that any attack is better"
    return (
        f"so many records show, four times in five, an attack that is right in {share_text(least)}"
    )


def _format_strongest(attacks: Sequence[AttackResult], measure: str) -> str:
    """Return the subject of the verdict; the best of several is so partly by chance."""
    measure_text = "" if measure == "accuracy" else f" by {measure}"
    return (
        f"the strongest of {len(attacks)} attacks{measure_text}"
        if len(attacks) > 1
        else "the one attack"
    )


def _ranking_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the attack that ranks members higher though its own threshold misses them."""
    best = max(attacks, key=lambda one: one.figures.auc.low)
    auc = best.figures.auc
    if widen_for(auc, len(attacks)).low > _GUESSING:
        yield (
            f"Yet members do rank above non-members by {best.attack} (AUC {auc.value:.3f}, 95% "
            f"interval {auc.low:.3f} to {auc.high:.3f}): with a better threshold it would beat "
            "guessing."
        )


def _degenerate_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    dead = [one for one in attacks if one.degenerate]
    if dead:
        reasons = "; ".join(f"{one.attack}: {one.degenerate}" for one in dead)
        names = join_names([one.attack for one in dead])
        yield f"What {names} did not find proves nothing ({reasons})."


# -- few false positives, few members, few records ------------------------------------------------


def _low_fpr_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield how many members the best attack at a low false-positive rate finds.

    An attack that on average is no better than guessing may identify some members with certainty
    (Carlini et al., IEEE S&P 2022), so it need not be the strongest one. Rates that are reached
    only by a random choice among equal scores are left out.
    """
    rates = [(min(one.figures.tpr_at_fpr, key=lambda rate: rate.fpr), one) for one in attacks]
    finest = [pair for pair in rates if not pair[0].randomised]
    if not finest:
        least = rates[0][0].fpr
        yield (
            f"How many members are found at a false-positive rate of {rate_text(least)} was not "
            "measured: for every attack, too many non-members share the score at that rate."
        )
        return
    rate, best = max(finest, key=lambda pair: (pair[0].tpr.low, pair[0].tpr.value))
    caveat = f", not corrected for being the best of {len(attacks)}" if len(attacks) > 1 else ""
    rate_name, non_members = (
        f"a false-positive rate of {rate_text(rate.fpr)}",
        best.figures.non_members,
    )
    if beats_guessing(rate, len(attacks)):
        yield (
            f"At {rate_name}, {best.attack} finds {share_text(rate.tpr.value)} of the members (95% "
            f"interval {interval_text(rate.tpr)})."
        )
        return
    yield (
        f"Whether more members are found at {rate_name} than the {rate_text(rate.fpr)} that "
        f"guessing finds is undecided on {format_count(non_members, 'non-member')}: {best.attack} "
        f"comes nearest, with {interval_text(rate.tpr)} (95% interval{caveat})."
    )


def _prior_sentences(best: AttackResult, among: int) -> Iterator[str]:
    world = min(best.figures.at_priors, key=lambda one: one.prior, default=None)
    if widen_for(best.figures.accuracy, among).low <= _GUESSING:
        return
    if world is None or not isinstance(world.precision, Estimate):
        return
    if world.precision.low <= world.prior:
        yield (
            f"Where {rate_text(world.prior)} of the population are members, how many of those that "
            f"{best.attack} calls members really are is undecided on so few records: "
            f"{interval_text(world.precision)} (95% interval)."
        )
    else:
        yield (
            f"Where {rate_text(world.prior)} of the population are members, a record that "
            f"{best.attack} calls a member is one in {share_text(world.precision.value)} of cases "
            f"(95% interval {interval_text(world.precision)})."
        )


def _worst_slice_sentences(best: AttackResult) -> Iterator[str]:
    if isinstance(best.worst, Slice):
        slice_figures, all_figures = best.worst.figures, best.figures
        several = sum(_is_large(one) for one in (*best.classes, *best.slices))
        chance = "; being the worst of several is partly chance" if several > 1 else ""
        yield (
            f"The worst {f'of {several} slices' if several > 1 else 'slice'} is "
            f"{slice_text(best.worst)} ({format_count(slice_figures.members, 'member')}, "
            f"{format_count(slice_figures.non_members, 'non-member')}): there the AUC of "
            f"{best.attack} is {slice_figures.auc.value:.3f} (95% interval "
            f"{slice_figures.auc.low:.3f} to {slice_figures.auc.high:.3f}), against "
            f"{all_figures.auc.value:.3f} over all records{chance}."
        )


def _is_large(part: Slice) -> bool:
    return min(part.figures.members, part.figures.non_members) >= FEWEST_IN_WORST
