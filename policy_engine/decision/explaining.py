"""Decisions in words."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.holding import RuleMatch
from policy_engine.decision.model import DerivationStep
from policy_engine.decision.verdict import unknown_operands
from policy_engine.policy.model import COUNTS, READ_SO_FAR
from policy_engine.policy.wording import INCLUSION


def derivation(held: RuleMatch) -> Iterator[str]:
    """Yield the steps from a rule that permits or prohibits to the request."""
    rule = held.clause.rule
    verb = "prohibits" if rule.kind == "prohibition" else "permits"
    actions = " or ".join(terms.compact(action.iri) for action in rule.actions) or "anything"
    targets = " or ".join(terms.compact(target.iri) for target in rule.targets) or "anything"
    yield f"{held.clause.name} {verb} {actions} on {targets}"
    yield from inclusion_lines(held.steps)
    for verdict in held.verdicts:
        yield f"its constraint is {verdict.state}: {verdict.reason}"
    yield from held.done


def prohibition_reason(held: RuleMatch, facts: RequestFacts) -> str:
    """Return the reason of a denial by a prohibition, and what was not told that may lift it."""
    reason = f"{held.clause.name} prohibits it."
    asked = {operand for verdict in held.verdicts for operand in unknown_operands(verdict)}
    if held.clause.purposes and not facts.request.purpose:
        named = " or ".join(map(terms.compact, held.clause.rule.purposes))
        reason += f" It is for the purpose {named}, and the request names none."
    if READ_SO_FAR in asked:
        reason += " What was read so far is not known without a decision log."
    if facts.history is None and not asked.isdisjoint(COUNTS):
        reason += " What was counted so far is not known without a decision log."
    return reason


def inclusion_lines(steps: Sequence[DerivationStep]) -> Iterator[str]:
    """Yield how parts of a request are included in those of a rule, where they differ."""
    for step in steps:
        if len(step.path) > 1:
            yield f" {INCLUSION[step.part]} ".join(map(terms.compact, step.path))


def near_miss_lines(void: Mapping[str, str], near: Sequence[RuleMatch]) -> Iterator[str]:
    """Yield why nothing permits: policies that are void, and rules that lack something."""
    yield from (f"{uid} is void: {why}" for uid, why in void.items())
    lines = (f"{held.clause.name}: {', and '.join(held.missing)}" for held in near)
    yield from dict.fromkeys(lines)


def no_permission_reason(lines: Sequence[str]) -> str:
    """Return the reason of a denial for want of a permission."""
    nearest = f" The nearest, {lines[0]}." if lines else ""
    return f"No rule permits it, and what no rule permits is denied.{nearest}"
