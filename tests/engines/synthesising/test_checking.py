"""What is checked of synthetic rows by the input alone."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.synthesising.checking import exact_copies, foreign_cells
from policy_engine.engines.tables import read_table, write_table


def foreign(cells, values, kind=None):
    output, source = (pa.table({"x": pa.array(one, kind)}) for one in (cells, values))
    return foreign_cells(output, source, ["x"])


@pytest.mark.parametrize(
    ("cells", "values", "expected"),
    [
        ([1, 2, 3], [1, 3], 0),
        ([0, 4, 2], [1, 3], 2),
        (["a", "c"], ["a", "b"], 1),
        ([1, None, None], [1, 3], 2),
        ([1, None], [1, None], 0),
        ([1.0, float("nan")], [1.0, 2.0], 1),
        ([1.0, float("nan")], [1.0, float("nan")], 0),
        ([date(2020, 1, 3)], [date(2020, 1, 1), date(2020, 1, 2)], 1),
        ([True, False], [True], 1),
        ([None, "a"], [None, None], 1),
    ],
)
def test_cells_outside_of_the_input_are_counted(cells, values, expected):
    kind = pa.string() if values == [None, None] else None
    assert foreign(cells, values, kind) == (expected,)


def test_cells_of_a_file_are_compared_with_those_of_another(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z\n1,a,1.50\n5,b,x\n")
    (tmp_path / "b.csv").write_text("x,y,z\n2,c,1.50\n5.5,b,1.5\n")
    source, output = (read_table(tmp_path / name) for name in ("a.csv", "b.csv"))
    assert foreign_cells(output, source, ["x", "y", "z"]) == (2, 1, 0)
    assert foreign_cells(source, source, ["x", "y", "z"]) == (0, 0, 0)


def test_copies_are_rows_that_are_the_same_in_all_columns():
    source = pa.table({"x": [1, 2, 3], "y": ["a", "b", None]})
    output = pa.table({"y": ["a", "a", None, None], "x": [1, 2, 3, 3]})
    assert exact_copies(output, source, ["x", "y"]) == 3
    assert exact_copies(output, source, ["y"]) == 4
    assert exact_copies(output.slice(1, 1), source, ["x", "y"]) == 0


def seconds(*days):
    return pa.array([86_400 * day for day in days], pa.timestamp("s"))


@pytest.mark.parametrize(
    ("values", "ending"),
    [
        (pa.array(["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"]), "csv"),
        (pa.array([b"a", b"b"]), "csv"),
        (pa.array([b"a", b"\xff"]), "parquet"),
        (pa.array([True, None]), "csv"),
        (seconds(1, 2), "parquet"),
        (seconds(1, 2), "csv"),
        (pa.array([1, 2], pa.time32("s")), "parquet"),
        (pa.array([1, 2], pa.time32("s")), "csv"),
        (pa.array(np.array([0.1, 2.5], "f2")), "parquet"),
        (pa.array(np.array([0.1, 2.5], "f2")), "csv"),
    ],
)
def test_values_written_in_another_type_are_not_foreign(tmp_path, values, ending):
    table = pa.table({"x": values, "y": [1, 2]})
    write_table(table, tmp_path / f"x.{ending}")
    output = read_table(tmp_path / f"x.{ending}")
    assert foreign_cells(output, table, ["x", "y"]) == (0, 0)
    assert exact_copies(output, table, ["x", "y"]) == 2
    assert foreign_cells(output, table.slice(0, 1), ["x"]) == (1,)
