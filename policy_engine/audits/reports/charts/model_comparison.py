"""How right models are by how classes were formed, and what an attack on them reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy_engine.audits.reports.charts.canvas import (
    SETTINGS,
    format_percent,
    need_matplotlib,
    render_file,
)
from policy_engine.kernels.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#666666")
_BLACK, _GREY = "#222222", "#777777"
_APART = 1.03
"""By which factor the points of one k stand apart."""

_LEAST_RANGE = 0.05
"""How far from guessing the axis of attacks reaches at least: less than that is nothing to see."""


@dataclass(frozen=True)
class ModelPoint:
    """One way of forming classes, the `line`, at one value of the parameter of the axis."""

    line: str
    at: float
    right: Estimate
    auc: Estimate
    is_chosen: bool = False


@dataclass(frozen=True)
class ModelMap:
    """Points by a parameter, the `axis`; how right the model of the raw table and guessing are, by
    the `measure`."""

    points: Sequence[ModelPoint]
    axis: str
    measure: str
    raw: ModelPoint
    guessed: float


def model_file(drawn: ModelMap, kind: str) -> bytes:
    """Return the picture as `svg` or `png`. Raises DataError (C011) without matplotlib."""
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(SETTINGS):
        figure = Figure((9.6, 4.6), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        _draw(left, drawn, [one.right for one in drawn.points], drawn.raw.right)
        left.axhline(drawn.guessed, color=_GREY, ls=":", lw=1, label="guessing")
        left.set_ylabel(f"{drawn.measure} on rows never seen")
        _draw(right, drawn, [one.auc for one in drawn.points], drawn.raw.auc)
        right.axhline(0.5, color=_GREY, ls=":", lw=1)
        low, high = right.get_ylim()
        right.set_ylim(min(low, 0.5 - _LEAST_RANGE), max(high, 0.5 + _LEAST_RANGE))
        right.set_ylabel("AUC of an attack on who was learnt from")
        figure.legend(
            *left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
        )
        return render_file(figure, kind)


def _draw(axes: "Axes", drawn: ModelMap, figures: Sequence[Estimate], raw: Estimate) -> None:
    axes.grid(color="#e2e5e9")
    axes.axhspan(raw.low, raw.high, color=_BLACK, alpha=0.08, lw=0)
    axes.axhline(raw.value, color=_BLACK, ls="--", lw=1, label="raw table")
    names = list(dict.fromkeys(one.line for one in drawn.points))
    pairs = list(zip(drawn.points, figures, strict=True))
    for place, name in enumerate(names):
        own = sorted(((one, f) for one, f in pairs if one.line == name), key=lambda one: one[0].at)
        apart = _APART ** (place - (len(names) - 1) / 2)
        axes.errorbar(
            [one.at * apart for one, _ in own],
            [figure.value for _, figure in own],
            yerr=[
                [figure.value - figure.low for _, figure in own],
                [figure.high - figure.value for _, figure in own],
            ],
            color=_COLOURS[place % len(_COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            ms=4.5,
            lw=1,
            label=name,
        )
        for one, figure in own:
            if one.is_chosen:
                ring: dict[str, Any] = {
                    "ms": 14,
                    "mfc": "none",
                    "mec": _BLACK,
                    "mew": 1.4,
                    "ls": "",
                }
                axes.plot([one.at * apart], [figure.value], "o", label="chosen", **ring)
    values = sorted({one.at for one in drawn.points})
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(drawn.axis)
    axes.yaxis.set_major_formatter(format_percent)
