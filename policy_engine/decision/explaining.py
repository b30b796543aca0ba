"""Decisions in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from policy_engine import terms
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.matching import RuleMatch
from policy_engine.decision.model import DerivationStep
from policy_engine.decision.verdict import unknown_operands
from policy_engine.policy.model import COUNTS, READ_SO_FAR
from policy_engine.policy.wording import INCLUSION


class PolicyLine(str):
    """A line of a derivation about a rule that did not decide, or about a policy that is void.

    It has the uid of that `policy`, empty for a line about several.
    """

    __slots__ = ("policy",)
    policy: str

    @classmethod
    def of(cls, policy: str, text: str) -> Self:
        """Return a line about a policy."""
        line = cls(text)
        line.policy = policy
        return line


def derivation(match: RuleMatch) -> Iterator[str]:
    """Yield the steps from a rule that permits or prohibits to the request."""
    rule = match.clause.rule
    verb = "prohibits" if rule.kind == "prohibition" else "permits"
    actions = " or ".join(terms.compact(action.iri) for action in rule.actions) or "anything"
    targets = " or ".join(terms.compact(target.iri) for target in rule.targets) or "anything"
    yield f"{match.clause.name} {verb} {actions} on {targets}"
    yield from inclusion_lines(match.steps)
    for verdict in match.verdicts:
        yield f"its constraint is {verdict.state}: {verdict.reason}"
    yield from match.fulfilments


def prohibition_reason(match: RuleMatch, facts: RequestFacts) -> str:
    """Return why a prohibition denies a request, with the unknown facts that could lift it."""
    reason = f"{match.clause.name} prohibits it."
    unknown = {operand for verdict in match.verdicts for operand in unknown_operands(verdict)}
    if match.clause.purposes and not facts.request.purpose:
        purposes = " or ".join(map(terms.compact, match.clause.rule.purposes))
        reason += f" It is for the purpose {purposes}, and the request names none."
    if READ_SO_FAR in unknown:
        reason += " What was read so far is not known without a decision log."
    if facts.history is None and not unknown.isdisjoint(COUNTS):
        reason += " What was counted so far is not known without a decision log."
    return reason


def inclusion_lines(steps: Sequence[DerivationStep]) -> Iterator[str]:
    """Yield how the parts of a request are included in those of a rule, if they differ."""
    for step in steps:
        if len(step.path) > 1:
            yield f" {INCLUSION[step.part]} ".join(map(terms.compact, step.path))


def near_miss_lines(void: Mapping[str, str], matches: Sequence[RuleMatch]) -> Iterator[str]:
    """Yield why nothing permits a request: void policies, and what permissions lack."""
    yield from (PolicyLine.of(uid, f"{uid} is void: {why}") for uid, why in void.items())
    lines = (
        PolicyLine.of(
            match.clause.policy.uid, f"{match.clause.name}: {', and '.join(match.missing)}"
        )
        for match in matches
    )
    yield from dict.fromkeys(lines)


def no_permission_reason(lines: Sequence[str]) -> str:
    """Return why a request without a permission is denied."""
    nearest = f" The nearest, {lines[0]}." if lines else ""
    return f"No rule permits it, and what no rule permits is denied.{nearest}"
