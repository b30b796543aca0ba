import itertools
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from drawn import Table, cut, interval, ints, keeps, members, moved, tables
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.errors import InternalError
from policy_engine.kernels import gains, mondrian
from policy_engine.kernels.axis import Axis, Interval, Members
from policy_engine.kernels.bounds import ClassConstraint, Diversity
from policy_engine.kernels.guided_tree import (
    choose_guided,
    guided_memory,
    guided_partition,
    guided_table,
)
from policy_engine.kernels.layout import Cutting, SensitiveRows
from policy_engine.kernels.side_counts import count_sides, merge

LOSS = Cutting("loss")


def parts(table, targets):
    classes = guided_partition(table.axes, table.people, table.constraint, targets)
    return [set(part.tolist()) for part in np.split(classes.order, classes.starts[1:-1])]


def classes(axes, k, target, people=None, diversity=()):
    table = Table(axes, people or SensitiveRows(), ClassConstraint(k, diversity), LOSS)
    return parts(table, column(target))


def column(values):
    return np.array(values, dtype=np.int64).reshape(len(values), -1)


def first_cut(table, targets):
    """The rows on the left of the first cut, none where there is none."""
    coded = guided_table(table.axes, table.people, table.constraint, targets)
    memory = guided_memory(coded, targets.shape[1], len(coded.rows))
    left = choose_guided(coded, memory, 0, len(coded.rows))
    return set(memory.scratch.best[:left].tolist())


def gain(targets, left, right):
    """By how much a cut reduces the sum of squares, exactly."""
    return sum(
        sum(Fraction(int(one[side].sum()) ** 2, len(side)) for side in (left, right))
        - Fraction(int(one[left + right].sum()) ** 2, len(left + right))
        for one in targets.T
    )


def sides_of(axis, targets, rows):
    """The cuts of a dimension that the rules allow, in all its orders."""
    codes = sorted({int(axis.codes[row]) for row in rows})
    orders = [codes]
    if not isinstance(axis.shape, Interval):
        means = [
            {code: Fraction(int(one[at].sum()), len(at)) for code, at in held(axis, rows, codes)}
            for one in targets.T
        ]
        orders = [sorted(codes, key=lambda code, own=own: (own[code], code)) for own in means]
    for order, turn in itertools.product(orders, range(1, len(codes))):
        yield split(axis, rows, set(order[:turn]))


def held(axis, rows, codes):
    return [(code, [row for row in rows if axis.codes[row] == code]) for code in codes]


def split(axis, rows, codes):
    is_left = {row: int(axis.codes[row]) in codes for row in rows}
    return [row for row in rows if is_left[row]], [row for row in rows if not is_left[row]]


def test_a_node_is_cut_where_its_targets_differ_most():
    near, far = interval([0, 1, 2, 3]), interval([0, 2, 1, 3])
    assert classes([near, far], 2, [0, 9, 0, 9]) == [{0, 2}, {1, 3}]


def test_values_without_an_order_are_divided_into_any_two_sets():
    letters = members([0, 1, 2, 3])
    assert classes([letters], 2, [9, 0, 8, 1]) == [{1, 3}, {0, 2}]
    assert classes([interval([0, 1, 2, 3])], 2, [9, 0, 8, 1]) == [{0, 1}, {2, 3}]


def test_of_equal_gains_the_first_dimension_is_cut_at_its_first_code():
    same = interval([0, 0, 1, 1])
    assert classes([same, interval([1, 1, 0, 0])], 2, [5, 5, 0, 0]) == [{0, 1}, {2, 3}]
    assert classes([interval([1, 1, 0, 0]), same], 2, [5, 5, 0, 0]) == [{2, 3}, {0, 1}]


def test_a_node_with_equal_targets_is_cut_where_the_least_is_lost():
    ages = interval([0, 1, 2, 3], [0, 0.1, 0.9, 1])
    assert classes([ages], 2, [7, 7, 7, 7]) == [{0, 1}, {2, 3}]


