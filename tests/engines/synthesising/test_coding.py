"""Tables as codes of their values: what is drawn is a value of the column, as it is written."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.synthesising.coding import learnt_table
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError


def coded(values, kind=None):
    [column] = learnt_table(pa.table({"x": pa.array(values, kind)})).columns
    return column


def test_values_are_in_their_order_and_the_missing_one_is_last_and_far_below():
    column = coded([30, None, 10, 30])
    assert column.values.to_pylist() == [10, 30, None]
    assert column.codes.tolist() == [1, 2, 0, 1]
    assert column.counts.tolist() == [1, 2, 1]
    assert column.numbers.tolist() == [10, 30, -11]


def test_categories_have_no_numbers():
    column = coded(["b", "a", None, "b"])
    assert (column.values.to_pylist(), column.codes.tolist()) == (["a", "b", None], [1, 0, 2, 1])
    assert column.numbers is None
    assert coded([True, False]).values.to_pylist() == [False, True]


def test_values_of_a_dictionary_that_no_row_has_are_none():
    texts = pa.DictionaryArray.from_arrays([2, 0, 2], ["a", "b", "c"])
    column = coded(texts)
    assert (column.values.to_pylist(), column.codes.tolist()) == (["a", "c"], [1, 0, 1])


def test_texts_of_a_file_are_in_the_order_of_the_numbers_that_they_all_are(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n10,2020-01-02\n9,2020-01-01\n010,\n")
    table = read_table(tmp_path / "t.csv")
    x, y = learnt_table(table).columns
    assert x.values.to_pylist() == ["010", "10", "9"]  # one of them is not written as a number
    assert y.values.to_pylist() == ["2020-01-01", "2020-01-02", None]
    assert np.diff(y.numbers[:2]).tolist() == [1]


def test_not_a_number_and_infinity_have_their_places():
    column = coded([1.0, float("nan"), float("inf"), 3.0])
    assert sorted(column.numbers.tolist()) == [-2, 1, 3, 4]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], pa.int16()),
        ([date(2020, 1, 1), date(2021, 1, 1)], pa.date32()),
        ([None, "a"], pa.large_string()),
        ([b"\xff", b"a"], pa.binary()),
        ([None, None], pa.float64()),
    ],
)
def test_a_table_is_the_same_from_its_codes(values, kind):
    table = pa.table({"x": pa.array(values, kind), "y": ["a"] * len(values)})
    again = learnt_table(table)
    assert again.table_of(again.codes).equals(table)


def test_columns_of_lists_and_without_a_type_are_refused_at_once():
    hundreds = pa.array([Decimal(100), Decimal(200)], pa.decimal128(9, -2))
    table = pa.table({"x": [[1], [2]], "y": pa.nulls(2), "z": [1, 2], "h": hundreds})
    with pytest.raises(DataError) as caught:
        learnt_table(table)
    assert [one.code for one in caught.value.problems] == ["C009"] * 3
    assert "'x'" in caught.value.problems[0].message


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3]),
        pa.array([2**62, 2**62 + 1, 2**62 + 2, 2**62 + 3], pa.timestamp("ns")),
        pa.array([Decimal(f"12345678901234567.0{one}") for one in range(4)]),
        pa.array([-0.0, 0.0, 1.0, 2.0]),
    ],
)
def test_values_that_floats_confuse_are_in_their_exact_order(values, order):
    [column] = learnt_table(pa.table({"x": values.take(pa.array(order))})).columns
    assert list(map(str, column.values)) == list(map(str, values))
    assert column.codes.tolist() == order


def test_texts_of_one_number_are_in_the_order_of_texts(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1.00\n0.5\n1.0\n1\n")
    [column] = learnt_table(read_table(tmp_path / "t.csv")).columns
    assert column.values.to_pylist() == ["0.5", "1", "1.0", "1.00"]
    assert column.numbers.tolist() == [0.5, 1, 1, 1]


def test_rows_in_order_are_the_same_for_the_same_rows():
    rows = {"x": [2, 1, 2, None], "y": ["b", "a", "a", "c"]}
    table = pa.table(rows)
    mixed = [
        learnt_table(table.take(order)).in_order().codes for order in ([0, 1, 2, 3], [2, 3, 0, 1])
    ]
    assert mixed[0].tolist() == mixed[1].tolist() == [[0, 0], [1, 0], [1, 1], [2, 2]]
