"""The risk-utility map of one policy's settings: for its page, and as a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    SETTINGS,
    canvas,
    draw_title,
    format_percent,
    need_matplotlib,
    render_file,
    render_svg,
    shorten,
)
from policy_engine.kernels.estimates import Estimate
from policy_engine.kernels.pareto import pareto_front
from policy_engine.methods.disclosure import DisclosureBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
_BLACK = "#222222"
_ROOM = 1.2
"""How much wider the axis is than what is drawn, which labels stand beside."""


@dataclass(frozen=True)
class MapPoint:
    """One setting on the map: what is `lost`, as the median and both ends over its draws, and what
    the strongest attack on any of them `linked`.

    Points of one `line` differ in one parameter, whose value is the `label`.
    """

    line: str
    label: str
    lost: float
    least: float
    greatest: float
    linked: Estimate
    is_cheapest: bool = False


@dataclass(frozen=True)
class RiskUtilityMap:
    """Settings by what they lose, measured as the `axis` says, and what attacks reach."""

    axis: str
    points: Sequence[MapPoint]
    bounds: Sequence[DisclosureBound] = field(default=())
    is_share: bool = False

    @property
    def front(self) -> tuple[int, ...]:
        """The places of the points that no other one beats in both figures, from the least loss."""
        return pareto_front([(one.lost, one.linked.value) for one in self.points])


def risk_utility_picture(drawn: RiskUtilityMap) -> str:
    """Return the map as an element of a page."""
    with canvas(4.8, 6.6) as (figure, axes):
        _draw(axes, drawn, HUES, INK)
        return render_svg(figure, "risk-utility")


def risk_utility_file(drawn: RiskUtilityMap, title: str, kind: str) -> bytes:
    """Return the map below its title as `svg` or `png`. Raises DataError (C011) without
    matplotlib."""
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(SETTINGS):
        figure = Figure((6.4, 5.0), layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        axes.grid(color="#e2e5e9")
        _draw(axes, drawn, _COLOURS, _BLACK)
        draw_title(figure, title)
        return render_file(figure, kind)


def _draw(axes: "Axes", drawn: RiskUtilityMap, colours: Sequence[str], ink: str) -> None:
    lines: dict[str, list[MapPoint]] = {}
    for one in drawn.points:
        lines.setdefault(one.line, []).append(one)
    for place, (name, points) in enumerate(lines.items()):
        colour, marker = colours[place % len(colours)], _MARKERS[place % len(_MARKERS)]
        _draw_line(axes, shorten(name), points, colour, marker)
    _draw_front(axes, drawn, ink)
    for bound in sorted({one.asked for one in drawn.bounds}):
        label = f"bound of the policy: {format_percent(bound)}"
        axes.axhline(bound, color=ink, ls="--", lw=1, label=label)
    cheapest = [one for one in drawn.points if one.is_cheapest]
    if cheapest:
        at = [one.lost for one in cheapest], [one.linked.value for one in cheapest]
        ring = "cheapest that keeps the bound"
        axes.plot(*at, "o", ms=15, mfc="none", mec=ink, mew=1.4, ls="", label=ring)
    axes.set_xlim(0, _ROOM * max((one.greatest for one in drawn.points), default=0) or 1)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"lost: {drawn.axis} (linear scale)")
    axes.set_ylabel("risk: records linked by the strongest attack (linear scale)")
    axes.yaxis.set_major_formatter(format_percent)
    if drawn.is_share:
        axes.xaxis.set_major_formatter(format_percent)
    if axes.get_legend_handles_labels()[1]:
        figure = axes.get_figure()
        assert figure is not None  # noqa: S101 (the axes are on one)
        # Below the map: in it, a name could cover a setting.
        figure.legend(frameon=False, loc="outside lower left", ncols=2, fontsize=8)


def _draw_front(axes: "Axes", drawn: RiskUtilityMap, ink: str) -> None:
    """Join the settings that no other one beats in both figures, where there are several."""
    front = [drawn.points[place] for place in drawn.front]
    if len(front) > 1:
        at, linked = [one.lost for one in front], [one.linked.value for one in front]
        look: dict[str, Any] = {"ls": ":", "lw": 1.6, "alpha": 0.8, "zorder": 1}
        axes.plot(at, linked, color=ink, drawstyle="steps-post", label=_FRONT, **look)


_FRONT = "Pareto front: no setting is better in both"


def _draw_line(
    axes: "Axes", name: str, points: Sequence[MapPoint], colour: str, marker: str
) -> None:
    at, linked = [one.lost for one in points], [one.linked.value for one in points]
    down = [one.linked.value - one.linked.low for one in points]
    up = [one.linked.high - one.linked.value for one in points]
    left = [one.lost - one.least for one in points]
    right = [one.greatest - one.lost for one in points]
    axes.errorbar(
        at,
        linked,
        yerr=[down, up],
        xerr=[left, right],
        color=colour,
        marker=marker,
        lw=1,
        label=name or None,
    )
    for one in points:
        place = one.lost, one.linked.value
        axes.annotate(
            one.label, place, xytext=(7, 5), textcoords="offset points", fontsize=8, color=colour
        )
