import numpy as np
import pytest

from policy_engine.kernels.output_checks.released_bounds import (
    KnownSums,
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
    assert ends == [(2.0, 5.0), (0.0, 3.0), (0.0, 3.0)]


def test_what_nothing_bounds_is_unbounded():
    known = sums([[1, 1, 0]], [5.0], -INFINITY, INFINITY)
    assert [*intervals(known, np.eye(3)[:1], 9)] == [(-INFINITY, INFINITY)]


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
