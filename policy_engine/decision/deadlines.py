"""Until when a duty is to be done, as its constraints say."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from policy_engine import terms
from policy_engine.policy import Condition, Constraint, Rule
from policy_engine.policy.model import conjuncts
from policy_engine.policy.xsd.literals import Duration, Literals

_TIME, _ELAPSED = f"{terms.ODRL}dateTime", f"{terms.ODRL}elapsedTime"
_UNTIL = {f"{terms.ODRL}{name}": name != "lt" for name in ("lt", "lteq", "eq")}
"""The operators that set an end, and whether that is still in time."""


@dataclass(frozen=True, order=True)
class Deadline:
    """The moment until which something is to be done, and whether that is still in time."""

    until: datetime
    is_in_time: bool

    def is_missed(self, at: datetime) -> bool:
        """Tell whether a moment is too late."""
        return at > self.until if self.is_in_time else at >= self.until


def deadline(duty: Rule, since: datetime | None = None) -> Deadline | None:
    """Return until when a duty is to be done: the first end that its constraints set, if any.

    That is a `dateTime`, in UTC where it names no zone, or an `elapsedTime` from when it came to
    be owed. What is joined by `or` sets none.
    """
    deadlines = [
        Deadline(until, _UNTIL[one.operator] and not is_day)
        for one in _joint_constraints(duty.constraints)
        if one.operator in _UNTIL and len(one.right_operands) == 1
        for until, is_day in _constraint_ends(one, one.right_operands[0].value, since)
    ]
    return min(deadlines, default=None)


def has_elapsed_time(duty: Rule) -> bool:
    """Tell whether the end of a duty is counted from when it came to be owed."""
    return any(one.left_operand == _ELAPSED for one in _joint_constraints(duty.constraints))


def _joint_constraints(conditions: tuple[Condition, ...]) -> Iterator[Constraint]:
    yield from (one for one in conjuncts(conditions) if isinstance(one, Constraint))


def _constraint_ends(
    one: Constraint, right: Literals, since: datetime | None
) -> Iterator[tuple[datetime, bool]]:
    """Yield the end that a constraint sets, and whether it is that of a whole day."""
    if one.left_operand == _TIME and isinstance(right, datetime):
        yield (right if right.tzinfo else right.replace(tzinfo=UTC)), False
    elif one.left_operand == _TIME and isinstance(right, date):
        # Until a day, that day included, is until the next one begins.
        day = right + timedelta(days=1) if _UNTIL[one.operator] else right
        yield datetime.combine(day, time(), getattr(right, "zone", UTC)), True
    elif one.left_operand == _ELAPSED and isinstance(right, Duration) and since is not None:
        yield _add_duration(since, right), False


def _add_duration(moment: datetime, span: Duration) -> datetime:
    """Return a moment after another: the last day of a month where it has no such day."""
    try:
        years, month = divmod(moment.month - 1 + span.months, 12)
        year = moment.year + years
        day = min(moment.day, monthrange(year, month + 1)[1])
        moved = moment.replace(year=year, month=month + 1, day=day)
        return moved + timedelta(seconds=float(span.seconds))
    except (ValueError, OverflowError):
        return datetime.max.replace(tzinfo=moment.tzinfo)
