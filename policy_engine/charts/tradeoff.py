"""The picture of a trade-off: what privacy takes from the attacker, and from the model."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from policy_engine.charts.canvas import SETTINGS, as_file, need_matplotlib
from policy_engine.estimates import Estimate, NotApplicable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from policy_engine.audits.privacy.tradeoff import Tradeoff, TradeoffPoint

_BLUE, _ORANGE, _GREEN = "#0072b2", "#d55e00", "#009e73"
_GRID, _INK = "#e2e5e9", "#333333"
_KINDS = {"central": "DP training", "local": "randomized response"}
_GUESSING = 0.5


def tradeoff_chart(found: "Tradeoff", kind: str) -> bytes:
    """Return the panels of MOSAICrOWN D5.2, figures 4.5 to 4.7, as `svg` or `png`.

    A row each for central and local privacy: precision, recall, accuracy and phi over epsilon,
    and precision over accuracy. Raises DataError (C011) without matplotlib.
    """
    need_matplotlib()
    from matplotlib import rc_context  # noqa: PLC0415 (slow to import, an extra)
    from matplotlib.figure import Figure  # noqa: PLC0415

    rows = [one for one in _KINDS if found.of(one)] or ["central"]  # type: ignore[arg-type]
    with rc_context(SETTINGS | {"grid.color": _GRID}):
        figure = Figure((17, 3.5 * len(rows)), layout="constrained", facecolor="white")
        grid = figure.subplots(len(rows), len(_PANELS), squeeze=False)
        for line, row in zip(grid, rows, strict=True):
            points = (found.original, *found.of(row))  # type: ignore[arg-type]
            for axes, (title, draw) in zip(line, _PANELS.items(), strict=True):
                draw(axes, points)
                axes.set_title(f"{title}, {_KINDS[row]}", fontsize=9)
        return as_file(figure, kind)


def _precision(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    _attack(axes, [one.precision for one in points], [one.mean_precision for one in points])
    _over_epsilon(axes, points)


def _recall(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    _attack(axes, [one.recall for one in points], [one.mean_recall for one in points])
    _over_epsilon(axes, points)


def _attack(
    axes: "Axes",
    estimates: Sequence[Estimate | NotApplicable],
    means: Sequence[float | NotApplicable],
) -> None:
    known = [(x, one) for x, one in enumerate(estimates) if isinstance(one, Estimate)]
    axes.errorbar(
        [x for x, _ in known],
        [one.value for _, one in known],
        yerr=[
            [one.value - one.low for _, one in known],
            [one.high - one.value for _, one in known],
        ],
        color=_BLUE,
        fmt="o-",
        markersize=4,
        label="over all records",
    )
    _line(axes, means, color=_ORANGE, marker="s", linestyle="--", label="mean over classes")
    axes.axhline(_GUESSING, color=_INK, linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 1.03)
    axes.legend(frameon=False, fontsize=8, loc="lower left")


def _line(axes: "Axes", values: Sequence[float | NotApplicable], **style: Any) -> None:
    known = [(x, one) for x, one in enumerate(values) if not isinstance(one, NotApplicable)]
    axes.plot([x for x, _ in known], [one for _, one in known], markersize=4, **style)


def _accuracy(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    train, test = [one.train_accuracy for one in points], [one.test_accuracy for one in points]
    _line(axes, train, color=_BLUE, marker="o", linestyle="-", label="on its members")
    _line(axes, test, color=_ORANGE, marker="s", linestyle="--", label="on others")
    axes.set_ylim(0, 1.03)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    _over_epsilon(axes, points)


def _phi(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    by_precision, by_recall = (
        [one.phi_precision for one in points],
        [one.phi_recall for one in points],
    )
    _line(axes, by_precision, color=_BLUE, marker="o", linestyle="-", label="by precision")
    _line(axes, by_recall, color=_ORANGE, marker="s", linestyle="--", label="by recall")
    axes.axhline(1, color=_INK, linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8, loc="best")
    _over_epsilon(axes, points)


def _scatter(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    for one in points:
        if isinstance(one.precision, Estimate):
            at = one.test_accuracy, one.precision.value
            colour = _GREEN if one.kind == "original" else _BLUE
            axes.plot(*at, "o", color=colour, markersize=5)
            where: dict[str, Any] = {"xytext": (5, 4), "textcoords": "offset points"}
            axes.annotate(_named(one), at, fontsize=8, color=_INK, **where)
    axes.axhline(_GUESSING, color=_INK, linewidth=0.8, linestyle=":")
    axes.margins(x=0.18, y=0.15)
    axes.set_xlabel("accuracy on others")
    axes.set_ylabel("precision of the attack")


def _over_epsilon(axes: "Axes", points: Sequence["TradeoffPoint"]) -> None:
    axes.set_xticks(range(len(points)), [_named(one) for one in points])
    axes.set_xlim(-0.3, len(points) - 0.7)
    axes.set_xlabel("epsilon")
    axes.grid(axis="x", visible=False)


def _named(point: "TradeoffPoint") -> str:
    if isinstance(point.epsilon, NotApplicable):
        return "orig."
    return f"{point.epsilon:.3g}" if point.epsilon < 1_000 else f"{point.epsilon:,.0f}"


_PANELS: dict[str, Callable[["Axes", Sequence["TradeoffPoint"]], None]] = {
    "Precision": _precision,
    "Recall": _recall,
    "Accuracy of the model": _accuracy,
    "Efficiency phi": _phi,
    "Precision over accuracy": _scatter,
}
