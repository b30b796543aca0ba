"""Pictures of what exploring finds: the loss against a parameter, and risk against loss."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from policy_engine.api.exploration import Outcome, Run, SettingLoss, SettingRisk, attacked_runs
from policy_engine.api.exploration_wording import (
    MEASURES,
    bound_words,
    draws_words,
    loss_words,
    notes,
    setting_words,
    verdict,
)
from policy_engine.audits.reports.charts import line_chart, need_matplotlib
from policy_engine.audits.reports.charts.exploration import (
    MapPoint,
    RiskUtilityMap,
    risk_utility_file,
)
from policy_engine.audits.reports.exploration import ExplorationPage, write_exploration
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import DisclosureBound


def trade_off_chart(runs: Sequence[Run], path: Path, subject: str, *inputs: Path) -> None:
    """Draw the loss against k, a line for each setting of the others, as `.svg` or `.png`; where
    releases were attacked, what attacks reach against the loss. The `subject` is what the title
    says that settings are of.

    Raises OutputError if the file cannot be written or has another suffix (O002), or is one of the
    `inputs` (O001), DataError (C011) without matplotlib.
    """
    kind = check_chart(path)
    drawn = risk_utility_map(runs)
    if drawn.points:
        title = f"Risk against loss: {subject}"
        write_file(path, risk_utility_file(drawn, title, kind), *inputs)
        return
    lines = trade_off_lines(runs)
    if not lines:
        message = "There is nothing to draw: the table cannot be released at any of the settings."
        raise OutputError.of("O002", message)
    axis = "k" if any("k" in run.setting for run in runs) else next(iter(runs[0].setting), "")
    labels = axis, "lost: global certainty penalty"
    drawing = line_chart(lines, labels, f"Loss against {axis}: {subject}", kind)
    write_file(path, drawing, *inputs)


def check_chart(path: Path) -> str:
    """Return the kind of a picture by the ending of its name.

    Raises OutputError (O002) where it is another than `.svg` and `.png`, DataError (C011) without
    matplotlib.
    """
    need_matplotlib()
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        message = f"The ending of {path.name!r} is not known. Known are '.svg' and '.png'."
        raise OutputError.of("O002", message)
    return kind


def trade_off_lines(runs: Sequence[Run]) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return the loss against k by the setting of all others; without k, against the first one."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for run in runs:
        loss = run.outcome.global_certainty_penalty if isinstance(run.outcome, Outcome) else None
        if loss is not None and run.setting:
            axis = "k" if "k" in run.setting else next(iter(run.setting))
            rest = {name: value for name, value in run.setting.items() if name != axis}
            label = ", ".join(f"{name} = {value:g}" for name, value in rest.items())
            lines.setdefault(label, []).append((run.setting[axis], loss))
    return {label: tuple(sorted(points)) for label, points in lines.items()}


def risk_utility_map(runs: Sequence[Run]) -> RiskUtilityMap:
    """Return what attacks reach by what is lost, a line for each setting of all but one parameter;
    without points where nothing was attacked."""
    attacked = list(attacked_runs(runs))
    measures = {loss.measure for _, _, loss in attacked}
    bounds = dict.fromkeys(bound for _, risk, _ in attacked for bound in risk.bounds)
    measure = next(iter(measures), None)
    varied = _most_varied([run for run, _, _ in attacked])
    return RiskUtilityMap(
        axis=_axis(measure) if measure else "",
        points=[_point(run, risk, loss, varied) for run, risk, loss in attacked],
        bounds=tuple(one for one in bounds if isinstance(one, DisclosureBound)),
        is_share=measure == "query_error",
    )


def trade_off_json(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what `trade_off_chart` draws, as JSON: `points` of what attacks reach by what is lost,
    with an interval of each, and the places of those of the Pareto `front`, where releases were
    attacked; else `lines` of the loss against k, each a list of pairs. Settings of the same `line`
    are joined."""
    drawn = risk_utility_map(runs)
    lines = {} if drawn.points else trade_off_lines(runs)
    return {
        "axis": drawn.axis,
        "points": [
            {
                "line": one.line,
                "label": one.label,
                "lost": {"value": one.lost, "low": one.least, "high": one.greatest},
                "linked": one.linked.model_dump(mode="json"),
                "is_cheapest": one.is_cheapest,
            }
            for one in drawn.points
        ],
        "front": [*drawn.front],
        "lines": [{"line": name, "points": [*map(list, pairs)]} for name, pairs in lines.items()],
        "bounds": [one.model_dump(mode="json") for one in drawn.bounds],
    }


