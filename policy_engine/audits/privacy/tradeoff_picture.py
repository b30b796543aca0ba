"""The picture of a trade-off: what every epsilon leaves of the model and of the attack."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.audits.privacy.mitigation import CHANCE
from policy_engine.audits.privacy.tradeoff import Kind, Tradeoff, TradeoffPoint
from policy_engine.estimates import Estimate, NotApplicable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

_TITLES: Mapping[Kind, tuple[str, str]] = {
    "central": ("Noise in the training (central DP)", "epsilon of the training"),
    "local": ("Noise in the data (local DP)", "epsilon of each attribute"),
}
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
_MARKERS = "osD^vPX"
_SHAPES: Mapping[Kind, str] = {"original": "*", "central": "o", "local": "s"}
_MUTED = "#6b7280"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "policy-engine",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e2e5e9",
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "text.parse_math": False,
}
Figure = Callable[[TradeoffPoint], float | Estimate | NotApplicable]


def tradeoff_picture(tradeoffs: Mapping[str, Tradeoff], path: Path) -> None:
    """Write the picture of trade-offs, each by the name of its line, as PNG, SVG or PDF.

    For either kind of privacy a row of four panels over epsilon: the attack's precision and
    recall, the model's accuracy, the mitigation efficiency (MOSAICrOWN D5.2, figures 4.5 and
    4.6); below, the attack over the accuracy (figure 4.7). Vertical bars are 95% intervals.
    Epsilons are those of the one with most points. Raises ValueError without a private point.
    """
    from matplotlib import figure, rc_context  # noqa: PLC0415 (slow to import, an extra)

    kinds = [kind for kind in _TITLES if any(one.of(kind) for one in tradeoffs.values())]
    if not kinds:
        raise ValueError("There is no trade-off to draw.")
    heights = [3.0] * len(kinds) + [4.0]
    with rc_context(_SETTINGS):
        whole = figure.Figure((13, sum(heights)), layout="constrained", facecolor="white")
        rows: Any = whole.subfigures(len(heights), 1, height_ratios=heights)
        for row, kind in zip(rows, kinds, strict=False):
            _panels(row, tradeoffs, kind)
        _scatters(rows[-1], tradeoffs, kinds)
        whole.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panels(row: "SubFigure", tradeoffs: Mapping[str, Tradeoff], kind: Kind) -> None:
    title, epsilon = _TITLES[kind]
    row.suptitle(title, x=0.005, ha="left", fontweight="bold")
    precision, recall, accuracy, phi = row.subplots(1, 4)
    _lines(precision, tradeoffs, kind, lambda point: point.precision)
    _lines(recall, tradeoffs, kind, lambda point: point.recall)
    _lines(accuracy, tradeoffs, kind, lambda point: point.train_accuracy, " (train)")
    _lines(accuracy, tradeoffs, kind, lambda point: point.test_accuracy, " (test)", dashed=True)
    _lines(phi, tradeoffs, kind, lambda point: point.phi_precision, " (precision)")
    _lines(phi, tradeoffs, kind, lambda point: point.phi_recall, " (recall)", dashed=True)
    names = ("Attack: precision", "Attack: recall", "Model: accuracy", "Mitigation efficiency phi")
    for axes, name in zip((precision, recall, accuracy, phi), names, strict=True):
        axes.set_title(name)
        axes.set_xlabel(epsilon)
        _tick(axes, _labels(tradeoffs, kind))
    for axes in (precision, recall, accuracy):
        axes.set_ylim(0, 1.04)
    for axes in (precision, recall):
        _mark(axes, CHANCE, "a guess")
    if len({one.classes for one in tradeoffs.values()}) == 1:
        _mark(accuracy, 1 / next(iter(tradeoffs.values())).classes, "a guess")
    _finish_phi(phi)
    for axes in (precision, accuracy, phi):
        _legend(axes)


def _lines(
    axes: "Axes",
    tradeoffs: Mapping[str, Tradeoff],
    kind: Kind,
    figure: Figure,
    suffix: str = "",
    *,
    dashed: bool = False,
) -> None:
    for place, (name, tradeoff) in enumerate(tradeoffs.items()):
        drawn = list(_drawn((tradeoff.original, *tradeoff.of(kind)), figure))
        if not drawn:
            continue
        places, values, below, above = zip(*drawn, strict=True)
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
            label=name + suffix,
        )


def _drawn(
    points: Sequence[TradeoffPoint], figure: Figure
) -> Iterator[tuple[int, float, float, float]]:
    """Yield the place and the figure of every point that has it, and how far its bar reaches."""
    for number, point in enumerate(points):
        found = figure(point)
        if isinstance(found, Estimate):
            yield number, found.value, found.value - found.low, found.high - found.value
        elif not isinstance(found, NotApplicable):
            yield number, found, 0.0, 0.0


def _scatters(row: "SubFigure", tradeoffs: Mapping[str, Tradeoff], kinds: Sequence[Kind]) -> None:
    row.suptitle("The attack over the model", x=0.005, ha="left", fontweight="bold")
    for axes, name in zip(row.subplots(1, 2), ("precision", "recall"), strict=True):
        for place, tradeoff in enumerate(tradeoffs.values()):
            for kind in ("original", *kinds):
                _scatter(axes, tradeoff, kind, name, _COLOURS[place % len(_COLOURS)])
        axes.set_xlim(0, 1.04)
        axes.set_ylim(0, 1.04)
        axes.set_xlabel("Model: accuracy on test records")
        axes.set_ylabel(f"Attack: {name}")
        _mark(axes, CHANCE, "a guess")
    _keys(row, tradeoffs, kinds)


def _scatter(axes: "Axes", tradeoff: Tradeoff, kind: Kind, name: str, colour: str) -> None:
    """Draw the points of a kind, the fainter the more private, and tell the ends apart."""
    points = tradeoff.of(kind)
    for number, point in enumerate(points):
        reached = getattr(point, name)
        if isinstance(reached, NotApplicable):
            continue
        fade = 1 - 0.75 * number / max(len(points) - 1, 1)
        place = point.test_accuracy, reached.value
        size = 110 if kind == "original" else 42
        shape = _SHAPES[kind]
        axes.scatter(*place, s=size, c=colour, marker=shape, alpha=fade, clip_on=False)
        if len(points) > 1 and number in (0, len(points) - 1):
            axes.annotate(_epsilon(point), place, (5, 3), textcoords="offset points", fontsize=7)


def _keys(row: "SubFigure", tradeoffs: Mapping[str, Tradeoff], kinds: Sequence[Kind]) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 (slow to import, an extra)

    names: Mapping[Kind, str] = {
        "original": "without privacy",
        "central": "central DP, fainter: smaller epsilon",
        "local": "local DP, fainter: smaller epsilon",
    }
    shapes: list[Kind] = ["original", *kinds]
    keys = [Line2D([], [], ls="", marker=_SHAPES[one], color=_MUTED) for one in shapes]
    texts = [names[one] for one in shapes]
    for place, name in enumerate(tradeoffs if len(tradeoffs) > 1 else ()):
        keys.append(Line2D([], [], ls="", marker="s", color=_COLOURS[place % len(_COLOURS)]))
        texts.append(name)
    row.legend(keys, texts, loc="outside lower center", ncols=len(keys), frameon=False)


def _tick(axes: "Axes", labels: Sequence[str]) -> None:
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.3, len(labels) - 0.7)


def _labels(tradeoffs: Mapping[str, Tradeoff], kind: Kind) -> list[str]:
    points = max((one.of(kind) for one in tradeoffs.values()), key=len)
    return ["none", *map(_epsilon, points)]


def _epsilon(point: TradeoffPoint) -> str:
    """Return the epsilon of a central point, that of an attribute of a local one."""
    shown = point.setting if point.kind == "local" else point.epsilon
    return "?" if isinstance(shown, NotApplicable) else f"{shown:.2g}"


def _finish_phi(axes: "Axes") -> None:
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
        axes.set_yticks([])
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=_MUTED)


def _mark(axes: "Axes", level: float, text: str) -> None:
    axes.axhline(level, color=_MUTED, linewidth=1, linestyle=":")
    place = (0, level)
    axes.annotate(
        text,
        place,
        (3, -2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left",
        va="top",
        color=_MUTED,
        fontsize=7,
    )


def _legend(axes: "Axes") -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize=7, handlelength=2.6)
