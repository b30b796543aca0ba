import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import classes, random_words, tables

from policy_engine.kernels.microaggregation import mdav


def column(*values):
    return np.array(values, dtype=np.float64)[:, None]


def test_the_farthest_row_and_the_one_farthest_from_it_are_the_first_to_have_classes():
    # The mean is 34.8: 100 is the farthest row, and 0 is the farthest from 100.
    points = column(0, 1, 2, 30, 31, 32, 50, 100, 90, 12)
    found = classes(mdav(points, random_words(10), 3))
    assert found == [{7, 8, 6}, {0, 1, 2}, {3, 4, 5, 9}]


def test_fewer_than_3k_rows_are_a_class_and_the_rest():
    # The mean is 3.4.
    found = classes(mdav(column(0, 1, 2, 4, 10), random_words(5), 2))
    assert found == [{3, 4}, {0, 1, 2}]


@pytest.mark.parametrize("rows", range(6))
def test_fewer_than_2k_rows_are_one_class(rows):
    assert mdav(column(*range(rows)), random_words(rows), 3).tolist()[:5] == [0] * min(rows, 5)


def test_distances_are_over_all_columns():
    points = np.array([[0, 0], [0, 5], [1, 5], [1, 0]], dtype=np.float64)
    assert {frozenset(one) for one in classes(mdav(points, random_words(4), 2))} == {
        frozenset({0, 3}),
        frozenset({1, 2}),
    }


def test_of_equally_distant_rows_the_one_of_the_least_word_comes_first():
    points, words = column(-1, 1, -1, 1, 0), np.array([9, 5, 8, 4, 7], dtype=np.uint64)
    # The rows in the order of their words: 3, 1, 4, 2, 0.
    assert classes(mdav(points, words, 2)) == [{3, 1}, {0, 2, 4}]


def test_classes_of_one_row_are_the_rows():
    found = mdav(column(5, 5, 7, 1), random_words(4), 1)
    assert sorted(found.tolist()) == [0, 1, 2, 3]


@given(tables())
def test_every_class_has_k_rows_but_one(table):
    sizes = np.bincount(mdav(np.clip(table.values, -1e6, 1e6), table.words, table.k))
    assert len(sizes) == max(1, len(table.values) // table.k)
    assert sorted(sizes)[:-1] == [table.k] * (len(sizes) - 1)
    assert max(sizes) < 2 * table.k


@given(tables(), st.data())
def test_no_order_of_rows_matters_even_where_words_are_equal(table, data):
    points = np.clip(table.values, -1e6, 1e6)
    words = table.words if data.draw(st.booleans()) else table.words % np.uint64(3 << 40)
    order = data.draw(st.permutations(range(len(points))))
    found = mdav(points, words, table.k)
    again = mdav(points[order], words[order], table.k)
    # Rows equal in all may change places.
    keys = [tuple(row) for row in np.column_stack([points, words])]
    assert sorted(zip(keys, found, strict=True)) == sorted(
        zip([keys[row] for row in order], again, strict=True)
    )
