from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.grouping import Groups, classes_of


def groups(class_of, loss=((0.0,),), **sensitive):
    codes = {name: np.array(column, dtype=np.int32) for name, column in sensitive.items()}
    return Groups(np.array(class_of, dtype=np.int64), max(class_of) + 1, codes, np.array(loss))


def test_sizes_count_the_rows_of_every_class():
    assert groups([0, 1, 1, 2, 1]).sizes().tolist() == [1, 3, 1]


def test_distinct_counts_values_and_no_missing_ones():
    found = groups([0, 0, 0, 1, 1, 2], age=[4, 4, -1, 0, 4, -1], city=[0, 1, 2, 0, 0, 0])
    assert found.distinct("age").tolist() == [1, 2, 0]
    assert found.distinct("city").tolist() == [3, 1, 1]


def test_distinct_is_nothing_where_all_values_are_missing():
    assert groups([0, 0, 1], age=[-1, -1, -1]).distinct("age").tolist() == [0, 0]


def test_discernability_sums_the_squared_sizes():
    assert groups([0, 0, 0, 1, 1]).discernability() == 9 + 4


def test_certainty_penalty_is_the_mean_over_all_cells():
    found = groups([0, 0], loss=[[0.5, 0.0], [0.5, 1.0]])
    assert found.certainty_penalty() == 0.5


def test_certainty_penalty_is_nothing_without_cells():
    assert groups([0], loss=[]).certainty_penalty() == 0.0


def test_classes_of_numbers_the_distinct_rows():
    columns = [np.array([1, 0, 1, 1], dtype=np.int32), np.array([0, 2, 0, 1], dtype=np.int32)]
    class_of, count = classes_of(columns)
    assert class_of.tolist() == [1, 0, 1, 2]
    assert count == 3


def test_classes_of_stays_exact_where_products_of_widths_would_overflow():
    wide = np.array([0, 2**31 - 2, 2**31 - 2], dtype=np.int32)
    class_of, count = classes_of([wide, wide, wide, wide])
    assert class_of.tolist() == [0, 1, 1]
    assert count == 2


ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(-1, 3)), min_size=1)


@given(ROWS)
def test_classes_of_are_those_of_equal_rows(rows):
    columns = [np.array(column, dtype=np.int32) for column in list(zip(*rows, strict=True))[:2]]
    class_of, count = classes_of(columns)
    found = {(row[:2], number) for row, number in zip(rows, class_of.tolist(), strict=True)}
    assert sorted(number for _, number in found) == list(range(count))
    assert len({row for row, _ in found}) == count


@given(ROWS)
def test_measures_are_those_counted_by_hand(rows):
    names = sorted({row[0] for row in rows})
    found = groups([names.index(row[0]) for row in rows], s=[row[2] for row in rows])
    sizes = Counter(row[0] for row in rows)
    assert found.sizes().tolist() == [sizes[name] for name in names]
    assert found.discernability() == sum(size**2 for size in sizes.values())
    values = [{row[2] for row in rows if row[0] == name} - {-1} for name in names]
    assert found.distinct("s").tolist() == list(map(len, values))


@pytest.mark.parametrize(("class_of", "penalty"), [([0, 0, 0, 0], 16), ([0, 1, 2, 3], 4)])
def test_discernability_grows_with_the_classes(class_of, penalty):
    assert groups(class_of).discernability() == penalty
