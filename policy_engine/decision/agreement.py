"""Whether the given state of the world agrees with the log."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from policy_engine import terms
from policy_engine.decision.facts import stated_value, unclear_labels
from policy_engine.decision.history import History
from policy_engine.decision.model import World
from policy_engine.errors import Problem, RequestError
from policy_engine.policy import Policy
from policy_engine.policy.model import COUNTS, READ_SO_FAR
from policy_engine.policy.wording import rule_name

_HINT = "With a log, leave the counts out of the state of the world: the log has them."


def check_agreement(world: World, history: History, policies: Sequence[Policy]) -> None:
    """Raise RequestError (D005) if the state of the world contradicts the log on counts or duties.

    Neither can be trusted then: whoever kept the one has missed something in the other.
    """
    problems = [
        *_value_problems(world),
        *(_count_problems(world, history, policies) if world.counts else ()),
        *(_duty_problems(world, history, policies) if world.duties else ()),
    ]
    if problems:
        raise RequestError(*problems)


def _value_problems(world: World) -> Iterator[Problem]:
    for values in (world.values, *world.of.values()):
        for operand in (*COUNTS, READ_SO_FAR):
            if operand in values:
                name = terms.compact(operand)
                message = f"The state of the world gives {name}, which comes from the log."
                yield Problem("D005", message, _HINT)


def _count_problems(
    world: World, history: History, policies: Sequence[Policy]
) -> Iterator[Problem]:
    unclear = unclear_labels(policies)
    for policy in policies:
        for rule in policy.rules:
            stated = stated_value(world.counts, policy.uid, rule.label(), unclear)
            labels = history.labels(policy, rule) or (rule.label(),)
            logged = sum(
                history.count(policy.uid, label, making=making)
                for label in labels
                for making in (False, True)
            )
            if stated is not None and stated != logged:
                name = rule_name(rule.label(), policy.uid)
                message = f"The state of the world says that {name} was exercised {stated} times, "
                yield Problem("D005", f"{message}the log {logged} times.", _HINT)


def _duty_problems(world: World, history: History, policies: Sequence[Policy]) -> Iterator[Problem]:
    unclear, now = unclear_labels(policies), world.time or datetime.now(UTC)
    for policy in policies:
        for duty in policy.duties:
            stated = stated_value(world.duties, policy.uid, duty.label(), unclear)
            deeds = sorted(history.duty_deeds(policy, duty), key=lambda deed: deed.time)
            last: dict[str, str] = {deed.by: deed.state for deed in deeds if deed.time <= now}
            differing = [state for state in last.values() if stated and state != stated]
            if differing:
                name = rule_name(duty.label(), policy.uid)
                message = (
                    f"The state of the world says that {name} is {stated}, the log {differing[0]}."
                )
                yield Problem(
                    "D005", message, "Leave out of the state of the world what the log records."
                )
