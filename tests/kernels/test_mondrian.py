import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.constraint import Constraint
from policy_engine.kernels.mondrian import Axis, partition


def axis(codes, position=None, *, has_missing=False):
    codes = np.array(codes, dtype=np.int32)
    position = np.linspace(0, 1, codes.max() + 1) if position is None else position
    return Axis(codes, np.array(position, dtype=np.float64), has_missing)


def classes(axes, k, l=1, sensitive=()):  # noqa: E741
    codes = [np.array(column, dtype=np.int32) for column in sensitive]
    found = partition(axes, codes, Constraint(k, l))
    return [set(part.tolist()) for part in np.split(found.order, found.starts[1:-1])]


def test_partition_leaves_one_class_where_two_would_be_too_small():
    assert classes([axis([0, 1, 2])], k=2) == [{0, 1, 2}]


def test_partition_cuts_at_the_median():
    assert classes([axis([3, 0, 2, 1])], k=2) == [{1, 3}, {0, 2}]


def test_partition_cuts_six_people_like_the_figure_of_mondrian():
    # six records in the manner of MOSAICrOWN D5.1, figure 2.3: BirthYear, Sex, ZIP with k = 2
    years = axis([0, 0, 0, 1, 1, 1])  # 1960, 1960, 1960, 1980, 1980, 1980
    sexes = axis([0, 0, 1, 1, 1, 0])  # F, F, M, M, M, F
    zips = axis([0, 1, 2, 0, 1, 2])  # 20100, 20110, 20120, ...
    assert classes([years, sexes, zips], k=2) == [{0, 1, 2}, {3, 4, 5}]


def test_partition_does_not_cut_between_ties():
    assert classes([axis([0, 0, 0, 0])], k=2) == [{0, 1, 2, 3}]
    assert classes([axis([0, 1, 1, 1])], k=2) == [{0, 1, 2, 3}]


def test_partition_cuts_at_the_boundary_nearest_the_median():
    assert classes([axis([0, 0, 1, 1, 1, 1, 1, 2, 2, 2])], k=2) == [
        {0, 1},
        {2, 3, 4, 5, 6},
        {7, 8, 9},
    ]


def test_partition_cuts_at_the_lower_boundary_where_two_are_as_near():
    assert classes([axis([0, 0, 1, 2, 2])], k=2) == [{0, 1}, {2, 3, 4}]


def test_partition_cuts_the_widest_dimension():
    narrow = axis([0, 0, 1, 1], [0, 0.5])
    wide = axis([0, 1, 0, 1], [0, 1])
    assert classes([narrow, wide], k=2) == [{0, 2}, {1, 3}]


def test_partition_cuts_the_first_of_dimensions_as_wide():
    assert classes([axis([0, 1, 0, 1]), axis([0, 0, 1, 1])], k=2) == [{0, 2}, {1, 3}]


def test_partition_cuts_another_dimension_where_the_widest_cannot_be_cut():
    tied = axis([0, 0, 0, 1], [0, 1])
    narrow = axis([0, 1, 0, 1], [0, 0.1])
    assert classes([tied, narrow], k=2) == [{0, 2}, {1, 3}]


def test_partition_measures_width_within_the_class():
    first = axis([0, 0, 0, 0, 1, 2, 1, 2], [0, 0.9, 1])
    second = axis([0, 0, 1, 1, 0, 0, 1, 1], [0, 0.5])
    assert classes([first, second], k=2) == [{0, 1}, {2, 3}, {4, 5}, {6, 7}]


def test_partition_cuts_missing_from_present_first():
    column = axis([0, 0, 1, 2, 3, 3], has_missing=True)
    assert classes([column], k=2) == [{0, 1}, {2, 3}, {4, 5}]


def test_partition_keeps_missing_with_present_where_either_would_be_too_small():
    column = axis([0, 1, 2, 2], has_missing=True)
    assert classes([column], k=2) == [{0, 1}, {2, 3}]


def test_partition_moves_the_cut_to_where_both_sides_are_diverse():
    column, sensitive = axis([0, 1, 2, 3, 4, 5]), [0, 0, 0, 1, 0, 1]
    assert classes([column], k=2) == [{0, 1, 2}, {3, 4, 5}]
    assert classes([column], k=2, l=2, sensitive=[sensitive]) == [{0, 1, 2, 3}, {4, 5}]


def test_partition_keeps_every_sensitive_column_diverse():
    column = axis([0, 1, 2, 3])
    assert classes([column], 2, 2, [[0, 1, 0, 1]]) == [{0, 1}, {2, 3}]
    assert classes([column], 2, 2, [[0, 1, 0, 1], [0, 0, 1, 1]]) == [{0, 1, 2, 3}]


def test_partition_counts_a_missing_sensitive_value_as_none():
    column = axis([0, 1, 2, 3])
    assert classes([column], 2, 2, [[0, -1, 0, 1]]) == [{0, 1, 2, 3}]


