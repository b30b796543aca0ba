"""Deadlines of duties, from the duties' constraints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from policy_engine import terms
from policy_engine.policy import Condition, Constraint, Rule
from policy_engine.policy.model import LogicalConstraint, conjuncts
from policy_engine.policy.xsd.durations import add_duration
from policy_engine.policy.xsd.literals import Duration, Literals

_TIME, _ELAPSED = f"{terms.ODRL}dateTime", f"{terms.ODRL}elapsedTime"
_EQUAL = ("eq", "isA", "isPartOf", "hasPart", "isAllOf", "isAnyOf")
_UNTIL = {f"{terms.ODRL}{name}": name != "lt" for name in ("lt", "lteq", *_EQUAL)}
"""The operators that set an end, and whether that is still in time.

Of one moment, those for sets and parts mean that it is equal.
"""
_LATE = {name: f"{terms.ODRL}{'gt' if ends else 'gteq'}" for name, ends in _UNTIL.items()}
"""What holds of the time once such an end is missed."""


@dataclass(frozen=True, order=True)
class Deadline:
    """The moment by which something must be done, and whether that moment is still in time."""

    until: datetime
    is_in_time: bool

    def is_missed(self, at: datetime) -> bool:
        """Return whether a moment is too late."""
        return at > self.until if self.is_in_time else at >= self.until


def deadline(duty: Rule, since: datetime | None = None) -> Deadline | None:
    """Return the deadline of a duty: the earliest that its constraints set, if any.

    It comes from a `dateTime`, in UTC if it has no time zone, or from an `elapsedTime` since the
    duty became due. Constraints joined by `or` set none.
    """
    deadlines = [
        Deadline(until, _UNTIL[one.operator] and not is_day)
        for one in _joint_constraints(duty.constraints)
        if one.operator in _UNTIL and len(one.right_operands) == 1
        for until, is_day in _constraint_ends(one, one.right_operands[0].value, since)
    ]
    return min(deadlines, default=None)


def has_elapsed_time(duty: Rule) -> bool:
    """Return whether the deadline of a duty is counted from when it became due."""
    return any(one.left_operand == _ELAPSED for one in _joint_constraints(duty.constraints))


def without_deadlines(condition: Condition, is_missed: Callable[[Constraint], bool]) -> Condition:
    """Return a condition of a duty with its missed deadlines replaced by that they are missed.

    A deadline says by when something must be done; that it has passed does not mean that the duty
    never was one. Whether what is given by then holds, `is_missed` tells.
    """
    if isinstance(condition, LogicalConstraint):
        operands = tuple(without_deadlines(one, is_missed) for one in condition.operands)
        return replace(condition, operands=operands)
    if condition.left_operand not in (_TIME, _ELAPSED) or condition.operator not in _UNTIL:
        return condition
    late = replace(condition, operator=_LATE[condition.operator])
    return late if is_missed(late) else condition


def _joint_constraints(conditions: tuple[Condition, ...]) -> Iterator[Constraint]:
    yield from (one for one in conjuncts(conditions) if isinstance(one, Constraint))


def _constraint_ends(
    one: Constraint, right: Literals, since: datetime | None
) -> Iterator[tuple[datetime, bool]]:
    """Yield the deadline that a constraint sets, and whether it is a whole day."""
    if one.left_operand == _TIME and isinstance(right, datetime):
        yield (right if right.tzinfo else right.replace(tzinfo=UTC)), False
    elif one.left_operand == _TIME and isinstance(right, date):
        # A deadline that includes a day ends when the next day begins.
        day = right + timedelta(days=1) if _UNTIL[one.operator] else right
        yield datetime.combine(day, time(), getattr(right, "zone", UTC)), True
    elif one.left_operand == _ELAPSED and isinstance(right, Duration) and since is not None:
        yield add_duration(since, right), False
