import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, price, prices, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.generalizations import covered_codes
from policy_engine.errors import CertificateError, DataError

CITIES = ["Rome", "Oslo", "Rome", "Bern", None]


def test_sets_are_the_values_of_every_class():
    assert cells(CITIES, [[0, 1], [2], [3, 4]]) == ["{Oslo, Rome}", "Rome", "Bern or missing"]


def test_sets_tell_empty_texts_from_missing_ones():
    assert cells([None, "", "a"], [[0], [1], [2]]) == [None, '""', "a"]
    assert cells([None, "", "a"], [[0, 1, 2]]) == ['{"", a} or missing']


def test_sets_quote_texts_that_look_like_ranges():
    assert cells(["[1 - 2]", "x"], [[0], [1]]) == ['"[1 - 2]"', "x"]


def test_sets_of_numbers_are_in_their_order():
    assert cells([10, 9, 2], [[0, 1, 2]], "set") == ["{2, 9, 10}"]


def test_sets_in_the_order_of_frequency_begin_with_the_most_frequent():
    values = ["a", "b", "c", "c", "b", "c", None, None, None, None]
    one = made(values, "set", order="frequency")
    assert one.column.labels.tolist() == ["", "c", "b", "a"]
    assert one.column.position.tolist() == [0, 0, 0.5, 1]
    assert cells(values, [range(10)], "set", order="frequency") == ["{c, b, a} or missing"]


def test_equally_frequent_values_are_in_their_order():
    labels = made(["b", "a", "c"], order="frequency").column.labels
    assert labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("size", [63, 64, 65, 200])
def test_sets_of_few_values_and_of_many_are_told_apart(size):
    values = [f"{number:03}" for number in range(size)]
    parts = [[0, size - 1], [size - 1], [*range(size)], [size - 2]]
    whole = f"{{{', '.join(values)}}}"
    assert cells(values, parts) == [f"{{000, {values[-1]}}}", values[-1], whole, values[-2]]


def test_the_ladder_is_each_value_and_all():
    assert rungs(CITIES) == [CITIES, ["* or missing"] * 5]
    assert rungs(["a", "b"]) == [["a", "b"], ["*", "*"]]
    assert rungs(["a"]) == [["a"]]
    assert rungs(["a", None]) == [["a", None], ["a or missing"] * 2]
    assert rungs([None]) == [[None]]


def test_sets_too_long_to_be_of_use_are_refused():
    values = [f"{number:0500}x" for number in range(300)]
    with pytest.raises(DataError, match="R005 The texts of 'x' differ so much"):
        cells(values, [range(300)])


def test_a_set_costs_its_members_over_those_of_the_column():
    assert prices(["{a, b}", "{a, c, d}", "e"]) == pytest.approx([0.4, 0.6, 0])


def test_missing_is_a_member_of_a_set_unless_it_is_a_wildcard():
    texts = ["a or missing", "b", "{c, d} or missing", None]
    assert prices(texts) == pytest.approx([0.4, 0, 0.6, 0])
    assert prices(texts, "set", wildcard=True) == pytest.approx([0, 0, 0.4, 0])


def test_what_stands_for_all_values_costs_all():
    assert prices(["*", "* or missing", "a"], "set") == [1, 1, 0]


def test_nothing_is_lost_where_every_cell_is_one_value():
    assert prices(["1", "2", "a", None]) == [0, 0, 0, 0]
    assert prices([None, ""]) == [0, 0]
    assert prices(["a"]) == [0]


def test_a_range_among_sets_is_refused():
    with pytest.raises(
        CertificateError, match="V002 The column 'x' holds a range, but its generalisation is set"
    ):
        prices(["[1 - 2]"], "set")


@pytest.mark.parametrize(
    ("cell", "codes"),
    [("{Oslo, Rome}", [2, 3]), ("Bern or missing", [0, 1]), ("Paris", []), ("*", [1, 2, 3])],
)
def test_a_set_covers_its_members(cell, codes):
    assert covered_codes(cell, asked("set"), encoded(CITIES)).tolist() == codes


@settings(deadline=None)
@given(parted(st.text(max_size=2)), st.sampled_from(["frequency", "lexicographic"]))
def test_sets_obey_the_laws(drawn, order):
    hold_laws(*drawn, "set", order=order)


@settings(deadline=None)
@given(parted(st.sampled_from("abcdef")))
def test_a_set_costs_what_the_partitioner_took_it_for(drawn):
    rows, parts = drawn
    one = made(rows, "set")
    expected = [price(one.shape(), one.column.codes[part]) for part in parts]
    assert prices(cells(rows, parts, "set"), "set") == pytest.approx(expected)
