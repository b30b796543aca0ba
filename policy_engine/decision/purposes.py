"""The purposes for which a rule may apply, whatever its other conditions."""

from collections.abc import Iterator
from datetime import UTC, tzinfo

from policy_engine.decision.closures import Closures
from policy_engine.decision.conditions import Truth, evaluate
from policy_engine.decision.facts import PURPOSE
from policy_engine.policy import Rule
from policy_engine.policy.xsd.values import Literals


class _PurposeFacts:
    """The facts of a request in which only the purpose is known."""

    zone: tzinfo = UTC

    def __init__(self, purpose: str, own: Closures, all_closures: Closures) -> None:
        self._purpose = (purpose,) if purpose else None
        self._own = own
        self._known = all_closures

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        return self._purpose if left_operand == PURPOSE else None

    def spent(self, _left_operand: str, _unit: str) -> tuple[Literals, ...] | None:
        return None

    def referenced(self, _iri: str) -> tuple[Literals, ...] | None:
        return None

    def includes(self, _left_operand: str, narrow: str, wide: str) -> Truth:
        if wide in self._own.up("purpose", narrow):
            return True
        return None if wide in self._known.up("purpose", narrow) else False


def may_be_for(rule: Rule, purpose: str, own: Closures, closures: Closures) -> bool:
    """Return whether the constraints of a rule may hold for a purpose, whatever else is the case.

    `own` are the closures of its own policy, `closures` those of everything that is stated.
    """
    facts = _PurposeFacts(purpose, own, closures)
    return all(evaluate(one, facts).state != "unsatisfied" for one in rule.constraints)


def rule_purposes(rule: Rule, own: Closures, closures: Closures) -> tuple[str, ...]:
    """Return the purposes of a rule: its own, or those that its constraints name.

    Only '' if it names none for which it may hold. `own` and `closures` are as above.
    """
    purposes = rule.purposes or tuple(dict.fromkeys(_named_purposes(rule)))
    return tuple(one for one in purposes if may_be_for(rule, one, own, closures)) or ("",)


def _named_purposes(rule: Rule) -> Iterator[str]:
    for condition in rule.constraints:
        for leaf in condition.constraints():
            values = (one.value for one in leaf.right_operands if leaf.left_operand == PURPOSE)
            yield from (value for value in values if isinstance(value, str))
