import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.distinct_values import text_ranks
from policy_engine.engines.encoding import ancestry, encode
from policy_engine.engines.text_types import to_inferred_type
from policy_engine.errors import DataError

NAN = float("nan")


def encoded(values, kind=None, *, numbers=False):
    column = values if isinstance(values, pa.Array) else pa.array(values, kind)
    return encode("x", pa.chunked_array([column]), numbers=numbers)


def seen(column):
    return [column.labels[code] for code in column.codes]


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([7, -3, 20], pa.int64(), ["-3", "7", "20"]),
        ([7, -3, 20], pa.int8(), ["-3", "7", "20"]),
        ([-(2**63), 2**63 - 1], pa.int64(), ["-9223372036854775808", "9223372036854775807"]),
        ([2**64 - 1, 0, 2**64 - 2], pa.uint64(), ["0", f"{2**64 - 2}", f"{2**64 - 1}"]),
        ([1.5, -0.25, 1e20], pa.float64(), ["-0.25", "1.5", "1e+20"]),
        ([0.1, 2.5], pa.float32(), ["0.1", "2.5"]),
        ([np.float16(1.5), np.float16(0.5)], pa.float16(), ["0.5", "1.5"]),
        ([Decimal("10.50"), Decimal("-2.25")], pa.decimal128(9, 2), ["-2.25", "10.50"]),
        ([Decimal("10.50"), Decimal("-2.25")], pa.decimal256(50, 2), ["-2.25", "10.50"]),
        ([dt.date(2020, 2, 1), dt.date(1900, 1, 1)], pa.date32(), ["1900-01-01", "2020-02-01"]),
        ([dt.date(2020, 2, 1), dt.date(1900, 1, 1)], pa.date64(), ["1900-01-01", "2020-02-01"]),
        ([dt.time(9, 30), dt.time(8)], pa.time32("s"), ["08:00:00", "09:30:00"]),
        ([dt.time(9, 30, 0, 250), dt.time(8)], pa.time64("us"), ["08:00:00", "09:30:00.00025"]),
    ],
)
def test_encode_orders_numbers_dates_and_times(values, kind, labels):
    column = encoded([*values, None, values[0]], kind)
    assert column.is_ordered
    assert column.has_missing
    assert column.labels.tolist() == ["", *labels]
    assert column.codes.tolist()[-2:] == [0, column.codes[0]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_encode_writes_timestamps_without_idle_zeros(unit):
    seconds = pa.array([90, 0]).cast(pa.timestamp("s"))
    column = encoded(seconds.cast(pa.timestamp(unit)))
    assert column.labels.tolist() == ["1970-01-01 00:00:00", "1970-01-01 00:01:30"]


def test_encode_orders_timestamps_with_a_zone_by_the_instant():
    # the clock of Rome goes back from 03:00 to 02:00 between them
    texts = pa.array(["2020-10-25 01:10:00Z", "2020-10-25 00:30:00Z"])
    assert encoded(texts.cast(pa.timestamp("s", "UTC"))).labels.tolist() == texts.to_pylist()[::-1]
    assert encoded(texts.cast(pa.timestamp("s", "Europe/Rome"))).codes.tolist() == [1, 0]


def test_encode_takes_nan_for_missing():
    column = encoded([2.0, NAN, None, 1.0])
    assert column.codes.tolist() == [2, 0, 0, 1]
    assert column.values().tolist() == [1, -1, -1, 0]


def test_encode_takes_both_zeros_for_one():
    assert encoded([-0.0, 0.0, 1.0]).codes.tolist() == [0, 0, 1]


def test_encode_sets_truth_values_beside_each_other():
    column = encoded([True, None, False])
    assert not column.is_ordered
    assert column.labels.tolist() == ["", "false", "true"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_encode_orders_texts_by_their_characters(kind):
    column = encoded(["b", "Z", None, "", "b"], kind)
    assert not column.is_ordered
    assert column.labels.tolist() == ["", "", "Z", "b"]
    assert column.codes.tolist() == [3, 2, 0, 1, 3]


def test_encode_of_a_dictionary_counts_only_the_values_of_rows():
    words = pa.array(["b", "unused", "a", "b", None])
    column = encoded(pa.DictionaryArray.from_arrays(pa.array([0, 2, 3, 4, None]), words))
    assert column.labels.tolist() == ["", "a", "b"]
    assert column.codes.tolist() == [2, 1, 2, 0, 0]


def test_encode_of_chunks_with_dictionaries_of_their_own():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    column = encode("x", pa.chunked_array(chunks), numbers=False)
    assert column.codes.tolist() == [1, 0, 2, 1]


@pytest.mark.parametrize("kind", [pa.null(), pa.int64(), pa.float64(), pa.string(), pa.date32()])
def test_encode_where_all_is_missing(kind):
    column = encoded([None, None], kind)
    assert column.codes.tolist() == [0, 0]
    assert column.labels.tolist() == [""]
    assert column.values().tolist() == [-1, -1]


def test_encode_without_rows():
    assert encoded([], pa.int64()).codes.tolist() == []
    assert encoded([], pa.string()).codes.tolist() == []


def test_encode_places_numbers_by_value_and_texts_by_rank():
    assert encoded([0, 1, 10]).position.tolist() == [0.0, 0.1, 1.0]
    assert encoded(["a", "b", "z"]).position.tolist() == [0.0, 0.5, 1.0]
    assert encoded([None, 5, 7]).position.tolist() == [0.0, 0.0, 1.0]
    assert encoded([5, 5]).position.tolist() == [0.0]


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["10", "9.5", "1e1"], ["9.5", "10"]),
        ([".5", "0.50", "1."], [".5", "1."]),
        (["1.0", "1", "1.00"], ["1"]),
        (["-0", "0"], ["0"]),
        ([" 7", "7 ", "7"], ["7"]),
        (["1e300", "-1e-300"], ["-1e-300", "1e300"]),
        (["0.1234567890123456", "0.12345678901234561"], 2),
        (["12345678901234567891", "12345678901234567890"], 2),
        (["2020-02-01", "2019-12-31"], ["2019-12-31", "2020-02-01"]),
        (["2020-02-01 10:00", "2020-02-01T10:00:00"], ["2020-02-01 10:00"]),
        (["2020-02-01 10:00", "2020-02-01 09:59:59.5"], 2),
        (["2020-02-01T10:00Z", "2020-02-01T09:00:00Z"], 2),
        (["10:00", "9:00:00", "08:00"], None),
        (["10:00", "10:00:00", "08:00:00.5"], ["08:00:00.5", "10:00"]),
        (["007", "7"], None),
        (["1", "x"], None),
        (["1", "nan"], ["", "1"]),
        (["1.2345678901234567", "NaN"], ["", "1.2345678901234567"]),
        (["1,5", "2"], None),
        (["+5", "6"], None),
        (["2020-02-30", "2020-02-01"], None),
        (["2020-02-01", "2020-02-01 10:00"], None),
        (["2020-02-01 24:00", "2020-02-01 10:00"], None),
        (["25:00", "10:00"], None),
        (["2020-02-01 10:00Z", "2020-02-01 10:00"], None),
    ],
)
def test_encode_reads_the_texts_of_a_csv_file_as_what_all_of_them_are(texts, labels):
    column = encoded(texts, numbers=True)
    assert column.is_ordered == (labels is not None)
    if isinstance(labels, int):
        assert len(column.labels) == labels
    else:
        assert column.labels.tolist() == (labels or sorted(texts))


