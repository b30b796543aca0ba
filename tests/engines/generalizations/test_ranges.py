import pyarrow as pa
import pytest
from generalizing import (
    asked,
    cells,
    encoded,
    hold_laws,
    made,
    parted,
    price,
    prices,
    rungs,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.generalizations import covered_codes
from policy_engine.errors import CertificateError, DataError


def test_ranges_are_the_ends_of_every_class():
    found = cells([4, 1, 2, 3, 3, None], [[1, 2], [3, 4], [0, 5]], "range")
    assert found == ["[1 - 2]", "3", "4 or missing"]


def test_ranges_keep_the_ends_as_they_were_written():
    assert cells(["1.50", "20", "3."], [[0, 1, 2]]) == ["[1.50 - 20]"]


def test_ranges_of_missing_values_alone_are_missing():
    assert cells([None, 1, None], [[0, 2], [1]], "range") == [None, "1"]
    assert cells([None, None], [[0, 1]], "range") == [None]


def test_ranges_are_the_default_of_ordered_columns():
    assert cells(["2020-01-02", "2020-01-01"], [[0, 1]]) == ["[2020-01-01 - 2020-01-02]"]


def test_ranges_are_refused_for_texts():
    with pytest.raises(DataError, match="R006 The column 'x' holds texts"):
        made(["a", "b"], "range")


def test_the_ladder_halves_the_rows():
    found = rungs([1, 2, 3, 4, None], "range")
    assert found[:3] == [
        ["1", "2", "3", "4", None],
        ["[1 - 2]", "[1 - 2]", "[3 - 4]", "[3 - 4]", None],
        ["[1 - 4] or missing"] * 5,
    ]
    assert made([1, 2, 5, 11], "range").ladder().penalties(1).tolist() == [0.1, 0.1, 0.6, 0.6]


def test_a_range_costs_its_width_over_that_of_the_column():
    assert prices(["[0 - 10]", "[10 - 15]", "40"], "range") == pytest.approx([0.25, 0.125, 0])


@pytest.mark.parametrize(
    ("texts", "loss"),
    [
        (["[2020-01-01 - 2020-01-02]", "[2020-01-03 - 2020-01-11]"], [0.1, 0.8]),
        (["[08:00 - 10:00:00]", "[12:00:00.0 - 18:00]"], [0.2, 0.6]),
        (["[2020-01-01 00:00 - 2020-01-01 00:10]", "2020-01-01T00:50"], [0.2, 0]),
    ],
)
def test_a_range_of_times_costs_its_duration(texts, loss):
    assert prices(texts) == pytest.approx(loss)


def test_missing_costs_nothing_alone_and_all_beside_a_range():
    texts = [None, "", "[0 - 5] or missing", "[5 - 10]", "7 or missing", "7"]
    assert prices(texts) == pytest.approx([0, 0, 1, 0.5, 1, 0])
    assert prices(texts, wildcard=True) == pytest.approx([0, 0, 0.5, 0.5, 0, 0])


@pytest.mark.parametrize("cell", ["a", "{1, b}", "[2020-01-01 - 2020-01-02]", "1970", "[a - b]"])
def test_ranges_beside_what_lies_on_another_axis_are_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds ranges, and cells"):
        prices(["[08:00 - 09:00]", cell])


@pytest.mark.parametrize("cell", ["{1, 2}", "1e100001"])
def test_cells_that_are_no_ranges_are_refused(cell):
    with pytest.raises(CertificateError, match="V002"):
        prices([cell], "range")


def test_ranges_whose_ends_are_not_in_order_are_refused():
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a range whose ends"):
        prices(["[2 - 1]"])


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("[1 - 3]", [1, 2, 3]),
        ("[1.5 - 3.0] or missing", [0, 2, 3]),
        ("3", [3]),
        (None, [0]),
        ("[8 - 9]", []),
    ],
)
def test_a_range_covers_the_values_in_it(cell, codes):
    assert covered_codes(cell, asked("range"), encoded([3, 1, 2, None, 7])).tolist() == codes


@settings(deadline=None)
@given(parted(st.integers(-5, 9) | st.sampled_from([0.5, 1e300, -1e-300])))
def test_ranges_obey_the_laws(drawn):
    rows, parts = drawn
    rows = [None if row is None else float(row) for row in rows]
    hold_laws(rows, parts, "range")
    one = made(rows, "range")
    for part in parts:
        codes = [code for code in one.column.codes[part] if rows[part[0]] is not None and code]
        if codes and not one.column.has_missing:
            assert 0 <= price(one.shape(), codes) <= 1


@settings(deadline=None)
@given(parted(st.dates()))
def test_ranges_of_dates_obey_the_laws(drawn):
    hold_laws(*drawn, "range")


@settings(deadline=None)
@given(parted(st.integers(-50, 50)))
def test_a_range_costs_what_the_partitioner_took_it_for(drawn):
    rows, parts = drawn
    one = made(rows, "range")
    full = [part for part in parts if all(rows[row] is not None for row in part)]
    if sum(map(len, full)) == len(rows):
        found = prices(cells(rows, parts, "range"), "range")
        expected = [price(one.shape(), one.column.codes[part]) for part in parts]
        assert found == pytest.approx(expected)


def test_a_column_without_values_takes_a_range_of_any_type():
    assert cells(pa.array([None], pa.string()), [[0]], "range") == [None]
