from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.policy.xsd.literals import Duration, ZonedDate, equal, order
from policy_engine.policy.xsd.ordering import _days

BERLIN = ZoneInfo("Europe/Berlin")
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))
DAY = 86_400


def at(*parts, zone=UTC):
    return datetime(*parts, tzinfo=zone)


def local(*parts):
    return datetime(*parts)  # noqa: DTZ001


def days(number):
    return Duration(0, Decimal(number) * DAY)


def months(number):
    return Duration(number, Decimal(0))


ORDERED = [
    (1, 2, -1),
    (2, 2.0, 0),
    (0.1, Decimal("0.1"), 0),
    (0.1, Decimal("0.10000000000000000001"), -1),
    (10**23, 1e23, 0),
    (2**53 + 1, 2.0**53, 1),
    (float("inf"), 10**400, 1),
    (Decimal(3), 3, 0),
    (Decimal("1e-400"), 0.0, 1),
    (-0.0, 0, 0),
    ("a", "a", 0),
    (True, True, 0),
    (at(2026, 1, 1), at(2026, 1, 1, 1), -1),
    (at(2026, 1, 1), at(2026, 1, 1, 14, zone=EAST), 0),
    # Both name no zone, so none is needed.
    (local(2026, 10, 25, 2, 30), local(2026, 10, 25, 2, 30), 0),
    (local(2026, 7, 1, 2), at(2026, 7, 1), 0),  # summer time is two hours ahead
    (local(2026, 1, 1, 1), at(2026, 1, 1), 0),
    (at(2026, 10, 25, 2, 30, zone=BERLIN), at(2026, 10, 25, 0, 30), 0),
    (at(2026, 10, 25, 2, 30, zone=BERLIN).replace(fold=1), at(2026, 10, 25, 1, 30), 0),
    (local(2026, 10, 25, 2, 30), at(2026, 10, 25, 1, 31), -1),
    (datetime.max.replace(tzinfo=WEST), datetime.max.replace(tzinfo=UTC), 1),
    (datetime.min.replace(tzinfo=EAST), datetime.min.replace(tzinfo=UTC), -1),
    (date(2026, 1, 1), date(2026, 1, 2), -1),
    (ZonedDate(2026, 1, 1, UTC), ZonedDate(2026, 1, 1, EAST), 1),
    (ZonedDate(2026, 1, 1, timezone(timedelta(hours=1))), date(2026, 1, 1), 0),
    (time(1), time(2), -1),
    (time(1, tzinfo=UTC), time(2, tzinfo=timezone(timedelta(hours=1))), 0),
    (time(8, tzinfo=timezone(timedelta(hours=9))), time(17, tzinfo=WEST), -1),
    (days(1), Duration(0, Decimal(DAY)), 0),
    (months(12), months(13), -1),
    (Duration(0, Decimal("0.1")), Duration(0, Decimal("0.2")), -1),
    (Duration(0, Decimal(10**40 + 1)), Duration(0, Decimal(10**40)), 1),
]


@pytest.mark.parametrize(("left", "right", "expected"), ORDERED)
def test_values_are_ordered(left, right, expected):
    assert order(left, right, BERLIN) == expected
    assert order(right, left, BERLIN) == -expected
    assert equal(left, right, BERLIN) is (expected == 0)


BERLIN_DAY = [
    (at(2026, 6, 30, 21, 59, 59), -1),
    (at(2026, 6, 30, 22), 0),
    (at(2026, 7, 1, 21, 59, 59), 0),
    (at(2026, 7, 1, 22), 1),
    (local(2026, 6, 30, 23, 59), -1),
    (local(2026, 7, 1, 23, 59), 0),
    (local(2026, 7, 2), 1),
]


@pytest.mark.parametrize(("moment", "expected"), BERLIN_DAY)
def test_an_instant_is_in_a_day_from_its_start_to_its_end(moment, expected):
    assert order(moment, date(2026, 7, 1), BERLIN) == expected
    assert order(date(2026, 7, 1), moment, BERLIN) == -expected


def test_a_day_is_as_long_as_its_zone_has_it():
    longest = date(2026, 10, 25)
    assert order(at(2026, 10, 25, 22, 30), longest, BERLIN) == 0
    assert order(at(2026, 10, 25, 23), longest, BERLIN) == 1
    assert order(at(2026, 3, 29, 22), date(2026, 3, 29), BERLIN) == 1


def test_a_day_with_a_zone_is_where_its_zone_is():
    day = ZonedDate(2026, 7, 1, EAST)
    assert order(at(2026, 6, 30, 10), day, BERLIN) == 0
    assert order(at(2026, 6, 30, 9, 59), day, BERLIN) == -1
    assert order(local(2026, 7, 1, 12), day, BERLIN) == 1


def test_the_last_day_has_an_end():
    assert order(datetime.max.replace(tzinfo=UTC), date.max, UTC) == 0
    assert order(datetime.max.replace(tzinfo=WEST), date.max, UTC) == 1
    assert order(datetime.max.replace(tzinfo=WEST), date.max, WEST) == 0
    assert order(datetime.max.replace(tzinfo=BERLIN), date.max, UTC) == 0
    assert order(datetime.min.replace(tzinfo=EAST), date.min, UTC) == -1


