"""A condition is on the cell of one row: what others are changes nothing."""

import pyarrow as pa
import pytest
from asking_statistics import ROWS, UNITS, step_of

from policy_engine.engines.statistics.row_conditions import counted_rows
from policy_engine.engines.statistics.tallies import tally_table
from policy_engine.plan.aggregates.model import RowCondition

DAYS_CELLS = [1, 3, None, 10]
TEXT_CELLS = ["1", "3", None, "10", "x", "", " 3", "3.0"]


def counted(cells, *conditions, kind=None):
    """Return the cells of a column that satisfy conditions on it."""
    table = pa.table({"days": pa.array(cells, kind)})
    own = [RowCondition(column="days", **one) for one in conditions]
    step = step_of(UNITS).model_copy(update={"conditions": tuple(own)})
    return [cell for cell, is_in in zip(cells, counted_rows(table, step), strict=True) if is_in]


def number(comparison, *values):
    return {"comparison": comparison, "values": values, "of_numbers": True}


def text(comparison, *values):
    return {"comparison": comparison, "values": values}


@pytest.mark.parametrize(
    ("condition", "satisfied"),
    [
        (number("<", "3"), [1]),
        (number("<=", "3"), [1, 3]),
        (number(">", "3"), [10]),
        (number(">=", "3"), [3, 10]),
        (number("is any of", "3", "4"), [3]),
        (number("is none of", "3"), [1, 10]),
        (text("is any of", "3"), [3]),
        (text("is none of", "3"), [1, 10]),
        (text("is missing"), [None]),
        (text("is not missing"), [1, 3, 10]),
    ],
)
def test_cells_are_compared_as_numbers_or_as_texts(condition, satisfied):
    assert counted(DAYS_CELLS, condition) == satisfied
    assert counted(DAYS_CELLS, condition, kind=pa.float64()) == satisfied


def test_a_text_is_a_number_where_it_says_one():
    assert counted(TEXT_CELLS, number("is any of", "3")) == ["3", " 3", "3.0"]
    assert counted(TEXT_CELLS, number("is none of", "3")) == ["1", "10"]
    assert counted(TEXT_CELLS, text("is none of", "3")) == ["1", "10", "x", " 3", "3.0"]
    assert counted(TEXT_CELLS, text("is missing")) == [None, ""]


def test_all_conditions_are_satisfied():
    assert counted(DAYS_CELLS, number(">", "1"), number("<", "10")) == [3]
    assert counted(DAYS_CELLS) == DAYS_CELLS
    assert counted([], number(">", "1"), kind=pa.int64()) == []


def test_contributions_are_bounded_among_the_rows_that_are_counted():
    # Of one person's rows two are used: those of the condition, whatever the others are.
    table = pa.table({"person": ["p"] * 5, "sex": ["f"] * 5, "days": [9, 1, 9, 1, 9]})
    condition = RowCondition(column="days", comparison="<", values=("5",), of_numbers=True)
    step = step_of(UNITS, ROWS).model_copy(update={"conditions": (condition,)})
    tallies = tally_table(table, step, (("f",),), b"0" * 16)
    assert (tallies.units, list(tallies.sums[1])) == ([1], [2])
