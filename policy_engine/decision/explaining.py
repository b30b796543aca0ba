"""Decisions in words."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine import terms
from policy_engine.decision.holding import Held
from policy_engine.decision.model import Step
from policy_engine.decision.verdict import Verdict
from policy_engine.policy.model import READ_SO_FAR, Constraint
from policy_engine.wording import INCLUSION


def derivation(held: Held) -> Iterator[str]:
    """Yield the steps from a rule that permits or prohibits to the request."""
    rule = held.clause.rule
    verb = "prohibits" if rule.kind == "prohibition" else "permits"
    actions = " or ".join(terms.compact(action.iri) for action in rule.actions) or "anything"
    targets = " or ".join(terms.compact(target.iri) for target in rule.targets) or "anything"
    yield f"{held.clause.name} {verb} {actions} on {targets}"
    yield from ways(held.steps)
    for verdict in held.verdicts:
        yield f"its constraint is {verdict.state}: {verdict.reason}"
    yield from held.done


def prohibits_it(held: Held) -> str:
    """Return the reason of a denial by a prohibition, and why what it is about is not known."""
    reason = f"{held.clause.name} prohibits it."
    asked = {leaf.left_operand for v in held.verdicts for leaf in _unseen(v)}
    if READ_SO_FAR not in asked:
        return reason
    return f"{reason} What was read so far is not known without a decision log."


def _unseen(verdict: Verdict) -> Iterator[Constraint]:
    """Yield the constraints of whose left operand nothing is known."""
    for part in verdict.parts:
        yield from _unseen(part)
    if isinstance(verdict.condition, Constraint) and not verdict.seen:
        yield verdict.condition


def ways(steps: Sequence[Step]) -> Iterator[str]:
    """Yield how parts of a request are included in those of a rule, where they differ."""
    for step in steps:
        if len(step.path) > 1:
            yield f" {INCLUSION[step.part]} ".join(map(terms.compact, step.path))


def misses(void: Mapping[str, str], near: Sequence[Held]) -> Iterator[str]:
    """Yield why nothing permits: policies that are void, and rules that lack something."""
    yield from (f"{uid} is void: {why}" for uid, why in void.items())
    lines = (f"{held.clause.name}: {', and '.join(held.missing)}" for held in near)
    yield from dict.fromkeys(lines)


def nothing_permits(lines: Sequence[str]) -> str:
    """Return the reason of a denial for want of a permission."""
    nearest = f" The nearest, {lines[0]}." if lines else ""
    return f"No rule permits it, and what no rule permits is denied.{nearest}"
