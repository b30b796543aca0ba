"""The picture of trade-offs: what every epsilon leaves of the model and of the attack."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import cos, radians, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from policy_engine.audits.reports.charts.canvas import SETTINGS, need_matplotlib, render_file
from policy_engine.kernels.estimates import Estimate, NotApplicable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from policy_engine.audits.membership.tradeoff import Kind, Tradeoff, TradeoffPoint

    Tradeoffs = Mapping[str, Tradeoff]
    Read = Callable[[TradeoffPoint], float | Estimate | NotApplicable]


class _AttackMeasure(NamedTuple):
    """What an attack reaches: its name, over all records, and the mean over the classes."""

    name: str
    overall: "Callable[[TradeoffPoint], Estimate | NotApplicable]"
    mean: "Read"


_PRECISION = _AttackMeasure("precision", lambda one: one.precision, lambda one: one.mean_precision)
_RECALL = _AttackMeasure("recall", lambda one: one.recall, lambda one: one.mean_recall)

_ROWS: "Mapping[Kind, tuple[str, str]]" = {
    "central": ("Noise in the training (central DP)", "epsilon of the training"),
    "local": (
        "Noise in the data (local DP, randomized response)",
        "epsilon of an attribute; below it, of a record",
    ),
}
_KEYS: "Mapping[Kind, tuple[str, str]]" = {
    "original": ("*", "without privacy"),
    "central": ("o", "central DP, fainter: smaller epsilon"),
    "local": ("s", "local DP, fainter: smaller epsilon"),
}
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
_MARKERS = "osD^vPX"
_GRID, _MUTED = "#e2e5e9", "#6b7280"
_GUESS = 0.5
_LOW = 0.1
"""Below it, the mark of guessing is placed above its line, clear of the axis."""
_BARS, _ATTACKS = 3.1, 4.2
"""The height of a row of panels over epsilon, and that of the last, in inches."""
_LONG = 210
_BESIDE, _LETTER, _LINE, _DOT = (5.8, 3.1), 0.066, 0.13, 0.07
"""About how wide and high the axes of the last row are, a letter of a note, and half a mark."""


def tradeoff_chart(tradeoffs: "Tradeoff | Tradeoffs", kind: str) -> bytes:
    """Return one trade-off, or several by the names of their lines, as `svg` or `png`.

    A row each for central and local privacy, of four panels over epsilon: the attack's precision
    and recall, the model's accuracy, phi (MOSAICrOWN D5.2, figures 4.5 and 4.6); below, the attack
    over the accuracy (figure 4.7). Vertical bars are 95% intervals. Lines share the epsilons
    of the one with most points. Raises DataError (C011) without matplotlib.
    """
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    lines = tradeoffs if isinstance(tradeoffs, Mapping) else {"": tradeoffs}
    rows = [one for one in _ROWS if any(line.of(one) for line in lines.values())] or ["central"]
    heights = [*[_BARS] * len(rows), _ATTACKS]
    with rc_context(SETTINGS | {"grid.color": _GRID, "axes.titlesize": 9.5}):
        figure = Figure((13, sum(heights)), layout="constrained", facecolor="white")
        parts: Any = figure.subfigures(len(heights), 1, height_ratios=heights)
        for part, row in zip(parts, rows, strict=False):
            _draw_epsilon_row(part, lines, row)
        _draw_accuracy_row(parts[-1], lines, rows)
        return render_file(figure, kind)


def _draw_epsilon_row(part: "SubFigure", lines: "Tradeoffs", kind: "Kind") -> None:
    title, epsilon = _ROWS[kind]
    part.suptitle(title, x=0.005, ha="left", fontweight="bold")
    panels = part.subplots(1, 4)
    precision, recall, accuracy, phi = panels
    _draw_attack(precision, lines, kind, _PRECISION)
    _draw_attack(recall, lines, kind, _RECALL)
    _draw(accuracy, lines, kind, lambda point: point.train_accuracy)
    _draw(accuracy, lines, kind, lambda point: point.test_accuracy, dashed=True)
    _set_share_axis(accuracy, {1 / one.classes for one in lines.values()})
    _tell_apart(accuracy, lines, "on its members", "on others")
    _draw(phi, lines, kind, lambda point: point.phi_precision)
    _draw(phi, lines, kind, lambda point: point.phi_recall, dashed=True)
    _finish_phi(phi)
    _tell_apart(phi, lines, "by precision", "by recall")
    names = ("Attack: precision", "Attack: recall", "Model: accuracy", "Mitigation efficiency phi")
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(name)
        axes.set_xlabel(epsilon)
        axes.grid(axis="x", visible=False)
        _tick(axes, lines, kind)
    if kind == "local":
        sentences = dict.fromkeys(sentence for line in lines.values() for sentence in line.bins)
        wrapped = [row for sentence in sentences for row in wrap(sentence, _LONG)]
        part.supxlabel("\n".join(wrapped), x=0.005, ha="left", fontsize=7.5, color=_MUTED)


def _draw_attack(axes: "Axes", lines: "Tradeoffs", kind: "Kind", measure: _AttackMeasure) -> None:
    """Draw what the attack reaches over all records; of a single line, over the classes too."""
    _draw(axes, lines, kind, measure.overall)
    _set_share_axis(axes, {_GUESS})
    if len(lines) == 1:
        _draw(axes, lines, kind, measure.mean, dashed=True)
        _tell_apart(axes, lines, "over all records", "mean over classes")
    elif measure is _PRECISION:
        axes.legend(frameon=False, fontsize=7, handlelength=2.6)


def _draw(
    axes: "Axes", lines: "Tradeoffs", kind: "Kind", figure: "Read", *, dashed: bool = False
) -> None:
    for place, (name, line) in enumerate(lines.items()):
        points_known = list(
            _known_figures((line.original, *line.of(kind)), _places(lines, kind), figure)
        )
        if not points_known:
            continue
        places, values, below, above = zip(*points_known, strict=True)
        axes.errorbar(
            places,
            values,
            (below, above),
            color=_COLOURS[place % len(_COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            markerfacecolor="white" if dashed else None,
            markersize=5,
            linestyle="--" if dashed else "-",
            linewidth=1.4,
            elinewidth=1,
            label=name,
        )


def _known_figures(
    points: "Sequence[TradeoffPoint]", places: Mapping[float, int], read_figure: "Read"
) -> Iterator[tuple[int, float, float, float]]:
    """Yield the place and the figure of every point that has it, and how far its bar reaches."""
    for point in sorted(points, key=lambda one: _place(one, places)):
        figure, number = read_figure(point), _place(point, places)
        if isinstance(figure, Estimate):
            yield number, figure.value, figure.value - figure.low, figure.high - figure.value
        elif not isinstance(figure, NotApplicable):
            yield number, figure, 0.0, 0.0


def _set_share_axis(axes: "Axes", guesses: set[float]) -> None:
    """Let an axis go from 0 to 1, and mark a guess, where it is the same for all lines."""
    axes.set_ylim(0, 1.04)
    for level in guesses if len(guesses) == 1 else ():
        axes.axhline(level, color=_MUTED, linewidth=1, linestyle=":")
        side, offset = ("bottom", 1) if level < _LOW else ("top", -2)
        across = {"xycoords": ("axes fraction", "data"), "va": side}
        _note(axes, "a guess", (0, level), (3, offset), **across)


def _note(
    axes: "Axes",
    text: str,
    place: tuple[float, float],
    offset: tuple[float, float],
    **placement: Any,
) -> None:
    axes.annotate(
        text, place, offset, textcoords="offset points", fontsize=7, color=_MUTED, **placement
    )


def _tick(axes: "Axes", lines: "Tradeoffs", kind: "Kind") -> None:
    point_of_setting = {_setting(point): point for one in lines.values() for point in one.of(kind)}
    points = [point_of_setting[setting] for setting in _places(lines, kind)]
    labels = ["none", *map(_epsilon, points)]
    if kind == "local":
        labels[1:] = [f"{_epsilon(one)}\n{_number(one.epsilon)}" for one in points]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.3, len(labels) - 0.7)


def _places(lines: "Tradeoffs", kind: "Kind") -> dict[float, int]:
    """Return the place of each setting of any line, by falling epsilon; 0 is without privacy."""
    settings = {_setting(point) for one in lines.values() for point in one.of(kind)}
    by_epsilon = sorted(settings, reverse=kind == "local")
    return {setting: place for place, setting in enumerate(by_epsilon, start=1)}


def _place(point: "TradeoffPoint", places: Mapping[float, int]) -> int:
    return 0 if point.kind == "original" else places[_setting(point)]


def _setting(point: "TradeoffPoint") -> float:
    """Return the noise multiplier of a private point, or the epsilon of an attribute."""
    return 0.0 if isinstance(point.setting, NotApplicable) else point.setting


def _epsilon(point: "TradeoffPoint") -> str:
    """Return the epsilon of a central point, that of an attribute of a local one."""
    if point.kind == "original":
        return "none"
    return _number(point.setting if point.kind == "local" else point.epsilon)


def _number(figure: float | NotApplicable) -> str:
    if isinstance(figure, NotApplicable):
        return "?"
    return f"{figure:.3g}" if figure < 1_000 else f"{figure:,.0f}"


def _finish_phi(axes: "Axes") -> None:
    """Mark where the attacker loses as much as the owner; show large figures by their order."""
    axes.axhline(1, color=_MUTED, linewidth=1, linestyle=":")
    high = max(axes.get_ylim()[1], 2)
    if high > 10:
        high *= 1.5
        axes.set_yscale("symlog", linthresh=1)
        ticks = [0, 0.5, *(10**power * step for power in range(7) for step in (1, 3))]
        axes.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
        axes.set_yticks([], minor=True)
    axes.set_ylim(0, high)
    if not axes.containers:
        axes.text(0.5, 0.6, "none", transform=axes.transAxes, ha="center", color=_MUTED)


def _tell_apart(axes: "Axes", lines: "Tradeoffs", solid: str, dashed: str) -> None:
    """Say what solid and dashed lines are, in the colour of the line where there is but one."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 (slow to import, an extra)

    style: dict[str, Any] = {"marker": "o", "markersize": 5, "linewidth": 1.4}
    style["color"] = _COLOURS[0] if len(lines) == 1 else _MUTED
    keys = [Line2D([], [], **style), Line2D([], [], ls="--", markerfacecolor="white", **style)]
    axes.legend(keys, (solid, dashed), frameon=False, fontsize=7, handlelength=3.4)


