"""Which measured columns follow from each other."""

import numpy as np
import pytest

from policy_engine.audits.outputs.microdata import CodedColumn
from policy_engine.audits.outputs.tabulating import ShownAggregate, TableRows, tabulate
from policy_engine.release.related_columns import MeasuredColumn, MeasuredColumns

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
    own = column.of_base(np.array([24.079]), "sum", np.array([12]))
    assert own.tolist() == pytest.approx([WAGE.sum()])


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
