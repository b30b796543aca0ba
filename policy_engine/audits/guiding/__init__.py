"""What a model predicts of every row, by which rows are classed (`accuracy-guided`)."""

from policy_engine.audits.guiding.columns import ColumnFitting
from policy_engine.audits.guiding.teaching import TeacherFitting
from policy_engine.engines.guiding import GuideFitting
from policy_engine.methods.guide import Guide

__all__ = ["guide_fitting"]


def guide_fitting(guide: Guide, features: tuple[str, ...]) -> GuideFitting:
    """Return what learns the targets of a guide, where `features` are the columns that a model
    learns from."""
    if guide.column:
        return ColumnFitting(guide.column, guide.label)
    return TeacherFitting(guide, features)
