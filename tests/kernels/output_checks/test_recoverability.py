from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.output_checks.recoverability import (
    bridges,
    determined,
    determined_in_two_way,
)
from policy_engine.kernels.output_checks.table_system import flat_dimension, lay_out, link

PATTERNS = st.integers(2, 5).flatmap(
    lambda rows: st.integers(2, 5).flatmap(
        lambda columns: st.lists(
            st.booleans(), min_size=rows * columns, max_size=rows * columns
        ).map(lambda cells: np.array(cells).reshape(rows, columns))
    )
)


def rank(rows):
    """Return the rank of whole-number rows, by elimination on fractions."""
    rows, result = [[Fraction(int(one)) for one in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows[result:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(result, pivot)
        for at in range(result + 1, len(rows)):
            factor = rows[at][column] / pivot[column]
            rows[at] = [a - factor * b for a, b in zip(rows[at], pivot, strict=True)]
        result += 1
    return result


def by_ranks(equations, is_suppressed):
    """Return the cells without which the rank of the suppressed columns is smaller."""
    matrix = np.zeros((equations.count, len(is_suppressed)), dtype=int)
    np.add.at(matrix, (equations.rows, equations.cells), equations.coefficients)
    cells = np.flatnonzero(is_suppressed)
    full = rank(matrix[:, cells])
    result = np.zeros(len(is_suppressed), dtype=bool)
    result[[one for one in cells if rank(matrix[:, cells[cells != one]]) < full]] = True
    return result


def test_the_edge_between_two_triangles_is_a_bridge():
    tails, heads = np.array([0, 1, 2, 2, 3, 4, 5]), np.array([1, 2, 0, 3, 4, 5, 3])
    assert bridges(6, tails, heads).tolist() == [False] * 3 + [True] + [False] * 3


def test_two_edges_of_the_same_nodes_are_no_bridges():
    assert bridges(3, np.array([0, 0, 1]), np.array([1, 1, 2])).tolist() == [False, False, True]


def test_a_graph_without_edges_has_no_bridges():
    assert bridges(2, np.array([], dtype=int), np.array([], dtype=int)).tolist() == []


def test_a_rectangle_is_not_determined_and_a_lone_cell_is():
    is_suppressed = np.zeros((4, 4), dtype=bool)
    is_suppressed[[0, 0, 1, 1, 2], [0, 1, 0, 1, 2]] = True
    assert np.argwhere(determined_in_two_way(is_suppressed)).tolist() == [[2, 2]]


@given(PATTERNS)
def test_bridges_elimination_and_ranks_agree_on_two_way_tables(is_suppressed):
    rows, columns = is_suppressed.shape
    layout = lay_out([flat_dimension(rows - 1), flat_dimension(columns - 1)])
    expected = determined_in_two_way(is_suppressed).ravel()
    assert (determined(layout.equations, is_suppressed.ravel()) == expected).all()
    assert (by_ranks(layout.equations, is_suppressed.ravel()) == expected).all()


@pytest.mark.nightly
@settings(max_examples=8, deadline=None)
@given(st.lists(st.booleans(), min_size=27, max_size=27).map(np.array))
def test_elimination_and_ranks_agree_on_cubes(is_suppressed):
    equations = lay_out([flat_dimension(2)] * 3).equations
    assert (determined(equations, is_suppressed) == by_ranks(equations, is_suppressed)).all()


@given(st.lists(st.booleans(), min_size=21, max_size=21).map(np.array))
def test_elimination_and_ranks_agree_on_hierarchies(is_suppressed):
    regions = np.array([4, 4, 5, 5, 6, 6, -1])
    equations = lay_out([regions, flat_dimension(2)]).equations
    assert (determined(equations, is_suppressed) == by_ranks(equations, is_suppressed)).all()


@given(
    st.lists(st.booleans(), min_size=21, max_size=21).map(np.array),
    st.lists(st.booleans(), min_size=21, max_size=21).map(np.array),
)
def test_of_some_cells_alone_it_is_told_as_of_all(is_suppressed, targets):
    regions = np.array([4, 4, 5, 5, 6, 6, -1])
    equations = lay_out([regions, flat_dimension(2)]).equations
    every, some = determined(equations, is_suppressed), is_suppressed & targets
    assert (determined(equations, is_suppressed, targets=targets)[some] == every[some]).all()


def test_what_is_too_large_to_eliminate_tells_what_follows_step_by_step():
    """The second of two lines is determined by the first, whose other cell is published."""
    equations = lay_out([flat_dimension(3), flat_dimension(3)]).equations
    is_suppressed = np.zeros((4, 4), dtype=bool)
    is_suppressed[[0, 1, 1, 2, 2, 0], [0, 0, 1, 1, 2, 3]] = True
    every = determined(equations, is_suppressed.ravel())
    assert np.flatnonzero(every).tolist() == np.flatnonzero(is_suppressed).tolist()
    is_suppressed[[3, 3], [1, 2]] = True
    every = determined(equations, is_suppressed.ravel())
    some = determined(equations, is_suppressed.ravel(), most=1)
    assert some.tolist() == every.tolist()
    is_suppressed[:] = True
    assert not determined(equations, is_suppressed.ravel(), most=1).any()


def test_both_cells_of_a_table_and_its_margin_elsewhere_are_determined():
    """Of ACRO 1.0.2: a table of region by sector whose cells 6 and 1 are blank, and whose totals
    were made without them, 78 and 33; another table has the totals of regions, 84 and 34."""
    # Two lines of three sectors: the blank cell, the rest, the total as shown, and the true total.
    line = lay_out([flat_dimension(2)])
    layout = link([line, line], [np.array([0, 1, 2]), np.array([3, 4, 5])])
    is_suppressed = np.isin(np.arange(6), [0, 3])
    assert np.flatnonzero(determined(layout.equations, is_suppressed)).tolist() == [0, 3]
