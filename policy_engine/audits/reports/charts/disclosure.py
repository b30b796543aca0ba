"""Pictures of a disclosure audit."""

from collections.abc import Mapping, Sequence

from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    canvas,
    format_percent,
    render_svg,
)
from policy_engine.kernels.estimates import Estimate

_MARKERS = "osD^vPX"


def linkage_chart(lines: Mapping[str, Sequence[tuple[int, Estimate]]], baseline: float) -> str:
    """Return the share of persons linked, by how many columns are known, a line for each attack.

    Bars are the intervals; the dashed line is guessing.
    """
    with canvas(3.6) as (figure, axes):
        for place, (name, points) in enumerate(lines.items()):
            columns = [count for count, _ in points]
            values = [one.value for _, one in points]
            ends = [
                [one.value - one.low for _, one in points],
                [one.high - one.value for _, one in points],
            ]
            axes.errorbar(
                columns, values, yerr=ends, color=HUES[place], marker=_MARKERS[place], label=name
            )
        axes.axhline(baseline, color=INK, ls="--", lw=1, label="guessing")
        counts = sorted({count for points in lines.values() for count, _ in points})
        axes.set_xticks(counts)
        axes.set_xlabel("columns known")
        axes.set_ylabel("persons linked")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(format_percent)
        axes.legend(frameon=False)
        return render_svg(figure, "linkage")
