"""Pictures of the rates and the scores of attacks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from policy_engine.audits.membership.figures import Histogram, Roc
from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    LETTER,
    MEMBERS,
    OTHERS,
    Margins,
    canvas,
    format_percent,
    render_svg,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (8, 2, 1.5, 2)), (0, (4, 4)))
_MARKERS = "osD^vPX"
_POINTS = 200
_WIDE = 9.6
_ABOVE = 0.34
"""The room for a legend above the axes, in inches."""


class RocLine(NamedTuple):
    """The curve of an attack by its name, over so many non-members.

    An attack that does not rank says yes or no, and has one threshold.
    """

    name: str
    roc: Roc
    non_members: int
    ranks: bool = True


def roc_chart(lines: Sequence[RocLine], strongest: str) -> str:
    """Return the ROC of all attacks on logarithmic axes, and of guessing, as SVG.

    An attack that says yes or no has one threshold, and so one point, not a curve. Rates below
    half a record are drawn at the left edge. The legend is beside the axes, in the order of the
    curves; each curve has its own stroke and mark besides its colour.
    """
    floor = 0.5 / max(one.non_members for one in lines)
    legend_width = 0.85 + 0.9 * LETTER * max(len("guessing"), *(len(one.name) for one in lines))
    with canvas(4.8, _WIDE, Margins(left=0.66, right=legend_width)) as (figure, axes):
        ordered = sorted(lines, key=lambda one: -_height(one.roc, floor))
        for place, one in enumerate(ordered):
            look: dict[str, Any] = {
                "color": HUES[place % len(HUES)],
                "marker": _MARKERS[place % len(_MARKERS)],
            }
            if not one.ranks:
                fpr, tpr = _corner(one.roc)
                point = max(fpr, floor), max(tpr, floor)
                axes.plot(*point, **look, ls="", ms=8, label=one.name, zorder=3, clip_on=False)
                continue
            axes.plot(
                *_curve(one.roc, floor),
                **look,
                linewidth=2.6 if one.name == strongest else 1.3,
                linestyle=_DASHES[place % len(_DASHES)],
                markersize=4.5,
                markevery=((0.021 * place) % 0.15, 0.15),
                label=one.name,
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


_SCORE = "score, the higher the rather a member"


def scores_chart(
    bins: Histogram, place: int, label: str = "score, the higher the rather a member"
) -> str:
    """Return how members and non-members score, as SVG; `place` tells it from its neighbours."""
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
        axes.set_xlabel(label)
        axes.grid(axis="x", visible=False)
        figure.legend(frameon=False, loc="upper right", ncols=2, labelcolor=INK, fontsize=8)
        return render_svg(figure, f"scores{place}")
