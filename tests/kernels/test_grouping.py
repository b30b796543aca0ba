from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels import diversity
from policy_engine.kernels.grouping import (
    Groups,
    classes_of,
    distinct,
    exact_loss,
    first_rows,
    rounded_loss,
    sorted_order,
    total_loss,
)


def groups(class_of, loss=None, persons=None, **sensitive):
    """Return groups; `loss` holds the loss of every class's cell by column."""
    return Groups(
        class_of=np.array(class_of, dtype=np.int64),
        count=max(class_of) + 1,
        sensitive={name: np.array(column, np.int32) for name, column in sensitive.items()},
        loss={n: None if of is None else np.array(of) for n, of in (loss or {}).items()},
        persons=None if persons is None else np.array(persons, dtype=np.int64),
    )


def distinct_values(found, column):
    return diversity.distinct(found.histogram(column)).tolist()


def test_sizes_count_the_rows_of_every_class():
    assert groups([0, 1, 1, 2, 1]).sizes().tolist() == [1, 3, 1]


def test_a_class_without_rows_has_none_and_a_table_without_rows_has_no_person():
    empty = np.array([], dtype=np.int64)
    assert Groups(np.array([1]), 3, {}, {}).sizes().tolist() == [0, 1, 0]
    assert Groups(empty, 0, {}, {}, persons=empty).units().tolist() == []
    assert [len(one) if np.ndim(one) else one for one in classes_of([empty])] == [0, 0]


def test_units_are_rows_where_no_persons_are_told():
    assert groups([0, 1, 1]).units().tolist() == [1, 2]


def test_units_are_persons_each_counted_once_in_a_class():
    found = groups([0, 0, 0, 1, 1], persons=[4, 4, 2, 4, 4])
    assert found.units().tolist() == [2, 1]
    assert found.sizes().tolist() == [3, 2]


def test_a_histogram_counts_values_and_no_missing_ones():
    found = groups([0, 0, 0, 1, 1, 2], age=[4, 4, -1, 0, 4, -1], city=[0, 1, 2, 0, 0, 0])
    assert distinct_values(found, "age") == [1, 2, 0]
    assert distinct_values(found, "city") == [3, 1, 1]


def test_a_histogram_of_missing_values_alone_holds_nothing():
    assert distinct_values(groups([0, 0, 1], age=[-1, -1, -1]), "age") == [0, 0]


def test_a_histogram_counts_what_a_person_has_once():
    found = groups([0, 0, 0], persons=[1, 1, 2], age=[3, 3, 4])
    assert found.histogram("age").counts.tolist() == [1, 1]


def test_a_histogram_knows_the_whole_table_where_the_classes_are_a_part_of_it():
    found = groups([0, 0, 1], age=[0, 2, 2], city=[1, 1, 1])
    assert found.histogram("age").overall.tolist() == [1, 0, 2]
    part = replace(found, overall={"age": np.array([5, 1, 7])}, _histograms={})
    assert part.histogram("age").overall.tolist() == [5, 1, 7]
    assert part.histogram("city").overall.tolist() == [0, 3]


def test_the_whole_has_the_numbers_of_rows_and_classes():
    whole = groups([0, 1, 1, 2]).class_totals()
    assert (whole.rows, whole.classes, whole.squares) == (4, 3, 1 + 4 + 1)


def test_discernability_sums_the_squared_sizes():
    assert groups([0, 0, 0, 1, 1]).class_totals().discernability() == 9 + 4


def test_discernability_of_a_suppressed_row_is_all_rows():
    assert groups([0, 0, 0, 1, 1]).class_totals().discernability(2) == 9 + 4 + 2 * 7


def test_column_losses_are_means_over_rows():
    found = groups([0, 0, 0, 1], loss={"x": [0.5, 0.1], "y": [0.0, 1.0]})
    assert found.class_totals().column_losses() == {
        "x": pytest.approx(0.4),
        "y": pytest.approx(0.25),
    }


