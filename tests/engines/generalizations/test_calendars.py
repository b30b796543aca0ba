import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, price, prices, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.generalizations import covered_codes, generalizer
from policy_engine.engines.generalizations.calendars import spans
from policy_engine.errors import CertificateError, DataError

DAYS = ["2019-03-05", "2019-03-31", "2019-04-01", "2019-12-31", "2020-01-01", None]
MOMENTS = ["2019-03-05 17:01", "2019-03-05T17:59:59.5", "2019-03-05 18:00", "2019-03-05 05:00"]
NEW_YEAR = (dt.datetime(2019, 1, 1), dt.datetime(2019, 1, 3))  # noqa: DTZ001
HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([0], "2019-03-05"),
        ([0, 1], "2019-03"),
        ([1, 2], "2019"),
        ([3, 4], "20xx"),
        ([5], None),
        ([0, 5], "2019-03-05 or missing"),
        ([0, 1, 5], "2019-03 or missing"),
    ],
)
def test_calendars_are_the_shortest_period_that_holds_a_class(rows, cell):
    assert cells(DAYS, [rows], "calendar") == [cell]


@pytest.mark.parametrize(
    ("days", "cell"),
    [
        (["2019-04-01", "2019-06-30"], "2019-Q2"),
        (["2011-04-01", "2019-06-30"], "2010s"),
        (["1999-12-31", "2000-01-01"], "*"),
        (["0000-01-01", "0009-12-31"], "0000s"),
    ],
)
def test_calendars_have_longer_periods_too(days, cell):
    assert cells(days, [[0, 1]], "calendar") == [cell]


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([0, 1], "2019-03-05T17"),
        ([0, 2], "2019-03-05 all day"),
        ([0], "2019-03-05 17:01"),
    ],
)
def test_moments_are_in_hours_parts_of_days_and_days(rows, cell):
    assert cells(MOMENTS, [rows], "calendar") == [cell]


@pytest.mark.parametrize(
    ("times", "cell"),
    [
        (["17:01", "17:59:59"], "17h"),
        (["00:00", "05:59"], "night"),
        (["06:00", "11:59"], "morning"),
        (["12:00", "17:00:00.25"], "afternoon"),
        (["18:00", "23:59"], "evening"),
        (["05:59", "06:00"], "*"),
    ],
)
def test_times_of_day_are_in_hours_and_parts_of_the_day(times, cell):
    assert cells(times, [[0, 1]], "calendar") == [cell]


def test_the_ladder_rises_to_the_first_period_that_holds_all():
    assert rungs(["2019-03-05", "2019-05-01"], "calendar") == [
        ["2019-03-05", "2019-05-01"],
        ["2019-03", "2019-05"],
        ["2019-Q1", "2019-Q2"],
        ["2019", "2019"],
    ]
    assert rungs(DAYS, "calendar")[-1] == ["20xx or missing"] * 6
    assert rungs(["2019-03-05", None], "calendar")[-1] == ["2019-03-05 or missing"] * 2


def test_moments_are_told_by_their_own_clocks():
    stamps = pa.array([0, 7_200, 5_400]).cast(pa.timestamp("s", "Europe/Rome"))
    one = generalizer("x", encoded(stamps), asked("calendar"))
    assert one.labels_at(1) == ["1970-01-01T01", "1970-01-01T02", "1970-01-01T03"]


def test_an_hour_that_a_clock_shows_twice_is_one():
    texts = pa.array(["2020-10-25 00:30:00Z", "2020-10-25 01:10:00Z"])
    stamps = texts.cast(pa.timestamp("s", "UTC")).cast(pa.timestamp("s", "Europe/Rome"))
    assert cells(stamps, [[0, 1]], "calendar") == ["2020-10-25T02"]


def test_mixed_time_zones_are_refused():
    with pytest.raises(DataError, match="R006 The column 'x' mixes time zones"):
        made(["2020-02-01T00:30+02:00", "2020-01-31T23:00Z"], "calendar")


@pytest.mark.parametrize("values", [["a"], [1, 2], ["2020-01-01", "x"]])
def test_calendars_are_refused_for_what_is_no_date(values):
    with pytest.raises(DataError, match="R006 The column 'x' holds values that are not dates"):
        made(values, "calendar")


def test_columns_without_values_have_a_calendar():
    assert rungs([None, None], "calendar") == [[None, None]]