def _draw_accuracy_row(part: "SubFigure", lines: "Tradeoffs", rows: "Sequence[Kind]") -> None:
    part.suptitle("The attack over the model", x=0.005, ha="left", fontweight="bold")
    kinds: list[Kind] = ["original", *rows]
    for axes, measure in zip(part.subplots(1, 2), (_PRECISION, _RECALL), strict=True):
        drawn: list[tuple[float, float, str]] = []
        for place, line in enumerate(lines.values()):
            for kind in kinds:
                colour = _COLOURS[place % len(_COLOURS)]
                drawn += _scatter(axes, line.of(kind), measure, colour)
        axes.set_xlabel("Model: accuracy on others")
        axes.set_ylabel(f"Attack: {measure.name}")
        _set_share_axis(axes, {_GUESS})
        axes.set_xlim(*_axis_ends([x for x, _, _ in drawn]))
        axes.set_ylim(*_axis_ends([_GUESS, *(y for _, y, _ in drawn)]))
        if len(lines) == 1:
            _name_points(axes, drawn)
    _explain(part, lines, kinds)


def _axis_ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis on which shares are far enough apart."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.12 * (high - low), 0.02)
    return max(low - room, -0.02), min(high + room, 1.04)


def _scatter(
    axes: "Axes", points: "Sequence[TradeoffPoint]", measure: _AttackMeasure, colour: str
) -> Iterator[tuple[float, float, str]]:
    """Draw the points of a kind, the fainter the more private, and yield where they are.

    Each comes with its epsilon, the original with an empty text.
    """
    for number, point in enumerate(points):
        figure = measure.overall(point)
        if isinstance(figure, NotApplicable):
            continue
        place, marker = (point.test_accuracy, figure.value), _KEYS[point.kind][0]
        size = 110 if point.kind == "original" else 42
        fade = 1 - 0.75 * number / max(len(points) - 1, 1)
        axes.scatter(*place, s=size, c=colour, marker=marker, alpha=fade, clip_on=False)
        yield *place, "" if point.kind == "original" else _epsilon(point)


