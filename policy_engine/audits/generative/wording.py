"""What an audit of a generator found, in words: the same in every place that shows it."""

from collections.abc import Iterator, Sequence

from policy_engine.audits.generative.attacks.monte_carlo import last_tripling
from policy_engine.audits.generative.result import (
    AttackOverModels,
    AuditedFile,
    Copies,
    FiguresByClass,
    GenerativeAttack,
    GenerativeAudit,
    GrowthPoint,
    PromisedEpsilon,
)
from policy_engine.audits.generative.risks.result import SyntheticRisk
from policy_engine.audits.membership.epsilon_verdict import attack_words
from policy_engine.audits.membership.intervals import beats_guessing, difference, widen_for
from policy_engine.audits.membership.over_targets import widen_spread
from policy_engine.audits.privacy.epsilon import EpsilonLower
from policy_engine.errors import format_count, join_names
from policy_engine.kernels.estimates import Estimate, NotApplicable

_GUESSING = 0.5
SATURATED = 0.005
"""How much a tripling of the samples may gain, and still be said to gain nothing."""


def percent(share: float) -> str:
    """Return a share in percent, as many digits as tell something."""
    return f"{100 * share:.1f}%"


def interval(one: Estimate) -> str:
    """Return a share with its interval."""
    return f"{percent(one.value)} (95% interval {percent(one.low)} to {percent(one.high)})"


def _interval_over(one: GenerativeAttack, estimate: Estimate) -> str:
    """Return a figure of an attack with its interval, and of what this is."""
    if not isinstance(one.over_models, AttackOverModels):
        return interval(estimate)
    ends = f"{percent(estimate.low)} to {percent(estimate.high)}"
    return f"{percent(estimate.value)} (95% interval over {one.over_models.models} models {ends})"


def tells_members(one: GenerativeAttack, among: int) -> bool:
    """Return whether an attack, one of so many, is shown to do better than guessing.

    Of several models it is enough that one by itself shows it: few models have wide intervals.
    """
    figures, over = among * (1 + len(one.tpr_at_fpr)), one.over_models
    if isinstance(over, AttackOverModels):
        return bool(
            over.shown_on
            or widen_spread(over.auc, figures).low > _GUESSING
            or any(widen_spread(rate.tpr, figures).low > rate.fpr for rate in over.tpr_at_fpr)
        )
    return widen_for(one.auc, figures).low > _GUESSING or any(
        beats_guessing(rate, figures) for rate in one.tpr_at_fpr
    )


def telling_risks(risks: Sequence[SyntheticRisk]) -> list[SyntheticRisk]:
    """Return the risks that are shown to be above 0, as so many were measured."""
    among = len(risks)
    return [one for one in risks if one.is_evidence and widen_for(one.value, among).low > 0]


def is_inverted(one: GenerativeAttack, among: int) -> bool:
    """Return whether an attack, one of so many, is shown to rank members below the holdout."""
    figures, over = among * (1 + len(one.tpr_at_fpr)), one.over_models
    if isinstance(over, AttackOverModels):
        is_shown = over.inverted_on or widen_spread(over.auc, figures).high < _GUESSING
        return bool(is_shown and over.auc.mean < _GUESSING)
    return widen_for(one.auc, figures).high < _GUESSING


def strength(one: GenerativeAttack, among: int) -> float:
    """Return the area under the ROC curve, of an attack that is inverted the other way round."""
    return 1 - one.auc.value if is_inverted(one, among) else one.auc.value


def strongest_of(attacks: Sequence[GenerativeAttack]) -> str:
    """Return the name of the strongest attack, empty where none was made.

    One that is shown to tell members, or to rank them below the holdout, is stronger than any that
    is not.
    """
    among = len(attacks)

    def rank(one: GenerativeAttack) -> tuple[bool, float]:
        return tells_members(one, among) or is_inverted(one, among), strength(one, among)

    return max(attacks, key=rank).attack if attacks else ""


def beats_naive(one: SyntheticRisk) -> bool:
    """Return whether the attack is shown to succeed more often than one that uses no row."""
    return difference(one.train, one.baseline).low > 0