def test_the_cut_that_gains_most_of_the_valid_ones_is_made():
    # behind code 2, all rows on the right have one sensitive value
    sick = SensitiveRows((ints([0, 1, 0, 1, 1, 1]),))
    ages, target = interval([0, 1, 2, 3, 4, 5]), [0, 0, 0, 4, 4, 8]
    assert classes([ages], 2, target) == [{0, 1, 2}, {3, 4, 5}]
    bounds = (Diversity(distinct=2),)
    assert classes([ages], 2, target, sick, bounds) == [{0, 1}, {2, 3, 4, 5}]


def test_classes_hold_k_persons_rather_than_rows():
    people = SensitiveRows((), ints([0, 0, 1, 2, 2, 2, 3, 3]))
    ages = interval([0, 1, 2, 3, 4, 5, 6, 7])
    assert classes([ages], 2, [0, 0, 9, 9, 9, 9, 9, 9], people) == [{0, 1, 2}, {3, 4, 5, 6, 7}]


def test_several_targets_are_told_apart_together():
    colours = members([0, 0, 1, 1, 2, 2])
    targets = np.eye(3, dtype=np.int64)[[0, 0, 1, 1, 2, 2]]
    table = Table([colours], SensitiveRows(), ClassConstraint(2), LOSS)
    assert sorted(map(sorted, parts(table, targets))) == [[0, 1], [2, 3], [4, 5]]


def test_targets_that_could_overflow_are_refused():
    with pytest.raises(InternalError, match="greater than"):
        classes([interval([0, 1])], 1, [0, 2**30 + 1])


def test_the_greatest_targets_do_not_overflow():
    axis = Axis(np.arange(60_000, dtype=np.int32), Interval(np.linspace(0, 1, 60_000)))
    target = np.where(np.arange(60_000) < 123, 2**30, -(2**30))
    table = Table([axis], SensitiveRows(), ClassConstraint(100), LOSS)
    assert first_cut(table, column(target)) == set(range(123))


@st.composite
def guided(draw, most_targets=3, **options):
    table = draw(tables(scores=("loss",), relaxed=(False,), apart=(False,), **options))
    values = st.lists(st.integers(-9, 9), min_size=most_targets, max_size=most_targets)
    rows = len(table.rows)
    drawn = draw(st.lists(values, min_size=rows, max_size=rows))
    targets = draw(st.integers(1, most_targets))
    return table, np.array(drawn, dtype=np.int64)[:, :targets]


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(150))
@given(guided())
def test_guided_classes_hold_every_row_once_and_every_bound(drawn):
    table, targets = drawn
    formed = parts(table, targets)
    assert sorted(row for part in formed for row in part) == list(table.rows)
    assert all(keeps(table, sorted(part)) for part in formed)


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(80))
@given(guided(), st.randoms(use_true_random=False))
def test_guided_classes_are_the_same_in_any_order_of_rows(drawn, random):
    table, targets = drawn
    order = list(table.rows)
    random.shuffle(order)
    again = parts(moved(table, order), targets[order])
    assert [{order[row] for row in part} for part in again] == parts(table, targets)


@settings(deadline=None, max_examples=examples(50))
@given(guided(most_rows=100), st.integers(1, 4))
def test_guided_classes_are_the_same_cut_in_parts_by_several_threads(drawn, threads):
    whole = parts(*drawn)
    with patch.object(mondrian, "_WORTH_SHARING", 0), patch("os.cpu_count", lambda: threads):
        assert parts(*drawn) == whole


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(200))
@given(guided())
def test_the_first_cut_is_the_valid_one_that_gains_most(drawn):
    table, targets = drawn
    best = best_valid_gain(table, targets)
    left = sorted(first_cut(table, targets))
    right = sorted(set(table.rows) - set(left))
    assert not left or holds(table, (left, right))
    if best:
        assert float(gain(targets, left, right)) == pytest.approx(float(best))
    else:
        by_loss = Table(table.axes, table.people, table.constraint, LOSS)
        sides = cut(by_loss, list(table.rows)) or ([], [])
        assert left == sorted(sides[0])


