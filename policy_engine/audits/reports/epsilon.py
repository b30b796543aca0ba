"""What the page of an audit says of epsilon."""

from collections.abc import Iterator

from policy_engine.audits.membership.epsilon_verdict import bounds_contradict
from policy_engine.audits.membership.result import (
    MembershipAudit,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.audits.reports.charts.audit import (
    epsilon_chart,
)
from policy_engine.audits.reports.html import PagePicture, Table, picture
from policy_engine.kernels.estimates import NotApplicable


def unbounded_reasons(audit: MembershipAudit) -> Iterator[str]:
    """Yield why there is no bound on epsilon, from above or from below."""
    bounds = {"accountant proves": audit.epsilon_upper, "attack shows": audit.epsilon_lower}
    for source, one in bounds.items():
        if isinstance(one, NotApplicable):
            yield f"The {source} no bound: {format_reason(one)}."


def epsilon_picture(audit: MembershipAudit) -> PagePicture | None:
    """Return the bounds on epsilon as a picture, None where there is none."""
    upper, lower = audit.epsilon_upper, audit.epsilon_lower
    if isinstance(upper, NotApplicable) and isinstance(lower, NotApplicable):
        return None
    table = Table("", ("figure", "value"), _epsilon_rows(upper, lower))
    caption = _epsilon_caption(upper, lower)
    return picture("Bounds on epsilon", epsilon_chart(upper, lower), caption, table)


def _epsilon_caption(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> str:
    """Return what the bounds mean."""
    sentences = ["The epsilon of an attack is that of exchanging one record for another."]
    if isinstance(lower, EpsilonLower) and lower.members == "told":
        sentences.append("Members were given, not drawn at random: no bound on epsilon follows.")
    elif (
        isinstance(upper, EpsilonUpper)
        and isinstance(lower, EpsilonLower)
        and not bounds_contradict(upper, lower)
    ):
        sentences.append("The true epsilon is between what the attack shows and what is proven.")
    if isinstance(lower, EpsilonLower):
        sentences.append("An attack that shows little proves nothing.")
    return " ".join(sentences)


def _epsilon_rows(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> list[tuple[str, str]]:
    rows = []
    if isinstance(upper, EpsilonUpper):
        rows += [
            ("proven at most, one record exchanged", f"{upper.substitution:.4g}"),
            ("at delta", f"{upper.substitution_delta:.3g}"),
            ("one record more or less (the smaller of RDP and PLD)", f"{upper.value:.4g}"),
            ("by Renyi differential privacy (RDP)", f"{upper.rdp:.4g}"),
            ("by privacy loss distributions (PLD)", f"{upper.pld:.4g}"),
            ("by RDP as converted in 2019", f"{upper.classic:.4g}"),
            ("delta", f"{upper.delta:.3g}"),
            ("noise multiplier", f"{upper.noise_multiplier:g}"),
            ("sampling rate", f"{upper.sampling_rate:.4g}"),
            ("steps", f"{upper.steps:,}"),
        ]
    if isinstance(lower, EpsilonLower):
        rows += [
            (f"{_SHOWN[lower.members]}, by {lower.attack}", f"{lower.value:.4g}"),
            ("right guesses", f"{lower.correct:,} of {lower.guesses:,} ({lower.pairs:,} pairs)"),
            ("the most that any attack could have shown", f"{lower.ceiling:.4g}"),
            ("at delta", f"{lower.delta:.3g}"),
        ]
    return rows


_SHOWN = {
    "drawn": "shown at least",
    "drawn-first": "shown at least, of training and features",
    "told": "what would be shown, if members had been drawn at random",
}


def format_reason(missing: NotApplicable) -> str:
    """Return why a figure is missing, as the rest of a sentence."""
    reason = missing.reason.rstrip(".")
    return reason[:1].lower() + reason[1:]