def _axis(measure: str) -> str:
    return _AXES.get(measure, measure)


_AXES = {
    "il1s": "mean distance of masked values, in standard deviations (IL1s)",
    "probabilistic": "probabilistic information loss of masked columns, in %",
    "query_error": "median error of counts of rows",
    "global_certainty_penalty": "global certainty penalty",
}


def _most_varied(runs: Sequence[Run]) -> str:
    """Return the parameter that has most values, the points of which are joined by lines."""
    values: dict[str, set[float]] = {}
    for run in runs:
        for name, value in run.setting.items():
            values.setdefault(name, set()).add(value)
    return max(values, key=lambda name: len(values[name]), default="")


def _point(run: Run, risk: SettingRisk, loss: SettingLoss, varied: str) -> MapPoint:
    linked = risk.worst.linked
    assert isinstance(linked, Estimate)  # noqa: S101 (the worst attack applies)
    rest = [f"{name} = {value:g}" for name, value in run.setting.items() if name != varied]
    is_named = varied in run.setting
    return MapPoint(
        line=", ".join(rest),
        label=f"{varied.rpartition(':')[2]} = {run.setting[varied]:g}" if is_named else "",
        lost=loss.median,
        least=loss.least,
        greatest=loss.greatest,
        linked=linked,
        is_cheapest=run.is_cheapest,
    )


def write_page(runs: Sequence[Run], path: Path, source: str, *inputs: Path) -> None:
    """Write the risk-utility map and its figures as a page, about `source`: a policy on data.

    Raises as `write_exploration` does, and OutputError (O002) where nothing was attacked.
    """
    attacked = list(attacked_runs(runs))
    if not attacked:
        message = "There is nothing to draw: no attack applies to a release at any of the settings."
        raise OutputError.of("O002", message)
    measure = MEASURES[attacked[0][2].measure]
    drawn = risk_utility_map(runs)
    front = set(drawn.front)
    page = ExplorationPage(
        source=source,
        verdict=verdict(runs),
        totals=_totals(runs, [risk for _, risk, _ in attacked]),
        is_bounded=any(one.is_cheapest for one in runs),
        map=drawn,
        head=(*_HEAD, measure, "bound", "Pareto front"),
        rows=[(*_row(*one), "yes" if place in front else "") for place, one in enumerate(attacked)],
        marked=[place for place, (run, _, _) in enumerate(attacked) if run.is_cheapest],
        refused=[
            (setting_words(one), one.outcome.reason)
            for one in runs
            if isinstance(one.outcome, NotApplicable)
        ],
        notes=notes(runs),
    )
    write_exploration(page, path, *inputs)


_HEAD = ("setting", "linked", "range over draws", "strongest attack")


def _totals(runs: Sequence[Run], risks: Sequence[SettingRisk]) -> dict[str, str]:
    draws = max(len(one.outcome.draws) for one in runs if isinstance(one.outcome, Outcome))
    totals = {"settings": f"{len(runs):,}", "draws of each": f"{draws:,}"}
    if any(one.bounds for one in risks):
        totals["keep the bound"] = f"{sum(bool(one.keeps_bounds) for one in risks):,}"
    return {**totals, "records attacked": f"{risks[0].worst.records:,}"}


def _row(run: Run, risk: SettingRisk, loss: SettingLoss) -> tuple[str, ...]:
    linked = risk.worst.linked
    assert isinstance(linked, Estimate)  # noqa: S101 (the worst attack applies)
    interval = f"{linked.value:.2%}\n{linked.low:.2%} to {linked.high:.2%}"
    by = f"{risk.worst.attack}\nknowing {', '.join(risk.worst.known)}"
    bound = bound_words(run, risk)
    return (
        setting_words(run),
        interval,
        draws_words(risk),
        by,
        loss_words(loss),
        bound.partition(",")[0],
    )
