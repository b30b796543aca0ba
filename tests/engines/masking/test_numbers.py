from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.numbers import (
    decimal_texts,
    float_decimals,
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
        (pa.array([1.5], pa.float32()), None, pa.array([2.0], pa.float32())),
        (pa.array([1.5], pa.float16()), None, pa.array([2.0], pa.float16())),
        (pa.array(["2020-02-28", None]), pa.date32(), pa.array(["2020-02-29", None])),
        (pa.array(["1", None, " 30"]), pa.int64(), pa.array(["2", None, "31"])),
        (pa.array(["1.5", "0.25"]), pa.float64(), pa.array(["2", "0.75"])),
        (pa.array([date(2020, 2, 28)]), None, pa.array([date(2020, 2, 29)])),
        (
            pa.array([NOON.replace(microsecond=7)], pa.timestamp("us")),
            None,
            pa.array([NOON.replace(microsecond=8)], pa.timestamp("us")),
        ),
        (pa.array([None, None], pa.null()), None, pa.array([None, None], pa.null())),
    ],
)
def test_numbers_are_published_as_what_they_were(array, inferred, made):
    is_half = inferred == pa.float64() or pa.types.is_floating(made.type)
    step = 0.5 if is_half else 1
    found = published(array, inferred, lambda values: values + step)
    assert found.type == made.type
    assert found.to_pylist() == made.to_pylist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_points_in_time_are_rounded_to_the_unit_of_their_values(unit):
    values = [NOON, NOON.replace(year=1930), None]
    whole = pa.array(values, pa.timestamp(unit))
    for step in (-499_999, 499_999, 500_000):  # a tie goes to the even second
        found = published(whole, change=lambda values, step=step: values + step)
        assert found.type == whole.type
        assert found.to_pylist() == values
    found = published(whole, change=lambda values: values - 500_001)
    assert found.to_pylist()[:1] == [NOON - timedelta(seconds=1)]


def test_points_in_time_of_milliseconds_are_rounded_to_these():
    array = pa.array([NOON, NOON.replace(microsecond=3000)], pa.timestamp("us", "UTC"))
    found = published(array, change=lambda values: values + 700).cast(pa.int64())
    assert [one % 1_000_000 for one in found.to_pylist()] == [1000, 4000]


def test_points_in_time_beyond_their_type_are_refused():
    array = pa.array([2**63 - 1], pa.timestamp("ns"))
    with pytest.raises(DataError, match="R013 The masking of 'pay' makes values that the type"):
        published(array, change=lambda values: values + 1000)


@pytest.mark.parametrize(
    "kind",
    [pa.decimal32(5, 2), pa.decimal64(5, 2), pa.decimal128(5, 2), pa.decimal256(5, 2)],
)
def test_decimals_keep_their_type(kind):
    array = pa.array([Decimal("1.50"), None, Decimal("-3.25")], kind)
    found = published(array, change=lambda values: values * 1.001)
    assert found.type == kind
    assert found.to_pylist() == [Decimal("1.50"), None, Decimal("-3.25")]
    with pytest.raises(DataError, match="R013 The masking of 'pay' makes values that the type"):
        published(array, change=lambda values: values * 1000)


def test_floats_of_few_bits_are_the_numbers_that_are_written():
    array = pa.array([0.1, -2.3], pa.float32())
    found = published(array, change=lambda values: values + 0.2)
    assert found.cast(pa.string()).to_pylist() == ["0.3", "-2.1"]
    with pytest.raises(DataError, match="R013 The masking of 'pay' makes values that the type"):
        published(array, change=lambda values: values + 1e39)


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([], 0),
        ([1, -20, 3e17, 0], 0),
        ([0.1, 2.25, float("nan")], 2),
        ([1234.5, 1e-15], 15),
        ([1e-16], 16),
        ([1 / 3], 16),
        ([1e15 / 3], 1),
    ],
)
def test_floats_have_as_many_decimals_as_the_most_exact_one(values, decimals):
    assert float_decimals(np.array(values, np.float64)) == decimals


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.integers(0, 6))
def test_floats_are_published_with_the_decimals_of_the_column(numbers, decimals):
    array = pa.array([number / 10**decimals for number in numbers])
    found = published(array, change=lambda values: values + 1 / 3).to_pylist()
    assert float_decimals(np.array(found)) <= float_decimals(np.array(array.to_pylist()))
    assert all(abs(one - old) < 1 for one, old in zip(found, array.to_pylist(), strict=True))


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
        (pa.array(["2020-01-01 10:00"]), pa.timestamp("ns"), "holds points in time in a file"),
        (pa.array(["1", "12345678901234567890"]), pa.float64(), "integers of more than 53 bits"),
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


_WRITTEN = st.sampled_from(
    [*("1", "-2.50", "+.125", "3.", "1e-3"), *("1.5E+2", "0.10 ", "\x1c7.25", "nan")]
)


def most_decimals(texts):
    """Return the most digits behind the point, reading each number by itself."""
    exponents = [Decimal(text.strip()).as_tuple().exponent for text in texts if text is not None]
    return max([0, *(-one for one in exponents if isinstance(one, int))])


@given(st.lists(st.none() | _WRITTEN, max_size=6), st.booleans())
def test_decimals_are_those_of_the_number_with_most(texts, is_dictionary):
    array = pa.array(texts, pa.string())
    column = pa.chunked_array([array.dictionary_encode() if is_dictionary else array])
    assert number_form("pay", column, pa.float64()).decimals == most_decimals(texts)
