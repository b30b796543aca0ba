import csv
import gzip

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_tables import file_of, problem_of

from policy_engine.data.csv_format import CsvFormat, csv_files_as, telling
from policy_engine.engines.csv_files import row_error
from policy_engine.engines.tables import infer_types, read_table, write_table
from policy_engine.errors import DataError, OutputError


def test_write_table_quotes_only_where_needed(tmp_path):
    table = pa.table({"a": ["x y", "x,y", 'x"y', "x\ny", "", None], "b": [1.5, 2.0, None, 4, 5, 6]})
    write_table(table, tmp_path / "data.csv")
    text = (tmp_path / "data.csv").read_bytes().decode()
    assert text == 'a,b\nx y,1.5\n"x,y",2\n"x""y",\n"x\ny",4\n"",5\n,6\n'


def quoted(text):
    """Return a text as a cell, quoted if it has a mark of CSV, a blank at an end, or nothing."""
    marked = any(mark in text for mark in ',"\r\n') or text != text.strip() or not text
    return '"' + text.replace('"', '""') + '"' if marked else text


_LETTERS = list('a1",\r\n\t\v\x1c \x85\xa0\u2003é\x7f')
_CELLS = st.none() | st.text(st.sampled_from(_LETTERS), max_size=4)


@given(st.lists(_CELLS, max_size=12), st.booleans())
def test_every_layout_of_texts_is_written_alike(tmp_path_factory, cells, is_sliced):
    path = tmp_path_factory.mktemp("csv")
    expected = "".join(f"{'' if one is None else quoted(one)},1\n" for one in cells)
    plain = pa.array(cells, pa.string())
    shared = pa.concat_arrays([plain, pa.array([*"xyz"] * 5)]).dictionary_encode()
    encoded = shared.slice(0, len(cells)) if is_sliced else plain.dictionary_encode()
    for name, column in (("plain", plain), ("encoded", encoded)):
        write_table(pa.table({"t": column, "n": [1] * len(cells)}), path / f"{name}.csv")
        assert (path / f"{name}.csv").read_bytes().decode() == "t,n\n" + expected


def test_read_table_gives_the_text_of_csv_cells_as_written(tmp_path):
    path = file_of(tmp_path, 'a,b\n007,"1,50"\n 1.50 ,\n')
    assert read_table(path).to_pydict() == {"a": ["007", " 1.50 "], "b": ["1,50", None]}


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "a,b\r\n1,2\r\n", "\ufeffa,b\n1,2", "a,b\n\n1,2\n\n"]
)
def test_read_table_knows_the_ways_to_write_csv(tmp_path, text):
    assert read_table(file_of(tmp_path, text)).to_pydict() == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\nsecret\n", "Line 3 has 1 cells. The header has 2."),
        ("a,b\n1,2\n3,secret,5\n", "Line 3 has 3 cells. The header has 2."),
        ("a,b\n\n1,2\n\nsecret\n", "Line 5 has 1 cells. The header has 2."),
        ('a,b\n1,"2\n2"\n3\n', "Line 4 has 1 cells. The header has 2."),
        ('"a\na",b\n1,2\nsecret\n', "Line 4 has 1 cells. The header has 2."),
        ("a\n1\nsecret,2\n", "Line 3 has 2 cells. The header has 1."),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_read_table_names_the_line_of_a_ragged_row(tmp_path, text, message, ending):
    content = gzip.compress(text.encode()) if ending == "csv.gz" else text
    problem = problem_of(file_of(tmp_path, content, f"data.{ending}"), "secret")
    assert (problem.code, problem.message) == ("C007", message)


def test_ragged_rows_tell_of_other_separators(tmp_path):
    problem = problem_of(file_of(tmp_path, "a|b;c\n1,5\n", "data.csv"))
    assert (problem.code, "these seem to be by semicolons" in problem.hint) == ("C007", True)


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_read_table_names_the_line_that_is_not_utf_8(tmp_path, ending):
    text = b"a,b\n1,2\nsecret,\xff\n"
    content = gzip.compress(text) if ending == "csv.gz" else text
    problem = problem_of(file_of(tmp_path, content, f"data.{ending}"), "secret")
    assert (problem.code, problem.message) == ("C008", "Line 3 is not UTF-8.")


def test_read_table_refuses_two_columns_of_one_name(tmp_path):
    problem = problem_of(file_of(tmp_path, "row,age,age\n1,2,2\n", "data.csv"), "secret")
    assert problem.code == "C006"
    assert problem.message.endswith("Columns 2, 3 share theirs with others.")


