"""An audit in a few plain sentences, the verdict first.

A sentence says that something is so where a test shows it, allowing for how many attacks were
tried. What no test shows is said to be untold, with what so many records could have shown: that
nothing was seen is never said to be that nothing is there.
"""

from collections.abc import Iterator, Sequence
from math import ceil, sqrt
from statistics import NormalDist

from policy_engine.audits.membership.epsilon_verdict import epsilon_sentences
from policy_engine.audits.membership.figures import Figures
from policy_engine.audits.membership.intervals import beats_guessing, deviations, widen_for
from policy_engine.audits.membership.measuring import FEWEST_IN_WORST
from policy_engine.audits.membership.result import AttackResult, Compared, Gain, Slice
from policy_engine.audits.membership.wording import (
    format_count,
    format_signed,
    interval_text,
    rate_text,
    share_text,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.errors import join_names
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
        *_baseline_sentences(attacks, other),
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
    accuracy, who = best.figures.accuracy, f"{_format_strongest(attacks, measure)} ({best.attack})"
    told = widen_for(accuracy, len(attacks))
    cases = f"{share_text(accuracy.value)} of cases (95% interval {interval_text(accuracy)})"
    if told.low > _GUESSING:
        against = ""
        if baseline:
            against = f", and the label-only baseline {share_text(baseline.figures.accuracy.value)}"
        yield (
            f"Given a model's answer about a record, {who} tells members from others in {cases}; "
            f"guessing reaches 50%{against}."
        )
        return
    if told.high < _GUESSING:
        yield (
            f"Given a model's answer about a record, {who} is right in {cases}, less than the 50% "
            f"of guessing: whoever turned its answers round would do better; {_NO_PROOF}."
        )
    else:
        yield from _turned_sentences(attacks)
        yield _format_undecided(who, best.figures, len(attacks))
    yield from _ranking_sentences(attacks)


def shown_if_turned(attacks: Sequence[AttackResult]) -> float:
    """Return in which share of cases some attack is shown to be right, its scores turned round.

    A score by which members rank below others, over all of which a balanced accuracy of b is the
    best, has an AUC of at least 2(1-b)^2. That is taken from the upper end of its interval, with
    which it is allowed for how many attacks there are.
    """
    highest = [widen_for(one.figures.auc, len(attacks)).high for one in attacks]
    return max(1 - sqrt(min(high, _GUESSING) / 2) for high in highest)


def _turned_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the attack by which members rank below others: it knows them by the wrong sign."""
    best = min(attacks, key=lambda one: one.figures.auc.high)
    auc = best.figures.auc
    if widen_for(auc, len(attacks)).high < _GUESSING:
        yield (
            f"Members rank below others by {best.attack} (AUC {auc.value:.3f}, 95% interval "
            f"{auc.low:.3f} to {auc.high:.3f}): whoever turned its scores round would tell members "
            f"from others better than guessing; {_NO_PROOF}."
        )


def _format_undecided(who: str, figures: Figures, among: int) -> str:
    accuracy = figures.accuracy
    best = f", and the best of {among} is so partly by chance" if accuracy.low > _GUESSING else ""
    return (
        f"Whether {who} tells members from others better than guessing could not be told on "
        f"{_format_records(figures)}: it is right in {interval_text(accuracy)} of cases (95% "
        f"interval), guessing in 50%{best}; {_least_accuracy(figures, among)}, and {_NO_PROOF}."
    )


def _least_accuracy(figures: Figures, among: int) -> str:
    """Say from which accuracy on so many records would tell an attack from guessing."""
    sizes = 1 / max(figures.members, 1) + 1 / max(figures.non_members, 1)
    least = _GUESSING + (deviations(among) + _POWER) * sqrt(sizes) / 4
    if least >= 1:
        return "on so few records hardly any attack can be told from it"
    return f"so many records would tell, four times in five, an attack right in {share_text(least)}"


def _format_records(figures: Figures) -> str:
    others = format_count(figures.non_members, "other")
    return f"{format_count(figures.members, 'member')} and {others}"


def _format_strongest(attacks: Sequence[AttackResult], measure: str) -> str:
    """Return what is said of how many: the best of several is so partly by chance."""
    by = "" if measure == "accuracy" else f" by {measure}"
    return f"the strongest of {len(attacks)} attacks{by}" if len(attacks) > 1 else "the one attack"


def _ranking_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield the attack that ranks members above others though its own threshold misses them."""
    best = max(attacks, key=lambda one: one.figures.auc.low)
    auc = best.figures.auc
    if widen_for(auc, len(attacks)).low > _GUESSING:
        yield (
            f"Yet members do rank above others by {best.attack} (AUC {auc.value:.3f}, 95% interval "
            f"{auc.low:.3f} to {auc.high:.3f}): with a better threshold it would beat guessing."
        )


# -- against the baseline -------------------------------------------------------------------------


def _baseline_sentences(
    attacks: Sequence[AttackResult], baseline: AttackResult | None
) -> Iterator[str]:
    gains = {one.attack: one.gain for one in attacks if isinstance(one.gain, Gain)}
    if not gains:
        if baseline is not None and len(attacks) == 1:
            yield (
                f"It is the label-only baseline ({baseline.attack}), which calls a record a member "
                "where the model classifies it rightly: what a finer attack gains was not tried."
            )
        return
    among = 2 * len(gains)
    areas = {name: one.auc for name, one in gains.items()}
    calls = {name: one.accuracy for name, one in gains.items()}
    by_area, by_calls = (_outcomes(found, among, "more") for found in (areas, calls))
    if by_area or by_calls:
        yield _format_gains(by_area, by_calls, gains, among)
        return
    less = [_outcomes(found, among, "less") for found in (areas, calls)]
    if all(len(one) == len(gains) for one in less):
        yield _format_losses(areas)
    elif any(less):
        yield _format_mixed(areas, calls, among, attacks[0].figures)
    else:
        yield _format_not_shown(areas, among, attacks[0].figures)


def _outcomes(found: dict[str, Compared], among: int, wanted: str) -> dict[str, Compared]:
    return {name: one for name, one in found.items() if one.outcome(among) == wanted}


def _nearest(found: dict[str, Compared]) -> tuple[str, Compared]:
    return max(found.items(), key=lambda pair: pair[1].difference.value)


def _format_gains(
    by_area: dict[str, Compared], by_calls: dict[str, Compared], gains: dict[str, Gain], among: int
) -> str:
    tried = len(gains)
    many = len({*by_area, *by_calls})
    name, one = _nearest(by_area or by_calls)
    more = one.difference
    how = (
        f"an AUC {more.value:.3f} higher (95% interval {_difference_text(more)})"
        if by_area
        else f"calls right in {share_text(more.value)} more of the cases (95% interval "
        f"{interval_text(more)})"
    )
    who = f"{many} of {tried} attacks gain" if tried > 1 else "The attack gains"
    most = f"{name} most, with {how}" if many > 1 else f"{name}, with {how}"
    yet = _format_reversal(gains[name], among, by_area=bool(by_area))
    return f"{who} more than the label-only baseline on the same records: {most}{yet}."


def _format_reversal(gain: Gain, among: int, *, by_area: bool) -> str:
    """Say that an attack that gains more by one measure gains less by the other."""
    other = gain.accuracy if by_area else gain.auc
    if other.outcome(among) != "less":
        return ""
    less = _less_text(other.difference)
    what = "its calls are right less often, by" if by_area else "its AUC is lower, by"
    return f"; yet {what} {less}"


def _less_text(difference: Estimate) -> str:
    ends = f"{format_signed(-difference.high)} to {format_signed(-difference.low)}"
    return f"{format_signed(-difference.value)} (95% interval {ends})"


def _format_mixed(
    areas: dict[str, Compared], calls: dict[str, Compared], among: int, figures: Figures
) -> str:
    """Say by each measure which attacks are shown to gain less, and of which nothing is told."""
    sides = (("AUC", areas), ("calls", calls))
    parts = [part for how, found in sides for part in _measure_parts(how, found, among)]
    records = _format_records(figures)
    return f"Against the label-only baseline on the same {records}: {'; '.join(parts)}."


def _measure_parts(how: str, found: dict[str, Compared], among: int) -> Iterator[str]:
    less, open_ones = (_outcomes(found, among, one) for one in ("less", "untold"))
    if less:
        name, one = _nearest(less)
        who = _format_gainers(less, found)
        yield f"by {how}, {who} less, {name} by {_less_text(one.difference)}"
    if open_ones:
        name, one = _nearest(open_ones)
        whom = "any other" if less else f"any of {len(found)}" if len(found) > 1 else name
        yield (
            f"by {how}, whether {whom} gains more could not be told ({name}: "
            f"{format_signed(one.difference.value)}, 95% interval "
            f"{_difference_text(one.difference)})"
        )


def _format_gainers(some: dict[str, Compared], tried: dict[str, Compared]) -> str:
    if len(tried) == 1:
        return "the other attack gains"
    if len(some) == len(tried):
        return f"all {len(tried)} attacks gain"
    return f"{len(some)} of {len(tried)} attacks {'gain' if len(some) > 1 else 'gains'}"


def _format_losses(areas: dict[str, Compared]) -> str:
    name, one = _nearest(areas)
    less = one.difference
    who = f"All {len(areas)} other attacks gain" if len(areas) > 1 else "The other attack gains"
    return (
        f"{who} less than the label-only baseline on the same records; {name} comes nearest, with "
        f"an AUC lower by {_less_text(less)}."
    )


def _format_not_shown(areas: dict[str, Compared], among: int, figures: Figures) -> str:
    """Say that no difference was told, and which one so many records, or more, would tell."""
    name, one = _nearest(areas)
    stricter = (deviations(among) + _POWER) / (deviations(1) + _POWER)
    who = f"any of {len(areas)} attacks gains" if len(areas) > 1 else f"{name} gains"
    seen = (
        f"the largest difference in AUC is {format_signed(one.difference.value)} ({name}, 95% "
        f"interval {_difference_text(one.difference)})"
    )
    least = one.smallest * stricter
    could = (
        f"so many records would tell one of {least:.2g}, four times in five"
        if least < 1 - _GUESSING
        else "so few records would hardly tell any"
    )
    more = ""
    if isinstance(one.needed, int) and one.difference.value > 0:
        count = _round_count(one.needed * stricter**2)
        more = f", and about {count} members and as many others one as seen"
    return (
        f"Whether {who} more than the label-only baseline could not be told on "
        f"{_format_records(figures)}: {seen}; {could}{more}."
    )


def _difference_text(difference: Estimate) -> str:
    return f"{format_signed(difference.low)} to {format_signed(difference.high)}"


def _round_count(count: float) -> str:
    """Return a count of two digits."""
    size = 10 ** max(len(str(ceil(count))) - 2, 0)
    return f"{ceil(count / size) * size:,}"


def _degenerate_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    dead = [one for one in attacks if one.degenerate]
    if dead:
        why = "; ".join(f"{one.attack}: {one.degenerate}" for one in dead)
        names = join_names([one.attack for one in dead])
        yield f"What {names} did not find proves nothing ({why})."


# -- few false alarms, few members, few records ---------------------------------------------------


def _low_fpr_sentences(attacks: Sequence[AttackResult]) -> Iterator[str]:
    """Yield how many members the best attack at few false alarms finds.

    An attack that is no better than guessing on the average may know some members for certain
    (Carlini et al., IEEE S&P 2022), so it need not be the strongest one. What a coin among equal
    scores finds is not a measure of it; what a degenerate score finds without one is.
    """
    rates = [(min(one.figures.tpr_at_fpr, key=lambda at: at.fpr), one) for one in attacks]
    found = [pair for pair in rates if not pair[0].randomised]
    if not found:
        least = rates[0][0].fpr
        yield (
            f"How many members are found at {rate_text(least)} false alarms was not measured: by "
            "every attack too many others share the score at which that rate lies."
        )
        return
    at, best = max(found, key=lambda pair: (pair[0].tpr.low, pair[0].tpr.value))
    alone = f", not allowing for its being the best of {len(attacks)}" if len(attacks) > 1 else ""
    where, others = f"{rate_text(at.fpr)} false alarms", best.figures.non_members
    if beats_guessing(at, len(attacks)):
        yield (
            f"At {where}, {best.attack} finds {share_text(at.tpr.value)} of the members (95% "
            f"interval {interval_text(at.tpr)})."
        )
        return
    yield (
        f"Whether more members are found at {where} than the {rate_text(at.fpr)} that guessing "
        f"finds could not be told on {format_count(others, 'other')}: {best.attack} comes nearest, "
        f"with {interval_text(at.tpr)} (95% interval{alone})."
    )


def _prior_sentences(best: AttackResult, among: int) -> Iterator[str]:
    at = min(best.figures.at_priors, key=lambda one: one.prior, default=None)
    if widen_for(best.figures.accuracy, among).low <= _GUESSING:
        return
    if at is None or not isinstance(at.precision, Estimate):
        return
    if at.precision.low <= at.prior:
        yield (
            f"Where {rate_text(at.prior)} of the world are members, how many of those that "
            f"{best.attack} calls members are could not be told on so few records: "
            f"{interval_text(at.precision)} (95% interval)."
        )
    else:
        yield (
            f"Where {rate_text(at.prior)} of the world are members, a record that {best.attack} "
            f"calls a member is one in {share_text(at.precision.value)} of cases (95% interval "
            f"{interval_text(at.precision)})."
        )


def _worst_slice_sentences(best: AttackResult) -> Iterator[str]:
    if isinstance(best.worst, Slice):
        found, whole = best.worst.figures, best.figures
        several = sum(_is_large(one) for one in (*best.classes, *best.slices))
        chance = "; the worst of several is so partly by chance" if several > 1 else ""
        yield (
            f"The worst {f'of {several} slices' if several > 1 else 'slice'} is "
            f"{slice_text(best.worst)} ({format_count(found.members, 'member')}, "
            f"{format_count(found.non_members, 'other')}): there the AUC of {best.attack} is "
            f"{found.auc.value:.3f} (95% interval {found.auc.low:.3f} to {found.auc.high:.3f}), "
            f"against {whole.auc.value:.3f} over all records{chance}."
        )


def _is_large(part: Slice) -> bool:
    return min(part.figures.members, part.figures.non_members) >= FEWEST_IN_WORST