def weak_risks(risks: Sequence[SyntheticRisk]) -> Iterator[str]:
    """Yield which risks say nothing where they are low, and why, grouped by the reason."""
    for reason in dict.fromkeys(one.reason for one in risks if one.reason):
        names = ", ".join(_title(one) for one in risks if one.reason == reason)
        yield f"If low, the risk says nothing ({names}): {in_clause(reason)}."


def party_words(risks: Sequence[SyntheticRisk]) -> Iterator[str]:
    """Yield what the two parties know whose rows are linked."""
    for one in risks:
        if one.parties:
            first, second = map(join_names, one.parties)
            yield f"Linkability: one party knows {first}, the other {second}."


def _title(one: SyntheticRisk) -> str:
    return f"{one.risk} of {one.column!r}" if one.column else one.risk


def set_words(one: GenerativeAttack) -> str:
    """Return what an attack makes of one pair of sets, as a regulator would ask."""
    evidence = one.set_evidence
    pair = "One pair of sets"
    if isinstance(one.over_models, AttackOverModels):
        pair += ", of the first model"
    return (
        f"{pair}: of {evidence.records} members and {evidence.records} others, drawn once, "
        f"{evidence.found} of the {evidence.records} that {one.attack} ranks first are members. By "
        f"chance, so many or more would be with probability {evidence.p:.2g}."
    )


def untold_words(audit: GenerativeAudit) -> Iterator[str]:
    """Yield which classes have too few records to be told of."""
    if isinstance(audit.by_class, FiguresByClass) and audit.by_class.untold:
        names = join_names(audit.by_class.untold)
        yield f"Not told, with fewer than 10 members or records of the holdout: {names}."


def disclosure(audit: GenerativeAudit) -> str:
    """Return the verdict in a word or two."""
    if not audit.attacks and not audit.risks:
        return "nothing was attacked"
    return "shown" if audit.discloses else "not shown"


def verdict(
    attacks: Sequence[GenerativeAttack],
    copies: Copies | NotApplicable,
    risks: Sequence[SyntheticRisk],
    strongest: str,
    by_class: FiguresByClass | NotApplicable,
) -> tuple[bool, str]:
    """Return whether anything is disclosed, and the sentences that say what: the first of them
    whether anything is."""
    discloses, sentences = _verdict(attacks, copies, risks, strongest)
    if isinstance(by_class, NotApplicable) or not by_class.worst:
        return discloses, sentences
    if discloses or not by_class.is_worst_shown:
        return discloses, f"{sentences} {_worst_sentence(by_class)}"
    # Of all classes together it is not shown.
    return (
        True,
        f"Members of one class are told from others. {_worst_sentence(by_class)} {sentences}",
    )


def _worst_sentence(by_class: FiguresByClass) -> str:
    worst, among = by_class.figures(by_class.worst), len(by_class.classes)
    ends = f"{percent(worst.auc.low)} to {percent(worst.auc.high)}"
    return (
        f"Those of the class {worst.name!r} are told best: within it, {by_class.attack} ranks a "
        f"member above a record of the holdout in {percent(worst.auc.value)} of pairs "
        f"(95% interval for one of {among} classes {ends})."
    )


def _verdict(
    attacks: Sequence[GenerativeAttack],
    copies: Copies | NotApplicable,
    risks: Sequence[SyntheticRisk],
    strongest: str,
) -> tuple[bool, str]:
    if not attacks and not risks:
        return False, "No attack could be made, so nothing is shown."
    others = [*_copies_sentences(copies), *map(_risk_sentence, telling_risks(risks))]
    best = next((one for one in attacks if one.attack == strongest), None)
    among = len(attacks)
    if inverted := [one for one in attacks if is_inverted(one, among)]:
        worst = max(inverted, key=lambda one: strength(one, among))
        telling = [one for one in attacks if tells_members(one, among) and one not in inverted]
        return True, " ".join([*_inverted_sentences(worst), *_telling_sentences(telling), *others])
    if best is not None and any(tells_members(one, among) for one in attacks):
        return True, " ".join([*_attack_sentences(best), *others])
    if best is not None:
        nothing = [_nothing_found(best, among, is_told=bool(others))]
    else:
        nothing = [] if others else [_no_risk(risks)]
    if others:
        return True, " ".join(["Something is disclosed of members.", *others, *nothing])
    return False, " ".join([*nothing, "Other attacks, or more records to audit, may show more."])


