"""What masking cost, on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.tables import new_table
from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    from policy_engine.audits.utility.model import (
        CategoryCounts,
        MaskedColumnLoss,
        MaskedTogether,
        MaskingLoss,
        ProbabilisticLoss,
    )


def masking_rows(masking: "MaskingLoss") -> Iterator[tuple[str, str]]:
    """Yield the figures of all masked columns, or why there are none."""
    yield "mean distance (IL1s)", _figure(masking.il1s)
    yield "probabilistic loss", _loss(masking.probabilistic)
    yield "correlations of masked columns", _together(masking.together)
    if not isinstance(masking.together, NotApplicable):
        before, after = masking.together.eigenvalues_before, masking.together.eigenvalues_after
        yield "their eigenvalues", f"{_eigenvalues(before)}; after: {_eigenvalues(after)}"


def masking_tables(masking: "MaskingLoss") -> Iterator[Table]:
    """Yield the figures of each masked column, and the counts of drawn categories."""
    if masking.columns:
        names = ("column", "masking", "values shared", "IL1s", *_LOSSES)
        table = new_table("Masked columns: probabilistic loss in %", *names)
        for one in masking.columns:
            table.add_row(*map(escape, _column(one)))
        yield table
    for counts in masking.frequencies:
        yield _counts_table(counts)


def _column(one: "MaskedColumnLoss") -> tuple[str, ...]:
    loss = one.probabilistic
    parts = ("-",) * 3
    if not isinstance(loss, NotApplicable):
        parts = (f"{loss.mean:.1f}", f"{loss.variance:.1f}", f"{loss.quantiles:.1f}")
    il1s = "-" if isinstance(one.il1s, NotApplicable) else f"{one.il1s:.4f}"
    return (one.name, one.masking, f"{one.shared_values:.1%}", il1s, *parts)


def _counts_table(counts: "CategoryCounts") -> Table:
    reason = f": {counts.estimated.reason}" if isinstance(counts.estimated, NotApplicable) else ""
    title = f"Counts of {escape(counts.name)}, by the certified matrix{escape(reason)}"
    table = new_table(title, "category", "published", "estimated", "original")
    for place, category in enumerate(counts.categories):
        estimates = counts.estimated
        estimated = "-" if isinstance(estimates, NotApplicable) else f"{estimates[place]:,.1f}"
        original = "-" if counts.original is None else f"{counts.original[place]:,}"
        table.add_row(escape(category), f"{counts.published[place]:,}", estimated, original)
    return table


def _figure(figure: float | NotApplicable) -> str:
    return figure.reason if isinstance(figure, NotApplicable) else f"{figure:.4f}"


def _loss(loss: "ProbabilisticLoss | NotApplicable") -> str:
    if isinstance(loss, NotApplicable):
        return loss.reason
    parts = {
        "means": loss.mean,
        "variances": loss.variance,
        "covariances": loss.covariance,
        "correlations": loss.correlation,
        "quantiles": loss.quantiles,
    }
    texts = (f"{name} {part:.1f}" for name, part in parts.items() if part is not None)
    return f"{loss.total:.1f} % (of {', '.join(texts)})"


def _together(together: "MaskedTogether | NotApplicable") -> str:
    if isinstance(together, NotApplicable):
        return together.reason
    return (
        f"mean change {together.correlation_change:.4f}, "
        f"of ranks {together.rank_correlation_change:.4f}"
    )


def _eigenvalues(values: tuple[float, ...]) -> str:
    text = ", ".join(f"{value:.3f}" for value in values[:_MOST_SHOWN])
    return f"{text}, ..." if len(values) > _MOST_SHOWN else text


_LOSSES = ("mean loss", "variance loss", "quantile loss")
_MOST_SHOWN = 4
