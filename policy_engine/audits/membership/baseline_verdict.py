"""The sentences on what attacks gain over the label-only baseline."""

from collections.abc import Iterator, Sequence
from math import ceil
from statistics import NormalDist

from policy_engine.audits.membership.figures import Figures
from policy_engine.audits.membership.intervals import deviations
from policy_engine.audits.membership.result import AttackResult, Compared, Gain
from policy_engine.audits.membership.wording import (
    format_signed,
    format_sizes,
    interval_text,
    share_text,
)
from policy_engine.kernels.estimates import Estimate

_HALF = 0.5
_POWER = NormalDist().inv_cdf(0.8)


def baseline_sentences(
    attacks: Sequence[AttackResult], baseline: AttackResult | None
) -> Iterator[str]:
    """Yield which attacks gain more than the label-only baseline, or that none is shown to."""
    gains = {one.attack: one.gain for one in attacks if isinstance(one.gain, Gain)}
    if not gains:
        if baseline is not None and len(attacks) == 1:
            yield (
                f"It is the label-only baseline ({baseline.attack}), which calls a record a member "
                "if the model classifies it correctly; no finer attack was run."
            )
        return
    among = 2 * len(gains)
    areas = {name: one.auc for name, one in gains.items()}
    calls = {name: one.accuracy for name, one in gains.items()}
    by_area, by_calls = (_outcomes(comparisons, among, "more") for comparisons in (areas, calls))
    if by_area or by_calls:
        yield _format_gains(by_area, by_calls, gains, among)
        return
    less = [_outcomes(comparisons, among, "less") for comparisons in (areas, calls)]
    if all(len(one) == len(gains) for one in less):
        yield _format_losses(areas)
    elif any(less):
        yield _format_mixed(areas, calls, among, attacks[0].figures)
    else:
        yield _format_not_shown(areas, among, attacks[0].figures)


def _outcomes(comparisons: dict[str, Compared], among: int, outcome: str) -> dict[str, Compared]:
    return {name: one for name, one in comparisons.items() if one.outcome(among) == outcome}


def _nearest(comparisons: dict[str, Compared]) -> tuple[str, Compared]:
    return max(comparisons.items(), key=lambda pair: pair[1].difference.value)


def _format_gains(
    by_area: dict[str, Compared], by_calls: dict[str, Compared], gains: dict[str, Gain], among: int
) -> str:
    attacks = len(gains)
    many = len({*by_area, *by_calls})
    name, one = _nearest(by_area or by_calls)
    more = one.difference
    figures = (
        f"an AUC {more.value:.3f} higher (95% interval {_difference_text(more)})"
        if by_area
        else f"calls right in {share_text(more.value)} more of the cases (95% interval "
        f"{interval_text(more)})"
    )
    attackers = f"{many} of {attacks} attacks gain" if attacks > 1 else "The attack gains"
    most = f"{name} most, with {figures}" if many > 1 else f"{name}, with {figures}"
    yet = _format_reversal(gains[name], among, by_area=bool(by_area))
    return f"{attackers} more than the label-only baseline on the same records: {most}{yet}."


def _format_reversal(gain: Gain, among: int, *, by_area: bool) -> str:
    """Return that an attack that gains more by one measure gains less by the other, if it does."""
    other = gain.accuracy if by_area else gain.auc
    if other.outcome(among) != "less":
        return ""
    less = _less_text(other.difference)
    consequence = "its calls are right less often, by" if by_area else "its AUC is lower, by"
    return f"; yet {consequence} {less}"


def _less_text(difference: Estimate) -> str:
    ends = f"{format_signed(-difference.high)} to {format_signed(-difference.low)}"
    return f"{format_signed(-difference.value)} (95% interval {ends})"


def _format_mixed(
    areas: dict[str, Compared], calls: dict[str, Compared], among: int, figures: Figures
) -> str:
    """Return, by each measure, which attacks are shown to gain less, and which are undecided."""
    sides = (("AUC", areas), ("calls", calls))
    parts = [
        part
        for measure, comparisons in sides
        for part in _measure_parts(measure, comparisons, among)
    ]
    records = format_sizes(figures)
    return f"Against the label-only baseline on the same {records}: {'; '.join(parts)}."


def _measure_parts(measure: str, comparisons: dict[str, Compared], among: int) -> Iterator[str]:
    less, open_ones = (_outcomes(comparisons, among, one) for one in ("less", "untold"))
    if less:
        name, one = _nearest(less)
        attackers = _format_gainers(less, comparisons)
        yield f"by {measure}, {attackers} less, {name} by {_less_text(one.difference)}"
    if open_ones:
        name, one = _nearest(open_ones)
        remaining = (
            "any other" if less else f"any of {len(comparisons)}" if len(comparisons) > 1 else name
        )
        yield (
            f"by {measure}, whether {remaining} gains more is undecided ({name}: "
            f"{format_signed(one.difference.value)}, 95% interval "
            f"{_difference_text(one.difference)})"
        )


def _format_gainers(some: dict[str, Compared], all_attacks: dict[str, Compared]) -> str:
    if len(all_attacks) == 1:
        return "the other attack gains"
    if len(some) == len(all_attacks):
        return f"all {len(all_attacks)} attacks gain"
    return f"{len(some)} of {len(all_attacks)} attacks {'gain' if len(some) > 1 else 'gains'}"


def _format_losses(areas: dict[str, Compared]) -> str:
    name, one = _nearest(areas)
    less = one.difference
    attackers = (
        f"All {len(areas)} other attacks gain" if len(areas) > 1 else "The other attack gains"
    )
    return (
        f"{attackers} less than the label-only baseline on the same records; {name} comes "
        f"nearest, with an AUC lower by {_less_text(less)}."
    )


def _format_not_shown(areas: dict[str, Compared], among: int, figures: Figures) -> str:
    """Return that no difference was shown, and which one so many records, or more, would show."""
    name, one = _nearest(areas)
    stricter = (deviations(among) + _POWER) / (deviations(1) + _POWER)
    attackers = f"any of {len(areas)} attacks gains" if len(areas) > 1 else f"{name} gains"
    largest = (
        f"the largest difference in AUC is {format_signed(one.difference.value)} ({name}, 95% "
        f"interval {_difference_text(one.difference)})"
    )
    least = one.smallest * stricter
    power = (
        f"so many records show a difference of {least:.2g} four times in five"
        if least < 1 - _HALF
        else "so few records can hardly show any"
    )
    more = ""
    if isinstance(one.needed, int) and one.difference.value > 0:
        count = _round_count(one.needed * stricter**2)
        more = f", and about {count} members and as many non-members would show one of this size"
    return (
        f"Whether {attackers} more than the label-only baseline is undecided on "
        f"{format_sizes(figures)}: {largest}; {power}{more}."
    )


def _difference_text(difference: Estimate) -> str:
    return f"{format_signed(difference.low)} to {format_signed(difference.high)}"


def _round_count(count: float) -> str:
    """Return a count of two digits."""
    size = 10 ** max(len(str(ceil(count))) - 2, 0)
    return f"{ceil(count / size) * size:,}"
