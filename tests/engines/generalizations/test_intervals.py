from decimal import Decimal

import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, price, prices, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.data.cells import read_cell
from policy_engine.engines.generalizations import covered_codes
from policy_engine.errors import CertificateError, DataError

AGES = [20, 35, 47, 70, None]


def test_intervals_are_the_narrowest_that_hold_a_class():
    found = cells(AGES, [[0, 1], [1, 2], [0, 3], [4], [2, 4]], "interval", precision=5)
    assert found == ["[20 - 39]", "[0 - 79]", "[0 - 79]", None, "47 or missing"]


def test_intervals_are_multiples_of_the_greatest_power_of_ten_by_default():
    assert cells([20, 30, 70], [[0, 1], [2]], "interval") == ["[20 - 39]", "70"]
    assert cells([21, 20, 70], [[0, 1], [2]], "interval") == ["[20 - 21]", "70"]
    assert cells([0.1, 0.2, 0.3], [[0, 1], [1, 2]], "interval") == ["[0 - 0.4]", "[0.2 - 0.4]"]


def test_intervals_of_integers_end_before_the_next_begins():
    assert cells([20, 25, 30], [[0, 1]], "interval", precision=10) == ["[20 - 29]"]
    assert cells([20, 25.5, 30], [[0, 1]], "interval", precision=10) == ["[20 - 30]"]
    assert cells([20, 22, 30], [[0, 1]], "interval", precision=2.5) == ["[20 - 22.5]"]


def test_intervals_grow_by_the_fanout():
    found = rungs([0, 7, 99], "interval", precision=1, fanout=10)
    assert found == [
        ["0", "7", "99"],
        ["0", "7", "99"],
        ["[0 - 9]", "[0 - 9]", "[90 - 99]"],
        ["[0 - 99]"] * 3,
    ]


def test_numbers_on_both_sides_of_zero_meet_in_everything():
    found = rungs([-3, 2, 1, None], "interval", precision=1)
    assert found[-2:] == [["[-4 - -1]", "[0 - 3]", "[0 - 3]", None], ["* or missing"] * 4]
    assert cells([-3, 2], [[0, 1]], "interval") == ["*"]


def test_intervals_have_no_noise_of_floats():
    assert cells([0.1, 0.7, 1.1], [[0, 1]], "interval", precision=0.3, fanout=3) == ["[0 - 0.9]"]
    assert cells([1e22, 2.5e-3], [[0, 1]], "interval", precision=1, fanout=10) == ["[0 - 1e+23]"]


def test_a_single_number_needs_no_interval():
    assert rungs([5, None], "interval") == [["5", None], ["5 or missing"] * 2]
    assert rungs([0], "interval", precision=10) == [["0"]]
    assert rungs([None], "interval") == [[None]]


@pytest.mark.parametrize("values", [["a", "b"], ["2020-01-01"], ["08:00"]])
def test_intervals_are_refused_for_what_is_no_number(values):
    with pytest.raises(DataError, match="R006 The column 'x' holds values that are not numbers"):
        made(values, "interval")


def test_intervals_are_refused_where_they_were_too_many():
    with pytest.raises(DataError, match="R006 The numbers of 'x' need more than 128 widths"):
        made([1e-300, 1e300], "interval")
    assert len(rungs([1e-300, 1.0], "interval", fanout=1000)) == 102


def test_an_interval_costs_its_width_within_the_column():
    one = made([20, 25, 39, 60], "interval", precision=10)
    assert one.ladder().penalties(1) == pytest.approx([9 / 40] * 4)
    assert one.ladder().penalties(2) == pytest.approx([19 / 40] * 4)
    assert one.ladder().penalties(3) == pytest.approx([39 / 40] * 4)
    assert prices(["20", "[20 - 29]", "60", "*"], "interval") == pytest.approx([0, 9 / 40, 0, 1])


def test_an_interval_that_ends_far_outside_makes_no_other_cheaper():
    texts = ["20", "[20 - 29]", "60", "[0 - 9999]"]
    assert prices(texts, "interval") == pytest.approx([0, 9 / 40, 0, 1])
    assert prices(["[20 - 29]", "[30 - 39]"], "interval") == pytest.approx([9 / 19] * 2)
    assert prices(["5", "[0 - 9]"], "interval") == [0, 1]


def test_missing_costs_all_beside_an_interval():
    texts = ["[0 - 9] or missing", "[0 - 19]", "5 or missing", None, "* or missing"]
    assert prices(texts, "interval") == pytest.approx([1, 1, 1, 0, 1])
    assert prices(texts, "interval", wildcard=True) == pytest.approx([1, 1, 0, 0, 1])
    assert prices(["*", None], "interval") == [1, 0]


@pytest.mark.parametrize("cell", ["a", "{1, 2}x", "2020-01-01", "[08:00 - 09:00]"])
def test_cells_that_are_no_intervals_are_refused(cell):
    with pytest.raises(CertificateError, match="V002"):
        prices(["[0 - 9]", cell], "interval")


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("[20 - 39]", [1, 2]),
        ("[35 - 47]", [2, 3]),
        ("70", [4]),
        ("* or missing", [0, 1, 2, 3, 4]),
        ("[21 - 34]", []),
    ],
)
def test_an_interval_covers_the_numbers_in_it(cell, codes):
    assert covered_codes(cell, asked("interval"), encoded(AGES)).tolist() == codes


INTEGERS = parted(st.integers(-99, 99).map(float))
DECIMALS = parted(st.decimals(-9, 9, places=2).map(float))


@settings(deadline=None)
@given(INTEGERS | DECIMALS, st.sampled_from([None, 1, 2.5, 10]), st.integers(2, 5))
def test_intervals_obey_the_laws(drawn, precision, fanout):
    rows, parts = drawn
    hold_laws(rows, parts, "interval", precision=precision, fanout=fanout)
    for cell in cells(rows, parts, "interval", precision=precision, fanout=fanout):
        hold_alignment(read_cell(cell), Decimal(str(precision or "0.01")))


def hold_alignment(cell, precision):
    if cell.is_range:
        assert Decimal(cell.values[0]) % precision == 0
        high = Decimal(cell.values[1])
        assert high % precision == 0 or (high + 1) % precision == 0


@settings(deadline=None)
@given(parted(st.integers(1, 99)), st.sampled_from([None, 5]))
def test_an_interval_costs_what_the_partitioner_took_it_for(drawn, precision):
    rows, parts = drawn
    rows, parts = [*rows, 0, 0, 159, 159], [*parts, [len(rows)], [len(rows) + 2]]
    one = made(rows, "interval", precision=precision)
    full = [part for part in parts if all(rows[row] is not None for row in part)]
    written = cells(rows, full, "interval", precision=precision)
    found = prices(written, "interval", precision=precision)
    expected = [price(one.shape(), one.column.codes[part]) for part in full]
    assert found == pytest.approx(expected)
