"""Columns of every type, masked at random: published with their type, or refused by a code."""

import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied, asking, refused
from building import DATASET, column

from policy_engine import certify_output, compare_release
from policy_engine.errors import DataError, OutputError

ALONE = {"method": "masking", "insensitive": ["id"]}
PRAM = {"masking": "pram", "keep": 0.5}
SWAPPED = {"masking": "rank-swapping", "p": 0.5}
NOISE = {"masking": "noise", "sdShare": 0.5}
JOINT = {"masking": "correlated-noise", "sdShare": 0.5}
PRODUCT = {"masking": "multiplicative-noise", "logSd": 0.5}
ROUNDED = {"masking": "random-rounding", "base": 0.1}
MEANS = {"masking": "microaggregation", "groupSize": 2}
NUMERIC = [NOISE, JOINT, PRODUCT, ROUNDED, MEANS]
EVERY = [PRAM, SWAPPED, *NUMERIC]


def named(masking):
    return masking["masking"] if isinstance(masking, dict) else None


def table(values):
    return {"id": range(len(values)), "x": values}


def masked(values, masking, output=None):
    return applied(table(values), output, masked=[column("x", **masking)], key=b"k" * 32, **ALONE)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.5, 2.75, None, 30.25] * 5, pa.float32()),
        pa.array([1.5, 2.75, None, 30.25] * 5, pa.float64()),
        pa.array(map(Decimal, ["1.50", "2.75", "3.00", "30.25"] * 5), pa.decimal128(9, 2)),
        pa.array(map(Decimal, ["1.50", "2.75", "3.00", "30.25"] * 5), pa.decimal256(9, 2)),
    ],
    ids=lambda values: str(values.type),
)
@pytest.mark.parametrize("masking", EVERY, ids=named)
def test_a_declared_type_of_numbers_is_kept(values, masking):
    published = masked(values, masking).table.column("x")
    assert published.type == values.type
    assert published.null_count == values.null_count


@pytest.mark.one_in(4)
@pytest.mark.parametrize("scale", [18, 33])
@pytest.mark.parametrize("masking", NUMERIC, ids=named)
def test_decimals_of_more_digits_than_a_float_has_are_masked(masking, scale, tmp_path):
    # Spark's own decimals have 18 behind the point. A third is not written with all of them.
    pay = pa.array(map(Decimal, ["1.25", "2.5", "2.25", "30.125"] * 5), pa.decimal128(38, scale))
    published = masked(pay, masking, tmp_path / "out.parquet")
    digits = [len(one.normalize().as_tuple().digits) for one in published.table["x"].to_pylist()]
    assert max(digits) <= 17


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "kind",
    [pa.null(), pa.int32(), pa.float32(), pa.decimal128(7, 2), pa.string(), pa.date32()],
    ids=str,
)
@pytest.mark.parametrize("masking", [PRAM, NOISE, MEANS], ids=named)
def test_a_column_without_values_keeps_its_type(kind, masking):
    published = masked(pa.nulls(6, kind), masking).table.column("x")
    assert (published.type, published.null_count) == (kind, 6)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"a", b"\xff", b"c"] * 2),
        pa.array([b"a", b"b", b"c"] * 2, pa.binary(1)),
        pa.array([[1], [2], [3]] * 2),
        pa.array([{"a": 1}, {"a": 2}, {"a": 3}] * 2),
        pa.array([1, 2, 3] * 2, pa.float16()),
        pa.array([1, 2, 3] * 2, pa.duration("s")),
    ],
    ids=lambda values: str(values.type),
)
@pytest.mark.parametrize("masking", [PRAM, SWAPPED], ids=named)
def test_values_that_cannot_be_compared_are_refused(values, masking, tmp_path):
    parts = {"masked": [column("x", **masking)], **ALONE}
    assert refused(table(values), tmp_path, **parts) == ["R013"]


@pytest.mark.parametrize("kind", [pa.decimal32(3, 0), pa.decimal64(3, 0)], ids=str)
@pytest.mark.parametrize("masking", [PRAM, SWAPPED], ids=named)
def test_short_decimals_are_masked_or_refused_where_arrow_cannot_sort_them(kind, masking):
    values = pa.array([Decimal(1), Decimal(2), Decimal(3)] * 2, kind)
    try:
        published = masked(values, masking).table.column("x")
    except DataError as error:
        assert [problem.code for problem in error.problems] == ["R013"]  # noqa: PT017 (or none)
    else:
        assert set(published.to_pylist()) <= {Decimal(1), Decimal(2), Decimal(3)}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("size", [1e101, 1e155, 1e300, 1e-101, 1e-161, 5e-310])
