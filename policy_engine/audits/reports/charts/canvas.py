"""Empty pictures in the page's colours, and pictures as text: what all charts share."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from policy_engine.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, LINE, BEFORE, AFTER = "#010203", "#040506", "#070809", "#0a0b0c"
MEMBERS, OTHERS = "#0d0e0f", "#101112"
GOOD, BAD = "#151617", "#18191a"
HUES = tuple(f"#1314{place:02x}" for place in range(8))
"""Stand-ins for colours that the page chooses, by whether it is light or dark."""

_VARIABLES = {
    INK: "--ink",
    LINE: "--line",
    BEFORE: "--before",
    AFTER: "--after",
    MEMBERS: "--members",
    OTHERS: "--others",
    GOOD: "--good",
    BAD: "--bad",
    **{hue: f"--hue-{place}" for place, hue in enumerate(HUES)},
}
_WIDTH = 5.6
_LONGEST = 28
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "policy-engine",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "text.parse_math": False,
}


def need_matplotlib() -> None:
    """Raise DataError (C011) where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        hint = "pip install 'policy-engine[utility]'."
        raise DataError.of("C011", "matplotlib is not installed.", hint)


class Margins(NamedTuple):
    """How much room there is around the axes, in inches."""

    left: float = 0.5
    right: float = 0.12
    top: float = 0.08
    bottom: float = 0.5


LETTER = 0.077
"""About how wide a letter of an axis is, in inches."""


@contextmanager
def canvas(
    height: float, width: float = _WIDTH, margins: Margins | None = None
) -> Iterator[tuple["Figure", "Axes"]]:
    """Give an empty picture in the page's colours.

    With `margins` it is drawn once; without, a first time to find out how much room is needed.
    """
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    inks = ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")
    lines = ("axes.edgecolor", "grid.color")
    colours: dict[Any, Any] = dict.fromkeys(inks, INK) | dict.fromkeys(lines, LINE)
    with rc_context({**SETTINGS, **colours}):
        figure = Figure((width, height), layout=None if margins else "constrained")
        axes = figure.add_subplot()
        if margins:
            left, right, top, bottom = margins
            across, up = (left / width, 1 - right / width), (bottom / height, 1 - top / height)
            figure.subplots_adjust(left=across[0], right=across[1], bottom=up[0], top=up[1])
        yield figure, axes


def render_svg(figure: "Figure", name: str) -> str:
    """Return the picture as an element of a page: no prologue, ids of its own, its colours."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, f"var({variable})")
    size = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', text)
    assert size is not None  # noqa: S101 (matplotlib writes it)
    text = text.replace(size[0], 'aria-hidden="true" focusable="false"', 1)
    return re.sub(r' xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")


def render_file(figure: "Figure", kind: str) -> bytes:
    """Return the picture as a file of that kind, `svg` or `png`; the same each time."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
    return buffer.getvalue()


def draw_title(figure: "Figure", title: str) -> None:
    """Write a title above a picture that stands alone, in lines that fit it."""
    width = round(figure.get_figwidth() / _TITLE_LETTER)
    figure.suptitle(fill(title, width), x=0.01, ha="left", fontsize=11, fontweight="bold")


_TITLE_LETTER = 0.098


def name_ticks(axes: "Axes", labels: list[str]) -> None:
    """Name every bar, or as many as there is room for."""
    longest = max(map(len, labels), default=0)
    step = max(1, -(-(longest + 2) * len(labels) // 56))
    axes.set_xticks(range(0, len(labels), step), labels[::step])


def shorten(label: str) -> str:
    """Return a label no longer than there is room for."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def format_percent(share: float, _place: float = 0) -> str:
    """Return a share as an axis has it."""
    return f"{share * 100:.3g}%"
