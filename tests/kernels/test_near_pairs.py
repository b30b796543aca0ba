"""Pairs of points that are near each other, counted without looking at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.near_pairs import pairs_within


def test_a_pair_is_near_if_it_is_so_in_every_column():
    points, centres = np.array([[0.0, 0], [1, 5], [2, 2]]), np.array([[1.0, 1], [1, 4]])
    assert pairs_within(points, centres, np.array([1.0, 1])) == 3
    assert pairs_within(points, centres, np.array([1.0, 3])) == 4
    assert pairs_within(points, points, np.array([0.0, 0])) == 3


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_near_pairs_are_those_of_looking_at_all(rows, others, columns, seed):
    random = np.random.default_rng(seed)
    scales = np.array([1e-9, 0.1, 1, 1e12])[:columns]
    points = random.integers(0, 30, (rows, columns)) * scales
    centres = random.integers(0, 30, (others, columns)) * scales
    widths = random.integers(0, 6, columns) * scales
    near = (centres[:, None] - widths <= points) & (points <= centres[:, None] + widths)
    assert pairs_within(points, centres, widths) == near.all(axis=2).sum()


def test_pairs_of_lumps_are_counted_without_looking_into_them():
    points = np.repeat([[0.0, 0], [10, 10]], 100_000, axis=0)
    assert pairs_within(points, points + 1, np.array([1.0, 1])) == 2 * 100_000**2
