"""Rows that outputs are made of, from frames of three libraries."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from policy_engine.audits.outputs.microdata import Microdata, coded, feature_matrix, numbers_of
from policy_engine.errors import DataError, RequestError

ROWS = {"person": ["b", "a", "b", None], "sex": ["m", "f", "m", "f"], "pay": [1.5, 2.0, None, 4.0]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_units_are_numbered_in_order_in_frames_of_any_library(library):
    data = Microdata.of(library(ROWS), "person")
    assert data.units.tolist() == [1, 0, 1, -1]
    assert (data.rows, data.unit_count) == (4, 2)
    assert data.digest == Microdata.of(library(ROWS), "person").digest


def test_rows_are_units_without_a_column_of_them():
    assert Microdata.of(pa.table(ROWS)).units.tolist() == [0, 1, 2, 3]


def test_what_is_no_table_or_lacks_the_unit_is_refused():
    with pytest.raises(DataError, match="C010"):
        Microdata.of([1, 2])
    with pytest.raises(DataError, match=r"C005.*'persn'.*person"):
        Microdata.of(pa.table(ROWS), "persn")


def test_columns_that_arrow_has_no_type_for_are_refused():
    frame = pd.DataFrame({"person": [1, 2], "x": pd.arrays.SparseArray([0, 1])})
    with pytest.raises(DataError, match=r"C010.*Sparse"):
        Microdata.of(frame)


def test_zero_is_one_value_of_a_key_whatever_its_sign():
    data = Microdata.of(pa.table({"x": [0.0, -0.0, None]}))
    assert coded("x", data.table["x"]).labels == (0.0,)


def test_series_with_labels_are_of_the_rows_that_have_these():
    frame = pd.DataFrame(ROWS, index=[10, 20, 30, 40])
    data = Microdata.of(frame, "person")
    women = frame[frame.sex == "f"]
    chosen = data.choose([women.sex, "pay"])
    assert chosen.units.tolist() == [0, -1]
    assert [name for name, _ in chosen.columns] == ["sex", "pay"]
    assert chosen.columns[1][1].to_pylist() == [2.0, 4.0]


def test_series_of_other_rows_or_of_rows_nobody_knows_are_refused():
    frame = pd.DataFrame(ROWS)
    data = Microdata.of(frame, "person")
    with pytest.raises(RequestError, match="K025"):
        data.choose([frame.sex[frame.sex == "f"], frame.pay[frame.sex == "m"]])
    with pytest.raises(RequestError, match="K025"):
        Microdata.of(pl.DataFrame(ROWS), "person").choose([pl.Series("sex", ["f"])])


def test_a_part_keeps_the_numbers_of_units_and_has_no_others():
    data = Microdata.of(pl.DataFrame(ROWS), "person")
    part = data.part(pl.DataFrame(ROWS).filter(pl.col("person") == "b"))
    assert (part.units.tolist(), part.unit_count) == ([1, 1], 2)
    with pytest.raises(RequestError, match="K025"):
        data.part(pl.DataFrame({"person": ["stranger"]}))


def test_categories_keep_their_order_and_unused_ones_are_left_out():
    column = pa.chunked_array([pa.array(["low", None, "high"])]).dictionary_encode()
    frame = pd.Series(pd.Categorical(["low", "high"], categories=["low", "mid", "high"]))
    assert coded("x", column).codes.tolist() == [0, -1, 1]
    assert coded("x", pa.chunked_array(frame)).labels == ("low", "high")


def test_numbers_are_missing_where_the_column_is_and_texts_are_refused():
    assert np.isnan(numbers_of("pay", pa.table(ROWS)["pay"])[2])
    assert numbers_of("b", pa.chunked_array([[True, False]])).tolist() == [1, 0]
    with pytest.raises(DataError, match="C009"):
        numbers_of("sex", pa.table(ROWS)["sex"])
    with pytest.raises(DataError, match="C009"):
        feature_matrix([["a"]])