def test_encode_reads_texts_with_types_as_times_but_not_as_numbers():
    assert not encoded(["1", "2"]).is_ordered
    assert encoded(["2020-01-01", "2020-01-02"]).is_ordered


@pytest.mark.parametrize("values", [[1.0, float("inf")], [float("-inf"), None]])
def test_encode_refuses_infinite_numbers(values):
    with pytest.raises(DataError, match="R004 The column 'x' holds infinite values"):
        encoded(values)


def test_encode_refuses_texts_of_numbers_too_large():
    with pytest.raises(DataError, match="R004"):
        encoded(["1e100001", "1"], numbers=True)


def test_encode_refuses_dates_before_the_calendar():
    with pytest.raises(DataError, match="R004 The column 'x' holds a time outside"):
        encoded(pa.array([-1_000_000], pa.int32()).cast(pa.date32()))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1]], pa.list_(pa.int64())),
        ([{"a": 1}], pa.struct({"a": pa.int64()})),
        ([b"a"], pa.binary()),
        ([dt.timedelta(1)], pa.duration("s")),
    ],
)
def test_encode_refuses_types_without_an_order(values, kind):
    with pytest.raises(DataError, match="C009 The column 'x' is of type"):
        encoded(values, kind)


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", None, "-20"], pa.int64()),
        (["1.5", "1e3", None], pa.float64()),
        (["0.12345678901234567", "1"], pa.string()),
        (["1e400", "1"], pa.string()),
        (["-1e999", "nan"], pa.string()),
        (["007", "1"], pa.string()),
        (["2020-01-01", None], pa.date32()),
        (["2020-01-01 10:00", "2020-01-01T10:00:00"], pa.timestamp("ns")),
        (["2020-01-01 10:00Z"], pa.timestamp("ns", "UTC")),
        (["10:00", "10:00:01.5"], pa.time64("ns")),
        (["a", None], pa.string()),
        ([None, None], pa.string()),
    ],
)
def test_typed_gives_a_column_the_type_of_all_its_texts(texts, kind):
    column = to_inferred_type(pa.chunked_array([pa.array(texts, pa.string())]))
    assert column.type == kind
    assert column.is_null().to_pylist() == [text is None for text in texts]


def test_infinite_values_that_are_kept_need_no_axis():
    column = pa.chunked_array([pa.array([float("inf"), 1.0])])
    assert encode("x", column, numbers=False, is_generalised=False).codes.tolist() == [1, 0]


