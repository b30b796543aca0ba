"""What models are worth by how classes were formed, on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from policy_engine.cli.tables.tables import new_table
from policy_engine.kernels.estimates import NotApplicable

if TYPE_CHECKING:
    from policy_engine.api.model_comparison import MethodRun, ModelComparison, ModelOutcome


def model_tables(comparison: "ModelComparison") -> Iterator[Table]:
    """Yield what a model learns by each way of forming classes, and what was refused."""
    from policy_engine.api.model_comparison_wording import MEASURES  # noqa: PLC0415

    head = ("classes formed by", "setting", MEASURES[comparison.measure], "less than raw")
    title = f"Models of {escape(comparison.label)}"
    table = new_table(title, *head, "attack AUC", "classes", "least", "one label", "counts", "")
    refused = new_table("Refused", "classes formed by", "setting", "why")
    for run in comparison.runs:
        if isinstance(run.outcome, NotApplicable):
            refused.add_row(*_names(run), escape(run.outcome.reason))
        else:
            table.add_row(*_names(run), *_figures(run.outcome), "best" if run.is_chosen else "")
    yield table
    if refused.row_count:
        yield refused


def _names(run: "MethodRun") -> tuple[str, str]:
    from policy_engine.api.class_methods import SHORT  # noqa: PLC0415
    from policy_engine.api.model_comparison_wording import parameter_words  # noqa: PLC0415

    return SHORT[run.method], escape(parameter_words(run))


def _figures(outcome: "ModelOutcome") -> Iterator[str]:
    from policy_engine.api.model_comparison_wording import (  # noqa: PLC0415
        error_words,
        short_words,
    )

    yield short_words(outcome.right)
    yield "-" if outcome.classes is None else short_words(outcome.lost)
    yield short_words(outcome.auc)
    yield "-" if outcome.classes is None else f"{outcome.classes:,.0f}"
    yield "-" if outcome.smallest is None else f"{outcome.smallest:,}"
    yield "-" if outcome.one_label is None else f"{outcome.one_label:.1%}"
    yield error_words(outcome)
