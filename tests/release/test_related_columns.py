"""Which measured columns follow from each other."""

import numpy as np
import pytest

from policy_engine.audits.outputs.microdata import CodedColumn
from policy_engine.audits.outputs.tabulating import ShownAggregate, TableRows, tabulate
from policy_engine.release.column_relations import MeasuredColumn
from policy_engine.release.related_columns import ColumnHistory, MeasuredColumns, NumberColumns

ROWS = 12
WAGE = np.array([5.0, 3, 8, 1, 9, 2, 7, 4, 6, 11, 10, 13])
OTHER = np.array([2.0, 9, 4, 4, 1, 7, 3, 8, 5, 6, 2, 1])


def totals(**columns):
    """Return totals of columns in one group of all rows."""
    key = CodedColumn("g", np.zeros(ROWS, np.int64), ("all",))
    shown = [ShownAggregate(name, "sum", name) for name in columns]
    return tabulate(TableRows((key,), np.arange(ROWS), columns, ((0,),)), shown)


def measured(*tables):
    """Return the column of the first measure of the last table."""
    return MeasuredColumns(ROWS, tables).of_measure(tables[-1], 0)


def test_a_column_in_other_units_is_measured_as_the_first_one():
    column = measured(totals(wage=WAGE), totals(thousands=WAGE / 1000 + 2))
    assert (column.name, column.parts) == ("wage", ())
    assert (column.factor, column.shift) == pytest.approx((0.001, 2.0))
    assert column.of_base(24.079, "sum", 12) == pytest.approx(WAGE.sum())


def test_a_sum_of_several_columns_names_those_that_it_is_of():
    unrelated = np.sqrt(np.arange(ROWS))
    column = measured(
        totals(wage=WAGE, root=unrelated), totals(other=OTHER), totals(both=WAGE + 2 * OTHER)
    )
    assert column == MeasuredColumn("both", parts=("wage", "other"))


def test_a_column_of_other_values_under_the_same_name_is_another_one():
    assert measured(totals(wage=WAGE), totals(wage=WAGE)).name == "wage"
    assert measured(totals(wage=WAGE), totals(wage=OTHER)).name != "wage"


def test_counts_have_no_column():
    key = CodedColumn("g", np.zeros(ROWS, np.int64), ("all",))
    rows = TableRows((key,), np.arange(ROWS), {}, ((0,),))
    assert measured(tabulate(rows, [ShownAggregate("n", "size")])) is None


# -- the rows that outputs are of --------------------------------------------------------------

MANY = np.random.default_rng(1).random(60)
DATA = {
    "pay": MANY,
    "annual": 12 * MANY,
    "half": np.where(np.arange(60) < 30, 2 * MANY, 1 - MANY**2),
}
COLUMNS = NumberColumns(tuple(DATA), DATA.get)


def total(name, rows, values=None):
    """Return the total of a column over some of sixty rows."""
    key = CodedColumn("g", np.zeros(len(rows), np.int64), ("all",))
    own = {name: DATA[name][rows] if values is None else values}
    shown = [ShownAggregate(name, "sum", name)]
    return tabulate(TableRows((key,), rows, own, ((0,),), numbers=rows), shown)


def of_rows(*tables):
    return MeasuredColumns(60, tables, COLUMNS).of_measure(tables[-1], 0)


def test_columns_of_different_rows_are_compared_in_all_rows_of_the_data():
    first, last = np.arange(30), np.arange(30, 60)
    assert of_rows(total("pay", first), total("annual", last)).name == "pay"


def test_a_relation_that_holds_in_the_rows_of_an_output_alone_makes_them_parts():
    first, last = np.arange(30), np.arange(30, 60)
    every = np.arange(60)
    assert of_rows(total("pay", every), total("half", first)).parts == ("pay",)
    assert of_rows(total("half", first), total("pay", every)).parts == ("half",)
    assert of_rows(total("pay", every), total("half", last)).parts == ()


def test_a_column_that_is_made_of_the_data_is_measured_as_its_column():
    rows = np.arange(40)
    column = of_rows(total("made", rows, values=MANY[rows] * 3))
    assert (column.name, column.factor) == ("pay", pytest.approx(3))


def test_other_values_under_the_name_of_a_column_of_the_data_are_another_column():
    rows = np.arange(40)
    table = total("pay", rows, values=np.sqrt(MANY[rows]))
    assert MeasuredColumns(60, [table], COLUMNS).label(table, 0) == "pay #2"


def test_one_more_output_is_added_to_those_before_it():
    history, rows = ColumnHistory(COLUMNS), np.arange(60)
    first, second, other = (total(name, rows) for name in ("pay", "annual", "half"))
    columns = history.measured(60, [first])
    assert history.measured(60, [first, second]) is columns
    assert columns.of_measure(second, 0).name == "pay"
    assert history.measured(60, [first, other]) is not columns
