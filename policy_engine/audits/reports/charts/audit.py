"""Pictures of a membership-inference audit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from policy_engine.audits.membership.figures import Roc
from policy_engine.audits.membership.result import AttackResult, Slice
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    LETTER,
    LINE,
    MEMBERS,
    OTHERS,
    Margins,
    canvas,
    format_percent,
    render_svg,
    shorten,
)
from policy_engine.kernels.estimates import Estimate, NotApplicable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (8, 2, 1.5, 2)), (0, (4, 4)))
_MARKERS = "osD^vPX"
_POINTS = 200
_MOST_NAMED = 20
_WIDE = 9.6
_ABOVE = 0.34
"""The room for a legend above the axes, in inches."""


def roc_chart(attacks: Sequence[AttackResult], strongest: str) -> str:
    """Return the ROC of all attacks on logarithmic axes, and of guessing, as SVG.

    An attack that says yes or no has one threshold, and so one point, not a curve. Rates below
    half a record are drawn at the left edge. The legend is beside the axes, in the order of the
    curves; each curve has its own stroke and mark besides its colour.
    """
    floor = 0.5 / max(one.figures.non_members for one in attacks)
    legend_width = 0.85 + 0.9 * LETTER * max(len("guessing"), *(len(one.attack) for one in attacks))
    with canvas(4.8, _WIDE, Margins(left=0.66, right=legend_width)) as (figure, axes):
        ordered = sorted(attacks, key=lambda one: -_height(one.roc, floor))
        for place, one in enumerate(ordered):
            look: dict[str, Any] = {
                "color": HUES[place % len(HUES)],
                "marker": _MARKERS[place % len(_MARKERS)],
            }
            if not one.ranks:
                fpr, tpr = _corner(one.roc)
                point = max(fpr, floor), max(tpr, floor)
                axes.plot(*point, **look, ls="", ms=8, label=one.attack, zorder=3, clip_on=False)
                continue
            axes.plot(
                *_curve(one.roc, floor),
                **look,
                linewidth=2.6 if one.attack == strongest else 1.3,
                linestyle=_DASHES[place % len(_DASHES)],
                markersize=4.5,
                markevery=((0.021 * place) % 0.15, 0.15),
                label=one.attack,
            )
        axes.plot([floor, 1], [floor, 1], color=INK, linewidth=0.8, linestyle=":", label="guessing")
        _log_log(axes, floor)
        figure.legend(frameon=False, loc="upper right", labelcolor=INK, **_LEGEND)
        return render_svg(figure, "roc")


_LEGEND: dict[str, Any] = {"fontsize": 8, "handlelength": 4, "labelspacing": 0.9}


def _curve(roc: Roc, floor: float) -> tuple[list[float], list[float]]:
    """Return a curve from the left edge on, between thresholds as a coin among them has it.

    A straight line between thresholds is curved on logarithmic axes, so it is drawn in small steps.
    """
    between = np.geomspace(floor, 1.0, _POINTS)
    fpr = np.union1d(between, [one for one in roc.fpr if one > floor])
    tpr = np.maximum(np.interp(fpr, roc.fpr, roc.tpr), floor)
    return fpr.tolist(), tpr.tolist()


def _height(roc: Roc, floor: float) -> float:
    """Return the average height of a curve in the picture."""
    fpr = np.geomspace(floor, 1.0, _POINTS)
    return float(np.log(np.maximum(np.interp(fpr, roc.fpr, roc.tpr), floor)).mean())


def _corner(roc: Roc) -> tuple[float, float]:
    """Return the point of a curve farthest above the diagonal."""
    return max(zip(roc.fpr, roc.tpr, strict=True), key=lambda point: point[1] - point[0])


def _log_log(axes: "Axes", floor: float) -> None:
    marks = [mark for mark in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1) if mark >= floor]
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(marks, [format_percent(mark) for mark in marks])
        axis.set_ticks([], minor=True)
    axes.set_xlim(floor, 1.1)
    axes.set_ylim(floor, 1.1)
    axes.set_xlabel("non-members wrongly called members (false-positive rate)")
    axes.set_ylabel("members found")


def classes_chart(attack: AttackResult) -> str:
    """Return precision and recall of an attack in every class, as SVG.

    Few classes are named, with intervals; many are dots, each measure sorted by itself.
    """
    if len(attack.classes) > _MOST_NAMED:
        return _sorted_dots(attack.classes)
    return _named_dots(attack.classes)


def _named_dots(classes: Sequence[Slice]) -> str:
    names = [shorten(one.name) for one in classes]
    margins = Margins(left=0.14 + LETTER * max(map(len, names)), top=_ABOVE, bottom=0.28)
    with canvas(1.0 + 0.3 * len(classes), _WIDE, margins) as (figure, axes):
        for shift, hue, name in _MEASURES:
            estimates = [_measured_estimate(one, name) for one in classes]
            present = [(one, place) for place, one in enumerate(estimates) if one is not None]
            values = [one.value for one, _ in present]
            errors = [
                [one.value - one.low for one, _ in present],
                [one.high - one.value for one, _ in present],
            ]
            places = [place + shift for _, place in present]
            axes.errorbar(
                values,
                places,
                xerr=errors,
                color=hue,
                fmt="o" if name == "recall" else "D",
                markersize=4.5,
                elinewidth=1.2,
                label=name,
            )
        axes.axvline(0.5, color=INK, linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(classes)), names)
        axes.set_ylim(len(classes) - 0.5, -0.5)
        axes.set_xlim(0, 1.02)
        axes.xaxis.set_major_formatter(format_percent)
        axes.grid(axis="y", visible=False)
        figure.legend(frameon=False, loc="upper right", ncols=2, labelcolor=INK, fontsize=8)
        return render_svg(figure, "classes")


_MEASURES = ((-0.14, HUES[0], "precision"), (0.14, HUES[1], "recall"))


def _sorted_dots(classes: Sequence[Slice]) -> str:
    with canvas(3.0, _WIDE, Margins(top=_ABOVE)) as (figure, axes):
        for _, hue, name in _MEASURES:
            estimates = [_measured_estimate(one, name) for one in classes]
            values = sorted(one.value for one in estimates if one is not None)
            marker = "o" if name == "recall" else "D"
            axes.plot(range(1, len(values) + 1), values, marker, color=hue, ms=3.2, label=name)
        axes.axhline(0.5, color=INK, linewidth=0.8, linestyle=":")
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(format_percent)
        axes.set_xlabel("classes, each measure from its lowest to its highest")
        figure.legend(frameon=False, loc="upper right", ncols=2, labelcolor=INK, fontsize=8)
        return render_svg(figure, "classes")


def _measured_estimate(one: Slice, name: str) -> Estimate | None:
    figure = one.figures.precision if name == "precision" else one.figures.recall
    return figure if isinstance(figure, Estimate) else None


def scores_chart(attack: AttackResult, place: int) -> str:
    """Return how members and non-members score, as SVG; `place` tells it from its neighbours."""
    bins = attack.histogram
    with canvas(2.5, margins=Margins(top=_ABOVE)) as (figure, axes):
        for counts, hue, name in (
            (bins.non_members, OTHERS, "others"),
            (bins.members, MEMBERS, "members"),
        ):
            shares = [count / max(sum(counts), 1) for count in counts]
            axes.stairs(shares, bins.edges, fill=True, color=hue, alpha=0.28)
            axes.stairs(shares, bins.edges, color=hue, linewidth=1.6, label=name)
        axes.yaxis.set_major_formatter(format_percent)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("score, the higher the rather a member")
        axes.grid(axis="x", visible=False)
        figure.legend(frameon=False, loc="upper right", ncols=2, labelcolor=INK, fontsize=8)
        return render_svg(figure, f"scores{place}")


def epsilon_chart(upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable) -> str:
    """Return what the accountant proves and what the attack shows of epsilon, as SVG."""
    rows = _epsilon_rows(upper, lower)
    margins = Margins(left=0.14 + LETTER * max(len(name) for name, _, _ in rows))
    with canvas(0.75 + 0.36 * len(rows), _WIDE, margins) as (figure, axes):
        most = max(value for _, value, _ in rows) or 1.0
        for place, (_, value, hue) in enumerate(rows):
            axes.plot([0, value], [place, place], color=hue, linewidth=5, solid_capstyle="butt")
            placement: dict[str, Any] = {
                "xytext": (6, 0),
                "textcoords": "offset points",
                "va": "center",
            }
            axes.annotate(f"{value:.3g}", (value, place), color=INK, **placement)
        axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, most * 1.12)
        axes.set_xlabel("epsilon")
        axes.grid(axis="y", visible=False)
        return render_svg(figure, "epsilon")


_BESIDE: dict[str, Any] = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}


def _epsilon_rows(
    upper: EpsilonUpper | NotApplicable, lower: EpsilonLower | NotApplicable
) -> list[tuple[str, float, str]]:
    rows = []
    if isinstance(lower, EpsilonLower):
        shows = "would show" if lower.members == "told" else "shows"
        rows.append((f"the attack {shows} at least", lower.value, MEMBERS))
        rows.append(("any attack could show at most", lower.ceiling, LINE))
    if isinstance(upper, EpsilonUpper):
        rows.append(("the accountant proves at most", upper.substitution, HUES[0]))
        rows.append(("for one record more or less", upper.value, LINE))
        rows.append(("as converted in 2019", upper.classic, LINE))
    return rows
