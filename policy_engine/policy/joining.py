"""What a permission says may be read together."""

from collections.abc import Iterator

from policy_engine import terms
from policy_engine.policy.model import JOINTLY, Constraint, Rule, Value, conjuncts

_LISTS = tuple(f"{terms.ODRL}{name}" for name in ("isAllOf", "isAnyOf"))


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
