from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_texts import odrl

from policy_engine.policy import Constraint, LogicalConstraint, Value
from policy_engine.policy.validation.disjointness import DisjointConditions

NEW_YEAR = datetime(2030, 1, 1, tzinfo=UTC)
MEETS = {
    "lt": lambda given, bound: given < bound,
    "lteq": lambda given, bound: given <= bound,
    "gt": lambda given, bound: given > bound,
    "gteq": lambda given, bound: given >= bound,
    "eq": lambda given, bound: given == bound,
    "neq": lambda given, bound: given != bound,
}


def bound(operator, *values, left="count", unit=""):
    right = tuple(map(Value, values))
    return Constraint(odrl(left), odrl(operator), right, unit=unit)


def exclude_one_another(some, others):
    return DisjointConditions([[], others]).disjoint_sets(some) == 2


def joined(operator, *operands):
    return LogicalConstraint(odrl(operator), operands)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (("lt", 5), ("gt", 5), True),
        (("lt", 5), ("gteq", 5), True),
        (("lteq", 5), ("gteq", 5), False),
        (("lteq", 5), ("gt", 4), False),
        (("eq", 5), ("gt", 5), True),
        (("eq", 5), ("lt", 5), True),
        (("eq", 5), ("eq", 6), True),
        (("eq", 5), ("eq", 5), False),
        (("eq", 5), ("neq", 5), True),
        (("eq", 5), ("neq", 6), False),
        (("neq", 5), ("neq", 6), False),
        (("lt", 5), ("gt", Decimal("5.0")), True),
        (("eq", 5), ("neq", Decimal("5.0")), True),
        (("lt", 5), ("lt", 3), False),
        (("gt", 5), ("gt", 3), False),
        (("isAnyOf", 5), ("eq", 6), False),
        (("isAnyOf", 5, 6), ("gt", 7), False),
    ],
)
def test_bounds_on_one_operand_are_apart_where_no_value_meets_both(one, other, apart):
    ours, theirs = [bound(*one)], [bound(*other)]
    assert exclude_one_another(ours, theirs) is apart
    assert exclude_one_another(theirs, ours) is apart


def test_moments_are_compared_in_their_zones():
    other_zone = datetime(2030, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    before, after = (
        bound("lt", NEW_YEAR, left="dateTime"),
        bound("gteq", other_zone, left="dateTime"),
    )
    assert exclude_one_another([before], [after])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (bound("lt", 5), bound("gt", 5, left="percentage")),
        (bound("lt", 5, unit="urn:a:eur"), bound("gt", 5, unit="urn:a:usd")),
        (bound("lt", 5, left="language"), bound("gt", 5, left="language")),
        (bound("lt", 5), bound("gt", "5")),
        (bound("lt", NEW_YEAR, left="dateTime"), bound("gt", date(2031, 1, 1), left="dateTime")),
        # An instant and a dateTime without a zone: that is the zone of the request's time.
        (
            bound("lt", NEW_YEAR.replace(tzinfo=None), left="dateTime"),
            bound("gteq", NEW_YEAR, left="dateTime"),
        ),
        # On that day there are other moments.
        (bound("eq", NEW_YEAR.date(), left="dateTime"), bound("neq", NEW_YEAR, left="dateTime")),
        (bound("lt", Decimal("NaN")), bound("gt", 5)),
        (bound("lt", 5), Constraint(odrl("count"), odrl("gt"), references=("urn:a:limit",))),
    ],
)
def test_what_is_not_certain_keeps_nothing_apart(one, other):
    assert not exclude_one_another([one], [other])


@pytest.mark.parametrize("operator", ["and", "andSequence"])
def test_all_that_is_joined_must_hold(operator):
    inner = joined(operator, bound("gt", 1), joined("and", bound("gt", 9), bound("gt", 2)))
    assert exclude_one_another([bound("lt", 5)], [inner])


@pytest.mark.parametrize("operator", ["or", "xone"])
def test_what_is_one_of_several_keeps_nothing_apart(operator):
    inner = joined(operator, bound("gt", 9), bound("gt", 8))
    assert not exclude_one_another([bound("lt", 5)], [inner])


def test_nothing_keeps_nothing_apart():
    assert not exclude_one_another([], [])
    assert not exclude_one_another([bound("lt", 5)], [])


BOUNDS = st.tuples(st.sampled_from(sorted(MEETS)), st.integers(0, 3))


@given(st.lists(BOUNDS, max_size=2), st.lists(BOUNDS, max_size=2))
def test_what_a_value_meets_together_is_never_apart(ours, theirs):
    met = [
        value
        for value in (Decimal(half) / 2 for half in range(-2, 9))
        if all(MEETS[operator](value, limit) for operator, limit in (*ours, *theirs))
    ]
    if met:
        assert not exclude_one_another(
            [bound(*one) for one in ours], [bound(*one) for one in theirs]
        )


CONDITIONS = st.lists(BOUNDS, max_size=3)


@given(CONDITIONS, st.lists(CONDITIONS, max_size=5))
def test_many_sets_are_judged_as_each_by_itself(ours, sets):
    def made(bounds):
        return [bound(*one) for one in bounds]

    found = DisjointConditions(map(made, sets)).disjoint_sets(made(ours))
    assert [bool(found >> n & 1) for n in range(len(sets))] == [
        exclude_one_another(made(ours), made(one)) for one in sets
    ]
