"""A release against its original: what it lost, and what it is still good for."""

from policy_engine.audits.utility.comparing import ComparisonSettings, compare
from policy_engine.audits.utility.model import (
    Classification,
    ClassSizes,
    ColumnChange,
    Comparison,
    PairChange,
    QueryErrors,
    TableSide,
)
from policy_engine.audits.utility.prediction import Anonymizer, Task
from policy_engine.kernels.estimates import NotApplicable

__all__ = [
    "Anonymizer",
    "ClassSizes",
    "Classification",
    "ColumnChange",
    "Comparison",
    "ComparisonSettings",
    "NotApplicable",
    "PairChange",
    "QueryErrors",
    "TableSide",
    "Task",
    "compare",
]
