"""The page of how far a synthetic table is from its original."""

from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.synthetic import distances_chart
from policy_engine.audits.reports.html import PagePicture, Table, html_page, picture
from policy_engine.audits.utility.synthetic import SyntheticComparison

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
        columns=_table("Columns", comparison, "columns"),
        pairs=_table("Pairs of columns, the farthest first", comparison, "pairs"),
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


def _table(caption: str, comparison: SyntheticComparison, part: str) -> Table:
    distances = comparison.columns if part == "columns" else comparison.pairs
    ordered = sorted(distances, key=lambda one: -one.total_variation)
    rows = [(", ".join(one.columns), f"{one.total_variation:.4f}") for one in ordered]
    return Table(caption, ("columns", "total variation"), rows)
