import copy
import pickle
import time as clock
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine import terms
from policy_engine.policy.xsd.literals import (
    Duration,
    ZonedDate,
    lexical,
    read_literal,
    read_moment,
    type_of,
)

XSD = terms.XSD
INDIA = timezone(timedelta(hours=5, minutes=30))
LOCAL = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001

READ = [
    ("10", "integer", 10),
    (" +010\n", "integer", 10),
    (10.0, "integer", 10),
    (1e23, "integer", 10**23),
    ("0", "nonNegativeInteger", 0),
    ("-128", "byte", -128),
    ("255", "unsignedByte", 255),
    ("18446744073709551615", "unsignedLong", 2**64 - 1),
    ("-1", "negativeInteger", -1),
    ("10", "decimal", 10.0),
    ("0.1", "decimal", 0.1),
    ("-.5", "decimal", -0.5),
    ("1.", "decimal", 1.0),
    ("0.10000000000000000001", "decimal", Decimal("0.10000000000000000001")),
    (7, "decimal", 7),
    ("1e3", "double", 1000.0),
    ("1.7976931348623157e308", "double", 1.7976931348623157e308),
    (0.5, "double", 0.5),
    ("true", "boolean", True),
    ("0", "boolean", False),
    (False, "boolean", False),
    (" as it is\t", "string", " as it is\t"),
    (" a\tb ", "normalizedString", " a b "),
    ("  a \n b ", "token", "a b"),
    (" http://example.com/a ", "anyURI", "http://example.com/a"),
    ("en-GB", "language", "en-GB"),
    ("2026-01-02", "date", date(2026, 1, 2)),
    ("2026-01-02+05:30", "date", ZonedDate(2026, 1, 2, INDIA)),
    ("2026-01-02T03:04:05", "dateTime", LOCAL),
    ("2026-01-02T03:04:05Z", "dateTime", LOCAL.replace(tzinfo=UTC)),
    ("2026-01-02T03:04:05-00:00", "dateTime", LOCAL.replace(tzinfo=UTC)),
    ("2026-01-02T03:04:05+05:30", "dateTimeStamp", LOCAL.replace(tzinfo=INDIA)),
    ("2026-01-02T03:04:05.1234560", "dateTime", LOCAL.replace(microsecond=123456)),
    ("2026-12-31T24:00:00", "dateTime", LOCAL.replace(2027, 1, 1, 0, 0, 0)),
    ("24:00:00.000", "time", time(0)),
    ("03:04:05.5Z", "time", time(3, 4, 5, 500_000, UTC)),
    ("P1Y2M", "yearMonthDuration", Duration(14, Decimal(0))),
    ("-P1DT2H", "dayTimeDuration", Duration(0, Decimal(-26 * 3600))),
    ("P1Y2M3DT4H5M6.7S", "duration", Duration(14, Decimal("273906.7"))),
    ("-PT0.5S", "duration", Duration(0, Decimal("-0.5"))),
]

REFUSED = [
    ("ten", "integer"),
    ("1.0", "integer"),
    ("1e3", "integer"),
    ("", "integer"),
    ("1_000", "integer"),
    ("١٢", "integer"),
    (10.5, "integer"),
    (True, "integer"),
    (float("inf"), "integer"),
    ("9" * 401, "integer"),
    (10**401, "integer"),
    ("0", "positiveInteger"),
    ("-1", "nonNegativeInteger"),
    ("0", "negativeInteger"),
    ("1", "nonPositiveInteger"),
    ("128", "byte"),
    ("-129", "byte"),
    ("65536", "unsignedShort"),
    ("1e3", "decimal"),
    (".", "decimal"),
    ("INF", "decimal"),
    (False, "decimal"),
    (float("nan"), "double"),
    ("NaN", "double"),
    ("INF", "double"),
    ("-INF", "float"),
    ("1e999", "double"),
    ("-1.8e308", "double"),
    ("9" * 309, "float"),
    ("inf", "double"),
    ("0x10", "double"),
    ("True", "boolean"),
    (1, "boolean"),
    (5, "string"),
    (None, "string"),
    ("english language", "language"),
    ("2026-02-29", "date"),
    ("2026-1-2", "date"),
    ("0000-01-01", "date"),
    ("-2026-01-01", "date"),
    ("12026-01-01", "date"),
    (2026, "date"),
    ("2026-01-02+14:01", "date"),
    ("19/02/2020", "dateTime"),
    ("2026-01-02", "dateTime"),
    ("2026-01-02 03:04:05", "dateTime"),
    ("2026-01-02T03:04:60", "dateTime"),
    ("2026-01-02T24:00:01", "dateTime"),
    ("9999-12-31T24:00:00", "dateTime"),
    ("2026-01-02T03:04:05", "dateTimeStamp"),
    ("25:00:00", "time"),
    ("P", "duration"),
    ("P1YT", "duration"),
    ("P1.5D", "duration"),
    ("1D", "duration"),
    ("P1Y", "dayTimeDuration"),
    ("P1D", "yearMonthDuration"),
    ("2026", "gYear"),
    ("AQ==", "base64Binary"),
]


