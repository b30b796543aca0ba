"""Lines of tables, and the cells that they lack."""

import numpy as np

from policy_engine.audits.outputs.lines import (
    LineUnits,
    absent_cells,
    least_lines,
    line_rests,
    line_shares,
)


def test_share_is_the_larger_of_those_in_row_and_column():
    """Rows (1, 3) and (4, 12): 3/4 of the row, and 12/15 of the column."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    shares = line_shares(codes, np.array([1, 3, 4, 12]))
    assert shares.tolist() == [1 / 4, 3 / 4, 4 / 5, 4 / 5]
    assert line_rests(codes, np.array([1, 3, 4, 12])).tolist() == [3, 1, 1, 3]


def test_least_line_is_the_smaller_of_row_and_column():
    """Rows of 4 and 16, columns of 5 and 15; the total of the first row is in that of 4 and 16."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, -1], [1, -1]])
    least = least_lines(codes, np.array([1, 3, 4, 12, 4, 16]))
    assert least.tolist() == [4, 4, 5, 15, 20, 20]
    assert least_lines(np.empty((1, 0), np.int64), np.array([7])).tolist() == [0]


def test_totals_are_lines_of_their_own():
    codes = np.array([[0], [1], [-1]])
    shares = line_shares(codes, np.array([1, 3, 4]))
    assert shares[:2].tolist() == [1 / 4, 3 / 4]
    assert np.isnan(shares[2])


def test_table_without_keys_has_no_line():
    for figures in (line_shares, line_rests):
        assert np.isnan(figures(np.empty((1, 0), np.int64), np.array([7]))).all()


def test_absent_cells_are_those_of_no_row():
    codes = np.array([[0, 0, -1], [1, 2, -1]])
    cells = absent_cells(codes, (0, 1), (2, 3, 5))
    assert cells.tolist() == [[0, 1, -1], [0, 2, -1], [1, 0, -1], [1, 1, -1]]
    assert not len(absent_cells(codes, (0,), (2, 3, 5)))
    assert len(absent_cells(codes, (0, 1), (2000, 3, 5))) > 5000


def test_units_of_several_cells_are_in_their_line_once_if_that_is_known():
    """Of 40 persons, 36, 30 and 10 are in three cells: all but 4, 10 and 30. That the first cell
    alone is withheld would tell nothing, since the others may have all 40 (30 and 10)."""
    codes, units = np.array([[0], [1], [2]]), np.array([36, 30, 10])
    line_units = LineUnits({0: np.array([40, 40, 40])})
    assert line_shares(codes, units, own_units=line_units).tolist() == [0.9, 0.75, 0.25]
    assert line_rests(codes, units, own_units=line_units).tolist() == [4, 10, 30]


def test_other_cells_are_as_full_as_the_fullest_where_it_has_to_have_some():
    """Of 40 persons, 39 are in one cell and 20 in the other: the first one has 20 at least."""
    line_units = LineUnits({0: np.array([40, 40])})
    units = np.array([39, 20])
    assert line_rests(np.array([[0], [1]]), units, own_units=line_units).tolist() == [1, 1]


def test_rows_are_of_as_few_units_as_may_have_them():
    """30 persons have 90 rows, of which 80 are in a cell: 10 rows are all those of 3 persons. So 15
    of 60 are of 7. Where none has more than two rows in a cell, 58 rows are of 29 persons."""
    codes, whole = np.array([[0], [1]]), {0: np.array([30, 30])}
    units = np.array([30, 8])
    line_units = LineUnits(whole, rows=np.array([80, 10]))
    assert line_rests(codes, units, own_units=line_units).tolist() == [3, 26]
    line_units = LineUnits(whole, rows=np.array([45, 15]))
    assert line_rests(codes, units, own_units=line_units).tolist() == [7, 22]
    line_units = LineUnits(whole, rows=np.array([58, 30]), most_rows=2)
    assert line_rests(codes, units, own_units=line_units)[0] == 1


def test_cells_of_those_with_a_value_are_a_line_of_their_own():
    """Of 25 with the first value, 3 with the second and 72 with none, nearly all have the first of
    those who have one. The total of each key has a line of its own."""
    codes, units = np.array([[0], [1], [2], [-1]]), np.array([25, 3, 72, 100])
    about = codes, units, (), (), None, {0: 2}
    assert line_shares(*about)[:3].tolist() == [25 / 28, 3 / 28, 0.72]
    assert line_rests(*about)[:3].tolist() == [3, 25, 28]
    assert line_rests(*about[:5])[:3].tolist() == [75, 97, 28]


def test_units_of_several_cells_who_have_a_value_are_all_but_those_without():
    """Of 80, 20 have none, 60 the first value, and 25 of these the second one, too."""
    codes, units = np.array([[0], [1], [2]]), np.array([60, 25, 20])
    about = codes, units, (), (), LineUnits({0: np.full(3, 80)})
    assert line_shares(*about, {0: 2})[:2].tolist() == [1.0, 0.75]
    assert line_rests(*about, {0: 2})[:2].tolist() == [0, 20]
    assert line_shares(*about)[0] == 0.75
