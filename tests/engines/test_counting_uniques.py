"""How many rows of a table are unique, whatever types its columns have."""

import pyarrow as pa

from policy_engine.engines.counting_uniques import unique_rows


def test_missing_values_and_both_zeros_are_one_value_each():
    table = pa.table({"a": [0.0, -0.0, None, None, 1.5], "b": ["x", "x", "x", "y", "y"]})
    assert unique_rows(table, [("a",), ("b",), ("a", "b")]) == (1, 0, 3)


def test_values_are_the_same_in_every_layout():
    chunks = pa.chunked_array([pa.array(["x", "y"]), pa.array(["y", "z"])])
    table = pa.table({"a": chunks.dictionary_encode(), "b": chunks})
    assert unique_rows(table, [("a",), ("b",)]) == (2, 2)


def test_arrays_of_numbers_are_compared_as_a_whole():
    table = pa.table({"a": [[1, 2], [1, 2], [2, 1]]})
    assert unique_rows(table, [("a",)]) == (1,)
