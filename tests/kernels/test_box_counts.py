import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.box_counts import box_counts


def test_points_on_the_faces_of_a_box_are_in_it():
    points = np.array([[0.0, 0], [1, 1], [2, 2], [3, 0]])
    found = box_counts(
        points,
        np.array([1, 10, 100, 1000]),
        np.array([[0.0, 0], [1, 1]]),
        np.array([[1.0, 1], [2, 2]]),
    )
    assert found.tolist() == [11, 110]


@given(st.integers(1, 200), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_counts_are_those_of_looking_at_all(rows, columns, seed):
    random = np.random.default_rng(seed)
    points = random.integers(0, 6, (rows, columns)).astype(float)
    weights = random.integers(1, 5, rows)
    low = random.integers(0, 6, (20, columns)).astype(float)
    high = low + random.integers(0, 3, (20, columns))
    inside = ((low[:, None] <= points) & (points <= high[:, None])).all(axis=2)
    assert box_counts(points, weights, low, high).tolist() == (inside @ weights).tolist()
