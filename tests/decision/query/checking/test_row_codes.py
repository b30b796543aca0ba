"""Codes of rows that are alike in some columns."""

import pyarrow as pa

from policy_engine.decision.query.checking.row_codes import coded_rows


def test_rows_with_the_same_values_have_one_code_without_gaps():
    columns = [pa.chunked_array([["b", "a", None, "b"]]), pa.chunked_array([[1, 1, 1, 2]])]
    codes, firsts = coded_rows(columns, 4)
    assert sorted(codes.tolist()) == [0, 1, 2, 3]
    assert codes[firsts].tolist() == [0, 1, 2, 3]


def test_missing_values_are_alike_and_the_first_row_of_each_code_stands_for_it():
    codes, firsts = coded_rows([pa.chunked_array([[None, "a", None]])], 3)
    assert codes[0] == codes[2] != codes[1]
    assert sorted(firsts.tolist()) == [0, 1]


def test_rows_are_alike_where_no_column_is_asked_for():
    codes, firsts = coded_rows([], 2)
    assert (codes.tolist(), firsts.tolist()) == ([0, 0], [0])
