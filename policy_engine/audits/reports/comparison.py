"""The page of a comparison."""

from pathlib import Path

from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.comparison import (
    class_sizes_chart,
    losses_chart,
    marginal_chart,
    query_errors_chart,
    suppression_chart,
)
from policy_engine.audits.reports.charts.risk import MOST_MAPPED, correlation_map
from policy_engine.audits.reports.html import (
    PagePicture,
    Table,
    html_page,
    number,
    percent,
    picture,
)
from policy_engine.audits.reports.masking import masking_part
from policy_engine.audits.reports.risk import risk_part
from policy_engine.audits.reports.synthetic import synthetic_page
from policy_engine.audits.reports.tips import tips
from policy_engine.audits.utility.estimating import EstimatedRelease
from policy_engine.audits.utility.model import (
    Classification,
    ColumnChange,
    Comparison,
    PairChange,
    QueryErrors,
    TableSide,
)
from policy_engine.audits.utility.synthetic import SyntheticComparison
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError
from policy_engine.kernels.estimates import NotApplicable

_MOST_PAIRS = 30


def write_report(
    comparison: Comparison | EstimatedRelease | SyntheticComparison, path: Path, *inputs: Path
) -> None:
    """Write a comparison as one HTML page, over what is there, unless that is an input.

    Raises OutputError where the file has another ending than `.html` or `.htm` or cannot be
    written (O002), is one of the `inputs` (O001), or is to have estimates of randomised records
    (O002), DataError (C011) without matplotlib.
    """
    check_report(path)
    if isinstance(comparison, EstimatedRelease):
        message = "There is no page of estimates of records that were randomised."
        raise OutputError.of("O002", message, "Leave the report out; there is JSON.")
    if isinstance(comparison, SyntheticComparison):
        write_file(path, synthetic_page(comparison), *inputs)
        return
    write_file(path, report_page(comparison), *inputs)


def check_report(path: Path) -> None:
    """Raise OutputError (O002) where a page's name does not end in `.html` or `.htm`."""
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"The ending of {path.name!r} is not known. Known are '.html' and '.htm'."
        raise OutputError.of("O002", message)


