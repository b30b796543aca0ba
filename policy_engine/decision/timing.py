"""Whether the time of a rule is over, whatever else it asks for."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from policy_engine.decision.conditions import Facts, Truth, Verdict, evaluate
from policy_engine.decision.facts import DATE_TIME
from policy_engine.policy import Action, Asset, Condition, Party, Rule
from policy_engine.policy.xsd.values import Literals

_Member = Party | Asset | Action


class _TimeFacts:
    """The facts of a request, of which nothing is known but the time."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.zone: tzinfo = facts.zone

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        return self._facts.values(left_operand) if left_operand == DATE_TIME else None

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        return self._facts.referenced(iri)

    def includes(self, left_operand: str, narrow: str, wide: str) -> Truth:
        return self._facts.includes(left_operand, narrow, wide)


def expiry_reason(rule: Rule, facts: Facts) -> str:
    """Return why a rule cannot hold at the time of a request, empty where it may.

    Its constraints and refinements are looked at with all else but the time unknown, in Kleene's
    logic: what is known not to hold then does not hold whatever the rest evaluates to. Of several
    assignees or actions each is looked at, of several targets any.
    """
    known = _TimeFacts(facts)
    missing = next(_unsatisfied_conditions(rule.constraints, known), None)
    for members in (rule.assignees, rule.actions):
        missing = missing or _unsatisfied_by_all(members, known)
    for target in rule.targets:
        missing = missing or next(_unsatisfied_conditions(target.refinements, known), None)
    return missing.reason if missing else ""


def _unsatisfied_conditions(conditions: Sequence[Condition], facts: Facts) -> Iterator[Verdict]:
    found = (evaluate(one, facts) for one in conditions)
    yield from (one for one in found if one.state == "unsatisfied")


def _unsatisfied_by_all(members: Sequence[_Member], facts: Facts) -> Verdict | None:
    found = [next(_unsatisfied_conditions(one.refinements, facts), None) for one in members]
    return found[0] if all(found) and found else None
