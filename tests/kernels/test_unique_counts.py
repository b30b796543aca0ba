"""How many rows are unique on sets of columns."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels import unique_counts
from policy_engine.kernels.unique_counts import count_unique_rows


def codes(*columns):
    return [np.array(one, dtype=np.int32) for one in columns]


def test_a_row_is_unique_on_a_set_that_no_other_row_equals():
    # The third row is the only one with 1, the fourth the only one with (0, 2).
    columns = codes([0, 0, 1, 0], [0, 0, 0, 2])
    assert count_unique_rows(columns, [(0,), (1,), (0, 1)]) == [1, 1, 2]


def test_rows_that_are_unique_on_no_column_may_be_unique_on_several():
    columns = codes([0, 0, 1, 1], [0, 1, 0, 1])
    assert count_unique_rows(columns, [(0,), (1,), (0, 1)]) == [0, 0, 4]


def test_a_table_without_rows_has_none_that_is_unique():
    assert count_unique_rows(codes([], []), [(0,), (0, 1)]) == [0, 0]


def expected(rows, sets):
    counts = []
    for one in sets:
        parts = [tuple(row[number] for number in one) for row in rows]
        counts.append(sum(times == 1 for times in Counter(parts).values()))
    return counts


ROWS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=30)
SETS = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]


@given(rows=ROWS, counted=st.sampled_from([0, 1 << 22]))
def test_sorting_and_counting_give_what_counting_by_hand_gives(rows, counted):
    before = unique_counts._COUNTED
    unique_counts._COUNTED = counted
    try:
        found = count_unique_rows(codes(*zip(*rows, strict=True)), SETS)
    finally:
        unique_counts._COUNTED = before
    assert found == expected(rows, SETS)