@pytest.mark.parametrize("masking", [NOISE, JOINT, PRODUCT, MEANS], ids=named)
def test_numbers_whose_squares_are_not_floats_are_refused(size, masking, tmp_path):
    values = pa.array(np.array([1.0, 2, 3, -4]) * size)
    assert refused(table(values), tmp_path, masked=[column("x", **masking)], **ALONE) == ["R013"]


@pytest.mark.parametrize("size", [1e99, 1e-99])
@pytest.mark.parametrize("masking", [NOISE, JOINT, PRODUCT, MEANS], ids=named)
def test_numbers_near_the_limits_are_masked(size, masking):
    strong = {"sdShare": 100} if "sdShare" in masking else {}
    strong = {"logSd": 5} if "logSd" in masking else strong
    made = masked(pa.array(np.array([1.0, 2, 3, -4] * 5) * size), masking | strong)
    assert np.isfinite(made.table.column("x").to_numpy()).all()
    assert made.certificate.holds


@pytest.mark.parametrize("masking", [NOISE, JOINT, PRODUCT, MEANS], ids=named)
def test_floats_have_the_decimals_of_the_column(masking):
    values = np.random.default_rng(4).lognormal(3, 1, 50).round(2)
    published = masked(pa.array(values), masking).table.column("x").to_numpy()
    assert (published == published.round(2)).all()
    assert (published != values).any()


@pytest.mark.parametrize("masking", [NOISE, PRODUCT], ids=named)
def test_the_last_bits_of_exact_floats_are_not_published(masking):
    values = np.random.default_rng(4).lognormal(3, 1, 50)
    published = masked(pa.array(values), masking).table.column("x").to_numpy()
    mantissas = np.frexp(published)[0] * 2.0**40
    assert (mantissas == np.rint(mantissas)).all()


def test_multiples_are_the_floats_that_are_nearest_to_them():
    made = masked(pa.array([0.1, 0.25, 0.35, 123456.78]), ROUNDED)
    assert {len(str(value)) <= 8 for value in made.table.column("x").to_pylist()} == {True}


def test_multiples_that_floats_do_not_tell_apart_are_refused(tmp_path):
    parts = {"masked": [column("x", masking="random-rounding", base=0.0001)], **ALONE}
    assert refused(table(pa.array([1e13, 1e13 + 1])), tmp_path, **parts) == ["R013"]
    made = masked(pa.array([1e11, 1e11 + 1]), {"masking": "random-rounding", "base": 0.0001})
    assert made.table.column("x").to_pylist() == [1e11, 1e11 + 1]


@pytest.mark.parametrize("masking", [NOISE, JOINT, MEANS], ids=named)
def test_dates_of_a_file_are_dates(masking, tmp_path):
    days = [date(1970, 1, day) for day in (1, 5, 9, 20)] + [date(1969, 12, 5)]
    rows = "".join(f"{number},{day}\n" for number, day in enumerate(days))
    (tmp_path / "in.csv").write_text(f"id,x\n{rows}")
    for output in ("a.csv", "a.parquet"):
        folder = tmp_path / output[2:]
        asked = {"masked": [column("x", **masking)], "key": b"k" * 32, **ALONE}
        made = applied(tmp_path / "in.csv", folder / output, **asked)
        assert not any("negative" in doubt or "dominate" in doubt for doubt in made.release.doubts)
        assert made.table.schema.field("x").type == pa.date32()
        assert made.table.column("x").to_pylist() != days


def test_points_in_time_of_a_file_are_refused(tmp_path):
    (tmp_path / "in.csv").write_text("id,x\n1,2020-01-01 10:00\n2,2020-01-02 10:00\n")
    parts = {"masked": [column("x", **NOISE)], **ALONE}
    assert refused(tmp_path / "in.csv", tmp_path, **parts) == ["R013"]


def file_of(folder, texts):
    rows = "".join(f"{number},{text}\n" for number, text in enumerate(texts * 3))
    (folder / "in.csv").write_text(f"id,x\n{rows}")
    return folder / "in.csv"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("texts", "spelled"),
    [
        (["1.0", "1", "2.50", "1.00"], {"1", "2.5"}),
        ([" 7", "7", "8 "], {"7", "8"}),
        (["1e3", "1000.0", ".5"], {"1000", "0.5"}),
        (["1e300", "10e299", "2"], {"1e+300", "2"}),
        (["12345678901234567890", "2", "12345678901234567891"], None),
        ([" 2020-01-01", "2020-01-01", "2020-05-01"], {"2020-01-01", "2020-05-01"}),
        (["1.0", "1", "a"], {"1.0", "1", "a"}),
    ],
)
@pytest.mark.parametrize("masking", [PRAM, SWAPPED], ids=named)
def test_swapped_numbers_of_a_file_are_spelled_in_one_way(texts, spelled, masking, tmp_path):
    order = {"order": "lexicographic"} if "p" in masking and "a" in texts else {}
    asked = {"masked": [column("x", **masking, **order)], "key": b"k" * 32, **ALONE}
    made = applied(file_of(tmp_path, texts), tmp_path / "out" / "a.csv", **asked)
    found = {line.split(",")[1] for line in made.path.read_text().splitlines()[1:]}
    assert found <= (spelled or {*texts})
    for told in made.certificate.maskings:
        assert {*told.categories} in (set(), spelled or {*texts})


