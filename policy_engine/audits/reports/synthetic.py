"""The page of how far a synthetic table is from its original."""

from collections.abc import Sequence

from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.synthetic import distances_chart
from policy_engine.audits.reports.html import PagePicture, Table, html_page, percent, picture
from policy_engine.audits.utility.model import Classification
from policy_engine.audits.utility.synthetic import SyntheticComparison, SyntheticDistance
from policy_engine.kernels.estimates import NotApplicable

_MOST_COLUMNS = 24
"""Of more columns than that, the picture would be larger than a page."""


def synthetic_page(comparison: SyntheticComparison) -> str:
    """Return a comparison as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "synthetic.html",
        title=comparison.title,
        totals={
            "rows": f"{comparison.release.rows:,}",
            "rows of the original": f"{comparison.original.rows:,}",
            "mean total variation of pairs": f"{comparison.mean_total_variation:.4f}",
        },
        picture_of_pairs=_picture(comparison),
        columns=_table("Columns", comparison.columns),
        pairs=_table("Pairs of columns, the farthest first", comparison.pairs),
        classifier=_classifier(comparison.classification),
    )


def _picture(comparison: SyntheticComparison) -> PagePicture | None:
    names = [one.columns[0] for one in comparison.columns]
    if len(names) > _MOST_COLUMNS:
        return None
    distances = {
        one.columns: one.total_variation for one in (*comparison.columns, *comparison.pairs)
    }
    caption = "On the diagonal the columns themselves. 0 is the same, 1 has nothing in common."
    return picture("Total variation", distances_chart(names, distances), caption)


def _table(caption: str, distances: Sequence[SyntheticDistance]) -> Table:
    ordered = sorted(distances, key=lambda one: -one.total_variation)
    has_numbers = any(one.kolmogorov is not None for one in distances)
    rows = [
        (
            ", ".join(one.columns),
            f"{one.total_variation:.4f}",
            *([_decimals(one.kolmogorov)] if has_numbers else []),
        )
        for one in ordered
    ]
    head = ("columns", "total variation", *(["Kolmogorov"] if has_numbers else []))
    return Table(caption, head, rows)


def _decimals(distance: float | None) -> str:
    return "" if distance is None else f"{distance:.4f}"


def _classifier(result: Classification | NotApplicable) -> str:
    if isinstance(result, NotApplicable):
        return f"No classifier was compared: {result.reason}."
    return (
        f"A classifier of {result.target} is right on {percent(result.anonymised)} of rows that it "
        f"has not seen if it learns from made-up rows, on {percent(result.original)} if it learns "
        f"from the original; the most frequent value is right on {percent(result.majority)}."
    )
