"""Pictures of how far a synthetic table is from its original."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.audits.reports.charts.canvas import (
    HUES,
    INK,
    LETTER,
    Margins,
    canvas,
    render_svg,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

_CELL, _NARROWEST = 0.46, 5.6


def distances_chart(names: Sequence[str], distances: Mapping[tuple[str, ...], float]) -> str:
    """Return the total variation of columns, on the diagonal, and of their pairs, as SVG.

    The darker a cell, the farther the synthetic values are from those of the original.
    """
    labels = [shorten(one) for one in names]
    room = 0.3 + LETTER * max(map(len, labels))
    side = _CELL * len(names)
    # Narrower pictures would be enlarged to the width of a card, their letters too.
    right = max(_NARROWEST - room - side, 0.1)
    margins = Margins(left=room, right=right, top=0.1, bottom=room)
    most = max(distances.values(), default=0) or 1
    with canvas(side + room + 0.1, side + room + right, margins) as (figure, axes):
        for columns, distance in distances.items():
            places = [names.index(one) for one in columns]
            for across, down in {(places[0], places[-1]), (places[-1], places[0])}:
                square = ((across - 0.5, down - 0.5), 1, 1)
                axes.add_patch(_square(*square, 0.08 + 0.8 * distance / most))
                text = f"{distance:.3f}".removeprefix("0")
                axes.text(across, down, text, ha="center", va="center", fontsize=7, color=INK)
        axes.set_xticks(np.arange(len(names)), labels, rotation=90)
        axes.set_yticks(np.arange(len(names)), labels)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return render_svg(figure, "distances")


def _square(corner: tuple[float, float], width: float, height: float, shade: float) -> "Rectangle":
    from matplotlib.patches import Rectangle  # noqa: PLC0415 (slow to import, an extra)

    return Rectangle(corner, width, height, facecolor=HUES[1], alpha=shade, edgecolor="none")
