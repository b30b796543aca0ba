"""Pictures of a membership-inference audit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from policy_engine.audits.membership.result import AttackResult, Slice
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper
from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    LETTER,
    LINE,
    MEMBERS,
    Margins,
    canvas,
    format_percent,
    render_svg,
    shorten,
)
from policy_engine.kernels.estimates import Estimate, NotApplicable

if TYPE_CHECKING:
    pass

_MOST_NAMED = 20
_WIDE = 9.6
_ABOVE = 0.34
"""The room for a legend above the axes, in inches."""


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
