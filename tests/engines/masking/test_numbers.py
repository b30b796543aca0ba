from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.numbers import (
    decimal_texts,
    from_floats,
    number_form,
    to_floats,
)
from policy_engine.errors import DataError

NOON = datetime(2020, 2, 28, 12)  # noqa: DTZ001 (as a file writes it)


def published(array, inferred=None, change=lambda values: values):
    """Return a column after a change of its numbers."""
    column = pa.chunked_array([array])
    form = number_form("pay", column, inferred)
    return from_floats("pay", change(to_floats("pay", column, form)), form, column)


@pytest.mark.parametrize(
    ("array", "inferred", "made"),
    [
        (pa.array([1, None, -2], pa.int8()), None, pa.array([2, None, -1], pa.int64())),
        (pa.array([1.5, None]), None, pa.array([2.0, None])),
        (pa.array([1.5], pa.float32()), None, pa.array([2.0])),
        (pa.array(["1", None, " 30"]), pa.int64(), pa.array(["2", None, "31"])),
        (pa.array(["1.5", "0.25"]), pa.float64(), pa.array(["2", "0.75"])),
        (pa.array([date(2020, 2, 28)]), None, pa.array([date(2020, 2, 29)])),
        (
            pa.array([NOON], pa.timestamp("us")),
            None,
            pa.array([NOON + timedelta(microseconds=1)], pa.timestamp("us")),
        ),
        (pa.array([None, None], pa.null()), None, pa.array([None, None], pa.null())),
    ],
)
def test_numbers_are_published_as_what_they_were(array, inferred, made):
    step = 0.5 if made.type in (pa.float64(), pa.string()) and inferred != pa.int64() else 1
    found = published(array, inferred, lambda values: values + step)
    assert found.type == made.type
    assert found.to_pylist() == made.to_pylist()


def test_decimals_keep_their_scale():
    array = pa.array([Decimal("1.50"), Decimal("-3.25")], pa.decimal128(5, 2))
    found = published(array, change=lambda values: values * 1.001)
    assert found.type == pa.decimal128(38, 2)
    assert found.to_pylist() == [Decimal("1.50"), Decimal("-3.25")]


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1), st.integers(0, 3))
def test_decimals_are_written_as_python_writes_them(numbers, decimals):
    values = np.array(numbers) / 10**decimals
    texts = decimal_texts(values, decimals).to_pylist()
    assert [float(text) for text in texts] == values.tolist()
    assert not any(text.endswith(".") or ("." in text and text.endswith("0")) for text in texts)
    assert "-0" not in texts


@pytest.mark.parametrize(
    ("array", "inferred", "told"),
    [
        (pa.array(["a"]), pa.string(), "holds texts"),
        (pa.array(["2020-01-01"]), pa.date32(), "holds values of the type date32"),
        (pa.array([True]), None, "holds values of the type bool"),
        (pa.array([[1]]), None, "holds values of the type list"),
        (pa.array([1.0, float("inf")]), None, "values that are not finite numbers"),
        (pa.array([1.0, float("nan")]), None, "values that are not finite numbers"),
        (pa.array([2**53 + 2]), None, "integers of more than 53 bits"),
    ],
)
def test_what_is_no_number_is_refused(array, inferred, told):
    with pytest.raises(DataError, match=f"R013 The column 'pay' holds .*{told.split(' ', 1)[-1]}"):
        published(array, inferred)


@pytest.mark.parametrize(
    "array", [pa.array([2**53 - 1]), pa.array([date(9999, 12, 1)]), pa.array([date(1, 1, 2)])]
)
def test_what_its_type_cannot_hold_is_refused(array):
    step = -60 if array[0].as_py() == date(1, 1, 2) else 2**53 if array.type == pa.int64() else 60
    with pytest.raises(DataError, match="R013 The masking of 'pay' makes values that the type"):
        published(array, change=lambda values: values + step)