def _name_points(axes: "Axes", points: Sequence[tuple[float, float, str]]) -> None:
    """Write each name beside its point, where it lies on no other name or point.

    Where there is no such place nearby it is put farther away, and a line leads to it.
    """
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    wide, tall = _BESIDE[0] / (right - left), _BESIDE[1] / (high - low)
    dots = [((x - left) * wide, (y - low) * tall) for x, y, _ in points]
    boxes = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in dots]
    for (x, y, text), (across, up) in zip(points, dots, strict=True):
        if not text:
            continue
        width = _LETTER * len(text)
        for far, turn in product(_FAR, _TURNS):
            dx, dy = far * cos(turn), far * sin(turn)
            corner = across + dx - (width if dx < 0 else 0), up + dy - _LINE / 2
            box = (*corner, corner[0] + width, corner[1] + _LINE)
            inside = box[0] >= 0 and box[2] <= _BESIDE[0] and box[1] >= 0 and box[3] <= _BESIDE[1]
            if inside and not any(_overlap(box, other) for other in boxes):
                break
        boxes.append(box)
        lead: Any = {"arrowstyle": "-", "color": _MUTED, "linewidth": 0.5}
        placement = {"va": "center", "ha": "right" if dx < 0 else "left"}
        offset = (72 * dx, 72 * dy)
        _note(axes, text, (x, y), offset, **placement, arrowprops=lead if far > _FAR[0] else None)


_FAR = (0.1, 0.25, 0.45, 0.7, 1.0)
"""The distance of a name from its point, in inches."""
_TURNS = tuple(radians(turn) for turn in (0, 45, -45, 90, -90, 135, -135, 180))


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether two boxes overlap, each its left, lower, right and upper end."""
    across = one[0] < other[2] and other[0] < one[2]
    return across and one[1] < other[3] and other[1] < one[3]


def _explain(part: "SubFigure", lines: "Tradeoffs", kinds: "Sequence[Kind]") -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 (slow to import, an extra)

    keys = [Line2D([], [], ls="", marker=_KEYS[one][0], color=_MUTED) for one in kinds]
    texts = [_KEYS[one][1] for one in kinds]
    for place, name in enumerate(lines if len(lines) > 1 else ()):
        keys.append(Line2D([], [], ls="", marker="s", color=_COLOURS[place % len(_COLOURS)]))
        texts.append(name)
    part.legend(keys, texts, loc="outside lower center", ncols=len(keys), frameon=False)
