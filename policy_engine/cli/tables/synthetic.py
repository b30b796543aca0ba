"""How far a synthetic table is from its original, on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.tables import new_table, printed_loss, table_without_dashes
from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    from policy_engine.audits.utility.model import Classification
    from policy_engine.audits.utility.synthetic import SyntheticComparison

_MOST_PAIRS = 40


def distance_tables(comparison: "SyntheticComparison") -> Iterator[Table]:
    """Yield the distances of a synthetic table: the whole, its columns, and pairs of columns, those
    with the greatest first."""
    overview = new_table(comparison.title, "measure", "")
    overview.add_row("rows", f"{comparison.release.rows:,}")
    mean = f"{comparison.mean_total_variation:.4f}"
    overview.add_row("total variation of a pair of columns, on average", mean)
    overview.add_row("accuracy of a classifier", _accuracy(comparison.classification))
    yield overview
    rows = [
        (escape(one.columns[0]), f"{one.total_variation:.4f}", printed_loss(one.kolmogorov))
        for one in comparison.columns
    ]
    yield table_without_dashes("Columns", ("column", "total variation", "Kolmogorov"), rows)
    pairs = new_table("Pairs of columns", "columns", "total variation")
    ranked = sorted(comparison.pairs, key=lambda one: -one.total_variation)
    for one in ranked[:_MOST_PAIRS]:
        pairs.add_row(escape(", ".join(one.columns)), f"{one.total_variation:.4f}")
    if len(ranked) > _MOST_PAIRS:
        pairs.add_row(f"and {len(ranked) - _MOST_PAIRS:,} more", "")
    if ranked:
        yield pairs


def _accuracy(result: "Classification | NotApplicable") -> str:
    if isinstance(result, NotApplicable):
        return escape(result.reason)
    return (
        f"{result.anonymised:.1%} learnt from made-up rows, {result.original:.1%} from the "
        f"original, {result.majority:.1%} by always saying the most frequent value "
        f"(of {escape(result.target)})"
    )