def test_partition_disregards_sensitive_values_where_one_is_enough():
    assert classes([axis([0, 1, 2, 3])], 2, 1, [[-1, -1, -1, -1]]) == [{0, 1}, {2, 3}]


def test_partition_tells_how_many_rows_are_settled():
    told = []
    partition([axis([0, 1, 2, 3])], [], Constraint(2), told.append)
    assert told == [4]


# What follows compares the kernel with its rule, written down as plainly as can be. A table is
# the arguments of `partition`: axes, sensitive codes and the constraint.


def reference(table, rows):
    sides = reference_cut(table, rows)
    return [*reference(table, sides[0]), *reference(table, sides[1])] if sides else [rows]


def reference_cut(table, rows):
    axes = table[0]
    for one in axes:
        if one.has_missing and (sides := valid_cuts(table, rows, one.codes).get(0)):
            return sides
    for one in sorted(axes, key=lambda one: -width(one, rows)):
        if found := valid_cuts(table, rows, one.codes).values():
            return min(found, key=lambda sides: abs(len(sides[0]) - len(sides[1])))
    return None


def valid_cuts(table, rows, codes):
    cuts = {}
    for code in sorted({codes[row] for row in rows}):
        left = {row for row in rows if codes[row] <= code}
        if holds(table, left) and holds(table, rows - left):
            cuts[int(code)] = left, rows - left
    return cuts


def holds(table, rows):
    _, sensitive, constraint = table
    watched = sensitive if constraint.distinct > 1 else []
    values = [{codes[row] for row in rows} - {-1} for codes in watched]
    return len(rows) >= constraint.size and all(len(v) >= constraint.distinct for v in values)


def width(one, rows):
    codes = [one.codes[row] for row in rows]
    return one.position[max(codes)] - one.position[min(codes)]


def all_rows(table):
    return set(range(len(table[0][0].codes)))


def parts(table):
    found = partition(*table)
    return [set(part.tolist()) for part in np.split(found.order, found.starts[1:-1])]


@st.composite
def tables(draw, widest=9):
    rows = draw(st.integers(1, 30))
    axes = [draw(axes_of(rows, widest)) for _ in range(draw(st.integers(1, 3)))]
    sensitive = [draw(codes_of(rows, -1, 3)) for _ in range(draw(st.integers(0, 2)))]
    most = min((len(set(codes.tolist()) - {-1}) for codes in sensitive), default=1)
    size, distinct = draw(st.integers(1, min(rows, 4))), draw(st.integers(1, max(most, 1)))
    return axes, sensitive, Constraint(size, distinct)


@st.composite
def axes_of(draw, rows, widest):
    top = draw(st.sampled_from([0, 1, 3, widest]))
    position = np.linspace(0, 1, top + 1) ** draw(st.sampled_from([0.5, 1, 3]))
    return Axis(draw(codes_of(rows, 0, top)), position, draw(st.booleans()))


def codes_of(rows, low, high):
    codes = st.lists(st.integers(low, high), min_size=rows, max_size=rows)
    return codes.map(lambda found: np.array(found, dtype=np.int32))


@settings(deadline=None)
@given(tables())
def test_partition_gives_what_its_rule_says(table):
    assert parts(table) == reference(table, all_rows(table))


@settings(deadline=None, max_examples=50)
@given(tables(widest=1000))
def test_partition_gives_what_its_rule_says_where_values_are_far_more_than_rows(table):
    assert parts(table) == reference(table, all_rows(table))


@settings(deadline=None)
@given(tables())
def test_classes_hold_every_row_once_and_every_bound(table):
    found = parts(table)
    assert sum(map(len, found)) == len(all_rows(table))
    assert set().union(*found) == all_rows(table)
    assert all(holds(table, part) for part in found)


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_classes_are_the_same_in_any_order_of_rows(table, random):
    axes, sensitive, constraint = table
    order = sorted(all_rows(table), key=lambda _: random.random())
    moved = [Axis(one.codes[order], one.position, one.has_missing) for one in axes]
    found = parts((moved, [codes[order] for codes in sensitive], constraint))
    assert [{order[row] for row in part} for part in found] == parts(table)


@settings(deadline=None)
@given(tables())
def test_no_class_could_be_cut_further(table):
    for part in parts(table):
        assert not any(valid_cuts(table, part, one.codes) for one in table[0])


@pytest.mark.parametrize("rows", [1, 2, 3, 1000, 50_001])
def test_partition_of_distinct_values_gives_classes_below_twice_k(rows):
    k = 1 + rows // 100
    sizes = np.diff(partition([axis(range(rows))], [], Constraint(k)).starts)
    assert sizes.sum() == rows
    assert k <= sizes.min()
    assert sizes.max() < 2 * k
