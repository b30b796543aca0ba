"""The part of a comparison's page that tells of masked columns."""

from dataclasses import dataclass
from itertools import zip_longest

from policy_engine.audits.reports.charts.comparison import marginal_chart, quantiles_chart
from policy_engine.audits.reports.html import PagePicture, Table, number, percent, picture
from policy_engine.audits.utility.model import (
    CategoryCounts,
    ColumnChange,
    Comparison,
    MaskedColumnLoss,
    MaskedTogether,
    MaskingLoss,
    ProbabilisticLoss,
)
from policy_engine.kernels.estimates import NotApplicable


@dataclass(frozen=True)
class MaskingPart:
    """What the page shows of masked columns: figures, tables and pictures."""

    totals: dict[str, str]
    reasons: list[str]
    columns: Table | None
    together: Table | None
    frequencies: list[Table]
    pictures: list[PagePicture]


def masking_part(comparison: Comparison) -> MaskingPart | None:
    """Return what the page shows of masked columns, None where there are none."""
    masking = comparison.masking
    if isinstance(masking, NotApplicable):
        return None
    return MaskingPart(
        totals=_totals(masking),
        reasons=_reasons(masking),
        columns=_columns(masking.columns) if masking.columns else None,
        together=_together(masking.together),
        frequencies=[_counts(one) for one in masking.frequencies],
        pictures=_pictures(comparison, masking),
    )


def _totals(masking: MaskingLoss) -> dict[str, str]:
    totals = {}
    if not isinstance(masking.il1s, NotApplicable):
        totals["mean distance (IL1s)"] = f"{masking.il1s:.4f}"
    if not isinstance(masking.probabilistic, NotApplicable):
        totals["probabilistic loss"] = f"{masking.probabilistic.total:.1f} %"
        totals |= {f"of {name}": part for name, part in _parts(masking.probabilistic).items()}
    if not isinstance(masking.together, NotApplicable):
        totals["change of correlations"] = f"{masking.together.correlation_change:.4f}"
        totals["of rank correlations"] = f"{masking.together.rank_correlation_change:.4f}"
    return totals


def _parts(loss: ProbabilisticLoss) -> dict[str, str]:
    parts = {
        "means": loss.mean,
        "variances": loss.variance,
        "covariances": loss.covariance,
        "correlations": loss.correlation,
        "quantiles": loss.quantiles,
    }
    return {name: f"{part:.1f} %" for name, part in parts.items() if part is not None}


def _reasons(masking: MaskingLoss) -> list[str]:
    figures = {
        "Mean distance (IL1s)": masking.il1s,
        "Probabilistic loss": masking.probabilistic,
        "Correlations": masking.together,
    }
    return [
        f"{name}: {one.reason}." for name, one in figures.items() if isinstance(one, NotApplicable)
    ]


def _columns(columns: tuple[MaskedColumnLoss, ...]) -> Table:
    head = ("column", "masking", "values shared", "IL1s", *_LOSSES)
    rows = [_column(one) for one in columns]
    caption = "Probabilistic loss of each column's mean, variance and quantiles, in percent"
    return Table(caption, head, rows, texts=(1,))


def _column(one: MaskedColumnLoss) -> tuple[str, ...]:
    loss = one.probabilistic
    parts = ("n/a",) * 3
    if not isinstance(loss, NotApplicable):
        parts = (f"{loss.mean:.1f}", f"{loss.variance:.1f}", f"{loss.quantiles:.1f}")
    il1s = "n/a" if isinstance(one.il1s, NotApplicable) else f"{one.il1s:.4f}"
    return (one.name, one.masking, percent(one.shared_values), il1s, *parts)


def _together(together: MaskedTogether | NotApplicable) -> Table | None:
    if isinstance(together, NotApplicable):
        return None
    pairs = zip(together.eigenvalues_before, together.eigenvalues_after, strict=True)
    rows = [(f"{place}", *map(number, pair)) for place, pair in enumerate(pairs, 1)]
    caption = f"Eigenvalues of the correlations of {', '.join(together.columns)}"
    return Table(caption, ("", "before", "after"), rows)


def _counts(counts: CategoryCounts) -> Table:
    estimated, original = counts.estimated, counts.original
    estimates = () if isinstance(estimated, NotApplicable) else estimated
    every = zip_longest(counts.categories, counts.published, estimates, original or ())
    rows = [
        (
            category,
            f"{published:,}",
            "n/a" if estimate is None else f"{estimate:,.1f}",
            "not told" if before is None else f"{before:,}",
        )
        for category, published, estimate, before in every
    ]
    reason = f" ({estimated.reason})" if isinstance(estimated, NotApplicable) else ""
    caption = f"Counts of {counts.name}, estimated by the certified matrix{reason}"
    return Table(caption, ("category", "published", "estimated", "original"), rows)


def _pictures(comparison: Comparison, masking: MaskingLoss) -> list[PagePicture]:
    losses = {one.name: one for one in masking.columns}
    pictures = []
    for place, one in enumerate(comparison.columns):
        if one.role == "masked" and one.bins:
            pictures.append(_distribution(one, place))
        if one.name in losses and losses[one.name].quantiles:
            pictures.append(_quantiles(losses[one.name], place))
    return pictures


def _distribution(one: ColumnChange, place: int) -> PagePicture:
    figures = f"Total variation {number(one.total_variation)}, Hellinger {number(one.hellinger)}."
    rows = [(bar.label, percent(bar.before), percent(bar.after)) for bar in one.bins]
    table = Table("", ("value", "before", "after"), rows)
    return picture(one.name, marginal_chart(one, f"masked{place}"), figures, table)


def _quantiles(one: MaskedColumnLoss, place: int) -> PagePicture:
    rows = [
        (f"{mark.share:.0%}", f"{mark.before:,.10g}", f"{mark.after:,.10g}")
        for mark in one.quantiles
    ]
    table = Table("", ("rows", "before", "after"), rows)
    caption = "The value that so many rows are not above, from the least to the greatest."
    chart = quantiles_chart(one.quantiles, f"quantiles{place}")
    return picture(f"{one.name}: quantiles", chart, caption, table)


_LOSSES = ("mean loss", "variance loss", "quantile loss")
