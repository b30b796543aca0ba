"""Pictures of an audit of a generator."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.result import GenerativeAttack, GrowthPoint
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

_ROW = 0.36
_IMAGES = 10


def growth_chart(points: Sequence[GrowthPoint]) -> str:
    """Return how often the attack by samples names a member, by the number of samples, as SVG."""
    with canvas(2.9) as (figure, axes):
        samples = [one.samples for one in points]
        for hue, marker, name, values in (
            (HUES[0], "o", "single inference", [one.single for one in points]),
            (HUES[1], "s", "area under the ROC curve", [one.auc for one in points]),
        ):
            axes.plot(samples, values, color=hue, marker=marker, label=name)
        axes.axhline(0.5, color=INK, ls="--", lw=1, label="guessing")
        axes.set_xscale("log")
        axes.set_xticks(samples, [f"{one:,}" for one in samples])
        axes.minorticks_off()
        axes.set_xlabel("samples of the generator")
        axes.yaxis.set_major_formatter(format_percent)
        axes.margins(y=0.1)
        figure.legend(frameon=False, loc="outside upper left", ncols=2)
        return render_svg(figure, "growth")


def games_chart(attacks: Sequence[GenerativeAttack]) -> str:
    """Return single and set inference of every attack with their intervals, as SVG.

    The line is what guessing reaches in both games.
    """
    margins = Margins(left=0.2 + LETTER * max(len(one.attack) for one in attacks), top=0.36)
    with canvas(0.95 + _ROW * len(attacks), margins=margins) as (figure, axes):
        for place, one in enumerate(reversed(attacks)):
            for shift, hue, marker, game in (
                (0.13, HUES[0], "o", one.games.single),
                (-0.13, HUES[1], "s", one.games.set),
            ):
                ends = [[game.value - game.low], [game.high - game.value]]
                axes.errorbar([game.value], [place + shift], xerr=ends, color=hue, marker=marker)
        names = [one.attack for one in reversed(attacks)]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.axvline(0.5, color=INK, ls="--", lw=1)
        axes.set_xlim(min(0.4, axes.get_xlim()[0]), 1.02)
        axes.xaxis.set_major_formatter(format_percent)
        axes.set_xlabel("right answers; the dashed line is guessing")
        axes.grid(axis="y", visible=False)
        handles = [
            axes.plot([], [], color=hue, marker=marker, ls="", label=name)[0]
            for hue, marker, name in ((HUES[0], "o", "single"), (HUES[1], "s", "set"))
        ]
        figure.legend(handles=handles, frameon=False, loc="upper left", ncols=2)
        return render_svg(figure, "games")


def distances_chart(distances: Mapping[str, NDArray[np.floating]]) -> str:
    """Return the shares of members and of the holdout within each distance, as SVG."""
    with canvas(2.9) as (figure, axes):
        for name, hue, style in (("members", MEMBERS, "-"), ("holdout", OTHERS, "--")):
            ordered = np.sort(distances[name])
            shares = np.arange(1, len(ordered) + 1) / len(ordered)
            axes.step(ordered, shares, where="post", color=hue, ls=style, label=name)
        axes.set_xlabel("distance to the closest synthetic record")
        axes.yaxis.set_major_formatter(format_percent)
        axes.set_ylim(0, 1.02)
        figure.legend(frameon=False, loc="outside upper left", ncols=2)
        return render_svg(figure, "distances")


def images_chart(images: Mapping[str, NDArray[np.floating]]) -> str:
    """Return some images, (n, height, width) or (n, height, width, channels), a row a kind."""
    rows = {name: some[:_IMAGES] for name, some in images.items() if len(some)}
    with canvas(0.62 * len(rows) + 0.2, margins=Margins(0.02, 0.02, 0.02, 0.02)) as (figure, axes):
        axes.remove()
        for down, (name, some) in enumerate(rows.items()):
            for across, image in enumerate(some):
                part = figure.add_axes(
                    (0.16 + 0.084 * across, 1 - (down + 1) / len(rows), 0.078, 0.92 / len(rows))
                )
                part.set_axis_off()
                part.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            figure.text(0, 1 - (down + 0.5) / len(rows), name, va="center", color=INK, fontsize=8)
        return render_svg(figure, "images")
