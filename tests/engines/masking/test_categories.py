from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest

from policy_engine.engines.masking.categories import codes_of, with_categories
from policy_engine.errors import DataError


def zero_of(kind):
    """Return one value of a type: 0, the first moment, midnight."""
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(0)], kind)
    return pa.array([0], pa.int64() if kind.bit_width == 64 else pa.int32()).cast(kind)


def with_matrix(kind, *categories):
    """Return the values of a column that has a 0 alone, with the categories of a matrix."""
    values = zero_of(kind)
    counts = pa.StructArray.from_arrays([values, pa.array([3])], names=["values", "counts"])
    masking = SimpleNamespace(name="at", categories=categories)
    return with_categories(masking, counts)


@pytest.mark.parametrize(
    ("kind", "categories"),
    [
        (pa.time32("s"), ("00:00:00", "09:30:00")),
        (pa.time32("ms"), ("00:00:00.000", "09:30:00.500")),
        (pa.decimal128(9, 2), ("0.00", "-1.50")),
        (pa.bool_(), ("false", "true")),
        (pa.int8(), ("0", "-7")),
        (pa.float32(), ("0", "0.1")),
    ],
    ids=str,
)
def test_a_matrix_may_have_categories_that_the_column_lacks(kind, categories):
    found = with_matrix(kind, *categories)
    assert found.field(0).cast(pa.string()).to_pylist() == list(categories)
    assert (found.field(0).type, found.field(1).to_pylist()) == (kind, [3, 0])


@pytest.mark.parametrize(
    ("kind", "zero", "other"),
    [
        (pa.time64("us"), "00:00:00.000000", "09:30:00.1234567"),
        (pa.time64("ns"), "00:00:00.000000000", "noon"),
        (pa.timestamp("ms"), "1970-01-01 00:00:00.000", "2020-02-30"),
        (pa.timestamp("s", "UTC"), "1970-01-01 00:00:00Z", "2020-02-03 10:00:00"),
        (pa.date32(), "1970-01-01", "never"),
        (pa.bool_(), "false", "perhaps"),
        (pa.decimal128(9, 2), "0.00", "0.001"),
        (pa.int8(), "0", "128"),
    ],
    ids=str,
)
def test_a_category_that_the_type_cannot_hold_is_refused(kind, zero, other):
    with pytest.raises(DataError, match="R013 The matrix of 'at' has categories that the type"):
        with_matrix(kind, zero, other)


@pytest.mark.parametrize(
    ("kind", "categories", "hint"),
    [
        (pa.int8(), ("0", "007"), "as the type int8 spells them"),
        (pa.float64(), ("0", "0.0"), "as the type double spells them"),
        (pa.time32("s"), ("00:00:00", "09:30"), r"time32\[s\] spells them: 00:00:00"),
    ],
)
def test_a_category_is_spelled_as_the_type_spells_it(kind, categories, hint):
    with pytest.raises(DataError, match=f"R013 .* spells categories otherwise.*{hint}"):
        with_matrix(kind, *categories)


def test_a_time_that_the_matrix_spells_otherwise_is_lacking_with_a_hint():
    with pytest.raises(DataError, match=r"lacks 1 of its.* spells them: 00:00:00.000"):
        with_matrix(pa.time32("ms"), "00:00:00", "09:30:00")


def test_a_value_that_was_not_there_is_refused():
    with pytest.raises(DataError, match="C010 The data had different values"):
        codes_of(pa.chunked_array([["d"]]), pa.array(["a", "b"]))
