import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from microaggregated import tables

from policy_engine.kernels.microaggregation import Scale, scale, share_moments, shares


def test_points_are_standard_deviations_from_the_mean():
    values = np.array([[1, 7], [3, 7], [5, 7], [7, 7]], dtype=np.float64)
    root = 5**0.5
    found = scale(values).points(values)
    assert found[:, 0] == pytest.approx([-3 / root, -1 / root, 1 / root, 3 / root])
    assert found[:, 1].tolist() == [0, 0, 0, 0]


def test_the_largest_numbers_have_finite_points():
    largest = sys.float_info.max
    values = np.array([[largest, 5e-324], [-largest, 0.0]])
    assert scale(values).points(values).tolist() == [[1, 0], [-1, 0]]


def test_neighbours_among_the_largest_whole_numbers_are_told_apart():
    values = np.array([[2.0**53 - 1], [2.0**53 - 2], [2.0**53 - 3]])
    assert scale(values).points(values).ravel() == pytest.approx([1.5**0.5, 0, -(1.5**0.5)])


@given(tables(), st.data())
def test_parts_in_any_order_make_the_same_scale(table, data):
    values = table.values
    order = data.draw(st.permutations(range(len(values))))
    cut = data.draw(st.integers(0, len(values)))
    low, high = values.min(axis=0), values.max(axis=0)
    parts = [shares(part, low, high) for part in np.split(values[order], [cut])]
    added = Scale(low, high, share_moments(parts[0]) + share_moments(parts[1]))
    whole = scale(values)
    assert added.moments == whole.moments
    assert added.points(values).tobytes() == whole.points(values).tobytes()


@given(tables())
def test_points_are_finite_and_at_most_the_root_of_the_rows(table):
    found = scale(table.values).points(table.values)
    assert np.abs(found).max() <= len(found) ** 0.5