def _copies_sentences(copies: Copies | NotApplicable) -> Iterator[str]:
    if isinstance(copies, NotApplicable):
        return
    excess = copies.excess
    form = "under any label" if copies.any_class else "as they are"
    if excess.low > 0:
        yield (
            f"Exact copies: {interval(excess)} more of the members than of the holdout "
            f"are in the synthetic records {form}."
        )
    elif excess.high < 0:
        turned = Estimate(value=-excess.value, low=-excess.high, high=-excess.low)
        yield (
            f"Exact copies: {interval(turned)} more of the holdout than of the members "
            f"are in the synthetic records {form}: were these made of the holdout?"
        )


def _risk_sentence(one: SyntheticRisk) -> str:
    return (
        f"{_RISKS[one.risk]}{f' of {one.column!r}' if one.column else ''}: "
        f"{interval(one.value)} beyond what holds for persons of the holdout."
    )


def _telling_sentences(telling: Sequence[GenerativeAttack]) -> Iterator[str]:
    """Yield what the best of the attacks reaches that tell members the right way round."""
    if telling:
        best = max(telling, key=lambda one: one.auc.value)
        yield (
            f"But by the attack {best.attack}, a member ranks above a record of the holdout in "
            f"{interval(best.auc)} of all pairs."
        )


def _inverted_sentences(best: GenerativeAttack) -> Iterator[str]:
    yield (
        "Members and holdout are told apart, the other way round. By the attack "
        f"{best.attack}, a record of the holdout ranks above a member in "
        f"{_interval_over(best, _turned(best.auc))} of all pairs."
    )
    yield (
        "Members and holdout may be swapped, or the synthetic records were made of the holdout, or "
        "the two are not of one population."
    )


def _turned(auc: Estimate) -> Estimate:
    return Estimate(value=1 - auc.value, low=1 - auc.high, high=1 - auc.low)


def _no_risk(risks: Sequence[SyntheticRisk]) -> str:
    measured = "risk" if len(risks) == 1 else f"{len(risks)} risks"
    return f"Nothing is shown to be disclosed of members, by the {measured} measured."


_RISKS = {
    "singling-out-univariate": "Singling out by one column",
    "singling-out-multivariate": "Singling out by several columns",
    "linkability": "Linking",
    "inference": "Inference",
}


def _attack_sentences(best: GenerativeAttack) -> Iterator[str]:
    sentence = (
        f"Members are told from others. The strongest attack, {best.attack}, ranks a member above "
        f"a record of the holdout in {_interval_over(best, best.auc)} of all pairs"
    )
    rates = [one for one in best.tpr_at_fpr if not one.randomised]
    if rates:
        share = f"{percent(rates[0].tpr.value)} of the members"
        sentence += f"; it finds {share} where it accuses {percent(rates[0].fpr)} of the others"
    games = best.games
    yield f"{sentence}."
    yield (
        f"Of two sets of {games.records:,}, it names the one that was used in "
        f"{percent(games.set.value)} of draws."
    )
    over = best.over_models
    if isinstance(over, AttackOverModels) and len({0, over.shown_on, over.models}) == _SOME:
        yield f"By itself, that is shown on {over.shown_on} of the {over.models} models."


_SOME = 3
"""Neither none of the models, nor all."""


def _nothing_found(best: GenerativeAttack, among: int, *, is_told: bool) -> str:
    attacks = "the attack that was made" if among == 1 else f"any of the {among} attacks made"
    start = (
        f"Their membership as such is not told by {attacks}"
        if is_told
        else f"Members are not told from others by {attacks}"
    )
    return (
        f"{start}: the strongest, {best.attack}, ranks a member above a record of the holdout in "
        f"{_interval_over(best, best.auc)} of all pairs, where guessing reaches 50%."
    )


