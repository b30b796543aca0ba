import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import classes, tables

from policy_engine.kernels.microaggregation import Scopes, merge_until, microaggregate
from policy_engine.kernels.microaggregation.class_sums import class_sums
from policy_engine.kernels.microaggregation.merging import holding_scopes
from policy_engine.kernels.microaggregation.scaling import scale, shares


def of_size(least):
    return lambda _, groups, count: np.bincount(groups, minlength=count) >= least


def with_values(sensitive, least):
    """Every class has so many different sensitive values."""

    def hold(rows, groups, count):
        values = sensitive[rows]
        return np.array([len(set(values[groups == one])) >= least for one in range(count)])

    return hold


def merge(groups, values, holds, scopes=None):
    table = scale(values)
    sums = class_sums(shares(values, table.low, table.high), groups)
    scopes = scopes or Scopes.whole(len(sums.sizes))
    return merge_until(groups, sums, 1 / table.deviations, scopes, holds)


def merged(groups, values, holds, scopes=None):
    points = np.array(values, dtype=np.float64)[:, None]
    return merge(np.array(groups), points, holds, scopes).tolist()


def test_classes_that_hold_are_left_alone():
    assert merged([1, 0, 1, 0], [5, 1, 6, 2], of_size(2)) == [1, 0, 1, 0]


def test_a_class_that_does_not_hold_joins_the_nearest():
    # The means are 0, 10, 16 and 100.
    groups, values = [0, 0, 1, 2, 2, 3, 3], [0, 0, 10, 15, 17, 99, 101]
    assert merged(groups, values, of_size(2)) == [0, 0, 1, 1, 1, 2, 2]


def test_the_nearest_pairs_are_merged_first_each_class_once_a_round():
    # 3 and 4 first: 1, whose nearest is 3, then finds 3.5, and stays as near.
    assert merged([0, 1, 2, 3, 3], [1, 3, 4, 90, 90], of_size(2)) == [0, 0, 0, 1, 1]


def test_many_classes_with_one_mean_do_not_all_become_one():
    assert merged([0, 1, 2, 3, 4, 5], [7] * 6, of_size(2)) == [0, 0, 1, 1, 2, 2]


def test_where_nothing_holds_all_rows_are_one_class():
    assert merged([0, 1, 2], [1, 5, 9], of_size(4)) == [0, 0, 0]


# A table of the parts 1 and 4, the first of which has the parts 2 and 3.
PARENT = np.array([-1, 0, 1, 1, 0])


def test_classes_are_merged_within_their_part_even_if_others_are_nearer():
    scopes = Scopes(np.array([2, 2, 3, 3]), PARENT)
    assert merged([0, 1, 2, 3], [0, 8, 9, 50], of_size(2), scopes) == [0, 0, 1, 1]


def smallest(parts, sizes, least):
    groups = np.repeat(np.arange(len(parts)), sizes)
    return holding_scopes(Scopes(np.array(parts), PARENT), groups, of_size(least)).part.tolist()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1, 1, 2, 2], [2, 2, 3, 4]),
        ([1, 0, 2, 2], [1, 1, 1, 4]),
        ([2, 0, 2, 1], [0, 0, 0, 0]),
        ([1, 0, 0, 2], [0, 0, 0, 0]),
        ([1, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_classes_are_merged_in_the_smallest_part_that_holds(sizes, expected):
    # Two classes in part 2, one in 3 and one in 4; a part with two rows holds.
    assert smallest([2, 2, 3, 4], sizes, 2) == expected


@given(tables(), st.data())
def test_every_class_is_diverse_whatever_the_order_of_the_rows(table, data):
    values, words, k = table
    sensitive = np.array(data.draw(st.lists(st.integers(0, 3), min_size=40, max_size=40)))
    sensitive = sensitive[: len(values)]
    order = data.draw(st.permutations(range(len(values))))
    groups = microaggregate(values, k, words)
    found = merge(groups, values, with_values(sensitive, 2))
    assert len(classes(found)) == 1 or all(len(set(sensitive[list(c)])) > 1 for c in classes(found))
    assert all(len(set(found[groups == one])) == 1 for one in set(groups.tolist()))
    again = merge(groups[order], values[order], with_values(sensitive[order], 2))
    assert again.tolist() == found[order].tolist()
