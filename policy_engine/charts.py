"""Pictures of a comparison and of an exploration, drawn with matplotlib."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from policy_engine.comparison import ClassSizes, ColumnChange, QueryErrors
from policy_engine.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, LINE, BEFORE, AFTER = "#010203", "#040506", "#070809", "#0a0b0c"
"""Stand-ins for colours that the page chooses, by whether it is light or dark."""

_CLASSES = {INK: "--ink", LINE: "--line", BEFORE: "--before", AFTER: "--after"}
_WIDTH = 5.6
_LONGEST = 28
_SETTINGS: dict[Any, Any] = {
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


def class_sizes_chart(sizes: ClassSizes) -> str:
    """Return how many classes have how many rows, as SVG."""
    with _axes(2.6) as (figure, axes):
        heights = [one.classes for one in sizes.bins]
        axes.bar(range(len(heights)), heights, color=AFTER, width=0.85)
        labels = [_range(one.low, one.high) for one in sizes.bins]
        _tick(axes, labels)
        axes.set_xlabel("rows in the class")
        axes.set_ylabel("classes")
        axes.grid(axis="x", visible=False)
        return _svg(figure, "sizes")


def losses_chart(columns: Sequence[ColumnChange]) -> str:
    """Return the loss of every column that has one, the largest on top, as SVG."""
    known = sorted((one.loss, one.name) for one in columns if one.loss is not None)
    with _axes(0.7 + 0.26 * len(known)) as (figure, axes):
        places = range(len(known))
        bars = axes.barh(places, [loss for loss, _ in known], color=AFTER, height=0.7)
        axes.bar_label(bars, [f"{loss:.3f}" for loss, _ in known], padding=3, color=INK)
        axes.set_yticks(places, [_short(name) for _, name in known])
        axes.set_xlim(0, max([loss for loss, _ in known], default=0) * 1.15 or 1)
        axes.set_xlabel("normalised certainty penalty, 0 (as it was) to 1 (all hidden)")
        axes.grid(axis="y", visible=False)
        return _svg(figure, "losses")


def marginal_chart(column: ColumnChange, place: int) -> str:
    """Return the distribution of a column before and after, as SVG; `place` tells it apart."""
    return _upright(column, place) if column.is_ordered else _lying(column, place)


def _upright(column: ColumnChange, place: int) -> str:
    with _axes(2.6) as (figure, axes):
        for shift, side in ((-0.21, BEFORE), (0.21, AFTER)):
            axes.bar(
                [one + shift for one in range(len(column.bins))],
                [_side(one, side) for one in column.bins],
                width=0.42,
                color=side,
            )
        _tick(axes, [one.label.partition(" - ")[0] for one in column.bins])
        axes.yaxis.set_major_formatter(_percent)
        axes.grid(axis="x", visible=False)
        return _svg(figure, f"marginal{place}")


def _lying(column: ColumnChange, place: int) -> str:
    bins = column.bins[::-1]
    with _axes(0.5 + 0.27 * max(len(bins), 2)) as (figure, axes):
        for shift, side in ((0.2, BEFORE), (-0.2, AFTER)):
            axes.barh(
                [one + shift for one in range(len(bins))],
                [_side(one, side) for one in bins],
                height=0.4,
                color=side,
            )
        axes.set_yticks(range(len(bins)), [_short(one.label) for one in bins])
        axes.xaxis.set_major_formatter(_percent)
        axes.grid(axis="y", visible=False)
        return _svg(figure, f"marginal{place}")


def query_errors_chart(errors: QueryErrors) -> str:
    """Return which share of the questions errs by how much at most, as SVG."""
    with _axes(2.6) as (figure, axes):
        shares = [place / 100 for place in range(101)]
        axes.step(errors.percentiles, shares, color=AFTER, where="post", linewidth=1.8)
        axes.axvline(errors.median, color=BEFORE, linewidth=1, linestyle="--")
        axes.annotate(
            f" median {errors.median:.1%}", (errors.median, 0.04), color=INK, annotation_clip=True
        )
        axes.set_xlim(0, max(errors.percentiles[95] * 1.1, 1e-3))
        axes.set_ylim(0, 1.02)
        axes.xaxis.set_major_formatter(_percent)
        axes.yaxis.set_major_formatter(_percent)
        axes.set_xlabel("relative error (up to the 95th percentile)")
        axes.set_ylabel("questions with no more")
        return _svg(figure, "queries")


def line_chart(
    lines: Mapping[str, Sequence[tuple[float, float]]], labels: tuple[str, str], kind: str
) -> bytes:
    """Return lines of points, named in a legend, over a logarithmic axis, as `svg` or `png`.

    Raises DataError (C011) without matplotlib.
    """
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context(_SETTINGS):
        figure = Figure((6.4, 4.0), layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        axes.grid(color="#e2e5e9")
        for place, (name, points) in enumerate(lines.items()):
            colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
            axes.plot(*zip(*points, strict=True), marker=marker, color=colour, label=name)
        _on_logarithm(axes, sorted({x for points in lines.values() for x, _ in points}))
        axes.set_ylim(bottom=0)
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        if len(lines) > 1:
            axes.legend(frameon=False)
        return _bytes(figure, kind)


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
_MARKERS = "osD^vPX"


def _on_logarithm(axes: "Axes", values: list[float]) -> None:
    """Show the values that were asked for, and no others, at their place."""
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


def _bytes(figure: "Figure", kind: str) -> bytes:
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    figure.savefig(buffer, format=kind, dpi=160, metadata=metadata)
    return buffer.getvalue()


@contextmanager
def _axes(height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Give an empty picture in the page's colours."""
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    inks = ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor")
    lines = ("axes.edgecolor", "grid.color")
    colours: dict[Any, Any] = dict.fromkeys(inks, INK) | dict.fromkeys(lines, LINE)
    with rc_context({**_SETTINGS, **colours}):
        figure = Figure((_WIDTH, height), layout="constrained")
        yield figure, figure.add_subplot()


def _svg(figure: "Figure", name: str) -> str:
    """Return the picture as an element of a page: no prologue, ids of its own, its colours."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    for stand_in, variable in _CLASSES.items():
        text = text.replace(stand_in, f"var({variable})")
    size = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', text)
    assert size is not None  # noqa: S101 (matplotlib writes it)
    text = text.replace(size[0], 'aria-hidden="true" focusable="false"', 1)
    return re.sub(r' xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")


def _tick(axes: "Axes", labels: list[str]) -> None:
    """Name every bar, or as many as there is room for."""
    longest = max(map(len, labels), default=0)
    every = max(1, -(-(longest + 2) * len(labels) // 56))
    axes.set_xticks(range(0, len(labels), every), labels[::every])


def _side(one: Any, side: str) -> float:
    return float(one.before if side == BEFORE else one.after)


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} - {high:,}"


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _percent(share: float, _place: float = 0) -> str:
    return f"{share * 100:.3g}%"
