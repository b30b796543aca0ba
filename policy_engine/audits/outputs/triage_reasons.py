"""Why a checker should look at an output, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from policy_engine.audits.outputs.model import Statbarn
from policy_engine.audits.outputs.output_records import RuleRecord
from policy_engine.kernels.output_checks.rule_conditions import RuleComparison
from policy_engine.kernels.output_checks.rule_decisions import compare_values
from policy_engine.methods.output_checks.fourteen_rules import (
    FOURTEEN_RULES,
    PLACES,
    OutputRule,
    comparison_words,
    value_words,
)

_NEAR = 0.2
"""Within which part of a limit a value is near to it."""

_DISAGREEMENT = 0.5


@dataclass(frozen=True)
class LearntAbout:
    """What was learnt about an output; `is_unknown` says that it is unlike any, accepted or not."""

    rejected_share: float
    is_novel: bool
    is_unknown: bool
    is_released_by_rules: bool


def reasons_for(record: RuleRecord, material: LearntAbout) -> tuple[str, ...]:
    """Return the reasons to look at an output, those of its rule first."""
    return (*_of_rules(record), *_of_past(material))


def _of_rules(record: RuleRecord) -> Iterator[str]:
    place = PLACES.get(record.analysis_type)
    if place is None:
        is_named = record.analysis_type != Statbarn.OTHER
        kind = f"the type {record.analysis_type!r}" if is_named else "this kind"
        yield f"No rule is about outputs of {kind}."
        return
    if record.is_confidential is None:
        yield "Nobody said whether it is confidential."
    if record.is_confidential is False:
        return
    rule = FOURTEEN_RULES[place]
    if not rule.condition.can_hold:
        yield f"Rule {rule.number} never releases a confidential {record.analysis_type}."
    for comparison in rule.condition.comparisons:
        yield from _of_comparison(record, rule, comparison)


def _of_comparison(
    record: RuleRecord, rule: OutputRule, comparison: RuleComparison
) -> Iterator[str]:
    name, value = comparison.attribute, record.value(comparison.attribute)
    needed = f"rule {rule.number} asks for {comparison_words(comparison)}"
    if value is None or np.isnan(value):
        yield f"{name} is missing; {needed}."
        return
    if not compare_values(comparison, np.array([value]))[0]:
        yield f"{name} is {value_words(name, value)}; {needed}."
    elif _is_near(comparison, value):
        yield f"{name} is {value_words(name, value)}, near its limit; {needed}."


def _is_near(comparison: RuleComparison, value: float) -> bool:
    if comparison.operator == "none of":
        return False
    return abs(value - comparison.limit) <= _NEAR * abs(comparison.limit)


def _of_past(material: LearntAbout) -> Iterator[str]:
    share = f"{100 * material.rejected_share:.0f}%"
    if material.is_unknown:
        yield "It is unlike all outputs that were decided about before."
    elif material.is_novel:
        yield "It is unlike the outputs that were accepted before."
    is_rejected = material.rejected_share >= _DISAGREEMENT
    if is_rejected and material.is_released_by_rules:
        yield f"The rules allow it, but about {share} of outputs like it would be rejected."
    elif not is_rejected and not material.is_released_by_rules:
        yield f"The rules do not allow it, but only about {share} of its like would be rejected."
    else:
        yield f"About {share} of outputs like it would be rejected."
