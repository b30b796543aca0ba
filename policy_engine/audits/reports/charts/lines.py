"""Lines of points over a logarithmic axis, as a file."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from policy_engine.audits.reports.charts.canvas import (
    SETTINGS,
    draw_title,
    need_matplotlib,
    render_file,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def line_chart(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    labels: tuple[str, str],
    title: str,
    kind: str,
) -> bytes:
    """Return lines of points, named in a legend, over a logarithmic axis, below a title, as `svg`
    or `png`.

    Raises DataError (C011) without matplotlib.
    """
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(SETTINGS):
        figure = Figure((6.4, 4.4), layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        axes.grid(color="#e2e5e9")
        for place, (name, points) in enumerate(lines.items()):
            colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
            axes.plot(*zip(*points, strict=True), marker=marker, color=colour, label=name)
        _set_log_axis(axes, sorted({x for points in lines.values() for x, _ in points}))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(f"{labels[0]} (logarithmic scale)")
        axes.set_ylabel(f"{labels[1]} (linear scale)")
        draw_title(figure, title)
        if len(lines) > 1:
            axes.legend(frameon=False)
        return render_file(figure, kind)


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
_MARKERS = "osD^vPX"


def _set_log_axis(axes: "Axes", values: list[float]) -> None:
    """Show the values that were asked for, and no others, at their place."""
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)
