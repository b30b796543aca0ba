import numpy as np
import pytest

from policy_engine.kernels.output_checks.table_system import (
    broken_equations,
    flat_dimension,
    lay_out,
    link,
    table_system,
)

TWO_BY_TWO = lay_out([flat_dimension(2), flat_dimension(2)])
VALUES = np.array([[1, 2, 3], [4, 5, 9], [5, 7, 12]])


def of_equation(equations, number):
    terms = slice(equations.starts[number], equations.starts[number + 1])
    pairs = zip(equations.cells[terms], equations.coefficients[terms], strict=True)
    return {int(cell): int(factor) for cell, factor in pairs}


def test_every_row_and_column_has_its_total():
    lines = [of_equation(TWO_BY_TWO.equations, one) for one in range(6)]
    assert lines[:3] == [{6: -1, 0: 1, 3: 1}, {7: -1, 1: 1, 4: 1}, {8: -1, 2: 1, 5: 1}]
    assert lines[3:] == [{2: -1, 0: 1, 1: 1}, {5: -1, 3: 1, 4: 1}, {8: -1, 6: 1, 7: 1}]


def test_a_dimension_without_parents_has_no_total():
    layout = lay_out([flat_dimension(3), np.full(2, -1)])
    assert (layout.cells, layout.equations.count, len(layout.subtables)) == (8, 2, 1)


def test_a_hierarchy_has_one_subtable_for_each_total_with_the_upper_first():
    regions = np.array([4, 4, 5, 5, 6, 6, -1])
    layout = lay_out([regions, flat_dimension(1)])
    assert layout.equations.count == 2 * 3 + 7
    first, *others = [sorted({int(one) // 2 for one in cells}) for cells in layout.subtables]
    assert first == [4, 5, 6]
    assert others == [[0, 1, 4], [2, 3, 5]]


def test_parents_in_a_circle_are_refused():
    with pytest.raises(ValueError, match="each other's parents"):
        lay_out([np.array([1, 0])])


def test_every_line_of_a_cube_is_an_equation():
    cube = np.arange(8).reshape(2, 2, 2)
    for axis in range(3):
        cube = np.concatenate([cube, cube.sum(axis=axis, keepdims=True)], axis=axis)
    layout = lay_out([flat_dimension(2)] * 3)
    assert layout.equations.count == 27
    assert not len(broken_equations(layout.equations, cube.ravel()))


def test_linked_tables_share_their_cells():
    one = lay_out([flat_dimension(2)])
    joined = link([one, one], [np.array([0, 1, 2]), np.array([3, 4, 2])])
    assert joined.cells == 5
    assert [of_equation(joined.equations, n) for n in (0, 1)] == [
        {2: -1, 0: 1, 1: 1},
        {2: -1, 3: 1, 4: 1},
    ]
    assert [cells.tolist() for cells in joined.subtables] == [[0, 1, 2], [3, 4, 2]]


def test_equations_of_some_cells_leave_out_those_about_none():
    is_kept = np.arange(9) == 0
    some = TWO_BY_TWO.equations.of_cells(is_kept)
    assert [of_equation(some, n) for n in range(some.count)] == [{0: 1}, {0: 1}]


def test_equations_among_cells_are_those_about_no_others():
    some = TWO_BY_TWO.equations.among(np.array([2, 0, 1]))
    assert [of_equation(some, n) for n in range(some.count)] == [{0: -1, 1: 1, 2: 1}]


def test_broken_equations_of_whole_numbers_are_found_exactly():
    values = VALUES.ravel() * 10**15
    assert not len(broken_equations(TWO_BY_TWO.equations, values))
    values[4] += 1
    assert broken_equations(TWO_BY_TWO.equations, values).tolist() == [1, 4]


def test_floats_may_be_off_by_a_billionth():
    values = VALUES.ravel() * 0.1
    assert not len(broken_equations(TWO_BY_TWO.equations, values))
    values[8] += 1e-6
    assert broken_equations(TWO_BY_TWO.equations, values).tolist() == [2, 5]


def test_a_value_that_is_no_number_breaks_its_equations():
    values = VALUES.ravel().astype(float)
    values[0] = np.nan
    assert broken_equations(TWO_BY_TWO.equations, values).tolist() == [0, 3]


def test_an_attacker_believes_no_negative_values_unless_told_otherwise():
    values = np.array([2.0, -5.0, -3.0])
    system = table_system(lay_out([flat_dimension(2)]), values, np.array([1, 0, 0]))
    assert system.lower_bounds.tolist() == [0, -np.inf, -np.inf]
    assert system.down.tolist() == [2, 50, 50]
    assert system.up.tolist() == [50, 50, 50]


def test_levels_are_cut_where_the_bounds_are():
    one = lay_out([flat_dimension(2)])
    system = table_system(one, np.array([0, 4, 4]), np.array([1, 1, 0]), protection=3)
    assert system.lower_protection.tolist() == [0, 3, 3]
    assert system.upper_protection.tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"protection": 0}, "level above 0"),
        ({"weights": np.array([1, -1, 1])}, "negative weight"),
        ({"bounds": (np.zeros(3), np.ones(3))}, "outside the bounds"),
    ],
)
def test_a_system_that_cannot_be_is_refused(options, match):
    with pytest.raises(ValueError, match=match):
        table_system(
            lay_out([flat_dimension(2)]), np.array([1, 2, 3]), np.array([1, 0, 0]), **options
        )


def test_as_many_values_as_cells_are_needed():
    with pytest.raises(ValueError, match="2 values"):
        table_system(TWO_BY_TWO, np.ones(2), np.ones(2))


def test_the_cost_is_of_what_is_suppressed_besides():
    weights = np.arange(9)
    system = table_system(TWO_BY_TWO, VALUES, np.arange(9) == 0, weights=weights)
    assert system.cost(np.isin(np.arange(9), [0, 1, 3])) == 4


def test_who_is_alone_in_a_total_knows_that_its_other_parts_are_empty():
    """0 and 1 are parts of 3, as 2 is of 4, and these of 5: all that there is is of one."""
    layout = lay_out([np.array([3, 3, 4, 5, 5, -1])])
    values = np.array([2, 0, 0, 2, 0, 2])
    system = table_system(layout, values, np.zeros(6), contributors=np.array([7, -1, -1, 7, -1, 7]))
    cells, contributors = system.lone_knowledge
    assert cells.tolist() == [0, 1, 2, 3, 4, 5]
    assert set(contributors.tolist()) == {7}


def test_who_is_alone_in_a_part_knows_nothing_of_the_others():
    system = table_system(
        lay_out([flat_dimension(3)]),
        np.array([2, 0, 5, 7]),
        np.zeros(4),
        contributors=np.array([7, -1, -1, -1]),
    )
    cells, contributors = system.lone_knowledge
    assert (cells.tolist(), contributors.tolist()) == ([0], [7])


def test_an_empty_cell_of_two_totals_is_known_to_whoever_is_alone_in_one():
    values = np.array([[0, 1, 1], [1, 9, 10], [1, 10, 11]])
    lone = np.array([[-1, 7, 7], [8, -1, -1], [8, -1, -1]])
    system = table_system(TWO_BY_TWO, values, np.zeros(9), contributors=lone)
    cells, contributors = system.lone_knowledge
    pairs = set(zip(cells.tolist(), contributors.tolist(), strict=True))
    assert pairs == {(0, 7), (1, 7), (2, 7), (0, 8), (3, 8), (6, 8)}