def test_an_empty_text_is_no_value():
    column = encoded(["b", "", None, "a"])
    assert column.labels.tolist() == ["", "", "a", "b"]
    assert column.values().tolist() == [1, -1, -1, 0]


def test_written_order_tells_apart_what_is_equal():
    texts = pa.array(["1.0", "2", "1", None]).dictionary_encode()
    one, two, other, _ = text_ranks(pa.chunked_array([texts])).tolist()
    assert other < one < two
    assert text_ranks(pa.chunked_array([[2, 1]])).tolist() == [0, 0]


TREE = Taxonomy(("*", "upper", "a", "b", "c"), (-1, 0, 1, 1, 0))
"""a and b below upper, c beside it."""


def test_ancestry_places_the_values_of_a_column_in_their_taxonomy():
    found = ancestry("x", encoded(["c", "a", None]), TREE)
    assert found.parent.tolist() == [-1, 0, 1, 1, 0]
    assert found.height.tolist() == [2, 1, 0, 0, 0]
    assert found.leaf.tolist() == [2, 4]


def test_ancestry_leaves_missing_values_and_empty_texts_out():
    assert ancestry("x", encoded(["b", "", None, "c"]), TREE).leaf.tolist() == [3, 4]
    assert ancestry("x", encoded(["", "c"]), TREE).leaf.tolist() == [4]


def test_ancestry_refuses_what_the_taxonomy_lacks():
    with pytest.raises(DataError, match="R007 The taxonomy of 'x' lacks 2 of its values"):
        ancestry("x", encoded(["a", "e", "d"]), TREE)


def test_ancestry_names_up_to_a_thousand_of_the_values_that_are_lacking():
    with pytest.raises(DataError) as caught:
        ancestry("x", encoded([f"v{number:04}" for number in range(1_002)]), TREE)
    [problem] = caught.value.problems
    assert "v0" not in str(caught.value)
    assert problem.with_values().message.endswith("'v0999', and 2 more.")
    assert problem.with_values().message.count("'v") == 1_000


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1))
def test_codes_are_in_the_order_of_the_values(values):
    column = encoded(values, pa.float64())
    ranks = {value: rank for rank, value in enumerate(sorted(set(values) - {None}))}
    assert column.values().tolist() == [ranks.get(value, -1) for value in values]
    assert [float(label or "nan") for label in seen(column)] == pytest.approx(
        [NAN if value is None else value for value in values], nan_ok=True
    )


@settings(deadline=None)
@given(st.lists(st.none() | st.text(max_size=3), min_size=1))
def test_texts_keep_their_labels(values):
    column = encoded(values, pa.string())
    if not column.is_ordered:
        assert seen(column) == [value or "" for value in values]
    assert column.has_missing == (None in values)


def spelled(texts, identity):
    column = encode("x", pa.chunked_array([pa.array(texts)]), numbers=True, identity=identity)
    return seen(column), column.respelt


def test_equal_numbers_written_differently_are_one_value_only_where_values_count():
    texts = ["250.10", "250.1", " 250.1", "3"]
    assert spelled(texts, "value") == (["250.1", "250.1", "250.1", "3"], 1)
    assert spelled(texts, "reading") == (["250.10", "250.1", "250.1", "3"], 1)
    assert spelled(texts, "text") == (texts, 1)


def test_values_in_several_ways_stand_together_in_the_order_of_the_numbers():
    column = encode("x", pa.chunked_array([["10", "9", "1e1"]]), numbers=True, identity="text")
    assert column.labels.tolist() == ["9", "10", "1e1"]
    assert column.position.tolist() == [0, 1, 1]


def test_one_number_in_two_ways_has_a_place():
    column = encode("x", pa.chunked_array([["1", "1.0"]]), numbers=True, identity="text")
    assert column.position.tolist() == [0, 0]


def test_numbers_too_near_to_0_for_a_float_stay_apart():
    assert encoded(["1e-400", "0", "-1e-400"], numbers=True).codes.tolist() == [2, 1, 0]
    with pytest.raises(DataError, match="R004 The column 'x' holds numbers nearer to 0"):
        encoded(["1e-100001", "0"], numbers=True)


@pytest.mark.parametrize("generalised", [True, False])
def test_numbers_too_large_for_a_float_stay_apart(generalised):
    texts = pa.chunked_array([["1e400", "1e999", "-1E400", "1.5", "10e399"]])
    column = encode("x", texts, numbers=True, is_generalised=generalised)
    assert column.codes.tolist() == [2, 3, 0, 1, 2]


def test_a_sensitive_taxonomy_is_refused_where_equal_numbers_are_written_differently():
    column = encoded(["1", "1.0", "2"], numbers=True)
    with pytest.raises(DataError, match="R006 The column 's' writes 1 of its values in several"):
        ancestry("s", column, Taxonomy(("*", "1", "1.0", "2"), (-1, 0, 0, 0)))
