import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.value_words import value_words
from policy_engine.errors import DataError
from policy_engine.kernels.siphash import key_words

SECRET = key_words(bytes(range(16)))


def words(values, kind):
    return [tuple(row) for row in value_words(pa.array(values, kind), SECRET).tolist()]


NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
IN_MANY_WAYS = {
    "text": (["Zürich", "", None], [pa.string(), pa.large_string(), pa.string_view()]),
    "bytes": ([b"\xff", b"a", None], [pa.binary(), pa.large_binary(), pa.binary(1)]),
    "integers": (
        [0, 7, 127, None],
        [pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.decimal128(20)],
    ),
    "negative": ([-1, -128, None], [pa.int8(), pa.int32(), pa.decimal128(38)]),
    "floats": ([0.5, -1.0, None], [pa.float16(), pa.float32(), pa.float64()]),
    "days": ([NOON.date(), None], [pa.date32(), pa.date64()]),
    "moments": (
        [NOON, None],
        [pa.timestamp("s", "UTC"), pa.timestamp("us", "Europe/Rome"), pa.timestamp("ns", "UTC")],
    ),
    "clock": ([NOON.replace(tzinfo=None)], [pa.timestamp(unit) for unit in ("s", "ms", "ns")]),
    "images": (
        [[0, 255], [3, 4], None],
        [pa.list_(pa.uint8()), pa.list_(pa.int16()), pa.large_list(pa.int64())],
    ),
    "lists": ([[0, 256, None], [], [7], None], [pa.list_(pa.int16()), pa.list_(pa.int64())]),
    "grids": (
        [[[1, 2], [3]], None],
        [pa.list_(pa.list_(pa.uint8())), pa.list_(pa.list_(pa.int8()))],
    ),
}


@pytest.mark.parametrize(("values", "kinds"), IN_MANY_WAYS.values(), ids=IN_MANY_WAYS)
def test_equal_values_have_equal_words_in_every_type(values, kinds):
    found = [words(values, kind) for kind in kinds]
    assert all(some == found[0] for some in found)
    assert len(set(found[0])) == len(values)


@pytest.mark.parametrize(("values", "kinds"), IN_MANY_WAYS.values(), ids=IN_MANY_WAYS)
def test_words_are_those_of_the_value_wherever_it_stands(values, kinds):
    for kind in kinds:
        array = pa.array([*values, *values], kind)
        assert value_words(array[len(values) :], SECRET).tolist() == [
            *map(list, words(values, kind))
        ]
        alone = [words([value], kind)[0] for value in values]
        assert alone == words(values, kind)


def test_a_fixed_size_list_is_as_any_list():
    sized = pa.array([[9, 9], [1, 2], None], pa.list_(pa.uint8(), 2))
    plain = words([[1, 2], None], pa.list_(pa.int32()))
    assert [tuple(row) for row in value_words(sized[1:], SECRET).tolist()] == plain


def test_a_dictionary_is_as_its_values():
    values = ["a", None, "b", "a"]
    encoded = pa.array(values).dictionary_encode()
    assert [tuple(row) for row in value_words(encoded, SECRET).tolist()] == words(
        values, pa.string()
    )
    with_missing = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert [tuple(row) for row in value_words(with_missing, SECRET).tolist()] == words(
        ["a", None, None], pa.string()
    )


def test_a_dictionary_of_as_many_values_as_its_indices_can_tell_has_missing_ones():
    values = pa.DictionaryArray.from_arrays(pa.array([127, None], pa.int8()), pa.array(range(128)))
    assert [tuple(row) for row in value_words(values, SECRET).tolist()] == words(
        [127, None], pa.int64()
    )


def test_missing_values_have_one_word_in_every_type():
    kinds = [pa.null(), pa.string(), pa.float64(), pa.bool_(), pa.list_(pa.string()), pa.date32()]
    assert len({words([None], kind)[0] for kind in kinds}) == 1


def test_both_zeros_are_one_and_nan_is_one_value_that_is_not_missing():
    odd = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    zero, negative, nan, other, missing = words([0.0, -0.0, np.nan, odd, None], pa.float64())
    assert zero == negative
    assert nan == other
    assert len({zero, nan, missing}) == 3


def test_a_float32_counts_as_widened():
    assert words([0.1], pa.float32()) == words([float(np.float32(0.1))], pa.float64())
    assert words([0.1], pa.float32()) != words([0.1], pa.float64())


def test_great_and_negative_integers_are_told_apart():
    assert words([2**64 - 1], pa.uint64()) != words([-1], pa.int64())
    assert words([2**63], pa.uint64()) != words([-(2**63)], pa.int64())
    great = [2**64, 2**65, -(2**64), 10**37, -(10**37), 1, -1]
    assert len(set(words([Decimal(one) for one in great], pa.decimal128(38)))) == len(great)


def test_a_nanosecond_counts():
    assert len(set(words([0, 1, 1000], pa.timestamp("ns")))) == 3
    assert words([1000], pa.timestamp("ns")) == words([1], pa.timestamp("us"))
    assert words([-1000], pa.timestamp("ns")) == words([-1], pa.timestamp("us"))


def test_a_struct_counts_by_its_fields():
    kind = pa.struct([("a", pa.int8()), ("b", pa.string())])
    rows = [{"a": 1, "b": "x"}, {"a": 1, "b": None}, None, {"a": 1, "b": "x"}]
    first, second, missing, last = words(rows, kind)
    assert first == last
    assert len({first, second, missing}) == 3


def test_a_map_counts_by_its_entries():
    one, other, empty = words([[("k", 1)], [("k", 2)], []], pa.map_(pa.string(), pa.int8()))
    assert len({one, other, empty}) == 3


def test_other_types_count_by_their_texts():
    moment = dt.time(1, 2)
    assert words([moment], pa.time32("s")) == words(["01:02:00"], pa.string())


def test_a_type_without_text_is_refused():
    union = pa.UnionArray.from_dense(
        pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]
    )
    with pytest.raises(DataError, match="have no text that tells rows apart") as raised:
        value_words(union, SECRET)
    assert raised.value.problems[0].code == "C009"


def test_long_lists_are_hashed_in_parts(monkeypatch):
    values, kind = [[1, 2], [300], None, [], [4, 5, 6]], pa.list_(pa.int16())
    whole = words(values, kind)
    monkeypatch.setattr("policy_engine.engines.value_words._MOST_ELEMENTS", 2)
    assert words(values, kind) == whole


def test_an_empty_column_has_no_words():
    for kind in (pa.string(), pa.int8(), pa.list_(pa.int8()), pa.list_(pa.int8(), 2), pa.null()):
        assert words([], kind) == []
        assert value_words(pa.array([], pa.dictionary(pa.int8(), pa.string())), SECRET).size == 0


VALUES = st.lists(st.none() | st.text() | st.sampled_from("ab"), min_size=1)


@given(VALUES)
def test_texts_have_equal_words_if_they_are_equal_and_only_then(values):
    found = words(values, pa.string())
    assert len(set(zip(values, found, strict=True))) == len(set(values)) == len(set(found))
