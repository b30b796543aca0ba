"""Cells are numbers, times or categories by all files together; equal numbers are equal values."""

from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from policy_engine.audits.generative.reading import GivenRecords, read_material
from policy_engine.errors import AuditError


def column(members, holdout=None, synthetic=None):
    """The first column of what is read, its values by side, and the warnings."""
    sides = [members, members if holdout is None else holdout, synthetic or members]
    tables = [pa.table({"x": pa.array(one)}) for one in sides]
    read = read_material(GivenRecords(*tables))
    sets = read.material.members, read.material.holdout, read.material.synthetic
    return read.material.columns[0], [one.values[:, 0].tolist() for one in sets], read.warnings


def faults(*sides):
    with pytest.raises(AuditError, match="A031") as error:
        column(*sides)
    return [one.message for one in error.value.problems]


NUMBERS = [str(number / 2) for number in range(100)]


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["1970-01-02", "1970-01-01", ""], [86_400, 0, np.nan]),
        (["1970-01-01T01:00", "1970-01-01 00:00:01.5"], [3600, 1.5]),
        (["1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00Z", "1970-01-02"], [0, 0, 86_400]),
        (["00:01", "23:59:59.25"], [60, 86_399.25]),
        ([date(1969, 12, 31)], [-86_400]),
        ([datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)], [2]),
        (["0001-01-01", "9999-12-31"], [-62_135_596_800, 253_402_214_400]),
    ],
)
def test_dates_and_times_are_numbers_in_their_order(cells, seconds):
    read, values, warnings = column(cells)
    assert read.is_number
    assert read.is_time
    np.testing.assert_array_equal(values[0], seconds)
    assert not warnings


@pytest.mark.parametrize(
    "cells",
    [
        [str(10**18 + place) for place in range(300)],
        ["0.1", "0.10000000000000001", "0.100000000000000000000002", "1e-400", "0"],
        [f"2020-01-01 00:00:00.{place:09}" for place in range(300)],
    ],
)
def test_values_that_floats_cannot_tell_apart_have_numbers_of_their_own(cells):
    _, (values, _, _), _ = column(cells)
    assert len({*values}) == len(cells)
    order = sorted(range(len(cells)), key=lambda place: values[place])
    exact = sorted(range(len(cells)), key=lambda place: (len(cells[place]) > 9, cells[place]))
    assert order == exact or len(cells) == 5


def test_equal_numbers_are_equal_however_they_are_written():
    _, (values, _, _), _ = column(["1000000000000000000", "1e18", "1.0e18", " 1000000000000000000"])
    assert {*values} == {1e18}


@pytest.mark.parametrize("cell", ["1_0", "٣", "+5", "Infinity", "0x10", "2020-13-45", "25:00"])
def test_what_is_no_number_in_tables_is_none_here(cell):
    [message] = faults([cell, *NUMBERS], NUMBERS, NUMBERS)
    assert message == "'x' has numbers, and 1 cell of the members that is none."
    assert not column([cell])[0].is_number


@pytest.mark.parametrize("spelling", ["NA", "inf", "?", "null", "unknown"])
def test_a_few_texts_make_no_categories_of_numbers(spelling):
    other = [spelling, spelling, *NUMBERS]
    assert faults(NUMBERS, NUMBERS, other) == [
        "'x' has numbers, and 2 cells of the synthetic that are none."
    ]
    assert len(faults(other, other, other)) == 3


def test_nan_is_a_missing_number():
    _, values, warnings = column(["nan", "NaN", "1", ""])
    np.testing.assert_array_equal(values[0], [np.nan, np.nan, 1, np.nan])
    frame = pl.DataFrame({"x": [1.0, float("nan"), 2.0]})
    read = read_material(GivenRecords(frame, frame, frame))
    assert read.material.columns[0].is_number
    assert not warnings


def test_codes_are_texts_where_members_and_holdout_have_some():
    for codes in (["E11", *NUMBERS[:15]], ["01234", "12345", "23456"]):
        read, _, warnings = column(codes, codes, codes[1:])
        assert not read.is_number
        assert any("'x' has numbers and texts" in one for one in warnings)


def test_a_few_texts_among_dates_are_refused_too():
    [message] = faults(["2020-01-01"], ["2020-01-01"], ["2020-01-01", "01/02/2020"])
    assert message == "'x' has dates, and 1 cell of the synthetic that is none."


def test_names_that_nobody_shares_are_no_other_code():
    names = [[f"{side}{place}" for place in range(200)] for side in "abc"]
    read, _, warnings = column(*names)
    assert not read.is_number
    assert any("Most values of 'x' occur once" in one for one in warnings)


def test_values_that_a_dictionary_has_and_no_cell_are_none():
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 10), pa.array(["1", "2", "NA"]))
    table = pa.table({"x": cells})
    assert read_material(GivenRecords(table, table, table)).material.columns[0].is_number