def test_a_period_costs_its_length_over_that_of_the_column():
    texts = ["2019-01-01", "2019-01", "2019-Q1", "2019-01-11", "2019-04-11", "*", None]
    assert prices(texts, "calendar") == pytest.approx([0, 0.31, 0.9, 0, 0, 1, 0])
    assert prices(["2019", "2019-Q1 or missing"], "calendar") == [1, 1]


def test_a_period_much_longer_than_the_column_makes_no_other_cheaper():
    texts = ["2019-01-01", "2019-01", "2019-04-11", "20xx"]
    assert prices(texts, "calendar") == pytest.approx([0, 0.31, 0, 1])


def test_a_part_of_the_day_costs_its_hours():
    texts = ["night", "06:00", "07h", "morning", "12:00"]
    assert prices(texts, "calendar") == pytest.approx([0.5, 0, 1 / 12, 0.5, 0])


def test_no_period_costs_more_than_the_column_is_long():
    one = made(["2019-03-05", "2019-03-10", "2019-04-24"], "calendar")
    assert one.ladder().penalties(1).tolist() == [31 / 50, 31 / 50, 30 / 50]
    assert one.ladder().penalties(3).tolist() == [1, 1, 1]
    assert prices(["2019-03-05", "2019-03", "2019", "2019-04-24"], "calendar") == pytest.approx(
        [0, 0.62, 1, 0]
    )


@pytest.mark.parametrize("cell", ["spring", "2019-13", "2019-Q5", "{2019, 2020}", "17", "[1 - 2]"])
def test_cells_that_are_no_periods_are_refused(cell):
    with pytest.raises(CertificateError, match="V002"):
        prices(["2019", cell], "calendar")


@pytest.mark.parametrize(
    ("label", "start", "hours"),
    [
        ("2019-03-04T17", "2019-03-04T17", 1),
        ("2019-03-04 afternoon", "2019-03-04T12", 6),
        ("2019-03-04 all day", "2019-03-04", 24),
        ("2019-02", "2019-02-01", 28 * 24),
        ("2019-Q4", "2019-10-01", 92 * 24),
        ("2019", "2019-01-01", 365 * 24),
        ("2010s", "2010-01-01", 3652 * 24),
        ("20xx", "2000-01-01", 36525 * 24),
        ("17h", "1970-01-01T17", 1),
        ("evening", "1970-01-01T18", 6),
        ("2019-03-04", "2019-03-04", 0),
        ("2019-03-04T17:30:00.5+01:00", "2019-03-04T17:30:00.5", 0),
        ("17:30", "1970-01-01T17:30", 0),
    ],
)
def test_spans_are_when_periods_start_and_end(label, start, hours):
    (first,), (last,) = spans([label])
    assert first == np.datetime64(start, "us").view(np.int64)
    assert last - first == hours * HOUR


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("2019-03", [1, 2]),
        ("2019-04-01", [3]),
        ("2019", [1, 2, 3, 4]),
        ("20xx or missing", [0, 1, 2, 3, 4, 5]),
        ("*", [1, 2, 3, 4, 5]),
        ("2018", []),
    ],
)
def test_a_period_covers_the_days_in_it(cell, codes):
    assert covered_codes(cell, asked("calendar"), encoded(DAYS)).tolist() == codes


@settings(deadline=None)
@given(parted(st.dates() | st.dates(dt.date(2019, 1, 1), dt.date(2019, 5, 1))))
def test_calendars_of_dates_obey_the_laws(drawn):
    hold_laws(*drawn, "calendar")


@settings(deadline=None)
@given(parted(st.datetimes() | st.datetimes(*NEW_YEAR)))
def test_calendars_of_moments_obey_the_laws(drawn):
    hold_laws(*drawn, "calendar")


@settings(deadline=None)
@given(parted(st.times()))
def test_calendars_of_times_obey_the_laws(drawn):
    hold_laws(*drawn, "calendar")


@settings(deadline=None)
@given(parted(st.dates(dt.date(2019, 1, 1), dt.date(2021, 12, 31))))
def test_a_period_costs_what_the_partitioner_took_it_for(drawn):
    rows, parts = drawn
    ends = [dt.date(2010, 1, 1), dt.date(2030, 1, 1)]
    one = made([*rows, *ends], "calendar")
    full = [part for part in parts if all(rows[row] is not None for row in part)]
    full += [[len(rows)], [len(rows) + 1]]
    expected = [price(one.shape(), one.column.codes[part]) for part in full]
    assert prices(cells([*rows, *ends], full, "calendar"), "calendar") == pytest.approx(expected)
