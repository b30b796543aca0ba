import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.ranking import sort_rows

ROWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 3) | st.integers(0, 2**64 - 1)))


def test_rows_are_sorted_by_value_and_then_by_word():
    words = np.array([7, 2**63, 0, 3], np.uint64)
    assert sort_rows(np.array([0.5, -1.0, 0.5, 0.5]), words).tolist() == [1, 2, 3, 0]
    assert sort_rows(np.array(["b", "a", "b", "c"]), words).tolist() == [1, 2, 0, 3]
    assert sort_rows(np.array([5, 5, 5, 5]), words).tolist() == [2, 3, 0, 1]


@given(ROWS)
def test_the_whole_words_decide_between_equal_values(rows):
    # Words that differ in their lowest bits alone do not fit into one number with the values.
    values = np.array([value for value, _ in rows], dtype=np.int64)
    words = np.array([word for _, word in rows], dtype=np.uint64)
    order = sort_rows(values, words)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert [rows[row] for row in order] == sorted(rows)