def _penalty(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def report_page(comparison: Comparison) -> str:
    """Return a comparison as HTML that refers to nothing outside itself."""
    need_matplotlib()
    return html_page(
        "comparison.html",
        title=comparison.title,
        comparison=comparison,
        totals=_totals(comparison),
        tips=tips(comparison),
        risk=risk_part(comparison),
        sides=_sides_table(comparison),
        bounds=_bounds(comparison),
        classes=_classes(comparison),
        size_pictures=_size_pictures(comparison),
        loss_pictures=_loss_pictures(comparison),
        columns=_columns(comparison),
        marginals=_marginals(comparison),
        pairs=_pairs(comparison),
        map=_map(comparison),
        queries=_questions(comparison.queries),
        masking=masking_part(comparison),
        models=_models(comparison.classification),
        percent=percent,
    )


def _totals(comparison: Comparison) -> dict[str, str]:
    return {
        "rows released": f"{comparison.release.rows:,}",
        "rows suppressed": "not told"
        if comparison.suppressed is None
        else f"{comparison.suppressed:,}",
        "equivalence classes": "none"
        if isinstance(comparison.classes, NotApplicable)
        else f"{comparison.classes.classes:,}",
        "certainty penalty": _penalty(comparison.certainty_penalty),
        "information lost": percent(comparison.entropy),
        "median query error": _median_error(comparison.queries),
    }


def _sides_table(comparison: Comparison) -> Table:
    sides = {"original": comparison.original, "release": comparison.release}
    rows = [_side(name, one) for name, one in sides.items() if one]
    caption = "The two tables" if comparison.original else "The table"
    return Table(caption, ("", "name", "rows", "sha-256"), rows, texts=(1, 3))


def _side(name: str, side: TableSide) -> tuple[str, ...]:
    return name, side.name, f"{side.rows:,}", side.digest


def _median_error(queries: QueryErrors | NotApplicable) -> str:
    return f"{queries.median:.1%}" if isinstance(queries, QueryErrors) else "not measured"


def _bounds(comparison: Comparison) -> Table:
    rows = [
        (
            f"{one.bound} of {one.column}" if one.column else one.bound,
            f"{one.sense} {one.asked:g}",
            f"{one.achieved:.4g}",
            "holds" if one.holds else "broken",
        )
        for one in comparison.measurements
    ]
    caption = "Measured over all classes; the worst one counts"
    return Table(caption, ("bound", "asked", "achieved", "verdict"), rows)


def _classes(comparison: Comparison) -> dict[str, str] | None:
    """Return the figures of classes; None where there are none, and `classes` say why."""
    sizes = comparison.classes
    if isinstance(sizes, NotApplicable):
        return None
    return {
        "smallest class": f"{sizes.smallest:,}",
        "median class": f"{sizes.median:,.0f}",
        "mean class": f"{sizes.mean:,.1f}",
        "largest class": f"{sizes.largest:,}",
        "average class size over k": f"{comparison.average_class_ratio:.2f}",
        "discernability": f"{comparison.discernability:,}",
    }


def _size_pictures(comparison: Comparison) -> list[PagePicture]:
    sizes = comparison.classes
    if isinstance(sizes, NotApplicable):
        return []
    caption = (
        f"How large the {sizes.classes:,} classes are. The last bar ends at {sizes.largest:,}."
    )
    rows = [(f"{one.low:,} - {one.high:,}", f"{one.classes:,}") for one in sizes.bins]
    table = Table("", ("rows", "classes"), rows)
    return [picture("Class sizes", class_sizes_chart(sizes), caption, table)]


def _loss_pictures(comparison: Comparison) -> list[PagePicture]:
    pictures = []
    if any(one.loss is not None for one in comparison.columns):
        caption = "Mean certainty penalty of each quasi-identifier; suppressed rows count 1."
        pictures.append(picture("Loss by column", losses_chart(comparison.columns), caption))
    rows = _suppressed_rows(comparison)
    if rows or any(one.suppressed for one in comparison.columns):
        caption = (
            "Of the rows of the original, grey those that were suppressed whole, then cells of the "
            "others that stand for every value."
            if rows
            else "Released cells that stand for every value of their column."
        )
        drawing = suppression_chart(comparison.columns, rows)
        pictures.append(picture("Suppressed by column", drawing, caption))
    return pictures


def _suppressed_rows(comparison: Comparison) -> float:
    """Return the share of the rows that were suppressed whole; 0 where that is not told."""
    if not comparison.suppressed or comparison.sampled is not None:
        return 0.0
    return comparison.suppressed / (comparison.suppressed + comparison.release.rows)


def _columns(comparison: Comparison) -> Table:
    head = (
        *("column", "role", "what it is", "values before", "cells after", "suppressed"),
        *("certainty penalty", "information lost", "total variation", "Hellinger"),
    )
    return Table("", head, [*map(_column_row, comparison.columns)], texts=(1, 2))


def _column_row(one: ColumnChange) -> tuple[str, ...]:
    before = "not told" if one.values_before is None else f"{one.values_before:,}"
    return (
        *(one.name, one.role, one.kind, before, f"{one.values_after:,}", percent(one.suppressed)),
        *(number(one.loss), percent(one.entropy)),
        *(number(one.total_variation), number(one.hellinger)),
    )


def _marginals(comparison: Comparison) -> list[PagePicture]:
    quasi = [one for one in comparison.columns if one.role == "quasi-identifier" and one.bins]
    return [_marginal(one, place) for place, one in enumerate(quasi)]


def _marginal(one: ColumnChange, place: int) -> PagePicture:
    distances = number(one.total_variation), number(one.hellinger)
    caption = f"{_SCALES[one.scale]}Total variation {distances[0]}, Hellinger {distances[1]}."
    rows = [(bar.label, percent(bar.before), percent(bar.after)) for bar in one.bins]
    table = Table("", ("value", "before", "after"), rows)
    return picture(one.name, marginal_chart(one, f"marginal{place}"), caption, table)


_SCALES = {
    "values": "",
    "frequent": "",
    "even": "Ranges are equally wide. ",
    "logarithmic": "Skewed: ranges are equally wide on a logarithmic axis. ",
    "quantile": "Skewed: ranges hold about as many rows of the original each. ",
}


def _map(comparison: Comparison) -> PagePicture | None:
    """Return the changes of all correlations; None where there are fewer than two."""
    changed = [one for one in comparison.pairs if one.change is not None]
    if len(changed) < 2:
        return None
    caption = (
        "Correlation after minus before: Pearson's of two ordered columns, else Cramér's V. Blue "
        "has risen, orange has fallen; blank is not compared."
    )
    columns = {name for one in comparison.pairs for name in (one.first, one.second)}
    if len(columns) > MOST_MAPPED:
        caption += f" The {MOST_MAPPED} of {len(columns)} columns that changed most."
    return picture("Changes of correlations", correlation_map(comparison.pairs), caption)


def _pairs(comparison: Comparison) -> Table:
    ordered = sorted(comparison.pairs, key=lambda one: -abs(one.change or 0))
    head = ("pair", "measure", "before", "after", "change", "total variation", "Hellinger")
    caption = f"{min(len(ordered), _MOST_PAIRS)} of {len(ordered)} pairs"
    return Table(caption, head, [*map(_pair_row, ordered[:_MOST_PAIRS])], texts=(1,))


def _pair_row(one: PairChange) -> tuple[str, ...]:
    measure = "Pearson" if one.measure == "pearson" else "Cramér's V"
    return (
        *(f"{one.first} and {one.second}", measure, number(one.before), number(one.after)),
        "n/a" if one.change is None else f"{round(one.change, 3) + 0.0:+.3f}",
        *(number(one.total_variation), number(one.hellinger)),
    )


def _questions(errors: QueryErrors | NotApplicable) -> PagePicture | None:
    if isinstance(errors, NotApplicable):
        return None
    marks = (10, 25, 50, 75, 90, 95, 99)
    rows = [(f"{mark} %", f"{errors.percentiles[mark]:.1%}") for mark in marks]
    table = Table("", ("share of questions", "error at most"), rows)
    caption = f"Median relative error {errors.median:.1%}, mean {errors.mean:.1%}."
    return picture("Relative errors", query_errors_chart(errors), caption, table)


def _models(result: Classification | NotApplicable) -> Table | None:
    if isinstance(result, NotApplicable):
        return None
    rows = [
        ("always the most frequent value", f"{result.majority:.1%}"),
        ("learnt from anonymised rows", f"{result.anonymised:.1%}"),
        ("learnt from original rows", f"{result.original:.1%}"),
    ]
    caption = f"Accuracy on the rows held out; standard error {result.error:.2%}"
    return Table(caption, ("model", "accuracy"), rows)
