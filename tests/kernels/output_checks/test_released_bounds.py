import numpy as np
import pytest

from policy_engine.kernels.output_checks.released_bounds import (
    KnownSums,
    count_directions,
    fixed_ends,
    has_interior,
    intervals,
    linked_directions,
    never_reached,
)
from policy_engine.kernels.output_checks.released_span import echelon

PRIME = 67_108_859
INFINITY = np.inf


def sums(rows, values, least, most):
    size = len(rows[0])
    return KnownSums(
        np.array(rows, float), np.array(values), np.full(size, least), np.full(size, most)
    )


def test_a_part_of_a_total_lies_between_nothing_and_the_total():
    known = sums([[1, 1, 0], [0, 1, 1]], [5.0, 3.0], 0.0, INFINITY)
    ends = [*intervals(known, np.eye(3), 9)]
    assert [one[:2] for one in ends] == [(2.0, 5.0), (0.0, 3.0), (0.0, 3.0)]


def test_the_equations_that_tell_an_interval_are_named_and_scales_are_taken_back():
    known = sums([[1, 1, 0], [0, 0, 1]], [5.0, 3.0], 0.0, INFINITY)._replace(scale=10.0)
    [end] = intervals(known, np.eye(3)[:1], 9)
    assert (end.high, end.equations.tolist()) == (50.0, [True, False])


def test_what_nothing_bounds_is_unbounded():
    known = sums([[1, 1, 0]], [5.0], -INFINITY, INFINITY)
    [end] = intervals(known, np.eye(3)[:1], 9)
    assert end[:2] == (-INFINITY, INFINITY)


@pytest.mark.parametrize(("total", "is_inside"), [(0.0, False), (3.0, True), (20.0, False)])
def test_a_total_at_a_bound_has_no_interior(total, is_inside):
    assert has_interior(sums([[1, 1]], [total], 0.0, 10.0), 9) is is_inside


def directions(rows, counts):
    """Return whether columns without a pivot may have other counts than these, by a direction of
    their own, and by what differs from another one."""
    form = echelon(np.array(rows), PRIME, is_reduced=True)
    free = np.setdiff1d(np.arange(len(counts)), form.pivots)
    own = counts[form.pivots], counts[free]
    some = count_directions(form.rows[:, free], *own, PRIME)
    return some.are_open.tolist(), linked_directions(some, own[0], PRIME).tolist()


@pytest.mark.parametrize(("counts", "is_open"), [([1, 1, 1, 1], True), ([1, 0, 1, 1], False)])
def test_counts_are_known_where_their_changes_lead_below_nothing(counts, is_open):
    """The only direction is (1, 1, 1, -2): from ones, it leads backwards to (0, 0, 0, 3)."""
    rows = [[1.0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]
    assert directions(rows, np.array(counts)) == ([is_open], [is_open])


def test_counts_are_open_where_they_differ_by_an_open_direction_from_one():
    """The last one alone takes one unit from the second pivot; others may change in its place."""
    entries = np.array([[2.0, 3, 2], [PRIME - 2, PRIME - 2, PRIME - 1]])
    some = count_directions(entries, np.ones(2, np.int64), np.ones(3, np.int64), PRIME)
    assert some.are_open.tolist() == [False, False, True]
    assert linked_directions(some, np.ones(2, np.int64), PRIME).tolist() == [True] * 3


def test_counts_of_a_single_total_are_not_known():
    assert directions(np.ones((1, 4)), np.ones(4, np.int64))[0] == [True] * 3


def test_values_that_contradict_one_another_have_no_bounds():
    known = sums([[1, 1, 0], [1, 1, 0]], [5.0, 6.0], -INFINITY, INFINITY)
    assert [*intervals(known, np.eye(3), 9)] == []
    assert not has_interior(sums([[1, 1], [1, 1]], [5.0, 6.0], 0.0, 10.0), 9)


def ends(rows, solution, most):
    """Return the atoms that stay at an end, from 0 to most, and the equations that tell it."""
    matrix, counts = np.array(rows, float), np.array(solution, float)
    sums = KnownSums(matrix, matrix @ counts, np.zeros(len(counts)), np.array(most, float))
    found = fixed_ends(sums, counts, (counts == 0) | (counts == most), 10.0)
    return np.flatnonzero(found.atoms).tolist(), np.flatnonzero(found.equations).tolist()


def test_three_are_all_counted_where_others_are_known_to_be_few():
    """Of ten and of seven of them, 7 and 4 are counted."""
    assert ends([[1, 1], [1, 0]], [4, 3], [7, 3]) == ([1], [0, 1])


def test_two_of_three_may_be_any():
    assert ends([[1, 1], [1, 0]], [5, 2], [7, 3]) == ([], [])


def test_what_can_leave_its_end_only_together_with_others_is_not_fixed():
    assert ends([[1, 1, 0], [0, 1, 1]], [0, 3, 0], [3, 3, 3]) == ([], [])


def test_of_four_in_two_parts_of_three_nobody_knows_which_part_has_none():
    """Each of two parts has one at least, and both have all of three at once in no solution."""
    known = sums([[1, 1]], [4.0], 0.0, 3.0)
    least, most = np.zeros(2), np.full(2, -3.0)
    assert never_reached(known, np.eye(2), least, 10.0).tolist() == [True, True]
    assert never_reached(known, -np.eye(2), most, 10.0).tolist() == [False, False]


def test_an_equation_that_is_not_needed_is_not_named():
    assert ends([[1, 1, 0], [1, 0, 0], [0, 0, 1]], [4, 3, 1], [7, 3, 2]) == ([1], [0, 1])
