"""The sentence on epsilon: what the accountant proves and what the attack shows."""

from collections.abc import Iterator

from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.kernels.estimates import NotApplicable


def epsilon_sentences(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> Iterator[str]:
    """Yield both bounds side by side, or that they contradict each other."""
    proof = _format_proof(upper) if isinstance(upper, EpsilonUpper) else ""
    attack = attack_words(lower) if isinstance(lower, EpsilonLower) else ""
    if bounds_contradict(upper, lower):
        yield (
            f"The {attack}, but the {proof}: one of the two is wrong, so rely on neither, and "
            "report it."
        )
    elif proof or attack:
        yield f"The {'; the '.join(filter(None, (proof, attack)))}."


def bounds_contradict(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> bool:
    """Return whether the attack shows more than the accountant proves, of one record exchanged.

    What holds at a delta holds at any larger one, so a bound at a smaller delta is not evidence.
    Nor is one where members were not drawn at random, or where more depends on them than the
    training, which is all that the accountant covers.
    """
    return (
        isinstance(upper, EpsilonUpper)
        and isinstance(lower, EpsilonLower)
        and lower.members == "drawn"
        and lower.delta >= upper.substitution_delta
        and lower.value > upper.substitution
    )


def _format_proof(upper: EpsilonUpper) -> str:
    substitution = f"{upper.substitution:.3g} at delta {upper.substitution_delta:.1g}"
    return (
        f"accountant proves epsilon at most {upper.value:.3g} at delta {upper.delta:.1g} for one "
        f"record more or less, and {substitution} for one exchanged for another"
    )


def attack_words(lower: EpsilonLower) -> str:
    """Return what an attack shows of epsilon, as a clause without an article."""
    least = f"an epsilon of at least {lower.value:.2g}" if lower.value else "no epsilon above 0"
    shows, scope = _SHOWN[lower.members]
    return (
        f"attack ({lower.attack}) {shows} {least} at delta {lower.delta:.1g} for one record "
        f"exchanged{scope} (no attack on so many records could show more than {lower.ceiling:.2g})"
    )


_SHOWN = {
    "drawn": ("shows", ""),
    "drawn-first": ("shows", ", by the training and by how columns became features"),
    "told": ("would show, if members had been drawn at random,", ""),
}
