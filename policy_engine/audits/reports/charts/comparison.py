"""Pictures of a comparison."""

from collections.abc import Sequence
from typing import Any

from policy_engine.audits.reports.charts.canvas import (
    AFTER,
    BEFORE,
    INK,
    canvas,
    format_percent,
    name_ticks,
    render_svg,
    shorten,
)
from policy_engine.audits.utility.model import ClassSizes, ColumnChange, Quantile, QueryErrors


def class_sizes_chart(sizes: ClassSizes) -> str:
    """Return how many classes have how many rows, as SVG."""
    with canvas(2.6) as (figure, axes):
        heights = [one.classes for one in sizes.bins]
        axes.bar(range(len(heights)), heights, color=AFTER, width=0.85)
        labels = [_range(one.low, one.high) for one in sizes.bins]
        name_ticks(axes, labels)
        axes.set_xlabel("rows in the class")
        axes.set_ylabel("classes")
        axes.grid(axis="x", visible=False)
        return render_svg(figure, "sizes")


def losses_chart(columns: Sequence[ColumnChange]) -> str:
    """Return the loss of every column that has one, the largest on top, as SVG."""
    losses = sorted((one.loss, one.name) for one in columns if one.loss is not None)
    with canvas(0.7 + 0.26 * len(losses)) as (figure, axes):
        places = range(len(losses))
        bars = axes.barh(places, [loss for loss, _ in losses], color=AFTER, height=0.7)
        axes.bar_label(bars, [f"{loss:.3f}" for loss, _ in losses], padding=3, color=INK)
        axes.set_yticks(places, [shorten(name) for _, name in losses])
        axes.set_xlim(0, max([loss for loss, _ in losses], default=0) * 1.15 or 1)
        axes.set_xlabel("normalised certainty penalty, 0 (as it was) to 1 (all hidden)")
        axes.grid(axis="y", visible=False)
        return render_svg(figure, "losses")


def suppression_chart(columns: Sequence[ColumnChange], rows: float) -> str:
    """Return the share of each column that is suppressed, the largest on top, as SVG: the share
    `rows` with their whole row, and of the others single cells."""
    shares = sorted((one.suppressed, one.name) for one in columns if one.suppressed is not None)
    with canvas(0.7 + 0.26 * len(shares)) as (figure, axes):
        places, cells = range(len(shares)), [(1 - rows) * share for share, _ in shares]
        axes.barh(places, [rows] * len(shares), color=BEFORE, height=0.7)
        bars = axes.barh(places, cells, left=rows, color=AFTER, height=0.7)
        totals = [format_percent(rows + one) for one in cells]
        axes.bar_label(bars, totals, padding=3, color=INK)
        axes.set_yticks(places, [shorten(name) for _, name in shares])
        axes.set_xlim(0, max([rows + one for one in cells], default=0) * 1.18 or 1)
        axes.xaxis.set_major_formatter(format_percent)
        axes.set_xlabel("cells that tell nothing")
        axes.grid(axis="y", visible=False)
        return render_svg(figure, "suppression")


def marginal_chart(column: ColumnChange, name: str) -> str:
    """Return the distribution of a column before and after, as SVG; `name` tells it apart."""
    return _vertical_bars(column, name) if column.is_ordered else _horizontal_bars(column, name)


def _vertical_bars(column: ColumnChange, name: str) -> str:
    with canvas(2.6) as (figure, axes):
        for shift, side in ((-0.21, BEFORE), (0.21, AFTER)):
            axes.bar(
                [one + shift for one in range(len(column.bins))],
                [_side(one, side) for one in column.bins],
                width=0.42,
                color=side,
            )
        name_ticks(axes, [one.label.partition(" - ")[0] for one in column.bins])
        axes.yaxis.set_major_formatter(format_percent)
        axes.grid(axis="x", visible=False)
        return render_svg(figure, name)


def _horizontal_bars(column: ColumnChange, name: str) -> str:
    bins = column.bins[::-1]
    with canvas(0.5 + 0.27 * max(len(bins), 2)) as (figure, axes):
        for shift, side in ((0.2, BEFORE), (-0.2, AFTER)):
            axes.barh(
                [one + shift for one in range(len(bins))],
                [_side(one, side) for one in bins],
                height=0.4,
                color=side,
            )
        axes.set_yticks(range(len(bins)), [shorten(one.label) for one in bins])
        axes.xaxis.set_major_formatter(format_percent)
        axes.grid(axis="y", visible=False)
        return render_svg(figure, name)


def quantiles_chart(quantiles: Sequence[Quantile], name: str) -> str:
    """Return the quantiles of a column before and after, as SVG; `name` tells it apart."""
    with canvas(2.6) as (figure, axes):
        shares = [one.share for one in quantiles]
        look: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linewidth": 1.6}
        axes.plot(shares, [one.before for one in quantiles], color=BEFORE, **look)
        axes.plot(shares, [one.after for one in quantiles], color=AFTER, **look, linestyle="--")
        axes.xaxis.set_major_formatter(format_percent)
        axes.set_xlabel("rows with no more than the value")
        return render_svg(figure, name)


def query_errors_chart(errors: QueryErrors) -> str:
    """Return which share of the questions errs by how much at most, as SVG."""
    with canvas(2.6) as (figure, axes):
        shares = [place / 100 for place in range(101)]
        axes.step(errors.percentiles, shares, color=AFTER, where="post", linewidth=1.8)
        axes.axvline(errors.median, color=BEFORE, linewidth=1, linestyle="--")
        axes.annotate(
            f" median {errors.median:.1%}", (errors.median, 0.04), color=INK, annotation_clip=True
        )
        axes.set_xlim(0, max(errors.percentiles[95] * 1.1, 1e-3))
        axes.set_ylim(0, 1.02)
        axes.xaxis.set_major_formatter(format_percent)
        axes.yaxis.set_major_formatter(format_percent)
        axes.set_xlabel("relative error (up to the 95th percentile)")
        axes.set_ylabel("questions with no more")
        return render_svg(figure, "queries")


def _side(one: Any, side: str) -> float:
    return float(one.before if side == BEFORE else one.after)


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} - {high:,}"
