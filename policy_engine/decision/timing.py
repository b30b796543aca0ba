"""Whether the time of a rule is over, whatever its other conditions."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from policy_engine.decision.conditions import Facts, Truth, Verdict, evaluate
from policy_engine.decision.facts import DATE_TIME
from policy_engine.policy import Action, Asset, Condition, Party, Rule
from policy_engine.policy.xsd.values import Literals

_Member = Party | Asset | Action


class _TimeFacts:
    """The facts of a request in which only the time is known."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.zone: tzinfo = facts.zone

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        return self._facts.values(left_operand) if left_operand == DATE_TIME else None

    def spent(self, _left_operand: str, _unit: str) -> tuple[Literals, ...] | None:
        return None

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        return self._facts.referenced(iri)

    def includes(self, _left_operand: str, _narrow: str, _wide: str) -> Truth:
        return None  # a time is not a name


def expiry_reason(rule: Rule, facts: Facts) -> str:
    """Return why a rule cannot apply at the time of a request, empty if it may.

    Its constraints and refinements are evaluated with everything unknown except the time, in
    Kleene's logic: whatever is unsatisfied then is unsatisfied whatever the rest evaluates to. Of
    several assignees or actions, each is considered; of several targets, any.
    """
    time_facts = _TimeFacts(facts)
    unsatisfied = next(_unsatisfied_conditions(rule.constraints, time_facts), None)
    for members in (rule.assignees, rule.actions):
        unsatisfied = unsatisfied or _unsatisfied_by_all(members, time_facts)
    for target in rule.targets:
        unsatisfied = unsatisfied or next(
            _unsatisfied_conditions(target.refinements, time_facts), None
        )
    return unsatisfied.reason if unsatisfied else ""


def _unsatisfied_conditions(conditions: Sequence[Condition], facts: Facts) -> Iterator[Verdict]:
    verdicts = (evaluate(one, facts) for one in conditions)
    yield from (one for one in verdicts if one.state == "unsatisfied")


def _unsatisfied_by_all(members: Sequence[_Member], facts: Facts) -> Verdict | None:
    verdicts = [next(_unsatisfied_conditions(one.refinements, facts), None) for one in members]
    return verdicts[0] if all(verdicts) and verdicts else None