UNORDERED = [
    (1, "1"),
    (1, True),
    (1.0, date(2026, 1, 1)),
    (at(2026, 1, 1), "2026-01-01"),
    (at(2026, 1, 1), time(0)),
    (months(1), 1),
    (float("nan"), float("nan")),
    (float("nan"), 1),
    (Decimal("nan"), Decimal("nan")),
    (Decimal("snan"), 1),
    (None, None),
    ([1], [1]),
    # The clock shows this time twice, at 00:30 and at 01:30 UTC.
    (local(2026, 10, 25, 2, 30), at(2026, 10, 25, 0, 30)),
    (local(2026, 10, 25, 2, 30), at(2026, 10, 25, 1)),
    (time(1), time(1, tzinfo=UTC)),  # Berlin's offset depends on the day
]


@pytest.mark.parametrize(("left", "right"), UNORDERED)
def test_what_cannot_be_told_is_not_told(left, right):
    assert order(left, right, BERLIN) is None
    assert order(right, left, BERLIN) is None
    assert equal(left, right, BERLIN) is None


@pytest.mark.parametrize(("left", "right"), [("a", "b"), (True, False), (months(1), days(30))])
def test_some_values_are_unequal_and_have_no_order(left, right):
    assert order(left, right, UTC) is None
    assert equal(left, right, UTC) is False


def test_a_time_without_a_zone_is_in_one_that_has_a_fixed_offset():
    assert order(time(2), time(1, tzinfo=UTC), timezone(timedelta(hours=1))) == 0


@pytest.mark.parametrize(
    ("number", "least", "most"),
    [(1, 28, 31), (2, 59, 62), (3, 89, 92), (4, 120, 123), (5, 150, 153), (12, 365, 366)],
)
def test_months_and_days_are_ordered_where_all_months_agree(number, least, most):
    """The table of XML Schema, part 2, on the order of durations."""
    for day in range(least, most + 1):
        assert order(months(number), days(day), UTC) is None
    assert order(months(number), days(least - 1), UTC) == 1
    assert order(months(number), days(most + 1), UTC) == -1


def test_huge_durations_are_compared_exactly():
    huge = 10**400
    assert order(months(huge), months(huge + 1), UTC) == -1
    # All spans of 400 years have one number of days.
    assert order(months(4800), days(146_097), UTC) == 0
    late = Duration(0, Decimal(146_097 * DAY * 10**30 + 1))
    assert order(months(4800 * 10**30), late, UTC) == -1


@given(st.dates())
def test_days_are_those_of_the_calendar(day):
    first = day.replace(day=1)
    assert _days(first.year * 12 + first.month - 1) == first.toordinal() - 1


NUMBERS = st.integers() | st.floats() | st.decimals()
ZONES = st.sampled_from([None, UTC, BERLIN, EAST, WEST])
TIMES = (
    st.datetimes(timezones=ZONES)
    | st.datetimes(local(2026, 10, 25), local(2026, 10, 25, 4), timezones=ZONES)
    | st.dates()
    | st.dates(date(2026, 10, 24), date(2026, 10, 26))
    | st.builds(lambda at: ZonedDate(2026, 10, at, EAST), st.integers(24, 26))
)
CLOCKS = st.times(timezones=st.sampled_from([None, UTC, EAST]))
DURATIONS = st.builds(
    lambda sign, one, other: Duration(sign * one, Decimal(sign * other)),
    st.sampled_from([-1, 1]),
    st.integers(0, 30),
    st.integers(0, 900 * DAY),
)
PAIRS = st.one_of(
    *(st.tuples(kind, kind) for kind in (NUMBERS, TIMES, CLOCKS, DURATIONS)),
    st.tuples(NUMBERS | TIMES | st.text(), CLOCKS | DURATIONS | st.booleans()),
)


@given(PAIRS, st.sampled_from([UTC, BERLIN, WEST]))
def test_the_order_is_the_same_from_both_sides(pair, zone):
    left, right = pair
    forth, back = order(left, right, zone), order(right, left, zone)
    assert back == (None if forth is None else -forth)
    assert equal(left, right, zone) is equal(right, left, zone)


@given(*[st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.fractions()] * 2)
def test_numbers_are_the_decimal_numbers_that_they_print_as(left, right):
    if isinstance(left, Fraction) or isinstance(right, Fraction):
        left, right = (
            Decimal(x.numerator) / 8 if isinstance(x, Fraction) else x for x in (left, right)
        )
    exact = [Fraction(str(number)) for number in (left, right)]
    assert order(left, right, UTC) == (exact[0] > exact[1]) - (exact[0] < exact[1])


@given(st.lists(DURATIONS, min_size=3, max_size=3))
def test_the_order_of_durations_is_transitive(three):
    for first, second, third in product(three, repeat=3):
        if order(first, second, UTC) == order(second, third, UTC) == -1:
            assert order(first, third, UTC) == -1
