from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.pareto import pareto_front

figures = st.integers(0, 5).map(float)


def test_points_that_another_one_beats_are_left_out():
    # (2, 3) is beaten by (2, 2), and (3, 2) is, too.
    assert pareto_front([(3, 2), (1, 5), (2, 2), (2, 3), (4, 1)]) == (1, 2, 4)


def test_equal_points_are_both_there():
    assert pareto_front([(1, 1), (1, 1), (2, 0)]) == (0, 1, 2)
    assert pareto_front([]) == ()


def beats(one, other):
    return one != other and one[0] <= other[0] and one[1] <= other[1]


@given(st.lists(st.tuples(figures, figures), max_size=12))
def test_the_front_is_all_that_nothing_beats(points):
    expected = {
        place for place, one in enumerate(points) if not any(beats(other, one) for other in points)
    }
    assert set(pareto_front(points)) == expected