@pytest.mark.one_in(42)
@pytest.mark.parametrize(
    "texts",
    [
        ["1"] * 9 + ["2.5"],
        ["12345678901234567890", "2", "3"],
        ["0.123456789012345678", "1.5", "2.25", "12.5"],
        ["1.0", "a", "b"],
        ["10:00", "11:30", "09:15"],
        ["2020-01-01", "2020-01-05", "2020-03-01"],
        ["2020-01-01T10:00", "2020-01-05 11:00:00", "2020-03-01T10:00:30.5"],
        ["1e30", "2e30", "3e30"],
    ],
    ids=lambda texts: texts[0],
)
@pytest.mark.parametrize("masking", [PRAM, SWAPPED, *NUMERIC], ids=named)
@pytest.mark.parametrize("output", ["a.parquet", None])
def test_texts_of_a_file_are_published_with_types_or_refused(texts, masking, output, tmp_path):
    parts = {"masked": [column("x", **masking)], "key": b"k" * 32, **ALONE}
    place = tmp_path / "out" / output if output else None
    told = ""
    try:
        applied(file_of(tmp_path, texts), place, **parts)
    except DataError as error:
        told = str(error)
    is_unordered = masking == SWAPPED and "a" in texts
    assert told.count("R013") == told.count("\n") + bool(told)
    assert bool(told) == is_unordered or masking in NUMERIC


def test_what_is_not_a_number_among_numbers_is_refused(tmp_path):
    parts = {"masked": [column("x", **SWAPPED)], **ALONE}
    assert refused(file_of(tmp_path, ["1", "nan", "2"]), tmp_path, **parts) == ["R013"]


def test_a_column_without_a_value_is_carried_in_several_chunks(tmp_path):
    parts = [pa.table({"x": [1.5, 2.5], "empty": pa.nulls(2)}) for _ in range(8)]
    pq.write_table(pa.concat_tables(parts), tmp_path / "in.parquet", row_group_size=3)
    made = applied(
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        masked=[column("x", **NOISE)],
        insensitive=["empty"],
        method="masking",
    )
    assert made.table.column("empty").null_count == 16
    assert compare_release(tmp_path / "in.parquet", made.path, classifier=False, queries=2)


def test_bytes_beside_masked_numbers_are_refused_in_any_layout(tmp_path):
    for kind in (pa.binary(), pa.binary_view()):
        table = pa.table({"x": [0.25, 0.5, 1.75, 8.5], "raw": pa.array([b"a"] * 4, kind)})
        asked = {"masked": [column("x", **NOISE)], "insensitive": ["raw"], "method": "masking"}
        assert refused(table, tmp_path, **asked) == ["C009"]


@pytest.mark.parametrize("masking", [PRAM, SWAPPED], ids=named)
def test_periods_of_pandas_are_not_categories_and_have_no_order(masking, tmp_path):
    frame = pd.DataFrame({"x": pd.period_range("2020-01", periods=6, freq="M"), "age": range(6)})
    asked = {"masked": [column("x", **masking)], "insensitive": ["age"], "method": "masking"}
    assert refused(frame, tmp_path, **asked) == ["R013"]


def test_what_a_file_cannot_write_of_a_number_is_not_a_change(tmp_path):
    texts = ["1.5", "2.5", "3.3000000000000003", "4.4000000000000004"]
    least = column("x", masking="noise", sdShare=1e-300)
    given = file_of(tmp_path, texts)
    assert refused(given, tmp_path, masked=[least], **ALONE) == ["R013"]


@pytest.mark.parametrize(
    ("texts", "masking", "told"),
    [
        ([f"{one}.5e17" for one in range(1, 9)], NOISE, "makes numbers beyond 9,007,199,254,740,9"),
        ([f"{one}{'0' * 16}.5" for one in range(1, 9)], NOISE, "numbers of 17 digits or more"),
        (["23"] * 8, {"masking": "random-rounding", "base": 10}, "needs values that differ"),
        (["1.5", "2.5"] * 4, NOISE | {"sdShare": 1e-300}, "noise, sdShare 1e-300[.]"),
    ],
)
def test_a_refusal_tells_what_is_so(texts, masking, told, tmp_path):
    with pytest.raises(DataError, match=told):
        applied(
            file_of(tmp_path, texts), tmp_path / "a.csv", masked=[column("x", **masking)], **ALONE
        )


