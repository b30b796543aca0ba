"""Which databases, or which changes of one, could have led to the same model or statistic.

Torra and Navarro-Arribas: Integral privacy, CANS 2016.
"""

from policy_engine.kernels.integral_privacy.alternatives import Alternatives
from policy_engine.kernels.integral_privacy.canonical_trees import (
    Choice,
    Leaf,
    Split,
    Tree,
    canonical,
    predictions,
    tree_of_arrays,
)
from policy_engine.kernels.integral_privacy.generators import (
    GeneratedModel,
    generated_models,
    most_accurate,
)
from policy_engine.kernels.integral_privacy.modifications import (
    Result,
    Statistic,
    consistent_modifications,
)
from policy_engine.kernels.integral_privacy.small_trees import decision_tree
from policy_engine.kernels.integral_privacy.statistics import (
    frequency_table,
    means,
    regression,
    result_of,
)

__all__ = [
    "Alternatives",
    "Choice",
    "GeneratedModel",
    "Leaf",
    "Result",
    "Split",
    "Statistic",
    "Tree",
    "canonical",
    "consistent_modifications",
    "decision_tree",
    "frequency_table",
    "generated_models",
    "means",
    "most_accurate",
    "predictions",
    "regression",
    "result_of",
    "tree_of_arrays",
]
