"""Marks such as -9 in a column that is otherwise as it was are suppressed cells."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.risks.measuring import (
    RiskInputs,
    class_columns,
    measure_risks,
)
from policy_engine.audits.disclosure.risks.suppressed import suppressing_marks

AGES = [20, 30, 40, 50, 60, 70]
TWINS, MARKED = [20, 20, 30, 30, 40, 50], [20, -9, 30, -9, 40, 50]


def files_of(before, after):
    tables = pa.table({"age": before}), pa.table({"age": after})
    return TwoFiles(known_columns(*tables, ["age"], None, {}), np.arange(len(after)), len(after))


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        (AGES, [20, 30, 40, 50, -9, -9], [0]),
        (AGES, [20, -9, 40, -9, 60, 70], [0]),
        (AGES, [20, 30, 40, -9, -9, -9], [0]),
        # Swapped, moved by noise, one cell that may be anything, and most of them changed.
        (AGES, [30, 20, 40, 50, 60, 70], []),
        (AGES, [21, 31, 40, 50, 60, 70], []),
        (AGES, [20, 30, 40, 50, 60, 71], []),
        (AGES, [20, 30, -9, -9, -9, -9], []),
        # Drawn: each of two values became the other.
        ([0, 1] * 6, [1, 0] + [0, 1] * 5, []),
    ],
)
def test_marks_take_the_place_of_several_values_and_are_never_replaced(before, after, marks):
    files = files_of(before, after)
    assert suppressing_marks(files.columns[0], files.own).tolist() == marks


def test_a_column_with_marks_makes_classes_in_which_these_may_be_any_value():
    files = files_of(TWINS, MARKED)
    [column], reasons = class_columns(files)
    assert reasons == []
    assert column.after.widths[column.after.cell_of].tolist() == [1, 5, 1, 5, 1, 1]
    risks = {one.measure: one.value for one in measure_risks(files).risks}
    # Each of the four may be one of three records, and the marked ones any of six.
    assert risks["prosecutor-mean"] == pytest.approx((4 / 3 + 2 / 6) / 6, abs=1e-6)


def test_the_same_cells_of_a_population_may_be_any_value():
    files = files_of(TWINS, MARKED)
    everybody = pa.table({"age": [*TWINS, 80]}), pa.table({"age": MARKED})
    population = known_columns(*everybody, ["age"], None, {})
    risks = measure_risks(files, RiskInputs(population=population)).risks
    assert {one.measure: one.value for one in risks}["k-map"] == 1
