"""Pictures of a disclosure audit."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    canvas,
    format_percent,
    render_svg,
    shorten,
)
from policy_engine.kernels.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "osD^vPX"
_STYLES = ("-", ":", "-.")
_SPREAD = 0.2
"""How far apart lines are that would hide each other, of the distance of two numbers."""


def linkage_chart(lines: Mapping[str, Sequence[tuple[int, Estimate]]], baseline: float) -> str:
    """Return the share of persons linked, by how many columns are known, a line for each attack.

    Bars are the intervals; the dashed line is guessing.
    """
    with canvas(4.4) as (figure, axes):
        for place, (name, points) in enumerate(lines.items()):
            shift = _SPREAD * (place + 0.5 - len(lines) / 2) / len(lines)
            columns = [count + shift for count, _ in points]
            values = [one.value for _, one in points]
            ends = [
                [one.value - one.low for _, one in points],
                [one.high - one.value for _, one in points],
            ]
            # Of more attacks than there are colours, those of one colour differ in their markers
            # and lines.
            hue, marker = HUES[place % len(HUES)], _MARKERS[place % len(_MARKERS)]
            style = _STYLES[place // len(HUES) % len(_STYLES)]
            axes.errorbar(
                columns, values, yerr=ends, color=hue, marker=marker, ls=style, label=name
            )
        axes.axhline(baseline, color=INK, ls="--", lw=1, label="guessing")
        counts = sorted({count for points in lines.values() for count, _ in points})
        axes.set_xticks(counts)
        axes.set_xlabel("columns known")
        axes.set_ylabel("persons linked")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(format_percent)
        _name_above(figure)
        return render_svg(figure, "linkage")


def _name_above(figure: "Figure") -> None:
    """Name the lines above a picture: in it, their names could cover an interval."""
    figure.legend(frameon=False, loc="outside upper left", ncols=2)


def distribution_chart(lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> str:
    """Return the share of records whose risk is at least each, a line for each kind of intruder."""
    with canvas(3.2) as (figure, axes):
        for place, (name, (at, shares)) in enumerate(lines.items()):
            hue, style = HUES[place % len(HUES)], _STYLES[place % len(_STYLES)]
            axes.step(at, shares, where="pre", color=hue, ls=style, lw=1.8, label=name)
        points = [pair for line in lines.values() for pair in zip(*line, strict=True)]
        least = min((risk for risk, share in points if share < 1), default=0.01)
        axes.set_xscale("log")
        axes.set_xlim(least / 2, 1.1)
        axes.set_xticks([risk for risk in _RISKS if least / 2 <= risk])
        axes.minorticks_off()
        axes.set_xlabel("risk of a record, at least")
        axes.set_ylabel("records")
        axes.set_ylim(0, 1.03)
        axes.xaxis.set_major_formatter(format_percent)
        axes.yaxis.set_major_formatter(format_percent)
        axes.legend(frameon=False)
        return render_svg(figure, "distribution")


_RISKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)


def risk_utility_chart(points: Sequence[tuple[str, float, Estimate]]) -> str:
    """Return the share of persons linked, by the median error of counts, a point for each release.

    Bars are the intervals. The lower a point and the farther left, the better its release.
    """
    with canvas(3.6) as (figure, axes):
        for place, (name, error, linked) in enumerate(points):
            ends = [[linked.value - linked.low], [linked.high - linked.value]]
            axes.errorbar(
                [error],
                [linked.value],
                yerr=ends,
                color=HUES[place % len(HUES)],
                marker=_MARKERS[place % len(_MARKERS)],
                ls="",
                label=shorten(name),
            )
        axes.set_xlabel("median error of counts of rows")
        axes.set_ylabel("persons linked")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.margins(0.1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(format_percent)
        _name_above(figure)
        return render_svg(figure, "releases")
