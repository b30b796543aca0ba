"""Marks for missing cells in tables of other tools."""

import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.other_tools.missing_marks import (
    column_axis,
    unreadable_cells,
    without_marks,
)
from policy_engine.audits.disclosure.result import MissingMarks
from policy_engine.engines import tables


def table(tmp_path, *cells, name="x"):
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
    path.write_text("\n".join([f"row,{name}", *(f"{i},{one}" for i, one in enumerate(cells))]))
    return tables.read_table(path)


def marks(kind, cells, *found):
    return MissingMarks(table=kind, column="x", marks=found, cells=cells)


def test_marks_are_missing_where_the_original_has_numbers(tmp_path):
    given = {"original": table(tmp_path, 1, 2), "release": table(tmp_path, "NA", 2, " * ", "NA")}
    found, told = without_marks(given, ["x"])
    assert found["release"].column("x").to_pylist() == [None, "2", None, None]
    assert told == (marks("release", 3, " * ", "NA"),)


@pytest.mark.parametrize("mark", ["NA", "n/a", "<NA>", "NaN", "null", "None", "*", ".", "?", "-"])
def test_every_mark_may_be_in_the_original_alone(tmp_path, mark):
    given = {"original": table(tmp_path, 1.5, mark), "release": table(tmp_path, 1, 2)}
    found, told = without_marks(given, ["x"])
    assert column_axis(found["original"], "x") == "numbers"
    assert told == (marks("original", 1, mark),)


def test_marks_among_times_are_missing(tmp_path):
    given = {"original": table(tmp_path, "2020-01-01"), "release": table(tmp_path, "?")}
    assert without_marks(given, ["x"])[1] == (marks("release", 1, "?"),)


def test_texts_keep_their_marks(tmp_path):
    given = {"original": table(tmp_path, "NA", "DE"), "release": table(tmp_path, "NA", "-")}
    assert without_marks(given, ["x"]) == (given, ())


def test_columns_of_numbers_by_type_have_marks_in_texts_alone():
    given = {"original": pa.table({"x": [1, 2]}), "release": pa.table({"x": ["1", "NA"]})}
    found, told = without_marks(given, ["x"])
    assert found["release"].column("x").to_pylist() == ["1", None]
    assert told == (marks("release", 1, "NA"),)


def test_other_cells_are_told_with_an_example_and_ranges_are_not(tmp_path):
    original = table(tmp_path, 1, 2)
    release = table(tmp_path, "abc", "[1 - 2]", "2-3", "abd")
    [problem] = unreadable_cells(original, release, ["x", "row"])
    assert problem.code == "A027"
    said = "2 cells of 'x' in the release are neither numbers nor ranges, such as 'abc'."
    assert problem.message == said
    assert not [*unreadable_cells(table(tmp_path, "abc"), release, ["x"])]


def test_numbers_are_not_read_as_times(tmp_path):
    [problem] = unreadable_cells(table(tmp_path, 1, 2), table(tmp_path, "2020-01-01"), ["x"])
    assert "1 cell of 'x' in the release is neither a number nor a range" in problem.message
