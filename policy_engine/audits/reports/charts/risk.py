"""Pictures of the risk of records, and of how columns go together."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING

from policy_engine.audits.disclosure.risks.wording import share_words
from policy_engine.audits.reports.charts.canvas import (
    AFTER,
    BAD,
    GOOD,
    INK,
    LINE,
    MEMBERS,
    canvas,
    format_percent,
    render_svg,
    shorten,
)
from policy_engine.audits.utility.model import PairChange

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MAPPED = 12
"""Columns of a map, at most."""
_STRONGEST = 0.75
_RING = 0.26


def gauge_chart(share: float, threshold: float, name: str) -> str:
    """Return a share on a half circle from 0 to 100%, with a mark at a threshold, as SVG; `name`
    tells it apart."""
    from matplotlib.patches import Wedge  # noqa: PLC0415 (slow to import, an extra)

    with canvas(1.36, 2.8) as (figure, axes):
        reached = 180 - 180 * max(share, 0.004)
        colour = BAD if share > threshold else GOOD
        axes.add_patch(Wedge((0, 0), 1, 0, 180, width=_RING, color=LINE))
        axes.add_patch(Wedge((0, 0), 1, reached, 180, width=_RING, color=colour))
        across, up = cos(pi * (1 - threshold)), sin(pi * (1 - threshold))
        inner, outer = 0.97 - _RING, 1.06
        axes.plot([inner * across, outer * across], [inner * up, outer * up], color=INK, lw=1.4)
        axes.text(0, 0.02, share_words(share), ha="center", va="bottom", fontsize=19, color=INK)
        side = "right" if threshold < 0.5 else "left"
        at = 1.1 * across, 1.1 * up
        axes.text(*at, format_percent(threshold), ha=side, va="bottom", fontsize=8, color=INK)
        axes.set_xlim(-1.3, 1.3)
        axes.set_ylim(-0.04, 1.16)
        axes.set_aspect("equal")
        axes.set_axis_off()
        return render_svg(figure, name)


def correlation_map(pairs: Sequence[PairChange]) -> str:
    """Return by how much the correlation of each two columns has changed, as SVG.

    The columns are those that changed most; a pair without a change, since neither column was
    changed or one is constant, is left blank.
    """
    names = _mapped_columns(pairs)
    changes = {frozenset((one.first, one.second)): one.change for one in pairs}
    sizes = [abs(one) for one in changes.values() if one is not None]
    with canvas(1.1 + 0.42 * len(names), 2.2 + 0.55 * len(names)) as (figure, axes):
        for row, first in enumerate(names):
            for place, second in enumerate(names[:row]):
                change = changes.get(frozenset((first, second)))
                _draw_change(axes, (place, row), change, max(sizes, default=0.0))
        axes.set_xlim(-0.5, len(names) - 1.5)
        axes.set_ylim(len(names) - 0.5, 0.5)
        labels = [shorten(one) for one in names]
        axes.set_xticks(range(len(names) - 1), labels[:-1], rotation=35, ha="right")
        axes.set_yticks(range(1, len(names)), labels[1:])
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        return render_svg(figure, "correlations")


def _mapped_columns(pairs: Sequence[PairChange]) -> list[str]:
    """Return the columns whose correlations changed most, in the order of the table."""
    totals: dict[str, float] = {}
    for one in pairs:
        for name in (one.first, one.second):
            totals[name] = totals.get(name, 0.0) + abs(one.change or 0.0)
    most = set(sorted(totals, key=lambda name: -totals[name])[:MOST_MAPPED])
    return [name for name in totals if name in most]


def _draw_change(
    axes: "Axes", place: tuple[int, int], change: float | None, largest: float
) -> None:
    from matplotlib.patches import Rectangle  # noqa: PLC0415 (slow to import, an extra)

    corner = place[0] - 0.48, place[1] - 0.48
    axes.add_patch(Rectangle(corner, 0.96, 0.96, facecolor="none", edgecolor=LINE, lw=0.8))
    if change is None:
        return
    shade = _STRONGEST * abs(change) / largest if largest else 0.0
    colour = AFTER if change > 0 else MEMBERS
    axes.add_patch(Rectangle(corner, 0.96, 0.96, facecolor=colour, alpha=shade, lw=0))
    text = f"{round(change, 2) + 0.0:+.2f}"
    axes.text(*place, text, ha="center", va="center", fontsize=8, color=INK)
