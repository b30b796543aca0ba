"""What a permission says may be read together."""

from collections.abc import Iterator
from dataclasses import replace

from policy_engine import terms
from policy_engine.policy.model import IRI, JOINTLY, Condition, Constraint, Rule, Value, conjuncts

_ANY_OF = f"{terms.ODRL}isAnyOf"
_LISTS = (f"{terms.ODRL}isAllOf", _ANY_OF)


def named_jointly(rule: Rule) -> Iterator[tuple[str, Value]]:
    """Yield the assets that a rule names in `pe:jointly`, each in one spelling, and as it stands.

    What is joined by `or` it does not name.
    """
    for one in conjuncts(rule.constraints):
        if not isinstance(one, Constraint) or one.left_operand != JOINTLY:
            continue
        for value in one.right_operands if one.operator in _LISTS else ():
            if isinstance(value.value, str):
                yield terms.canonical(terms.expand(value.value)), value


def naming_output(rule: Rule) -> tuple[Condition, ...]:
    """Return the constraints of a rule that makes something, for who reads what it makes.

    That counts as named among what `isAnyOf` of `pe:jointly` says may be together.
    """
    constraints = tuple(conjuncts(rule.constraints))
    rules = tuple(_with(rule.output, one) for one in constraints)
    return rule.constraints if rules == constraints else rules


def _with(asset: str, one: Condition) -> Condition:
    if not isinstance(one, Constraint) or one.left_operand != JOINTLY or one.operator != _ANY_OF:
        return one
    return replace(one, right_operands=(*one.right_operands, Value(asset, type=IRI)))
