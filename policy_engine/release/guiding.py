"""Give the rows of a table what a model predicts of them, before classes are cut by it."""

from typing import Any

from policy_engine.engines.engine import Engine
from policy_engine.plan.steps import Anonymize, Publish


def guide_rows(step: Anonymize, output: Publish, engine: Engine, table: Any) -> Any:
    """Return a table with the targets by which its rows are classed, if the step has a guide.

    The model learns from this table and no other: it is the one whose rows are classed. Raises
    DataError where it cannot (R017, R018, C011), AuditError where a described model cannot.
    """
    guide = step.recoding.guide
    if guide is None:
        return table
    from policy_engine.audits.guiding import guide_fitting  # noqa: PLC0415 (slow to import)

    return engine.guide(table, guide_fitting(guide, features_of(step, output)))


def features_of(step: Anonymize, output: Publish) -> tuple[str, ...]:
    """Return the columns that a model learns from: all that are released but the label, and but
    what names persons."""
    guide = step.recoding.guide
    left_out = {*step.columns.hidden, *((guide.label, guide.column) if guide else ())}
    return tuple(name for name in output.columns if name not in left_out)
