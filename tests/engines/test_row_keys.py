import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines import row_keys as module
from policy_engine.engines.row_keys import row_keys

KEY = b"a key of 16 byte"
ROWS = st.lists(
    st.tuples(st.none() | st.sampled_from(["a", "b"]), st.none() | st.integers(-1, 1)), min_size=1
)


def keys(*columns, key=KEY):
    return [tuple(row) for row in row_keys(columns, key).tolist()]


def columns_of(rows):
    texts, numbers = zip(*rows, strict=True)
    return pa.array(texts, pa.string()), pa.array(numbers, pa.int8())


@given(ROWS)
def test_rows_have_one_key_if_they_are_equal_and_only_then(rows):
    found = keys(*columns_of(rows))
    assert len(set(zip(rows, found, strict=True))) == len(set(rows)) == len(set(found))


@given(ROWS, st.integers(0, 10))
def test_keys_do_not_depend_on_chunks_blocks_and_dictionaries(rows, cut):
    texts, numbers = columns_of(rows)
    parts = pa.chunked_array([texts[:cut], texts[cut:]])
    encoded = pa.chunked_array([part.dictionary_encode() for part in parts.chunks])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 3)
        found = [keys(parts, numbers), keys(encoded, pa.chunked_array([numbers]))]
    assert found == [keys(texts, numbers)] * 2


def test_keys_depend_on_the_secret_and_on_the_order_of_columns():
    one, other = pa.array([1]), pa.array([2])
    found = {*keys(one, other), *keys(other, one), *keys(one, other, key=bytes(16))}
    assert len(found) == 3


def test_a_table_without_rows_has_no_keys():
    assert row_keys([pa.chunked_array([], pa.string())], KEY).shape == (0, 2)
    empty = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
    assert row_keys([empty, pa.array([], pa.int8())], KEY).shape == (0, 2)


def test_keys_are_the_same_in_any_process():
    # What was masked under a key must come out again under it, here and on a cluster.
    columns = [pa.array(["x"]), pa.array([1.5]), pa.array([None], pa.int8()), pa.array([[1, 300]])]
    assert keys(*columns) == [(18004359239087660936, 15628787945922913858)]
