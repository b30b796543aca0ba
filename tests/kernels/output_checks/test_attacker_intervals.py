import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import DataError
from policy_engine.kernels.output_checks.attacker_intervals import (
    attacker_intervals,
    contributor_cells,
)
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out, table_system

VALUES = np.array([[1, 20, 21], [40, 50, 90], [41, 70, 111]])
LAYOUT = lay_out([flat_dimension(2), flat_dimension(2)])
SQUARE = np.isin(np.arange(9), [0, 1, 3, 4])


def system(**options):
    return table_system(LAYOUT, VALUES, np.arange(9) == 0, **options)


def test_a_square_moves_as_one_until_a_cell_is_0():
    intervals = attacker_intervals(system(), SQUARE, np.array([0, 1, 3, 4]))
    assert intervals.lower.round(6).tolist() == [0, 0, 20, 49]
    assert intervals.upper.round(6).tolist() == [21, 21, 41, 70]


def test_bounds_that_the_attacker_knows_narrow_what_is_left():
    bounds = (VALUES * 0.5, VALUES * 1.5)
    intervals = attacker_intervals(system(bounds=bounds), SQUARE, np.array([0, 4]))
    assert intervals.lower.round(6).tolist() == [0.5, 49.5]
    assert intervals.upper.round(6).tolist() == [1.5, 50.5]


def test_who_knows_one_cell_of_a_square_knows_all():
    intervals = attacker_intervals(system(), SQUARE, np.array([0, 1, 3, 4]), known_cells=[4])
    assert intervals.lower.round(6).tolist() == [1, 20, 40, 50]
    assert intervals.upper.round(6).tolist() == [1, 20, 40, 50]


def test_a_published_cell_has_its_value():
    intervals = attacker_intervals(system(), SQUARE, np.array([8]))
    assert (intervals.lower.tolist(), intervals.upper.tolist()) == ([111], [111])


@given(st.lists(st.integers(0, 6), min_size=4, max_size=4))
def test_intervals_of_a_square_are_those_found_by_trying_all(cells):
    cells = np.array(cells).reshape(2, 2)
    values = np.block(
        [[cells, cells.sum(axis=1, keepdims=True)], [cells.sum(axis=0, keepdims=True), cells.sum()]]
    )
    one = table_system(LAYOUT, values, np.zeros(9))
    steps = np.arange(-20, 21)
    signs = np.array([1, -1, -1, 1])
    moved = cells.ravel() + steps[:, np.newaxis] * signs
    possible = moved[(moved >= 0).all(axis=1)]
    intervals = attacker_intervals(one, SQUARE, np.array([0, 1, 3, 4]))
    assert intervals.lower.round(6).tolist() == possible.min(axis=0).tolist()
    assert intervals.upper.round(6).tolist() == possible.max(axis=0).tolist()


def test_contributors_know_the_suppressed_cells_that_they_are_alone_in():
    one = system(contributors=np.array([5, 6, -1, 5, -1, -1, -1, -1, 6]))
    cells = contributor_cells(one, SQUARE)
    assert {number: some.tolist() for number, some in cells.items()} == {5: [0, 3], 6: [1]}


def test_without_the_solver_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(DataError, match=r"C011.*policy-engine\[audits\]"):
        attacker_intervals(system(), SQUARE, np.array([0]))
