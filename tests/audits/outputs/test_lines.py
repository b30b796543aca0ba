"""Lines of tables, and the cells that they lack."""

import numpy as np

from policy_engine.audits.outputs.lines import absent_cells, least_lines, line_rests, line_shares


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
