"""Relations between columns: in other units, and sums of several."""

import numpy as np
import pytest

from policy_engine.release.column_relations import ColumnRelations, MeasuredColumn, fitted

RANDOM = np.random.default_rng(0)
AGE = RANDOM.integers(18, 66, 200).astype(float)
PAY = RANDOM.lognormal(3, 0.5, 200).round(2)
COSTS = RANDOM.lognormal(5, 0.5, 200).round(2)
COLUMNS = {
    "age": AGE,
    "born": 2026 - AGE,
    "pay": PAY,
    "annual": (12 * PAY).round(2),
    "gross": PAY + 10_000,
    "costs": COSTS,
    "revenue": PAY + COSTS,
    "rest": 50 - PAY - COSTS,
}


def measured(name, *known, **columns):
    return ColumnRelations((COLUMNS | columns).get).measured(name, known)


def test_a_multiple_is_measured_as_what_is_known_and_tells_nothing_of_counts():
    assert measured("annual") == MeasuredColumn("annual")
    column = measured("annual", "age", "pay")
    assert (column.name, column.shift, column.tell_counts) == ("pay", 0.0, False)
    assert column.factor == pytest.approx(12)
    assert column.of_base(2400.0, "sum", 10) == pytest.approx(200)


def test_totals_of_a_column_that_differs_by_a_constant_tell_counts():
    column = measured("born", "age")
    assert (column.name, column.tell_counts) == ("age", True)
    assert (column.factor, column.shift) == pytest.approx((-1, 2026))
    assert column.of_base(2026 * 5 - 200.0, "sum", 5) == pytest.approx(200)
    assert column.of_base(1986.0, "mean", 5) == pytest.approx(40)
    assert not measured("age", "age").tell_counts


@pytest.mark.parametrize("last", ["pay", "costs", "revenue"])
def test_each_of_three_columns_one_of_which_is_a_sum_follows_from_the_others(last):
    others = {"pay", "costs", "revenue"} - {last}
    column = measured(last, "age", *others)
    assert (column.name, {*column.parts}, column.tell_counts) == (last, others, False)
    assert not measured(last, "age", *[*others][:1]).parts


def test_a_sum_with_a_constant_tells_counts():
    assert measured("rest", "pay", "costs").tell_counts


def test_a_column_of_no_data_is_looked_for_in_the_data():
    relations = ColumnRelations((COLUMNS | {"monthly": PAY * 4}).get, ("age", "pay"))
    assert relations.measured("monthly", ()).name == "pay"
    assert relations.measured("gross", ()).tell_counts


def test_two_columns_that_an_older_ledger_knows_by_their_own_names_follow_from_each_other():
    assert measured("pay", "pay", "annual").parts == ("annual",)


def test_a_column_that_lacks_values_is_compared_where_both_have_some():
    few = np.where(np.arange(200) < 20, PAY / 7, np.nan)
    assert measured("few", "pay", few=few).name == "pay"
    assert measured("few", "pay", few=np.where(np.arange(200) < 3, PAY, np.nan)).name == "few"


def test_one_row_of_many_is_enough_to_tell_columns_apart():
    other = 12 * PAY
    other[[3]] += 1
    assert measured("other", "pay", other=other) == MeasuredColumn("other")
    assert measured("rounded", "pay", rounded=PAY.round()) == MeasuredColumn("rounded")


def test_constants_and_unknown_columns_follow_from_nothing():
    assert measured("one", "pay", one=np.ones(200)) == MeasuredColumn("one")
    assert measured("pay", "one", one=np.ones(200)) == MeasuredColumn("pay")
    assert measured("nothing", "pay") == MeasuredColumn("nothing")
    assert measured("pay", "nothing") == MeasuredColumn("pay")


def test_a_column_of_more_rows_is_told_apart_by_those_that_a_sample_lacks():
    whole = RANDOM.random(10_000)
    other = 3 * whole
    other[4321] = 0.5
    rows = np.arange(10_000)
    assert fitted([whole], other, rows, 3) is None
    assert fitted([whole], other, rows[:4000], 3).factors == pytest.approx([3])