def best_valid_gain(table, targets):
    cuts = [sides for axis in table.axes for sides in sides_of(axis, targets, list(table.rows))]
    return max((gain(targets, *sides) for sides in cuts if holds(table, sides)), default=0)


def holds(table, sides):
    return all(keeps(table, side) for side in sides)


@settings(deadline=None, max_examples=examples(100))
@given(st.integers(2, 7), st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 9)), min_size=2))
def test_a_cut_of_values_without_an_order_gains_as_much_as_any_division_of_them(values, rows):
    # all 2^(m - 1) - 1 of them (Breiman et al., 1984, theorem 4.5)
    codes, target = ints([code % values for code, _ in rows]), column([one for _, one in rows])
    axis = Axis(codes, Members(values))
    everyone, distinct = list(range(len(codes))), sorted(set(codes.tolist()))
    divisions = [
        split(axis, everyone, set(some))
        for size in range(1, len(distinct))
        for some in itertools.combinations(distinct, size)
    ]
    best = max((gain(target, *sides) for sides in divisions), default=0)
    table = Table([axis], SensitiveRows(), ClassConstraint(1), LOSS)
    left = sorted(first_cut(table, target))
    right = [row for row in everyone if row not in left]
    found = gain(target, left, right) if left else 0
    assert float(found) == pytest.approx(float(best))


@pytest.mark.nightly
@settings(deadline=None, max_examples=examples(200))
@given(guided(), st.integers(1, 3))
def test_counts_of_parts_choose_the_cut_that_the_rows_choose(drawn, number):
    table, targets = drawn
    coded = guided_table(table.axes, table.people, table.constraint, targets)
    ranks = gains.ranking(coded.axes, targets.shape[1])
    pieces = list(pieces_of(table, number))
    counts = [gains.count_codes(coded.axes, coded.rows[rows], targets[rows]) for rows in pieces]
    gains.restore(coded.axes, ranks, sum(counts))
    best = gains.best_gain(coded, ranks, sides_by_order(table, coded, ranks, pieces))
    if best is None:
        assert best_valid_gain(table, targets) == 0
    else:
        chosen = gains.cut_behind(coded.axes, ranks, best)
        codes = table.axes[chosen.dim].codes
        left = {row for row in table.rows if chosen.goes_left[codes[row] - chosen.low]}
        assert left == first_cut(table, targets)


def pieces_of(table, number):
    """The rows in parts, those of each person in one."""
    persons = table.people.persons
    owners = np.arange(len(table.rows)) if persons is None else persons
    for place in range(number):
        yield np.flatnonzero(owners % number == place)


def sides_by_order(table, coded, ranks, pieces):
    people = table.people
    if people.persons is None and not people.sensitive:
        return None
    sensitive = np.column_stack([*people.sensitive, np.zeros(len(table.rows), np.int32)])
    orders = {
        (dim, order): gains.turns_of(coded.axes, ranks, dim, order)
        for dim, axis in enumerate(table.axes)
        for order in range(gains.orders_of(coded.axes, dim, ranks.counts.shape[1] - 1))
    }
    return {
        (dim, order): merge(
            [
                count_sides(
                    coded,
                    np.argsort(turns)[np.searchsorted(np.sort(turns), table.axes[dim].codes[rows])],
                    len(turns),
                    sensitive[rows],
                    None if people.persons is None else people.persons[rows].astype(np.int64),
                )
                for rows in pieces
            ]
        )
        for (dim, order), turns in orders.items()
    }


def test_a_column_of_very_many_values_is_cut_like_any_other():
    # A node costs as much as its rows, not as the values of the column.
    rows = 60_000
    names = Axis(np.arange(rows, dtype=np.int32)[::-1].copy(), Members(rows))
    target = np.arange(rows) % 3
    table = Table([names], SensitiveRows(), ClassConstraint(100), LOSS)
    formed = parts(table, column(target))
    assert min(map(len, formed)) >= 100
    assert len(formed) > 300
    assert first_cut(table, column(target)) == set(np.flatnonzero(target == 0).tolist())
