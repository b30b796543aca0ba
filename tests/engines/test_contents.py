import datetime as dt

import pyarrow as pa
from drawn import ints
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.contents import content_order, row_marks

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.integers(0, 5)), min_size=1)


def ordered(rows):
    quasi, texts, kept = (list(column) for column in zip(*rows, strict=True))
    mark = row_marks([pa.array(texts), pa.array(kept)], len(rows))
    return [rows[place] for place in content_order([ints(quasi)], mark, [ints(kept)])]


@given(ROWS, st.randoms(use_true_random=False))
def test_rows_stand_in_the_same_order_however_they_are_given(rows, random):
    moved = list(rows)
    random.shuffle(moved)
    assert ordered(moved) == ordered(rows)


@given(ROWS)
def test_rows_with_equal_quasi_identifiers_stand_together(rows):
    quasi = [row[0] for row in ordered(rows)]
    assert quasi == sorted(quasi)


def test_a_mark_is_that_of_the_texts_whatever_table_they_stand_in():
    alone = row_marks([pa.array(["x"])], 1)
    among = row_marks([pa.array(["a", "x", None]).dictionary_encode()], 3)
    assert alone[0] == among[1]
    assert len(set(among.tolist())) == 3


def test_a_mark_tells_columns_apart():
    one = row_marks([pa.array(["a"]), pa.array(["b"])], 1)
    other = row_marks([pa.array(["b"]), pa.array(["a"])], 1)
    assert one[0] != other[0]


def test_marks_are_the_same_in_any_process():
    # Classes of relaxed partitions hang on them, here and on a cluster.
    assert row_marks([pa.array(["flu", None])], 2).tolist() == [5528459191846889890, 0]


def test_a_mark_of_a_point_in_time_is_that_of_any_unit_and_zone():
    moment = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
    kinds = [pa.timestamp("s", "UTC"), pa.timestamp("us", "Europe/Rome"), pa.timestamp("ns", "UTC")]
    assert len({row_marks([pa.array([moment], kind)], 1)[0] for kind in kinds}) == 1
    plain = [pa.timestamp("s"), pa.timestamp("us")]
    naive = moment.replace(tzinfo=None)
    assert len({row_marks([pa.array([naive], kind)], 1)[0] for kind in plain}) == 1
