"""Cells that are 0 because none is negative."""

import numpy as np
import pytest

from policy_engine.kernels.output_checks.fixed_zeros import fixed_values, zeros_of
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out


def zeros(table, unknown, slack=0.0):
    """Return the unknown cells of a table with its totals that are known to be 0."""
    values = np.array(table, float)
    layout = lay_out([flat_dimension(size - 1) for size in values.shape])
    is_unknown = np.zeros(values.shape, bool)
    is_unknown[tuple(np.transpose(unknown))] = True
    off = np.full(values.size, slack)
    found = zeros_of(layout.equations, values.ravel(), off, is_unknown.ravel())
    return [tuple(one) for one in np.argwhere(found.reshape(values.shape)).tolist()]


TABLE = [[20, 30, 0, 50], [21, 31, 41, 93], [41, 61, 41, 143]]


def test_parts_of_a_total_that_others_make_up_are_zero():
    assert zeros([[20, 30, 0, 0, 50]], [(0, 2), (0, 3)]) == [(0, 2), (0, 3)]


def test_parts_of_what_is_left_are_not():
    assert zeros([[20, 30, 5, 0, 55]], [(0, 2), (0, 3)]) == []


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-3])
def test_a_cell_is_zero_whatever_the_unit_of_the_figures(size):
    table = np.array(TABLE) * size
    assert zeros(table, [(0, 0), (0, 2), (1, 0), (1, 2), (2, 2)]) == []
    assert zeros(table, [(0, 2), (1, 2)]) == [(0, 2)]


def test_totals_that_are_off_by_rounding_tell_nothing():
    assert zeros([[20, 30, 0, 0, 49]], [(0, 2), (0, 3)]) == []
    assert zeros([[20, 30, 0, 0, 50]], [(0, 2), (0, 3)], slack=1.0) == []


def test_values_are_fixed_by_sums_and_by_what_cannot_be_negative():
    layout = lay_out([flat_dimension(3)])
    values, off = np.array([20.0, 0, 0, 26]), np.zeros(4)
    is_unknown = np.array([False, True, False, False])
    assert fixed_values(layout.equations, values, off, is_unknown)[1] == 6
    is_unknown[2] = True
    assert np.isnan(fixed_values(layout.equations, values, off, is_unknown)).all()
    values[3] = 20
    assert fixed_values(layout.equations, values, off, is_unknown)[1:3].tolist() == [0, 0]
    values[3] = 19
    assert fixed_values(layout.equations, values, off, is_unknown) is None
