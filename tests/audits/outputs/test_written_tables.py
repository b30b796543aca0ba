"""Tables that were handed in, as they leave."""

import numpy as np

from policy_engine.audits.outputs.reading_tables import read_finished
from policy_engine.audits.outputs.written_tables import HandedInTable


def handed_in(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    table = read_finished(path, kind="means")
    cells = np.arange(len(table.values))
    return HandedInTable(table, np.column_stack([cells, np.zeros_like(cells)]))


def test_figures_stay_as_they_are_written(tmp_path):
    written = handed_in(tmp_path, "Region,Mean\nA,1.50\nB,20.0\nC,.\n")
    shown = written.shown(np.array([[True], [False], [True]]))
    assert shown.head == ("Region", "Mean")
    assert shown.rows == (("A", "1.50"), ("B", None), ("C", None))
    assert shown.to_arrow()["Mean"].to_pylist() == [1.5, None, None]


def test_a_label_of_several_rows_stays_with_those_that_are_left(tmp_path):
    written = handed_in(tmp_path, "Region,Sector,Mean\nA,x,1.5\n,y,2.5\nB,x,3.5\n")
    shown, listed = np.ones((3, 1), np.bool_), np.array([False, True, True])
    assert written.shown(shown, listed).rows == (("A", "y", "2.5"), ("B", "x", "3.5"))
    assert written.shown(shown).rows[1] == ("", "y", "2.5")


def test_figures_of_more_digits_are_rounded(tmp_path):
    written = handed_in(tmp_path, "Region,Mean\nA,1.50\nB,20.456\n")
    rows = written.shown(np.ones((2, 1), np.bool_), digits=3).rows
    assert rows == (("A", "1.50"), ("B", "20.5"))