CELLS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS)))
def test_any_text_written_as_csv_is_read_back_by_us_and_by_python(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    write_table(pa.table(columns, pa.schema({"a": pa.string(), "b": pa.string()})), path)
    assert read_table(path).to_pydict() == columns
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == [[a or "", b or ""] for a, b in rows]


def test_a_row_is_named_where_other_bytes_are_not_utf_8(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"a,b\n1,\xff\n2,3,4\n")
    problem = row_error(path).problems[0]
    assert (problem.code, problem.message) == ("C007", "Line 3 has 3 cells. The header has 2.")


def test_bytes_that_are_not_text_are_not_written(tmp_path):
    with pytest.raises(
        OutputError, match="hold all values of 'x': binary is not all text"
    ) as caught:
        write_table(pa.table({"x": [b"\xff"]}), tmp_path / "x.csv")
    assert caught.value.code == "O002"


def cells_of(path, text, encoding="utf-8", **words):
    path.write_bytes(text.encode(encoding))
    with telling(lambda _line: None), csv_files_as(CsvFormat(**words), path):
        return infer_types(read_table(path)).to_pydict()


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "utf-8-sig"])
def test_decimal_commas_become_points_in_any_encoding(tmp_path, encoding):
    text = "name;pay\nMüller;1.234,50\nWeiß;12,5\nGrün;n/a\nHöfer;\n"
    cells = cells_of(tmp_path / "data.csv", text, encoding)
    assert cells == {
        "name": ["Müller", "Weiß", "Grün", "Höfer"],
        "pay": ["1234.50", "12.5", "n/a", None],
    }
    text = text.replace("n/a", "7")
    assert cells_of(tmp_path / "data.csv", text, encoding)["pay"] == [1234.5, 12.5, 7.0, None]


def test_texts_with_commas_stay_as_they_are(tmp_path):
    text = "a;b;c\n1,5;1,2,3;Weg 1,2\n2,5;4,5,6;1.2.2020\n"
    cells = cells_of(tmp_path / "data.csv", text)
    assert cells == {"a": [1.5, 2.5], "b": ["1,2,3", "4,5,6"], "c": ["Weg 1,2", "1.2.2020"]}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("1.234\n5\n", "between thousands or before decimals"),
        ("1,5\n2.5\n", "decimals with points"),
    ],
)
def test_numbers_that_have_two_readings_are_refused(tmp_path, rows, what):
    with pytest.raises(DataError, match=what):
        cells_of(tmp_path / "data.csv", f"a\n{rows}", delimiter=";", decimal=",")


def table_of(folder, *texts):
    """Return the cells of a table whose files have these texts."""
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_text(text)
    with telling(lambda _line: None):
        return infer_types(read_table(folder / "*.csv")).to_pydict()


def test_decimals_of_a_table_are_written_alike_in_all_of_its_files(tmp_path):
    whole = "".join(f"{number};x\n" for number in range(1_000))
    table = table_of(tmp_path, "a;b\n1,5;x\n", f"a;b\n{whole}2,5;x\n")
    assert table["a"] == [1.5, *range(1_000), 2.5]


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ("a;b\n3.55;x\n", "'0.csv' has decimal commas, '1.csv' decimal points"),
        ("a;b\n3.500;x\n", "The points in numbers could be those of thousands"),
        ("a;b\n" + "1;x\n" * 1_000 + "3.500;x\n", "between thousands or before decimals"),
    ],
)
def test_decimals_that_differ_between_the_files_of_a_table_are_refused(tmp_path, second, what):
    with pytest.raises(DataError, match=f"C010 .*{what}"):
        table_of(tmp_path, "a;b\n1,5;x\n", second)


def test_a_group_of_thousands_begins_with_no_zero(tmp_path):
    text = "name;phone;pay\nAnn;030 123;1,5\nBen;089 456;2,5\n"
    assert cells_of(tmp_path / "data.csv", text)["phone"] == ["030 123", "089 456"]


def test_commas_that_come_late_are_refused(tmp_path):
    rows = "".join(f"{number};x\n" for number in range(1_000))
    with pytest.raises(DataError, match="which its first rows do not show"):
        cells_of(tmp_path / "data.csv", f"a;b\n{rows}1,5;x\n")


def test_an_encoding_may_show_late(tmp_path):
    rows = "x" * 99 + "\n"
    lines = []
    path = tmp_path / "data.csv"
    path.write_bytes(b"name\n" + rows.encode() * 3_000 + "Müller\n".encode("cp1252"))
    with telling(lines.append):
        assert read_table(path).column(0)[-1].as_py() == "Müller"
    assert lines == ["data.csv: read as Windows-1252"]


def test_a_file_that_mixes_encodings_is_refused(tmp_path):
    text = b"name\n" + "Müller\n".encode() + "Grün\n".encode("cp1252")
    problem = problem_of(file_of(tmp_path, text, "data.csv"), "Müller")
    assert (problem.code, problem.message) == ("C008", "Line 3 is not UTF-8.")


def test_a_name_with_semicolons_is_read_back_as_one(tmp_path):
    write_table(pa.table({"a;b": ["1;2"]}), tmp_path / "data.csv")
    assert read_table(tmp_path / "data.csv").to_pydict() == {"a;b": ["1;2"]}


@pytest.mark.parametrize(
    "text",
    [
        'name,inch,town\na,"5"",x\nb,"6"",y\n',
        'name,inch,town\na,""",x\nb,""",y\n',
        'name,inch\na,"""\nb,"""\n',
        'inch\n"x"""\n"5""\n"""\n',
    ],
)
def test_rows_that_a_lost_quote_joins_are_refused(tmp_path, text):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert caught.value.code == "C010"


def test_cells_of_several_lines_with_quotes_are_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b,c\n1,"""Hi"", he said.\n""Bye"", she said.",2\n')
    assert read_table(path).column("b").to_pylist() == ['"Hi", he said.\n"Bye", she said.']
