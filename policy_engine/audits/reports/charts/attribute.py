"""Pictures of an audit of a secret."""

from collections.abc import Sequence
from typing import NamedTuple

from policy_engine.audits.reports.charts.canvas import (
    INK,
    LETTER,
    MEMBERS,
    OTHERS,
    Margins,
    canvas,
    render_svg,
    shorten,
)
from policy_engine.kernels.estimates import Estimate

_ROW = 0.42


class AdvantageRow(NamedTuple):
    """The advantage of guesses over an imputation, on members and on others."""

    name: str
    members: Estimate
    others: Estimate


def advantage_chart(rows: Sequence[AdvantageRow], name: str) -> str:
    """Return advantages with their intervals, a row each, members above others, as SVG.

    The line is where a model tells nothing that nobody could guess without it.
    """
    names = [shorten(one.name) for one in reversed(rows)]
    margins = Margins(left=0.25 + LETTER * max(map(len, names)), top=0.36)
    with canvas(0.95 + _ROW * len(rows), margins=margins) as (figure, axes):
        sides = ((0.14, MEMBERS, "o", "members"), (-0.14, OTHERS, "s", "others"))
        for place, one in enumerate(reversed(rows)):
            for shift, hue, marker, side in sides:
                reach: Estimate = getattr(one, side)
                ends = [[100 * (reach.value - reach.low)], [100 * (reach.high - reach.value)]]
                axes.errorbar(
                    [100 * reach.value],
                    [place + shift],
                    xerr=ends,
                    color=hue,
                    marker=marker,
                    markersize=5,
                )
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.axvline(0, color=INK, ls="--", lw=1)
        axes.set_xlabel("advantage over the imputation, in points")
        axes.grid(axis="y", visible=False)
        handles = [
            axes.plot([], [], color=hue, marker=marker, ls="", label=side)[0]
            for _, hue, marker, side in sides
        ]
        figure.legend(handles=handles, frameon=False, loc="upper left", ncols=2)
        return render_svg(figure, name)
