"""What an audit of a secret found, in words: the same in every place that shows it."""

from collections.abc import Iterator, Sequence

from policy_engine.audits.attribute.result import (
    AttributeAudit,
    SecretAttackResult,
    SecretShare,
    SecretValueReach,
)
from policy_engine.audits.membership.intervals import widen_for
from policy_engine.audits.membership.wording import share_text
from policy_engine.kernels.estimates import Estimate


def points(one: float) -> str:
    """Return a difference of shares in percentage points."""
    return f"{100 * one + 0.0:.1f}".replace("-0.0", "0.0")


def points_interval(one: Estimate) -> str:
    """Return a difference of shares with its interval."""
    return f"{points(one.value)} points (95% interval {points(one.low)} to {points(one.high)})"


def strongest_of(attacks: Sequence[SecretAttackResult]) -> str:
    """Return the attack that gains most over the imputation, empty where none was made."""
    return max(attacks, key=lambda one: one.members.advantage.value).attack if attacks else ""


def shown_excess(attacks: Sequence[SecretAttackResult]) -> list[SecretAttackResult]:
    """Return the attacks that are shown to gain more on members than on others, as so many were
    made, the one that gains most more first."""
    among = len(attacks)
    excesses = [one for one in attacks if widen_for(one.excess, among).low > 0]
    return sorted(excesses, key=lambda one: -one.excess.value)


def shown_values(attacks: Sequence[SecretAttackResult]) -> list[tuple[str, SecretValueReach]]:
    """Return the values that attacks are shown to tell better than the imputation does.

    Each with its attack, the greatest advantage first, of equal ones the rarer value; as so many
    values and attacks were looked at.
    """
    among = sum(len(one.values) for one in attacks)
    pairs = [
        (one.attack, value)
        for one in attacks
        for value in one.values
        if widen_for(value.advantage, among).low > 0
    ]
    return sorted(pairs, key=lambda pair: (-pair[1].advantage.value, pair[1].records))


def greatest_advantage(attacks: Sequence[SecretAttackResult]) -> float:
    """Return the greatest advantage of any attack, or of one on a value where it is shown."""
    overall = [one.members.advantage.value for one in attacks]
    return max([*overall, *(value.advantage.value for _, value in shown_values(attacks))])


def attribute_verdict(
    secret: str,
    attacks: Sequence[SecretAttackResult],
    shares: Sequence[SecretShare],
) -> tuple[bool, bool, str]:
    """Return whether an advantage is shown, whether it is shown to be greater on members, and the
    sentences that say so."""
    strongest = next(one for one in attacks if one.attack == strongest_of(attacks))
    advantage = widen_for(strongest.members.advantage, len(attacks))
    excess = shown_excess(attacks)
    sentences = [
        _first_sentence(secret, strongest, advantage, bool(excess)),
        _raw_sentence(strongest, shares),
        _others_sentence(strongest, excess),
        *_value_sentences(attacks),
    ]
    return advantage.low > 0, bool(excess), " ".join(filter(None, sentences))


def _first_sentence(
    secret: str, one: SecretAttackResult, advantage: Estimate, has_excess: bool
) -> str:
    gained = f"{points_interval(one.members.advantage)}, by {one.attack}"
    if advantage.low > 0 and has_excess:
        return (
            f"The model gives away {secret!r} of those it was trained on: members' values are "
            f"guessed more often than without the model by {gained}."
        )
    if advantage.low > 0:
        return (
            f"The model tells something of {secret!r}, and no more of those it was trained on than "
            f"of anybody: values are guessed more often than without the model by {gained}."
        )
    if has_excess:
        return (
            f"The model tells {secret!r} better of those it was trained on than of others, but no "
            f"attack is shown to guess more than can be guessed without it: by {gained}."
        )
    return (
        f"No attack is shown to guess {secret!r} of those the model was trained on more often than "
        f"can be done without the model: the advantage is {gained}. What was not shown may exist."
    )


def _raw_sentence(
    one: SecretAttackResult,
    shares: Sequence[SecretShare],
) -> str:
    commonest = max(shares, key=lambda value: value.share)
    words = f"{one.attack} is right about {share_text(one.members.accuracy.value)} of the members"
    words += f", an imputation that never saw the model ({one.best}) about "
    words += f"{share_text(one.members.imputed.value)}; always answering {commonest.value!r} about "
    return f"{words}{share_text(commonest.share)}."


def _others_sentence(strongest: SecretAttackResult, excess: Sequence[SecretAttackResult]) -> str:
    one = excess[0] if excess else strongest
    verb = "gains" if excess else "is not shown to gain"
    return (
        f"On members, {one.attack} {verb} more than on records that the model was not trained on: "
        f"by {points_interval(one.excess)}."
    )


def _value_sentences(attacks: Sequence[SecretAttackResult]) -> Iterator[str]:
    values = shown_values(attacks)
    if values:
        attack, value = values[0]
        yield (
            f"The value most told is {value.value!r}: {attack} tells it from others better by "
            f"{points_interval(value.advantage)}, and {_precision_words(value)}."
        )


def _precision_words(value: SecretValueReach) -> str:
    precision = value.precision
    recall_words = f"finds {share_text(value.recall.value)} of those who have it"
    if not isinstance(precision, Estimate):
        return recall_words
    return f"{recall_words}, right in {share_text(precision.value)} of cases"


def limits() -> tuple[str, ...]:
    """Return what an audit does not show."""
    measured = (
        "These attacks on this model were measured: stronger ones may exist, and no figure here is "
        "an upper bound on what can be inferred."
    )
    statistics = (
        "What the model tells of everybody alike is statistics: it may harm a person all the same, "
        "but not because this person's record was trained on."
    )
    return measured, statistics


def not_run_words(audit: AttributeAudit) -> Iterator[str]:
    """Yield which attacks were not made, and why."""
    for one in audit.not_run:
        yield f"{one.attack}: {one.reason}"
