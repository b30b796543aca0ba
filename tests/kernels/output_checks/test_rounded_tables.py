import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.output_checks.rounding import round_to_nearest, round_to_totals
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out


def with_totals(cells):
    for axis in range(cells.ndim):
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


def test_the_nearest_multiple_and_of_two_the_even_one():
    assert round_to_nearest(np.array([0, 2, 3, 7, 8]), 5).tolist() == [0, 0, 5, 5, 10]
    assert round_to_nearest(np.array([5, 15, 25]), 10).tolist() == [0, 20, 20]


def test_a_table_is_rounded_so_that_it_adds_up():
    """By themselves 2, 2 and 2 would be 0, and their total of 6 would be 5."""
    layout = lay_out([flat_dimension(3)])
    rounded = round_to_totals(layout.equations, np.array([2, 2, 2, 6]), 5)
    assert sorted(rounded[:3].tolist()) == [0, 0, 5]
    assert rounded[3] == 5


def test_multiples_stay_as_they_are():
    values = with_totals(np.array([[5, 10], [0, 3]]))
    layout = lay_out([flat_dimension(2)] * 2)
    rounded = round_to_totals(layout.equations, values.ravel(), 5).reshape(3, 3)
    assert rounded[0].tolist() == [5, 10, 15]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(2, 10), st.data())
def test_two_way_tables_always_have_a_rounding_to_their_totals(rows, columns, base, data):
    size = rows * columns
    cells = data.draw(st.lists(st.integers(0, 60), min_size=size, max_size=size))
    values = with_totals(np.array(cells).reshape(rows, columns)).ravel()
    layout = lay_out([flat_dimension(rows), flat_dimension(columns)])
    rounded = round_to_totals(layout.equations, values, base)
    assert not layout.equations.sums(rounded).any()
    assert not (rounded % base).any()
    assert (np.abs(rounded - values) < base).all()


def test_a_cube_is_rounded_where_that_is_possible():
    values = with_totals(np.arange(8).reshape(2, 2, 2)).ravel()
    layout = lay_out([flat_dimension(2)] * 3)
    rounded = round_to_totals(layout.equations, values, 3)
    assert not layout.equations.sums(rounded).any()


def test_equations_without_a_rounding_have_none():
    """Three cells of which each two are a total of 2: with base 2 each pair has one that rises."""
    none = lay_out([flat_dimension(2)]).equations
    starts = np.array([0, 3, 6, 9])
    cells = np.array([3, 0, 1, 4, 1, 2, 5, 0, 2])
    equations = type(none)(starts, cells, np.tile([-1, 1, 1], 3))
    assert round_to_totals(equations, np.array([1, 1, 1, 2, 2, 2]), 2) is None


def test_a_table_that_does_not_add_up_is_refused():
    layout = lay_out([flat_dimension(2)])
    with pytest.raises(ValueError, match="not the sums"):
        round_to_totals(layout.equations, np.array([1, 2, 4]), 5)