def epsilon_sentences(
    promised: PromisedEpsilon | NotApplicable, lower: EpsilonLower | NotApplicable
) -> Iterator[str]:
    """Yield what is promised of epsilon and what attacks show of it, where something is promised.

    A promise for a person more or less is one of twice as much for one in the place of another.
    """
    if isinstance(promised, NotApplicable):
        return
    delta = f" at delta {promised.delta:.1g}" if promised.delta else ""
    sentence = f"Promised is an epsilon of {promised.epsilon:g}{delta} for a person more or less"
    sentence += f", and so {2 * promised.epsilon:g} for one exchanged for another"
    if isinstance(lower, NotApplicable):
        yield f"{sentence}; what attacks show of it is not known, since {lower.reason}."
        return
    yield f"{sentence}; the {attack_words(lower)}."
    if lower.value > 2 * promised.epsilon and lower.delta >= _EXCHANGED * promised.delta:
        yield "That is more than is promised: the promise, or the draw of the members, is wrong."


_EXCHANGED = 2


def person_words(audit: GenerativeAudit) -> Iterator[str]:
    """Yield how many persons have the records, and what figures are of, where they are told
    apart."""
    if not audit.unit:
        return
    members, holdout = map(_persons, (audit.members, audit.holdout))
    sentence = f"Figures are of persons, told apart by {audit.unit!r}: {members} are members, and "
    sentence += f"{holdout} of the holdout. The score of a person is the greatest of the records'"
    if audit.risks:
        sentence += "; singling out, linkability and inference are of one record of each"
    yield f"{sentence}."


def _persons(side: AuditedFile) -> str:
    assert isinstance(side.persons, int)  # noqa: S101 (they are told apart)
    return f"{format_count(side.persons, 'person')} with {format_count(side.records, 'record')}"


def warnings(
    shift: Estimate,
    growth: Sequence[GrowthPoint],
    *,
    resamples: bool,
    fewest: int,
    counted: str = "records",
) -> Iterator[str]:
    """Yield what is to be said of how far the figures hold."""
    if shift.low > _GUESSING:
        yield (
            "Members and holdout are not quite of one distribution: a classifier tells them apart "
            f"with an area of {shift.value:.3f} ({shift.low:.3f} to {shift.high:.3f}) under the "
            "ROC curve, and attacks may in part measure that."
        )
    steps = last_tripling(growth) if resamples else None
    gain = steps[1].single - steps[0].single if steps else 0.0
    if gain > SATURATED:
        yield (
            f"The last tripling of samples gained {100 * gain:.1f} points: more samples may show "
            "more."
        )
    if fewest < _FEW:
        yield f"Only {fewest:,} {counted} on one side: intervals are wide."


_FEW = 300


def is_saturated(growth: Sequence[GrowthPoint]) -> bool | None:
    """Return whether the last tripling of the samples gained next to nothing, None if it is not
    known."""
    steps = last_tripling(growth)
    return None if steps is None else steps[1].single - steps[0].single <= SATURATED


def in_clause(sentence: str) -> str:
    """Return a sentence as a clause."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def not_run_words(audit: GenerativeAudit) -> Iterator[str]:
    """Yield which attacks were not made, grouped by the reason."""
    reasons = dict.fromkeys(one.reason for one in audit.not_run)
    for reason in reasons:
        names = join_names(one.attack for one in audit.not_run if one.reason == reason)
        yield f"{names}, since {reason}"


def limits(audit: GenerativeAudit) -> tuple[str, ...]:
    """Return what no audit of a generator shows."""
    several = len(audit.models)
    fits = f"{several} fits" if several else "one fit"
    return (
        "Attacks that find nothing prove nothing: they are lower bounds on what can be found.",
        f"The figures are of these records and of {fits} of the generator: others may reveal more.",
    )


def model_words(audit: GenerativeAudit) -> Iterator[str]:
    """Yield what the figures of several models are of."""
    if audit.models:
        yield (
            f"Attacked were {len(audit.models)} models: figures of attacks are means over models, "
            "with intervals over models. Copies and risks are those of the model that has most, "
            "all else is of the first."
        )
