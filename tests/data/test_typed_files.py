import re
import sys
import zipfile
from datetime import date, datetime
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyarrow import feather, ipc
from stored_tables import file_of

from policy_engine.data.table_files import read_header
from policy_engine.data.typed_files import to_column
from policy_engine.engines.engine import StoredData
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError

PEOPLE = pa.table({"age": [34, 35, None], "name": ["Ada", "Bo", None], "pay": [1.5, 2.0, 3.0]})
HOUR = datetime.fromisoformat("1970-01-01T01:00:00")
CELLS = PEOPLE.to_pydict()


def problem_of(path):
    with pytest.raises(DataError) as error:
        read_table(path)
    assert "secret" not in str(error.value)
    return error.value.problems[0]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson"])
def test_json_lines_are_a_table(tmp_path, name):
    lines = '{"age": 34, "day": "2020-01-31", "ok": true}\n{"day": "2021-01-31", "pay": 1.5}\n'
    path = file_of(tmp_path, lines, name)
    assert read_header(path) == (name[2:], ("age", "day", "ok", "pay"))
    assert read_table(path).to_pydict() == {
        "age": [34, None],
        "day": ["2020-01-31", "2021-01-31"],
        "ok": [True, None],
        "pay": [None, 1.5],
    }
    assert read_table(path, ("pay", "age")).column_names == ["pay", "age"]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ('{"a": 1}\n{"a": "secret"}\n', "C010"),
        ('{"a": "secret", "a": 2}\n', "C010"),
        ('{"a": "secret"\n', "C010"),
        ("", "C010"),
        ('{"a": 12345678901234567890}\n', "C009"),
    ],
)
def test_json_lines_that_are_no_table_are_refused(tmp_path, lines, code):
    assert problem_of(file_of(tmp_path, lines, "a.jsonl")).code == code


@pytest.mark.parametrize("kind", ["file", "stream", "feather"])
def test_arrow_files_are_tables(tmp_path, kind):
    path = tmp_path / ("a.feather" if kind == "feather" else "a.arrow")
    if kind == "feather":
        feather.write_feather(PEOPLE, str(path))
    else:
        writer = ipc.new_file if kind == "file" else ipc.new_stream
        with writer(str(path), PEOPLE.schema) as file:
            file.write_table(PEOPLE)
    assert read_header(path)[1] == ("age", "name", "pay")
    assert read_table(path).to_pydict() == CELLS
    damaged = file_of(tmp_path, path.read_bytes()[:200], path.name)
    assert problem_of(damaged).code == "C010"


def test_a_sheet_of_a_workbook_is_a_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    rows = [["age", "name", "pay"], [34, "Ada", 1.5], [35, "Bo", 2], [None, None, 3]]
    for row in rows:
        book.active.append(row)
    book.create_sheet("Other").append(["x"])
    book["Other"].append([date(2020, 1, 31)])
    path = tmp_path / "a.xlsx"
    book.save(path)
    assert read_header(path) == ("xlsx", ("age", "name", "pay"))
    assert read_table(path).to_pydict() == CELLS
    other = tmp_path / "a.xlsx#Other"
    assert read_table(other).to_pydict() == {"x": [date(2020, 1, 31)]}
    assert StoredData.from_file(other).digest == StoredData.from_file(path).digest
    assert "'Sheet' and 'Other'" in problem_of(tmp_path / "a.xlsx#Next").message
    assert problem_of(file_of(tmp_path, "secret", "b.xlsx")).code == "C010"


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_files_of_statistics_packages_are_tables_of_codes(tmp_path, kind):
    pyreadstat = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sex": [1.0, 2.0, None], "name": ["Ada", "", "Bo"]})
    labels = {"variable_value_labels": {"sex": {1.0: "m", 2.0: "f"}}} if kind != "xpt" else {}
    writer = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}[kind]
    path = tmp_path / f"a.{kind}"
    getattr(pyreadstat, writer)(frame, str(path), **labels)
    assert read_header(path) == (kind, ("sex", "name"))
    assert read_table(path).to_pydict() == {"sex": [1, 2, None], "name": ["Ada", None, "Bo"]}
    assert problem_of(file_of(tmp_path, "secret", f"b.{kind}")).code == "C010"


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("a.ods", "python_calamine", "excel"), ("a.sav", "pyreadstat", "statistics")],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("policy_engine.data.typed_files.find_spec", lambda _name: None)
    problem = problem_of(file_of(tmp_path, "", name))
    assert (problem.code, problem.hint) == ("C011", f"pip install 'policy-engine[{extra}]'.")


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ([1.0, 2, ""], pa.array([1, 2, None], pa.int64())),
        ([1.0, 2.5, float("nan")], pa.array([1.0, 2.5, None])),
        ([True, None], pa.array([True, None])),
        ([date(2020, 1, 31)], pa.array([date(2020, 1, 31)])),
        ([date(1970, 1, 1), HOUR], pa.array([0, 3_600_000_000], pa.timestamp("us"))),
        ([1.0, "n/a", True], pa.array(["1", "n/a", "True"])),
        (["", None], pa.array([None, None], pa.string())),
    ],
)
def test_cells_become_a_column_of_one_type(cells, column):
    assert to_column(cells).equals(column)


def test_a_workbook_without_sheets_is_refused(tmp_path):
    calamine = pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    openpyxl.Workbook().save(path)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts["xl/workbook.xml"] = re.sub(
        b"<sheets>.*</sheets>", b"<sheets/>", parts["xl/workbook.xml"]
    )
    with zipfile.ZipFile(path, "w") as book:
        for name, part in parts.items():
            book.writestr(name, part)
    assert not calamine.CalamineWorkbook.from_path(str(path)).sheet_names
    assert problem_of(path).code == "C010"


def test_a_damaged_file_of_spss_whose_column_has_no_name_is_refused(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    about = SimpleNamespace(column_names=["a", None])
    monkeypatch.setattr(pyreadstat, "read_sav", lambda *_, **__: ({"a": [1]}, about))
    assert problem_of(file_of(tmp_path, "", "a.sav")).code == "C010"


def test_formulas_that_were_never_computed_are_refused(tmp_path):
    path, book = tmp_path / "a.xlsx", pytest.importorskip("openpyxl").Workbook()
    for row in (["age", "twice"], [20, "=A2*2"]):
        book.active.append(row)
    book.save(path)
    with pytest.raises(DataError, match="never computed") as caught:
        read_table(path)
    assert caught.value.problems[0].hint == "Open it in a spreadsheet program, and save it."


def test_a_title_above_the_header_is_refused_with_advice(tmp_path):
    path, book = tmp_path / "a.xlsx", pytest.importorskip("openpyxl").Workbook()
    for row in (["Staff of 2024"], ["age", "town", "pay"], [20, "Rome", 1]):
        book.active.append(row)
    book.save(path)
    with pytest.raises(DataError, match="names 1 of 3 columns: is it a title") as caught:
        read_table(path)
    assert caught.value.problems[0].hint.startswith("Delete what is above")
