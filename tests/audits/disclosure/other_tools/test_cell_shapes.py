"""Generalised cells as tools spell them."""

import math

import pytest

from policy_engine.audits.disclosure.other_tools.cell_shapes import ANY, Part, read_shape

DAY = 86_400_000_000.0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("20", Part(20, 20)),
        ("[20 - 29]", Part(20, 29)),
        ("[-5 - -3]", Part(-5, -3)),
        ("[20, 30[", Part(20, 30, has_high=False)),
        ("]20, 30]", Part(20, 30, has_low=False)),
        ("[20,30)", Part(20, 30, has_high=False)),
        ("(20.5, 30]", Part(20.5, 30, has_low=False)),
        ("[20-29]", Part(20, 29)),
        ("20-29", Part(20, 29)),
        ("20 \u2013 29", Part(20, 29)),
        ("-5--3", Part(-5, -3)),
        ("<= 20", Part(-math.inf, 20)),
        ("<20", Part(-math.inf, 20, has_high=False)),
        (">= 80", Part(80, math.inf)),
        (">64", Part(64, math.inf, has_low=False)),
        ("≥80", Part(80, math.inf)),
        ("80+", Part(80, math.inf)),
        ("[80, inf)", Part(80, math.inf, has_high=False)),
        ("(-inf, 20]", Part(-math.inf, 20, has_low=False)),
        ("413**", Part(41300, 41399)),
        ("*", ANY),
        ("*****", ANY),
    ],
)
def test_ranges_of_numbers_are_read_in_every_spelling(text, part):
    assert read_shape(text, "numbers").parts == (part,)


@pytest.mark.parametrize("text", ["abc", "29-20", "[30, 20[", "]5, 5[", "{a, b}", "20 30", "{", ""])
def test_what_is_no_cell_of_numbers_is_told(text):
    assert read_shape(text, "numbers") is None


def test_sets_are_read_in_our_notation_and_with_plain_commas():
    assert read_shape("{20, 25}", "numbers").parts == (Part(20, 20), Part(25, 25))
    assert read_shape("{20,25}", "numbers").parts == (Part(20, 20), Part(25, 25))


def test_a_cell_may_be_missing_as_well():
    shape = read_shape("[20 - 29] or missing", "numbers")
    assert shape.may_be_missing
    assert shape.parts == (Part(20, 29),)


@pytest.mark.parametrize(
    ("text", "days", "start"),
    [
        ("1970-01-02", 1, 1),
        ("1970-01", 31, 0),
        ("1970-Q1", 90, 0),
        ("1970", 365, 0),
        ("[1970-01-02 - 1970-01-03]", 2, 1),
        ("[1970-01-02, 1970-01-03[", 1, 1),
        ("1970-01-02 to 1970-01-03", 2, 1),
    ],
)
def test_times_are_periods_from_one_to_another(text, days, start):
    [part] = read_shape(text, "times").parts
    assert (part.low, part.high) == (start * DAY, (start + days) * DAY)
    assert part.has_low
    assert not part.has_high


def test_a_half_line_of_times_begins_after_its_period():
    [after], [until] = (read_shape(one, "times").parts for one in (">1970-01-02", "<=1970-01-02"))
    assert (after.low, after.has_low) == (2 * DAY, True)
    assert (until.high, until.has_high) == (2 * DAY, False)


def test_the_middle_of_a_half_line_is_its_end():
    assert [read_shape(one, "numbers").parts[0].middle for one in ("20-30", ">= 80")] == [25, 80]