@pytest.mark.parametrize(("text", "name", "value"), READ)
def test_a_literal_is_the_value_that_its_type_gives_it(text, name, value):
    read = read_literal(text, XSD + name)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2026-01-02T03:04:05.1234567", "dateTime"),
        (" 2026-01-02T03:04:05.00000010Z ", "dateTimeStamp"),
        ("03:04:05.0000001+05:30", "time"),
        ("24:00:00.0000001", "time"),
    ],
)
def test_time_finer_than_microseconds_is_refused(text, name):
    with pytest.raises(ValueError, match="is finer than microseconds, to which times are read"):
        read_literal(text, XSD + name)
    with pytest.raises(ValueError, match="is finer than microseconds"):
        read_moment(f"2026-01-02T{text.strip().rpartition('T')[2]}")
    assert read_literal(text, f"{XSD}string") == text


@pytest.mark.parametrize(("text", "name"), REFUSED)
def test_what_is_no_value_of_its_type_is_refused(text, name):
    with pytest.raises(ValueError, match=f"xsd:{name}"):
        read_literal(text, XSD + name)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("19/02/2020", "dateTime", "'19/02/2020' is not a value of xsd:dateTime"),
        ("300", "byte", "'300' is not a value of xsd:byte: the greatest is 127"),
        (True, "integer", "True is not a value of xsd:integer"),
        ("2026", "gYear", "xsd:gYear is not a data type that can be read"),
    ],
)
def test_the_message_is_fit_for_users(text, name, message):
    with pytest.raises(ValueError, match="xsd") as caught:
        read_literal(text, XSD + name)
    assert str(caught.value) == message


def test_a_long_text_is_cut_in_the_message():
    with pytest.raises(ValueError, match="xsd:integer") as caught:
        read_literal("x" * 10_000, f"{XSD}integer")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", ["10", 10, 1.5, True])
def test_a_value_without_a_type_is_what_json_has(value):
    assert read_literal(value, "") is value


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, float("inf"), float("nan"), 10**401])
def test_what_is_no_literal_is_refused_without_a_type_too(value):
    with pytest.raises(ValueError, match="is not a literal"):
        read_literal(value, "")


@pytest.mark.parametrize("kind", ["http://example.com/feet", "integer", "xsd:integer", "@id"])
def test_an_unknown_data_type_is_refused(kind):
    with pytest.raises(ValueError, match="not a data type"):
        read_literal("1", kind)


def test_a_text_in_a_language_is_its_text():
    assert read_literal("Pflicht", f"{terms.RDF}langString") == "Pflicht"


@pytest.mark.parametrize("name", ["integer", "decimal", "double", "duration", "dateTime", "token"])
def test_a_very_long_text_is_settled_at_once(name):
    started = clock.process_time()
    for text in ("9" * 200_000, "P" + "1" * 200_000, " " * 200_000 + "x", "1." * 100_000):
        with suppress(ValueError):
            read_literal(text, XSD + name)
    assert clock.process_time() - started < 1