ODD_MASKINGS = [
    {"masking": "noise", "sdShare": 0.1},
    {"masking": "random-rounding", "base": 5},
    {"masking": "microaggregation", "groupSize": 3},
]


NO_NUMBERS = [
    *(pa.duration("s"), pa.list_(pa.int64()), pa.struct({"a": pa.int64()})),
    *(pa.map_(pa.string(), pa.int64()), pa.list_(pa.int64(), 2), pa.month_day_nano_interval()),
]


def without_values(kind):
    return pa.table({"id": range(6), "pay": pa.array([None] * 6, kind)})


CELL_MASKINGS = [
    {"masking": "rounding", "base": 5},
    {"masking": "top-coding", "threshold": 5, "replacement": "label"},
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", [pa.null(), pa.time64("us")], ids=str)
@pytest.mark.parametrize(
    "masking",
    [*ODD_MASKINGS, *CELL_MASKINGS, {"masking": "rank-swapping", "p": 0.3}],
    ids=lambda one: one["masking"],
)
def test_a_column_of_any_type_without_values_is_certified(kind, masking, tmp_path):
    pq.write_table(without_values(kind), tmp_path / "in.parquet")
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("pay", **masking)]}
    made = applied(tmp_path / "in.parquet", tmp_path / "out" / "a.parquet", **asked)
    data = {DATASET: tmp_path / "in.parquet"}
    assert certify_output(made.path, asking(**asked), data=data).holds


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.list_(pa.int64(), 2)], ids=str)
@pytest.mark.parametrize("masking", CELL_MASKINGS, ids=lambda one: one["masking"])
def test_lists_without_values_are_certified_value_by_value(kind, masking, tmp_path):
    pq.write_table(without_values(kind), tmp_path / "in.parquet")
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("pay", **masking)]}
    made = applied(tmp_path / "in.parquet", tmp_path / "out" / "a.parquet", **asked)
    data = {DATASET: tmp_path / "in.parquet"}
    assert certify_output(made.path, asking(**asked), data=data).holds


@pytest.mark.parametrize("kind", NO_NUMBERS, ids=str)
@pytest.mark.parametrize("masking", ODD_MASKINGS, ids=lambda one: one["masking"])
def test_a_column_of_no_numbers_without_values_is_refused(kind, masking, tmp_path):
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("pay", **masking)]}
    assert refused(without_values(kind), tmp_path, **asked) == ["R013"]


DRAWN = [
    {"masking": "pram", "keep": 0.5},
    {"masking": "rank-swapping", "p": 0.5, "order": "lexicographic"},
]


@pytest.mark.parametrize("masking", DRAWN, ids=lambda one: one["masking"])
def test_empty_texts_are_masked_into_parquet_and_not_into_csv(masking, tmp_path):
    table = pa.table({"id": range(60), "x": ["", "a", "b", "c", None, "e"] * 10})
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("x", **masking)]}
    made = applied(table, tmp_path / "a" / "a.parquet", **asked)
    assert made.certificate.holds
    with pytest.raises(OutputError, match=r"O002 .* empty texts of 'x'.* Write Parquet"):
        applied(table, tmp_path / "b" / "b.csv", **asked)
    with pytest.raises(OutputError, match="O002"):
        applied(table, **asked).write(tmp_path / "c.csv.gz")
    assert not [*tmp_path.glob("[bc]*")]


def test_rows_that_lack_what_a_shuffle_is_given_are_told_so(tmp_path):
    table = pa.table({"id": range(4), "x": [1, 2, 3, 4], "age": [1, None, 3, 4]})
    shuffled = column("x", masking="shuffling", given=[{"@id": f"{DATASET}/age"}])
    told = "1 row. 'x' is masked given 'age'. Fill the columns, or give it columns that have values"
    with pytest.raises(DataError, match=re.escape(told)):
        applied(table, tmp_path / "a.csv", method="masking", insensitive=["age"], masked=[shuffled])


@pytest.mark.nightly
def test_categories_of_a_file_stay_texts_whichever_are_drawn(tmp_path):
    rows = "".join(f"{number},{text}\n" for number, text in enumerate([" 3", "+4", "2", "5.50"]))
    (tmp_path / "in.csv").write_text(f"id,x\n{rows}")
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("x", **PRAM)]}
    for number in range(20):
        made = applied(tmp_path / "in.csv", tmp_path / str(number) / "a.parquet", **asked)
        assert pq.read_schema(made.path).field("x").type == pa.string()
