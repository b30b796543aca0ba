"""A constraint on a column as it is written in SQL, by the type of the column."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pyarrow as pa
import pytest
from sqlglot import exp

from policy_engine import terms
from policy_engine.decision.query.logic import NotUnderstood
from policy_engine.decision.query.operands import comparison, may_be_nan
from policy_engine.errors import QueryError
from policy_engine.policy.model import Constraint, Value

ZONE = timezone(timedelta(hours=5))
SOME = "CASE WHEN c <= 0 OR -c < 0 THEN c END"
ALWAYS, NEVER = "c = c", "c <> c"
WHOLE, NATURAL, LONG = pa.int8(), pa.uint8(), pa.int64()
EXACT, WIDE = pa.decimal128(4, 1), pa.decimal128(38, 0)
SINGLE, DOUBLE = pa.float32(), pa.float64()
DAY, MOMENT, ZONED = pa.date32(), pa.timestamp("us"), pa.timestamp("us", "Europe/Rome")
TIME, FLAG, TEXT = pa.time64("us"), pa.bool_(), pa.string()
NOON = datetime(2020, 1, 1, 12)  # noqa: DTZ001 (a moment without a time zone)


def constraint(operator, *values):
    """Return a constraint on a column."""
    of = tuple(one if isinstance(one, Value) else Value(one) for one in values)
    return Constraint("http://x.org/c", f"{terms.ODRL}{operator}", of)


def written(kind, operator, *values):
    """Return a constraint on the column `c` in SQL."""
    found = comparison(exp.column("c"), constraint(operator, *values), kind, ZONE)
    return found.sql("duckdb")


@pytest.mark.parametrize(
    ("kind", "operator", "value", "sql"),
    [
        # Every operator, of a number that the column may hold, lies between two, or is beyond all.
        (WHOLE, "lt", 5, "c < 5"),
        (WHOLE, "lt", -5, "c < -5"),
        (WHOLE, "lt", 5.5, "c <= 5"),
        (WHOLE, "lt", -5.5, "c <= -6"),
        (WHOLE, "lt", 127, "c < 127"),
        (WHOLE, "lt", 127.5, "c <= 127"),
        (WHOLE, "lt", 128, ALWAYS),
        (WHOLE, "lt", -128, "c < -128"),
        (WHOLE, "lt", -128.5, NEVER),
        (WHOLE, "lteq", 5, "c <= 5"),
        (WHOLE, "lteq", 5.5, "c <= 5"),
        (WHOLE, "lteq", 128, ALWAYS),
        (WHOLE, "lteq", -129, NEVER),
        (WHOLE, "gt", 5, "c > 5"),
        (WHOLE, "gt", 5.5, "c > 5"),
        (WHOLE, "gt", -5.5, "c > -6"),
        (WHOLE, "gt", 128, NEVER),
        (WHOLE, "gt", -129, ALWAYS),
        (WHOLE, "gteq", 5, "c >= 5"),
        (WHOLE, "gteq", 5.5, "c > 5"),
        (WHOLE, "gteq", 128, NEVER),
        (WHOLE, "gteq", -128.5, ALWAYS),
        (WHOLE, "eq", 5, "c = 5"),
        (WHOLE, "isAllOf", 5, "c = 5"),
        (WHOLE, "eq", 5.5, NEVER),
        (WHOLE, "eq", 128, NEVER),
        (WHOLE, "eq", -129, NEVER),
        (WHOLE, "neq", 5, "c <> 5"),
        (WHOLE, "neq", 5.5, ALWAYS),
        (WHOLE, "neq", -129, ALWAYS),
        (WHOLE, "eq", "1e1", "c = 10"),
        (WHOLE, "eq", "05", "c = 5"),
        # The ends of every exact type.
        (WHOLE, "eq", 127, "c = 127"),
        (WHOLE, "eq", -128, "c = -128"),
        (NATURAL, "eq", 0, "c = 0"),
        (NATURAL, "eq", -1, NEVER),
        (NATURAL, "eq", 255, "c = 255"),
        (NATURAL, "eq", 256, NEVER),
        (LONG, "eq", 2**63 - 1, f"c = {2**63 - 1}"),
        (LONG, "eq", 2**63, NEVER),
        (LONG, "eq", -(2**63), f"c = {-(2**63)}"),
        (LONG, "lt", 10**400, ALWAYS),
        (pa.uint64(), "eq", 2**64 - 1, f"c = {2**64 - 1}"),
        (pa.uint64(), "eq", 2**64, NEVER),
        # Decimals, of which other engines may have NaN.
        (EXACT, "eq", "1.5", f"{SOME} = 1.5"),
        (EXACT, "eq", "-0.5", f"{SOME} = -0.5"),
        (EXACT, "eq", "999.9", f"{SOME} = 999.9"),
        (EXACT, "eq", "-999.9", f"{SOME} = -999.9"),
        (EXACT, "eq", "1000", f"{SOME} <> {SOME}"),
        (EXACT, "eq", "1.25", f"{SOME} <> {SOME}"),
        (EXACT, "lt", "1.25", f"{SOME} <= 1.2"),
        (EXACT, "lt", 1000, f"{SOME} = {SOME}"),
        (WIDE, "eq", "9" * 38, f"{SOME} = {'9' * 38}"),
        (WIDE, "eq", f"1{'0' * 38}", f"{SOME} <> {SOME}"),
        (SINGLE, "lt", "1.5", f"{SOME} < CAST('1.5' AS REAL)"),
        (SINGLE, "lt", "3.4e38", f"{SOME} < CAST('3.4e+38' AS REAL)"),
        (DOUBLE, "gteq", -5, f"{SOME} >= CAST('-5.0' AS DOUBLE)"),
        (DOUBLE, "lteq", "0.1", f"{SOME} <= CAST('0.1' AS DOUBLE)"),
        # Days, moments and times.
        (DAY, "lt", "2020-01-02", "c < CAST('2020-01-02' AS DATE)"),
        (pa.date64(), "eq", date(2020, 1, 2), "c = CAST('2020-01-02' AS DATE)"),
        (MOMENT, "eq", "2020-01-01T12:00:00", "c = CAST('2020-01-01 12:00:00' AS TIMESTAMP)"),
        (MOMENT, "eq", NOON, "c = CAST('2020-01-01 12:00:00' AS TIMESTAMP)"),
        (MOMENT, "gt", "2020-01-01T12:00:00Z", "c > CAST('2020-01-01 17:00:00' AS TIMESTAMP)"),
        (
            MOMENT,
            "eq",
            "2020-01-01T12:00:00.123456Z",
            "c = CAST('2020-01-01 17:00:00.123456' AS TIMESTAMP)",
        ),
        (
            ZONED,
            "eq",
            "2020-01-01T12:00:00",
            "c = CAST('2020-01-01 07:00:00+00:00' AS TIMESTAMPTZ)",
        ),
        (
            ZONED,
            "eq",
            NOON.replace(tzinfo=UTC),
            "c = CAST('2020-01-01 12:00:00+00:00' AS TIMESTAMPTZ)",
        ),
        (TIME, "eq", "10:00:00", "c = CAST('10:00:00' AS TIME)"),
        (TIME, "eq", "10:00:00.123456", "c = CAST('10:00:00.123456' AS TIME)"),
        (pa.time32("s"), "gteq", time(10), "c >= CAST('10:00:00' AS TIME)"),
        # Truth values and texts.
        (FLAG, "eq", "true", "c = TRUE"),
        (FLAG, "neq", "0", "c <> FALSE"),
        (FLAG, "eq", True, "c = TRUE"),
        (TEXT, "eq", "a'b", "c = 'a''b'"),
        (pa.large_string(), "neq", "", "c <> ''"),
        (pa.string_view(), "eq", "5", "c = '5'"),
        # A column without values is never anything.
        (pa.null(), "lt", 5, ALWAYS),
    ],
)
def test_constraint_on_a_column_is_a_comparison_of_its_type(kind, operator, value, sql):
    assert written(kind, operator, value) == sql


@pytest.mark.parametrize(
    ("kind", "values", "contained"),
    [
        (WHOLE, (1, 2), "c IN (1, 2)"),
        (WHOLE, (1, 500), "c IN (1)"),
        (WHOLE, (-129, 2.5), None),
        (TEXT, ("a", "b"), "c IN ('a', 'b')"),
        (EXACT, ("1.5", "1.25"), f"{SOME} IN (1.5)"),
        (DOUBLE, (1,), f"{SOME} IN (CAST('1.0' AS DOUBLE))"),
    ],
)
def test_list_is_of_the_values_that_the_column_can_have(kind, values, contained):
    assert written(kind, "isAnyOf", *values) == (contained or NEVER)
    assert written(kind, "isNoneOf", *values) == (f"NOT {contained}" if contained else ALWAYS)


A_NUMBER, A_SIZE = "a number", "a number in the column's range"
A_DAY = "a date such as 2020-02-19, without a time zone"
A_MOMENT = "a date and time such as 2020-02-19T00:00:00"
A_YEAR = "a date and time in the years 1 to 9999"
A_TIME = "a time of day such as 14:30:00, without a time zone"


@pytest.mark.parametrize(
    ("kind", "value", "needed"),
    [
        (WHOLE, "soon", A_NUMBER),
        (WHOLE, True, A_NUMBER),
        (WHOLE, date(2020, 1, 1), A_NUMBER),
        (WHOLE, "INF", A_NUMBER),
        (DOUBLE, "NaN", A_NUMBER),
        (DOUBLE, float("-inf"), A_NUMBER),
        (DOUBLE, 10**400, A_SIZE),
        (SINGLE, "3.5e38", A_SIZE),
        (SINGLE, "-3.5e38", A_SIZE),
        (DAY, NOON, A_DAY),
        (DAY, "2020-01-02Z", A_DAY),
        (DAY, 5, A_DAY),
        (MOMENT, "2020-01-01", A_MOMENT),
        (MOMENT, 5, A_MOMENT),
        (MOMENT, "2020-01-01T12:00:00.1234567", A_MOMENT),
        (MOMENT, "2020-01-01T12:00:00.1234567Z", A_MOMENT),
        (MOMENT, "9999-12-31T23:00:00Z", A_YEAR),
        (ZONED, "0001-01-01T00:00:00", A_YEAR),
        (TIME, "10:00:00Z", A_TIME),
        (TIME, time(10, tzinfo=UTC), A_TIME),
        (TIME, "10:00:00.1234567", A_TIME),
        (TIME, 5, A_TIME),
        (FLAG, "yes", "true or false"),
        (FLAG, 1, "true or false"),
        (TEXT, 5, "a text"),
        (TEXT, "a\0", "a text"),
    ],
)
def test_literal_that_is_no_value_of_the_column_is_refused_with_what_is_one(kind, value, needed):
    with pytest.raises(QueryError) as caught:
        written(kind, "eq", value)
    [problem] = caught.value.problems
    assert problem.code == "Q007"
    assert problem.message == f"A constraint compares a column with {value!r}. It needs {needed}."


A_REFERENCE = "a reference, a unit or a status is not supported on a column"
ONE = {"left_operand": "http://x.org/c", "operator": f"{terms.ODRL}eq"}


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        (WHOLE, constraint("isA", 5), "odrl:isA is not supported on a column"),
        (WHOLE, constraint("eq"), "odrl:eq is not supported on a column"),
        (WHOLE, constraint("isAnyOf"), "odrl:isAnyOf is not supported on a column"),
        (WHOLE, constraint("eq", 1, 2), "odrl:eq is not supported with several values"),
        (WHOLE, constraint("lt", 1, 2), "odrl:lt is not supported with several values"),
        (TEXT, constraint("gt", "a"), "odrl:gt is not supported on string"),
        (pa.large_string(), constraint("lteq", "a"), "odrl:lteq is not supported on large_string"),
        (FLAG, constraint("lt", "true"), "odrl:lt is not supported on bool"),
        (
            TEXT,
            constraint("eq", "a", Value("http://x.org/a", type="@id")),
            "a column can be compared with literals only, not with IRIs",
        ),
        (WHOLE, Constraint(**ONE, references=("http://x.org/a",)), A_REFERENCE),
        (WHOLE, Constraint(**ONE, right_operands=(Value(1),), unit="http://x.org/a"), A_REFERENCE),
        (WHOLE, Constraint(**ONE, right_operands=(Value(1),), status=Value(0)), A_REFERENCE),
        (pa.binary(), constraint("eq", "a"), "a column of type binary is not supported"),
        (pa.float16(), constraint("eq", 1), "a column of type halffloat is not supported"),
        (
            pa.decimal256(40, 0),
            constraint("eq", 1),
            "a column of type decimal256(40, 0) is not supported",
        ),
        (
            pa.decimal128(4, -1),
            constraint("eq", 50),
            "a column of type decimal128(4, -1) is not supported",
        ),
    ],
)
def test_constraint_that_is_not_understood_of_a_column_says_why(kind, given, why):
    with pytest.raises(NotUnderstood) as caught:
        comparison(exp.column("c"), given, kind, ZONE)
    assert str(caught.value) == why


def test_floats_and_decimals_may_be_nan():
    kinds = (SINGLE, DOUBLE, EXACT, WHOLE, TEXT, DAY)
    assert [may_be_nan(kind) for kind in kinds] == [True, True, True, False, False, False]
