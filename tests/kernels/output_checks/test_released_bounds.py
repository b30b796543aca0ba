import numpy as np
import pytest

from policy_engine.kernels.output_checks.released_bounds import (
    KnownSums,
    fixed_ends,
    has_interior,
    integer_span,
    intervals,
)
from policy_engine.kernels.output_checks.released_span import in_span

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


def test_counts_whose_changes_are_not_whole_are_known():
    """The only direction is (1, 1, 1, -2): from ones, it leads backwards to (0, 0, 0, 3)."""
    rows = np.array([[1.0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]])
    assert integer_span(rows, np.ones(4, np.int64), PRIME) is None
    counts = np.array([1, 0, 1, 1])  # Neither way is open.
    wider = integer_span(rows, counts, PRIME)
    assert in_span(wider, np.eye(4), PRIME).all()


def test_counts_of_a_single_total_are_not_known():
    assert integer_span(np.ones((1, 4)), np.ones(4, np.int64), PRIME) is None


def test_values_that_contradict_one_another_have_no_bounds():
    known = sums([[1, 1, 0], [1, 1, 0]], [5.0, 6.0], -INFINITY, INFINITY)
    assert [*intervals(known, np.eye(3), 9)] == []
    assert not has_interior(sums([[1, 1], [1, 1]], [5.0, 6.0], 0.0, 10.0), 9)


def test_small_counts_within_large_ones_are_not_known():
    """Whichever way the columns are ordered: of 1 and 50, and 1 and 40, none can be told."""
    rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        counts = np.array([1, 50, 1, 40], np.int64)[order]
        assert integer_span(rows[:, order], counts, PRIME) is None


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


def test_an_equation_that_is_not_needed_is_not_named():
    assert ends([[1, 1, 0], [1, 0, 0], [0, 0, 1]], [4, 3, 1], [7, 3, 2]) == ([1], [0, 1])


def test_what_can_change_by_the_room_in_large_counts_is_not_known():
    """With pivots in single units, a direction would lead nowhere."""
    rows = [[1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1]]
    counts = np.array([1, 1, 30, 30, 1, 1])
    assert integer_span(np.array(rows, np.float64), counts, PRIME) is None
