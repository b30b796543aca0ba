"""Values of two tables that are the same, however their files write them."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.masking.common_forms import StoredType
from policy_engine.engines.masking.kept_types import other_types
from policy_engine.engines.masking.kept_values import strange_rows
from policy_engine.engines.tables import infer_types, read_table, write_table

KEPT = ["kept"]
CSV = pa.schema([pa.field("kept", pa.string(), metadata={"csv": "text"})])
NOON = dt.datetime.fromisoformat("2024-02-29T12:00:01.5")
EARLY = dt.datetime.fromisoformat("1200-01-01")
TEN = dt.datetime.fromisoformat("2024-01-01T10:00")
STAMPS = {0: "2024-01-01 10:00:00", 5: "2024-02-29 12:00:01"}
FINER = pa.scalar(NOON, pa.timestamp("ns")).value + 7


def typed(values, kind):
    return pa.table({"kept": pa.array(values, kind)})


def written(*texts):
    """Return texts as the cells of a CSV file."""
    return pa.table([pa.array([one or None for one in texts], pa.string())], schema=CSV)


SAME = [
    (typed([2**53 + 1, -7], pa.int64()), written("9007199254740993", "-7")),
    (typed([7], pa.int8()), written(" 7")),
    (typed([7], pa.int8()), typed([7], pa.int64())),
    (typed([2**64 - 1], pa.uint64()), typed([Decimal(2**64 - 1)], pa.decimal128(20, 0))),
    (typed([0.1, 1e20, 5e-324], pa.float64()), written("0.1", "1e+20", "5e-324")),
    (typed([float("inf"), 1e308], pa.float64()), written("inf", "1e308")),
    (typed([None], pa.float64()), written("NaN")),
    (typed([0.1], pa.float32()), written("0.1")),
    (typed([Decimal("1.10"), Decimal("3E-8")], pa.decimal128(9, 8)), written("1.1", "3E-8")),
    (typed([dt.date(1500, 1, 2)], pa.date32()), written("1500-01-02")),
    (typed([dt.date(1500, 1, 2)], pa.date64()), typed([dt.date(1500, 1, 2)], pa.date32())),
    (typed([NOON], pa.timestamp("us")), written("2024-02-29T12:00:01.5")),
    (typed([NOON], pa.timestamp("us")), typed([NOON], pa.timestamp("ns"))),
    (typed([EARLY], pa.timestamp("s")), written("1200-01-01 00:00:00")),
    (typed([NOON], pa.timestamp("us", "UTC")), written("2024-02-29 13:00:01.5+01:00")),
    (typed([dt.time(9, 30)], pa.time64("us")), written("09:30")),
    (typed([True, False], pa.bool_()), written("true", "false")),
    (typed([None, None], pa.int64()), written("", "")),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_values_that_a_file_without_types_writes_in_any_way_are_those_of_types(one, other):
    assert strange_rows(other, one, KEPT) == 0


WRITTEN = [
    (typed(["01", "1.0", " a", "", None], pa.string()), written("01", "1.0", " a", "", "")),
    (typed([7, 2**53 + 1], pa.int64()), written("7", "9007199254740993")),
    (typed([0.1, 1e20, None], pa.float64()), written("0.1", "1e+20", "")),
    (typed([0.1], pa.float32()), written("0.1")),
    (typed([Decimal("1.10")], pa.decimal128(9, 2)), written("1.10")),
    (typed([dt.date(1500, 1, 2)], pa.date32()), written("1500-01-02")),
    (typed([NOON, TEN], pa.timestamp("ms")), written(*(f"{STAMPS[n]}.{n}00" for n in (5, 0)))),
    (typed([NOON, TEN], pa.timestamp("ms")), written(*(f"{STAMPS[n]}.{n}00000" for n in (5, 0)))),
    (typed([TEN], pa.timestamp("s", "Europe/Rome")), written("2024-01-01 11:00:00+0100")),
    (typed([TEN], pa.timestamp("s", "Europe/Rome")), written("2024-01-01 10:00:00.000000Z")),
    (typed([dt.time(9, 30)], pa.time64("us")), written("09:30:00.000000")),
    (typed([True, False, None], pa.bool_()), written("true", "false", "")),
]


@pytest.mark.parametrize(("one", "other"), WRITTEN)
def test_values_of_types_are_those_that_a_file_without_types_has_of_them(one, other):
    assert strange_rows(one, other, KEPT) == 0


ODDLY = [
    (typed([7], pa.int8()), written(" 7")),
    (typed([7], pa.int8()), written("7.0")),
    (typed([0.0], pa.float64()), written("-0")),
    (typed([None], pa.float64()), written("NaN")),
    (typed([1e20], pa.float64()), written("1e20")),
    (typed([Decimal("1.10")], pa.decimal128(9, 2)), written("1.1")),
    (typed([TEN], pa.timestamp("us")), written("2024-01-01T10:00:00.000000")),
    (typed([TEN, TEN], pa.timestamp("us")), written(STAMPS[0] + ".000000", STAMPS[0])),
    (typed([TEN], pa.timestamp("us", "UTC")), written("2024-01-01 11:00:00.000000+0100")),
    (typed([dt.time(9, 30)], pa.time64("us")), written("09:30")),
    (typed([True], pa.bool_()), written("True")),
    (typed([NOON], pa.timestamp("us")), typed([FINER], pa.timestamp("ns"))),
    (written("a", ""), typed(["a", ""], pa.string())),
]


@pytest.mark.parametrize(("one", "other"), ODDLY)
def test_values_that_are_written_otherwise_are_found(one, other):
    assert strange_rows(one, other, KEPT) == 1


TYPES = [
    (pa.int64(), pa.string(), False),
    (pa.int64(), pa.int32(), True),
    (pa.uint64(), pa.decimal128(20, 0), True),
    (pa.string(), pa.int64(), False),
    (pa.date32(), pa.timestamp("us"), False),
    (pa.timestamp("us"), pa.timestamp("ns"), True),
    (pa.timestamp("us", "Europe/Rome"), pa.timestamp("us", "UTC"), True),
    (pa.timestamp("us", "UTC"), pa.timestamp("us", "Europe/Rome"), False),
    (pa.timestamp("us"), pa.timestamp("us", "UTC"), False),
    (pa.float32(), pa.float64(), True),
    (pa.list_(pa.float32()), pa.list_(pa.float32(), 2), True),
]


@pytest.mark.parametrize(("before", "after", "is_kept"), TYPES, ids=str)
def test_a_type_is_kept_by_others_of_its_kind(before, after, is_kept):
    types = ({"kept": StoredType(one, is_untyped=False)} for one in (before, after))
    assert ([*other_types(*types, KEPT)] == []) == is_kept


LONG = Decimal("12345678901234567890.0000000001")
OTHER = [
    (typed([2**53 + 1], pa.int64()), written("9007199254740992")),
    (typed([LONG], pa.decimal128(38, 10)), written("12345678901234567890.0000000002")),
    (typed([0.1], pa.float64()), written("0.10000000000000002")),
    (typed([NOON], pa.timestamp("us")), written("2024-02-30 12:00:01.5")),
    (typed([NOON], pa.timestamp("us")), written("noon")),
    (typed([1, None], pa.int64()), written("1", "1")),
    (typed([7], pa.int64()), written("seven")),
    (typed([0.5], pa.float64()), written("half")),
    (typed([dt.time(9, 30)], pa.time64("us")), written("9:30")),
    (typed(["a", None], pa.string()), typed(["a", ""], pa.string())),
    (typed(["1"], pa.string()), typed(["1.0"], pa.string())),
    (written("1"), written("1.0")),
    (written("a"), written(" a")),
    (typed(["a"], pa.string()), typed([7], pa.int64())),
]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_values_that_are_others_are_found_in_any_file(one, other):
    assert strange_rows(one, other, KEPT) == strange_rows(other, one, KEPT) == 1


def test_a_time_that_there_is_not_leaves_the_others_as_they_are():
    table = written("2023-02-30 10:00", "2024-01-01 10:00", "2024-01-02 10:00Z")
    output = typed([TEN], pa.timestamp("us"))
    assert strange_rows(table, output, KEPT) == 0


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=4)
DIGITS = st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{0,3})?([eE]-?[0-9])?", fullmatch=True)
COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), TEXTS, DIGITS), min_size=1).map(lambda v: pa.array(v, "string")),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1).map(
        lambda values: pa.array(values, pa.float64())
    ),
    st.lists(st.datetimes(), min_size=1).map(lambda v: pa.array(v, pa.timestamp("us"))),
    st.lists(st.decimals(-999, 999, places=3), min_size=1).map(
        lambda values: pa.array(values, pa.decimal128(9, 3))
    ),
)


@given(COLUMNS)
def test_values_are_those_of_the_file_that_they_are_written_to(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("kept")
    table = pa.table({"kept": values})
    tables = [table]
    for ending in ("csv", "parquet"):
        write_table(table, folder / f"a.{ending}")
        tables.append(read_table(folder / f"a.{ending}"))
    assert [strange_rows(table, other, KEPT) for other in tables] == [0] * len(tables)
    outputs = (tables[1], infer_types(tables[1]))
    assert [strange_rows(tables[1], other, KEPT) for other in outputs] == [0, 0]
