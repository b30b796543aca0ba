"""What exploring finds, in words: for the terminal and the page."""

from collections.abc import Iterable, Sequence

from policy_engine.api.exploration import (
    LossMeasure,
    Outcome,
    Run,
    SettingLoss,
    SettingRisk,
    attacked_runs,
)
from policy_engine.data.places.spelling import redacted
from policy_engine.kernels.estimates import Estimate, NotApplicable

MEASURES: dict[LossMeasure, str] = {
    "il1s": "mean distance (IL1s)",
    "probabilistic": "probabilistic loss",
    "query_error": "median error of counts",
    "global_certainty_penalty": "certainty penalty",
}
"""The measures of loss, in a few words."""


def subject_words(policy: str, places: Iterable[str]) -> str:
    """Return what is explored: a policy by the name of its file, on data by those of its places,
    without passwords; `-` is what was read from the standard input."""
    names = ", ".join(_name(redacted(one), "standard input") for one in places)
    return f"{_name(policy, 'a policy')} on {names}" if names else _name(policy, "a policy")


def _name(place: str, otherwise: str) -> str:
    if place == "-":
        return otherwise
    path = place.partition("?")[0] if "://" in place else place
    return path.rstrip("/").rpartition("/")[2] or path


def setting_words(run: Run) -> str:
    """Return a setting, as in `k = 5, age:p = 0.02`."""
    words = ", ".join(f"{name} = {value:g}" for name, value in run.setting.items())
    return words or "the policy's own"


def verdict(runs: Sequence[Run]) -> str:
    """Return which setting is the cheapest that keeps the policy's bounds on attacks, or that none
    is, in a sentence or two."""
    attacked = list(attacked_runs(runs))
    if not attacked:
        return "No attack applies to the settings that can be released."
    bounds = dict.fromkeys(str(bound) for _, risk, _ in attacked for bound in risk.bounds)
    if not bounds:
        return (
            "The policy bounds nothing that attacks reach, so no setting is marked. A duty "
            "pe:recordLinkage on the output bounds it: pe:linked."
        )
    bounds_text = f"what the policy bounds, {' and '.join(bounds)}"
    for run, risk, loss in attacked:
        if run.is_cheapest:
            cheapest = f"{setting_words(run)} is the cheapest setting that keeps {bounds_text}"
            reached = f"the strongest attack links {linked_words(risk.worst.linked)}"
            return f"{cheapest}: {reached}, and the {MEASURES[loss.measure]} is {loss_words(loss)}."
    least = min(attacked, key=lambda one: _upper_end(one[1]))
    nearest = f"Least is linked at {setting_words(least[0])}: "
    return (
        f"None of the settings keeps {bounds_text}. {nearest}{linked_words(least[1].worst.linked)}."
    )


def _upper_end(risk: SettingRisk) -> float:
    linked = risk.worst.linked
    return linked.high if isinstance(linked, Estimate) else 0.0


def linked_words(linked: Estimate | NotApplicable) -> str:
    """Return a share of records with its interval."""
    if isinstance(linked, NotApplicable):
        return "-"
    return f"{linked.value:.1%} (95% interval {linked.low:.1%} to {linked.high:.1%})"


def loss_words(loss: SettingLoss) -> str:
    """Return a loss with what draws differ by."""
    return _spread(loss.median, loss.least, loss.greatest, loss.measure)


def _spread(middle: float, least: float, greatest: float, measure: LossMeasure) -> str:
    figures = [_figure(one, measure) for one in (middle, least, greatest)]
    return (
        figures[0] if figures[1] == figures[2] else f"{figures[0]} ({figures[1]} to {figures[2]})"
    )


def _figure(value: float, measure: LossMeasure) -> str:
    if measure == "probabilistic":
        return f"{value:.1f} %"
    return f"{value:.2%}" if measure == "query_error" else f"{value:.4f}"


def draws_words(risk: SettingRisk) -> str:
    """Return from where to where the share differs by draw."""
    ends = f"{risk.least:.1%}", f"{risk.greatest:.1%}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def bound_words(run: Run, risk: SettingRisk) -> str:
    """Return whether a setting keeps the policy's bounds."""
    if risk.keeps_bounds is None:
        return "-"
    if run.is_cheapest:
        return "holds, cheapest"
    return "holds" if risk.keeps_bounds else "broken"


def notes(runs: Sequence[Run]) -> list[str]:
    """Return what the figures mean, and what they do not."""
    draws = max(len(one.outcome.draws) for one in runs if isinstance(one.outcome, Outcome))
    times = "once" if draws == 1 else f"{draws} times"
    return [
        f"Each setting was made and attacked {times}, in memory; nothing was released. {_WORST}",
        _OTHER_DRAWS,
        _OTHER_USES,
    ]


_WORST = "The risk is that of the draw in which most is linked, by its strongest attack."
_OTHER_DRAWS = (
    "The interval is the error of a share of so many records, and says nothing of other draws. "
    "Another draw differs: a release is attacked again before it is published, and is refused "
    "where it breaks its bound."
)
_OTHER_USES = (
    "Settings are compared by one measure of loss. Other uses of the data may lose more: "
    "compare a release with its original before you decide."
)
