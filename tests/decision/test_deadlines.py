"""Until when a duty is to be done, and what is too late."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from ruling import ODRL, where

from policy_engine.decision.deadlines import Deadline, deadline, has_elapsed_time
from policy_engine.policy import LogicalConstraint, Rule
from policy_engine.policy.xsd.literals import Duration, ZonedDate

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
NAIVE = datetime(2026, 6, 1, 12)  # noqa: DTZ001
DAY = date(2026, 6, 1)
ROME = timezone(timedelta(hours=2))
SOON, LATER = NOON - timedelta(seconds=1), NOON + timedelta(seconds=1)


def duty(*constraints):
    return Rule("duty", uid="urn:d", constraints=constraints)


def within(months=0, seconds=0):
    return where("elapsedTime", "lteq", Duration(months, Decimal(seconds)))


@pytest.mark.parametrize(
    ("constraint", "until", "is_in_time"),
    [
        (where("dateTime", "lt", NOON), NOON, False),
        (where("dateTime", "lteq", NOON), NOON, True),
        *(
            (where("dateTime", name, NOON), NOON, True)
            for name in ("eq", "isA", "isPartOf", "hasPart", "isAllOf", "isAnyOf")
        ),
        (where("dateTime", "isAnyOf", DAY), datetime(2026, 6, 2, tzinfo=UTC), False),
        (where("dateTime", "lteq", NAIVE), NOON, True),
        (where("dateTime", "lt", DAY), datetime(2026, 6, 1, tzinfo=UTC), False),
        (where("dateTime", "lteq", DAY), datetime(2026, 6, 2, tzinfo=UTC), False),
        (
            where("dateTime", "lt", ZonedDate(2026, 6, 1, ROME)),
            datetime(2026, 6, 1, tzinfo=ROME),
            False,
        ),
        (within(seconds=60), NOON + timedelta(minutes=1), True),
        (within(months=1), datetime(2026, 7, 1, 12, tzinfo=UTC), True),
        (within(months=7), datetime(2027, 1, 1, 12, tzinfo=UTC), True),
        (within(months=120_000), datetime.max.replace(tzinfo=UTC), True),
        (within(seconds=10**15), datetime.max.replace(tzinfo=UTC), True),
    ],
)
def test_an_end_is_a_moment_that_is_in_time_or_not(constraint, until, is_in_time):
    assert deadline(duty(constraint), since=NOON) == Deadline(until, is_in_time)


@pytest.mark.parametrize(
    "constraint",
    [
        where("dateTime", "gt", NOON),
        where("dateTime", "isNoneOf", NOON),
        where("dateTime", "isAnyOf", NOON, LATER),
        where("dateTime", "lt", NOON, LATER),
        where("dateTime", "lt"),
        where("count", "lt", 3),
        where("elapsedTime", "lteq", NOON),
        where("dateTime", "lt", "noon"),
    ],
    ids=["after", "no", "any of two", "two", "none", "count", "moment", "text"],
)
def test_other_constraints_set_no_end(constraint):
    assert deadline(duty(constraint), since=NOON) is None


def test_time_elapses_from_when_it_is_known_that_something_is_owed():
    assert deadline(duty(within(seconds=60))) is None
    assert has_elapsed_time(duty(within(seconds=60)))
    assert not has_elapsed_time(duty(where("dateTime", "lt", NOON)))
    both = (within(seconds=60), where("count", "lt", 3))
    assert has_elapsed_time(duty(LogicalConstraint(f"{ODRL}and", both)))
    assert not has_elapsed_time(duty(LogicalConstraint(f"{ODRL}or", both)))


def test_of_several_ends_the_first_counts():
    ends = where("dateTime", "lteq", NOON), where("dateTime", "lt", NOON), within(seconds=60)
    assert deadline(duty(*ends), since=NOON) == Deadline(NOON, is_in_time=False)
    assert deadline(duty(ends[0], ends[2]), since=SOON - timedelta(days=1)).until < NOON


@pytest.mark.parametrize(("is_in_time", "missed"), [(True, [LATER]), (False, [NOON, LATER])])
def test_what_comes_after_the_end_is_too_late_and_at_the_end_where_that_is_not_in_time(
    is_in_time, missed
):
    end = Deadline(NOON, is_in_time)
    assert [at for at in (SOON, NOON, LATER) if end.is_missed(at)] == missed
