"""Parts of a policy as keys that are equal if they mean the same, in any spelling."""

from collections.abc import Iterable, Iterator
from typing import Any

from policy_engine import terms
from policy_engine.policy.canonical import canonical_literal
from policy_engine.policy.model import (
    Action,
    Asset,
    Condition,
    Constraint,
    LogicalConstraint,
    Party,
    Rule,
    Value,
)
from policy_engine.policy.wording import column_iri

Key = tuple[Any, ...]
_AND = f"{terms.ODRL}and"
_AND_SEQUENCE = f"{terms.ODRL}andSequence"


def flat(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield conditions that must all hold, those joined by `and` one by one."""
    for condition in conditions:
        if isinstance(condition, LogicalConstraint) and condition.operator == _AND:
            yield from flat(condition.operands)
        else:
            yield condition


def condition_key(condition: Condition) -> Key:
    """Return the key of a condition, without its uid and the order of its operands."""
    if isinstance(condition, LogicalConstraint):
        operands = tuple(map(condition_key, condition.operands))
        operand_keys = operands if condition.operator == _AND_SEQUENCE else _sorted(operands)
        return ("logical", condition.operator, operand_keys)
    return (
        "constraint",
        condition.left_operand,
        condition.operator,
        _sorted({_right_key(condition, value) for value in condition.right_operands}),
        _sorted(set(condition.references)),
        condition.data_type,
        condition.unit,
        value_key(condition.status) if condition.status else (),
    )


def conditions_key(conditions: Iterable[Condition]) -> Key:
    """Return the key of conditions that must all hold."""
    return _sorted(set(map(condition_key, flat(conditions))))


def _right_key(condition: Constraint, value: Value) -> Key:
    if terms.names_columns(condition.left_operand):
        return ("@id", column_iri(value), value_key(value)[-1])
    return value_key(value)


def value_key(value: Value) -> Key:
    """Return the key of a value: a name, or a literal of its kind."""
    settings = _sorted((name, *map(value_key, one.all)) for name, one in value.settings.items())
    kind = "@id" if value.is_iri else type(value.value).__name__
    text = str(value.value) if value.is_iri else canonical_literal(value.value)
    return (kind, text, settings)


def part_key(part: Action | Party | Asset) -> Key:
    """Return the key of an action, a party or an asset, with its refinements."""
    return (part.iri, conditions_key(part.refinements))


def rule_key(rule: Rule) -> Key:
    """Return the key of a rule's content, without its uid and position."""
    return (rule.kind, *features(rule).values())


def features(rule: Rule) -> dict[str, Key]:
    """Return the keys of the parts of a rule, by part."""
    return {
        "assignee": _parts(rule.assignees),
        "target": _parts(rule.targets),
        "action": _parts(rule.actions),
        "purpose": _sorted(set(rule.purposes)),
        "output": (rule.output,),
        "constraint": conditions_key(rule.constraints),
        "duty": _sorted(map(rule_key, rule.duties)),
        "remedy": _sorted(map(rule_key, rule.remedies)),
        "consequence": _sorted(map(rule_key, rule.consequences)),
        "assigner": _parts(rule.assigners),
        "function": _sorted((name, _parts(some)) for name, some in rule.functions.items()),
    }


def _parts(parts: Iterable[Action | Party | Asset]) -> Key:
    return _sorted(set(map(part_key, parts)))


def _sorted(keys: Iterable[Any]) -> Key:
    # Sorted by text, since keys of different shapes cannot be compared.
    return tuple(sorted(keys, key=repr))