WRITTEN = [
    ("text", "string", "text"),
    (True, "boolean", "true"),
    (12, "integer", "12"),
    (0.1, "double", "0.1"),
    (float("-inf"), "double", "-INF"),
    (Decimal("1.500"), "decimal", "1.5"),
    (Decimal("1E+3"), "decimal", "1000"),
    (Decimal("0.00"), "decimal", "0"),
    (LOCAL, "dateTime", "2026-01-02T03:04:05"),
    (LOCAL.replace(tzinfo=UTC, microsecond=500_000), "dateTime", "2026-01-02T03:04:05.5Z"),
    (LOCAL.replace(tzinfo=INDIA), "dateTime", "2026-01-02T03:04:05+05:30"),
    (LOCAL.replace(tzinfo=ZoneInfo("America/New_York")), "dateTime", "2026-01-02T03:04:05-05:00"),
    (LOCAL.replace(tzinfo=timezone(timedelta(seconds=1))), "dateTime", "2026-01-02T03:04:04Z"),
    (date(26, 1, 2), "date", "0026-01-02"),
    (ZonedDate(2026, 1, 2, INDIA), "date", "2026-01-02+05:30"),
    (time(3, 4, 5), "time", "03:04:05"),
    (time(3, 4, tzinfo=UTC), "time", "03:04:00Z"),
    (Duration(0, Decimal(0)), "duration", "PT0S"),
    (Duration(14, Decimal("273906.70")), "duration", "P1Y2M3DT4H5M6.7S"),
    (Duration(-1, Decimal(0)), "duration", "-P1M"),
    (Duration(0, Decimal("-0.5")), "duration", "-PT0.5S"),
    (Duration(0, Decimal("1E+2")), "duration", "PT1M40S"),
]


@pytest.mark.parametrize(("value", "name", "text"), WRITTEN)
def test_a_value_is_written_as_xml_schema_writes_it(value, name, text):
    assert (lexical(value), type_of(value)) == (text, XSD + name)


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
ZONES = st.none() | st.just(UTC) | OFFSETS
DURATIONS = st.tuples(st.booleans(), st.integers(0, 500), st.decimals(0, 10**9, places=3)).map(
    lambda parts: Duration(-parts[1], -parts[2]) if parts[0] else Duration(*parts[1:])
)
VALUES = (
    st.text()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=ZONES)
    | st.dates()
    | st.builds(
        lambda day, zone: ZonedDate(day.year, day.month, day.day, zone), st.dates(), OFFSETS
    )
    | st.times(timezones=ZONES)
    | DURATIONS
)


@given(VALUES)
def test_what_is_written_reads_back(value):
    assert read_literal(lexical(value), type_of(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_no_decimal_number_is_lost_in_reading(number):
    read = read_literal(lexical(number), f"{XSD}decimal")
    assert Decimal(repr(read) if isinstance(read, float) else read) == number


@given(st.text() | st.integers() | st.floats() | st.booleans(), st.sampled_from(READ))
def test_reading_gives_a_value_or_a_value_error(given_value, case):
    try:
        read = read_literal(given_value, XSD + case[1])
    except ValueError:
        return
    assert isinstance(lexical(read), str)


@pytest.mark.parametrize(
    ("months", "seconds"), [(1, "-1"), (-1, "1"), (0, "NaN"), (0, "Infinity"), (0, "1e9999")]
)
def test_a_duration_that_cannot_be_is_refused(months, seconds):
    with pytest.raises(ValueError, match="duration"):
        Duration(months, Decimal(seconds))


def test_a_day_in_a_zone_is_not_the_day_without():
    day = ZonedDate(2026, 1, 2, INDIA)
    assert day != date(2026, 1, 2)
    assert date(2026, 1, 2) != day
    assert day != ZonedDate(2026, 1, 2, UTC)
    assert len({day, ZonedDate(2026, 1, 2, INDIA), date(2026, 1, 2)}) == 2


def test_a_day_in_a_zone_can_be_copied():
    day = ZonedDate(2026, 1, 2, INDIA)
    assert pickle.loads(pickle.dumps(day)) == copy.deepcopy(day) == day
