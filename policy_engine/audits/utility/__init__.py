"""A release against its original: what it lost, and what it is still good for."""

from policy_engine.audits.utility.categories import Transitions
from policy_engine.audits.utility.comparing import (
    ComparisonSettings,
    Losses,
    Sampled,
    compare,
    measure_losses,
)
from policy_engine.audits.utility.masking import Masked
from policy_engine.audits.utility.model import (
    CategoryCounts,
    Classification,
    ClassSizes,
    ColumnChange,
    Comparison,
    MaskedColumnLoss,
    MaskedTogether,
    MaskingLoss,
    PairChange,
    ProbabilisticLoss,
    Quantile,
    QueryErrors,
    TableSide,
)
from policy_engine.audits.utility.prediction import Anonymizer, Task
from policy_engine.kernels.estimates import NotApplicable

__all__ = [
    "Anonymizer",
    "CategoryCounts",
    "ClassSizes",
    "Classification",
    "ColumnChange",
    "Comparison",
    "ComparisonSettings",
    "Losses",
    "Masked",
    "MaskedColumnLoss",
    "MaskedTogether",
    "MaskingLoss",
    "NotApplicable",
    "PairChange",
    "ProbabilisticLoss",
    "Quantile",
    "QueryErrors",
    "Sampled",
    "TableSide",
    "Task",
    "Transitions",
    "compare",
    "measure_losses",
]
