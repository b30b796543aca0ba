"""The page of a comparison."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from policy_engine.audits.reports.charts import need_matplotlib
from policy_engine.audits.reports.charts.comparison import (
    class_sizes_chart,
    losses_chart,
    marginal_chart,
    query_errors_chart,
)
from policy_engine.audits.reports.html import (
    html_page,
    html_table,
    key_figures,
    number,
    percent,
    picture,
)
from policy_engine.audits.utility import (
    Classification,
    ColumnChange,
    Comparison,
    NotApplicable,
    PairChange,
    QueryErrors,
    Side,
)
from policy_engine.data.atomic_file import write_whole
from policy_engine.errors import OutputError

_MOST_PAIRS = 30


def write_report(comparison: Comparison, path: Path, *inputs: Path) -> None:
    """Write a comparison as one HTML page, over what is there, unless that is an input.

    Raises OutputError where the file has another ending than `.html` or `.htm` or cannot be
    written (O002), or is one of the `inputs` (O001), DataError (C011) without matplotlib.
    """
    check_report(path)
    write_whole(path, report_page(comparison), *inputs)


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
        comparison.title, (part for section in _SECTIONS for part in section(comparison))
    )


def _header(found: Comparison) -> Iterator[str]:
    yield "<header>"
    yield "<h1>What the release is still good for</h1>"
    original = ", the original" if found.original else ""
    yield f"<p>{escape(found.title)}{original}."
    yield f" Asked for: {escape('; '.join(found.methods))}.</p>"
    yield f'<p class="warning">{_WARNING}</p>' if not found.is_shareable else f"<p>{_SHAREABLE}</p>"
    if found.is_certified_input is False:
        yield '<p class="warning">The record names another input: this original is not the '
        yield "table that the release was made from, or not in the same file.</p>"
    yield "</header>"
    yield key_figures(
        {
            "rows released": f"{found.release.rows:,}",
            "rows suppressed": "not told" if found.suppressed is None else f"{found.suppressed:,}",
            "equivalence classes": f"{found.classes.classes:,}",
            "certainty penalty (GCP)": _penalty(found.certainty_penalty),
            "information lost": percent(found.entropy),
            "median query error": _of_queries(found.queries),
        }
    )
    sides = {"original": found.original, "release": found.release}
    yield html_table(
        "The two tables" if found.original else "The table",
        ("", "name", "rows", "sha-256"),
        [_side(what, one) for what, one in sides.items() if one],
        texts=(1, 3),
    )
    if found.left_out:
        yield f'<p class="soft">Left out of the release: {escape(", ".join(found.left_out))}.</p>'


_WARNING = (
    "For the owner of the original alone: this page holds exact distributions of its values, of "
    "single rows too. For others, make one with <code>--shareable</code>."
)
_SHAREABLE = (
    "To be shared: this page tells of the release alone, and nothing of the original. Losses are "
    "those of the rows released."
)


def _side(what: str, side: Side) -> tuple[str, ...]:
    return what, side.name, f"{side.rows:,}", side.digest


def _of_queries(queries: QueryErrors | NotApplicable) -> str:
    return f"{queries.median:.1%}" if isinstance(queries, QueryErrors) else "not measured"


def _bounds(found: Comparison) -> Iterator[str]:
    yield "<h2>Privacy: what was asked, what was achieved</h2>"
    rows = [
        (
            f"{one.bound} of {one.column}" if one.column else one.bound,
            f"{one.sense} {one.asked:g}",
            f"{one.achieved:.4g}",
            "holds" if one.holds else "broken",
        )
        for one in found.measurements
    ]
    caption = "Measured over all classes; the worst one counts"
    yield html_table(caption, ("bound", "asked", "achieved", "verdict"), rows)


def _classes(found: Comparison) -> Iterator[str]:
    sizes = found.classes
    yield "<h2>Classes and loss</h2>"
    yield "<p>Rows with the same quasi-identifiers make a class. Small classes keep more.</p>"
    yield key_figures(
        {
            "smallest class": f"{sizes.smallest:,}",
            "median class": f"{sizes.median:,.0f}",
            "mean class": f"{sizes.mean:,.1f}",
            "largest class": f"{sizes.largest:,}",
            "average over k (C_avg)": f"{found.average_class_ratio:.2f}",
            "discernability": f"{found.discernability:,}",
        }
    )
    yield '<div class="cards">'
    caption = (
        f"How large the {sizes.classes:,} classes are. The last bar ends at {sizes.largest:,}."
    )
    table = html_table(
        "",
        ("rows", "classes"),
        [(f"{one.low:,} - {one.high:,}", f"{one.classes:,}") for one in sizes.bins],
    )
    yield picture("Class sizes", class_sizes_chart(sizes), caption, table)
    if any(one.loss is not None for one in found.columns):
        caption = "Mean loss of each quasi-identifier; suppressed rows count 1."
        yield picture("Loss by column", losses_chart(found.columns), caption)
    yield "</div>"


def _columns(found: Comparison) -> Iterator[str]:
    yield "<h2>Columns</h2>"
    yield (
        "<p>A generalised cell counts evenly for every value that it may stand for. Distances "
        "are between the column's distribution before and after: 0 is the same, 1 is nothing in "
        "common.</p>"
    )
    head = (
        *("column", "role", "what it is", "values before", "cells after"),
        *("loss", "information lost", "total variation", "Hellinger"),
    )
    yield html_table("", head, map(_column_row, found.columns), texts=(1, 2))


def _column_row(one: ColumnChange) -> tuple[str, ...]:
    before = "not told" if one.values_before is None else f"{one.values_before:,}"
    return (
        *(one.name, one.role, one.kind, before, f"{one.values_after:,}"),
        *(number(one.loss), percent(one.entropy)),
        *(number(one.total_variation), number(one.hellinger)),
    )


def _marginals(found: Comparison) -> Iterator[str]:
    quasi = [one for one in found.columns if one.role == "quasi-identifier" and one.bins]
    if not quasi:
        return
    yield "<h2>Distributions of the quasi-identifiers</h2>"
    yield "<p>Where one of equally wide bars would hold most rows, all hold about as many.</p>"
    yield '<p class="soft"><span class="key">before</span> &ensp; '
    yield '<span class="key after">after</span></p>'
    yield '<div class="cards">'
    for place, one in enumerate(quasi):
        distances = number(one.total_variation), number(one.hellinger)
        caption = f"Total variation {distances[0]}, Hellinger {distances[1]}."
        rows = [(bar.label, percent(bar.before), percent(bar.after)) for bar in one.bins]
        table = html_table("", ("value", "before", "after"), rows)
        yield picture(one.name, marginal_chart(one, place), caption, table)
    yield "</div>"


def _pairs(found: Comparison) -> Iterator[str]:
    if not found.pairs:
        return
    ordered = sorted(found.pairs, key=lambda one: -abs(one.change or 0))
    yield "<h2>Columns together</h2>"
    yield (
        "<p>How strongly two columns go together, and how far their joint distribution (at most "
        "20 bins each) has moved. The largest changes stand first.</p>"
    )
    head = ("pair", "measure", "before", "after", "change", "total variation", "Hellinger")
    caption = f"{min(len(ordered), _MOST_PAIRS)} of {len(ordered)} pairs"
    yield html_table(caption, head, map(_pair_row, ordered[:_MOST_PAIRS]), texts=(1,))


def _pair_row(one: PairChange) -> tuple[str, ...]:
    measure = "Pearson" if one.measure == "pearson" else "Cramér's V"
    return (
        *(f"{one.first} and {one.second}", measure, number(one.before), number(one.after)),
        "n/a" if one.change is None else f"{round(one.change, 3) + 0.0:+.3f}",
        *(number(one.total_variation), number(one.hellinger)),
    )


def _questions(found: Comparison) -> Iterator[str]:
    yield "<h2>Counting</h2>"
    errors = found.queries
    if isinstance(errors, NotApplicable):
        yield f"<p>Not measured: {escape(errors.reason)}.</p>"
        return
    yield (
        f"<p>{errors.queries:,} random questions, &ldquo;how many rows have these values in two or "
        f"three columns?&rdquo;, each about {errors.selectivity:.1%} of all combinations, asked of "
        f"both tables. Counts below {errors.sanity:.1%} of the rows are taken for so many.</p>"
    )
    marks = (10, 25, 50, 75, 90, 95, 99)
    rows = [(f"{mark} %", f"{errors.percentiles[mark]:.1%}") for mark in marks]
    table = html_table("", ("share of questions", "error at most"), rows)
    caption = f"Median relative error {errors.median:.1%}, mean {errors.mean:.1%}."
    yield '<div class="cards">'
    yield picture("Relative errors", query_errors_chart(errors), caption, table)
    yield "</div>"


def _learning(found: Comparison) -> Iterator[str]:
    yield "<h2>Learning</h2>"
    learnt = found.classification
    if isinstance(learnt, NotApplicable):
        yield f"<p>Not measured: {escape(learnt.reason)}.</p>"
        return
    yield _how_learnt(learnt)
    rows = [
        ("always the most frequent value", f"{learnt.majority:.1%}"),
        ("learnt from anonymised rows", f"{learnt.anonymised:.1%}"),
        ("learnt from original rows", f"{learnt.original:.1%}"),
    ]
    caption = f"Accuracy on the rows held out; standard error {learnt.error:.2%}"
    yield html_table(caption, ("model", "accuracy"), rows)


def _how_learnt(learnt: Classification) -> str:
    return (
        f"<p>How well {escape(learnt.target)!s} ({learnt.values} values) is foretold from the "
        f"quasi-identifiers of {learnt.rows_held_out:,} original rows held out. The models learn "
        f"from the other {learnt.rows_learnt:,}, as they are or anonymised by themselves as the "
        "policy asks; the release itself holds the held-out rows too, so nothing is learnt from "
        "it.</p>"
    )


_SECTIONS = (_header, _bounds, _classes, _columns, _marginals, _pairs, _questions, _learning)
