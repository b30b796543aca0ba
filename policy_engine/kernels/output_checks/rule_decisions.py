"""What rules decide about many outputs at once."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.rule_conditions import RuleComparison, RuleCondition

Attributes = Mapping[str, NDArray[np.float64]]
"""Each attribute of n outputs by its name, (n,), NaN where it is missing."""


def decide_by_rules(
    conditions: Sequence[RuleCondition],
    rules: NDArray[np.int64],
    is_confidential: NDArray[np.bool_],
    attributes: Attributes,
) -> NDArray[np.bool_]:
    """Return which of n outputs may be released, (n,).

    `rules` (n,) is the place in `conditions` of the rule that an output is under, -1 where none
    is. An output may be released if nothing that it is made of is confidential, or the condition
    of its rule holds; an output under no rule never is. KeyError where an attribute is lacking.
    """
    is_released = ~is_confidential & (rules >= 0)
    for rule, condition in enumerate(conditions):
        rows = np.flatnonzero((rules == rule) & is_confidential)
        is_released[rows] = condition.can_hold
        for comparison in condition.comparisons:
            values = attributes[comparison.attribute][rows]
            is_released[rows] &= compare_values(comparison, values)
    return is_released


def compare_values(comparison: RuleComparison, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return of which values a comparison holds, (n,): of none that is missing (NaN)."""
    match comparison.operator:
        case "at least":
            return values >= comparison.limit
        case "at most":
            return values <= comparison.limit
        case "below":
            return values < comparison.limit
        case "none of":
            return ~np.isnan(values) & ~np.isin(values, comparison.limits)
