from unittest.mock import patch

import numpy as np
import pytest
from drawn import Table, interval, ints, keeps, members, moved, price, reference, tables, valid_cuts
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels import layout, mondrian
from policy_engine.kernels.axis import Axis, Interval, Members
from policy_engine.kernels.bounds import Constraint, Diversity
from policy_engine.kernels.layout import Cutting, People
from policy_engine.kernels.mondrian import partition

SPAN, ENTROPY, LOSS = (Cutting(score) for score in ("span", "entropy", "loss"))


def classes(axes, k, cutting=SPAN, sensitive=(), persons=None, **bounds):
    people = People(tuple(map(ints, sensitive)), None if persons is None else ints(persons))
    constraint = Constraint(k, tuple(Diversity(**bounds) for _ in sensitive))
    return parts(Table(axes, people, constraint, cutting))


def parts(table):
    found = partition(*table.arguments)
    return [set(part.tolist()) for part in np.split(found.order, found.starts[1:-1])]


@pytest.mark.parametrize("cutting", [SPAN, ENTROPY, LOSS])
def test_partition_cuts_where_both_sides_are_large_enough(cutting):
    assert classes([interval([0, 1, 2])], 2, cutting) == [{0, 1, 2}]
    assert classes([interval([3, 0, 2, 1])], 2, cutting) == [{1, 3}, {0, 2}]


def test_partition_cuts_six_people_like_the_figure_of_mondrian():
    # six records in the manner of MOSAICrOWN D5.1, figure 2.3: BirthYear, Sex, ZIP with k = 2
    years = interval([0, 0, 0, 1, 1, 1])  # 1960, 1960, 1960, 1980, 1980, 1980
    sexes = interval([0, 0, 1, 1, 1, 0])  # F, F, M, M, M, F
    zips = interval([0, 1, 2, 0, 1, 2])  # 20100, 20110, 20120, ...
    assert classes([years, sexes, zips], 2) == [{0, 1, 2}, {3, 4, 5}]


def test_a_strict_partition_does_not_cut_between_ties():
    assert classes([interval([0, 0, 0, 0])], 2) == [{0, 1, 2, 3}]
    assert classes([interval([0, 1, 1, 1])], 2) == [{0, 1, 2, 3}]


def test_a_relaxed_partition_sends_equal_rows_to_either_side():
    assert classes([interval([0, 1, 1, 1])], 2, Cutting("span", is_relaxed=True)) == [
        {0, 1},
        {2, 3},
    ]


def test_by_span_the_widest_dimension_is_cut_at_the_boundary_nearest_the_median():
    narrow, wide = interval([0, 0, 1, 1], [0, 0.5]), interval([0, 1, 0, 1])
    assert classes([narrow, wide], 2) == [{0, 2}, {1, 3}]
    assert classes([interval([0, 0, 1, 2, 2])], 2) == [{0, 1}, {2, 3, 4}]


def test_by_span_another_dimension_is_cut_where_the_widest_cannot_be():
    tied, narrow = interval([0, 0, 0, 1]), interval([0, 1, 0, 1], [0, 0.1])
    assert classes([tied, narrow], 2) == [{0, 2}, {1, 3}]


def test_by_loss_the_cut_is_taken_whose_sides_lose_least():
    # After 0.1 the sides lose 2 x 0.1 + 4 x 0.2; in the middle, 3 x 0.7 + 3 x 0.1.
    column = interval([0, 1, 2, 3, 4, 5], [0, 0.1, 0.7, 0.8, 0.9, 1])
    assert classes([column], 2, LOSS)[0] == {0, 1}


def test_by_loss_a_cut_that_leaves_rows_over_counts_them_as_lost():
    # In the middle, the sides lose 3 x 0.4 each, and can hold two classes where six rows could
    # hold three: 0.6 x 0.8 more. After two rows, they lose 2 x 0.2 and 4 x 0.6.
    assert list(map(len, classes([interval(range(6))], 2, LOSS))) == [2, 2, 2]


def test_by_loss_the_frequent_values_of_a_set_are_parted_from_the_others():
    jobs = members([0, 1, 1, 1, 2, 2])
    assert classes([jobs], 2, LOSS) == [{1, 2, 3}, {0, 4, 5}]


@pytest.mark.parametrize("cutting", [SPAN, ENTROPY, LOSS])
def test_missing_values_are_parted_from_the_others(cutting):
    column = interval([0, 0, 1, 2, 3, 3], has_missing=True)
    assert classes([column], 2, cutting) == [{0, 1}, {2, 3}, {4, 5}]