def test_a_suppressed_row_has_lost_everything():
    found = groups([0, 0, 0], loss={"x": [0.5]})
    assert found.class_totals().column_losses(1) == {"x": pytest.approx(2.5 / 4)}


def test_certainty_penalty_is_the_mean_over_all_cells():
    found = groups([0, 1], loss={"x": [0.5, 0.5], "y": [0.0, 1.0]})
    assert found.class_totals().certainty_penalty() == 0.5


def test_certainty_penalty_leaves_out_columns_whose_loss_is_not_known():
    found = groups([0, 1], loss={"x": [0.5, 0.5], "y": None})
    assert found.class_totals().column_losses() == {"x": 0.5}
    assert found.class_totals().certainty_penalty() == 0.5


def test_certainty_penalty_is_none_where_no_loss_is_known():
    assert groups([0], loss={"x": None}).class_totals().certainty_penalty() is None


def test_losses_too_small_to_be_normal_are_summed_exactly():
    # In units of 2**-1074: the least number above 0, the greatest that is not normal, and above.
    for loss, units in ((2.0**-1074, 1), (2.0**-1023, 2**51), (2.0**-1022, 2**52)):
        assert exact_loss(np.array([loss]), np.array([3])) == 3 * units
        assert total_loss(np.array([loss]), np.array([3])) == 3 * loss


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
    other = np.array([0, 0, 1], dtype=np.int32)
    assert classes_of([other, wide, wide, wide])[0].tolist() == [0, 1, 2]
    assert classes_of([wide, wide, wide, other])[0].tolist() == [0, 1, 2]


def test_keys_beyond_what_a_float_tells_apart_are_told_apart():
    high = np.array([2**30 - 1, 2**30 - 1], dtype=np.int32)
    assert classes_of([high, high - np.array([1, 0], dtype=np.int32)])[0].tolist() == [0, 1]


def test_distinct_keys_are_in_order_and_once():
    assert distinct(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert distinct(np.array([], dtype=np.int64)).tolist() == []


def test_first_rows_are_the_first_of_every_class():
    found = first_rows(np.array([1, 0, 1, 2, 0]), 3)
    assert (found.tolist(), found.dtype) == ([1, 0, 3], np.int64)


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
    assert found.class_totals().discernability() == sum(size**2 for size in sizes.values())
    values = [{row[2] for row in rows if row[0] == name} - {-1} for name in names]
    assert distinct_values(found, "s") == list(map(len, values))


@pytest.mark.parametrize(("class_of", "penalty"), [([0, 0, 0, 0], 16), ([0, 1, 2, 3], 4)])
def test_discernability_grows_with_the_classes(class_of, penalty):
    assert groups(class_of).class_totals().discernability() == penalty


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2**40)), max_size=20))
def test_a_total_loss_is_rounded_once_however_the_rows_are_told_apart(pairs):
    loss, rows = (np.array([pair[n] for pair in pairs]) for n in (0, 1))
    rows = rows.astype(np.int64)
    exact = sum((Fraction(one) * times for one, times in pairs), Fraction(0))
    assert total_loss(loss, rows) == float(exact)
    parts = [exact_loss(loss[part::3], rows[part::3]) for part in range(3)]
    assert rounded_loss(sum(parts)) == float(exact)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**31 - 1))))
def test_rows_are_in_the_order_of_their_columns_and_equal_ones_in_their_own(rows):
    columns = [np.array([row[place] for row in rows], np.int32) for place in range(3)]
    expected = sorted(range(len(rows)), key=rows.__getitem__)
    assert sorted_order(columns).tolist() == expected
    assert sorted_order(columns[:2]).tolist() == sorted(expected, key=lambda i: (*rows[i][:2], i))


def test_rows_are_in_order_where_products_of_widths_would_overflow():
    columns = [np.array([2**31 - 1, 5, 5], np.int32)] * 3 + [np.array([0, 1, 0], np.int32)]
    assert sorted_order(columns).tolist() == [2, 1, 0]