def test_a_weight_makes_a_dimension_matter_more():
    first, second = [0, 0, 1, 1], [0, 1, 0, 1]
    assert classes([interval(first), interval(second, weight=2.0)], 2, LOSS) == [{0, 2}, {1, 3}]
    assert classes([interval(first, weight=2.0), interval(second)], 2, LOSS) == [{0, 1}, {2, 3}]


def test_the_cut_moves_to_where_both_sides_are_diverse():
    column, sensitive = interval([0, 1, 2, 3, 4, 5]), [0, 0, 0, 1, 0, 1]
    found = classes([column], 2, sensitive=[sensitive], distinct=2)
    assert found == [{0, 1, 2, 3}, {4, 5}]


def test_classes_hold_enough_persons_where_persons_are_told_apart():
    column = interval([0, 1, 2, 3, 4, 5])
    assert classes([column], 2, persons=[0, 0, 1, 2, 2, 3]) == [{0, 1, 2}, {3, 4, 5}]
    assert classes([column], 2, persons=[0, 0, 0, 1, 1, 1]) == [{0, 1, 2, 3, 4, 5}]


def test_partition_tells_how_many_rows_are_settled():
    told = []
    table = Table([interval([0, 1, 2, 3])], People(), Constraint(2), SPAN)
    partition(*table.arguments, told.append)
    assert told[-1] == 4


@settings(deadline=None, max_examples=300)
@given(tables())
def test_partition_gives_what_its_rules_say(table):
    assert parts(table) == list(map(set, reference(table)))


@settings(deadline=None, max_examples=200)
@given(tables())
def test_classes_hold_every_row_once_and_every_bound(table):
    found = parts(table)
    assert sorted(row for part in found for row in part) == list(table.rows)
    assert all(keeps(table, sorted(part)) for part in found)


@settings(deadline=None, max_examples=100)
@given(tables(relaxed=(False,)), st.randoms(use_true_random=False))
def test_classes_are_the_same_in_any_order_of_rows(table, random):
    order = list(table.rows)
    random.shuffle(order)
    assert [{order[row] for row in part} for part in parts(moved(table, order))] == parts(table)


@settings(deadline=None, max_examples=100)
@given(tables(most_rows=60))
def test_classes_are_the_same_cut_in_parts_by_several_threads(table):
    whole = parts(table)
    with patch.object(mondrian, "_WORTH_SHARING", 0):
        assert parts(table) == whole


@settings(deadline=None, max_examples=200)
@given(tables(scores=("loss",), relaxed=(False,), persons=(False,), most_rows=60, widest=200))
def test_a_summary_chooses_the_cut_that_the_rows_choose(table):
    by_rows = parts(table)
    with patch.object(layout, "_large", lambda _axes: 2):
        assert parts(table) == by_rows


@settings(deadline=None, max_examples=100)
@given(tables(relaxed=(False,), most_sensitive=0, persons=(False,)))
def test_no_class_of_a_strict_partition_can_be_cut_further(table):
    for part in parts(table):
        assert not any(valid_cuts(table, sorted(part), axis) for axis in table.axes)


@settings(deadline=None, max_examples=100)
@given(tables())
def test_classes_never_lose_more_than_the_table_as_one(table):
    found = parts(table)
    lost = sum(len(part) * price(table.axes, sorted(part)) for part in found)
    assert lost <= len(table.rows) * price(table.axes, list(table.rows))


def codes(rows, values, seed=1):
    return np.random.default_rng(seed).integers(0, values, rows).astype(np.int32)


@pytest.mark.parametrize("cutting", [SPAN, ENTROPY, LOSS, Cutting("loss", is_relaxed=True)])
@pytest.mark.parametrize(
    "axis",
    [
        Axis(codes(60_000, 60_000), Interval(np.linspace(0, 1, 60_000))),  # far more than a cache
        Axis(codes(60_000, 1_000), Members(1_000)),  # sixteen words of bits
        Axis(codes(60_000, 2), Members(2)),
        Axis(np.zeros(60_000, np.int32), Members(1)),
    ],
    ids=["values", "words", "ties", "one"],
)
def test_a_large_table_is_cut_in_parts_that_together_hold_it(axis, cutting):
    found = partition([axis], People(), Constraint(100), cutting)
    assert np.array_equal(np.sort(found.order), np.arange(60_000))
    assert np.diff(found.starts).min() >= 100
