import pytest

from policy_engine.data.csv_format import CsvFormat, csv_files_as, telling
from policy_engine.data.csv_reading import csv_format
from policy_engine.data.table_files import read_header
from policy_engine.errors import DataError


def found(tmp_path, text, encoding="utf-8", form=None):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode(encoding))
    lines = []
    with telling(lines.append), csv_files_as(form or CsvFormat(), path):
        return csv_format(path), lines


@pytest.mark.parametrize(
    ("text", "encoding", "form", "said"),
    [
        ("a,b\n1,2\n", "utf-8", (",", "utf-8", "."), ""),
        ("name\nMüller\n", "utf-8", (",", "utf-8", "."), ""),
        ("a;b\n1,5;x\n", "utf-8", (";", "utf-8", ","), "UTF-8 with ; between cells and , in"),
        ("a\tb\n1.5\tx\n", "utf-8", ("\t", "utf-8", "."), "UTF-8 with tabs between cells"),
        ("a;b\n1.234,50;x\n", "utf-8", (";", "utf-8", ","), " and , in decimals"),
        ('"a, b";c\nx;y\n', "utf-8", (";", "utf-8", ""), " with ; between"),
        ("a,b\nMüller,2\n", "cp1252", (",", "cp1252", "."), "Windows-1252 with , between"),
        ("a;b\n1,5;é\n", "utf-16", (";", "utf-16", ","), "UTF-16 with ;"),
        ('"a;b"\nx\n', "utf-8", (",", "utf-8", "."), ""),
        ("a;b\n0,125;é\n", "utf-8", (";", "utf-8", ","), " and , in decimals"),
        ("a;b\n0.125;é\n", "utf-8", (";", "utf-8", "."), "with ; between"),
        ("note; remark\nx\n", "utf-8", (",", "utf-8", "."), ""),
        ("a|b\n1|2\n", "utf-8", (",", "utf-8", "."), ""),
    ],
)
def test_a_format_that_is_sure_is_found_and_said(tmp_path, text, encoding, form, said):
    taken, lines = found(tmp_path, text, encoding)
    assert taken == CsvFormat(*form)
    assert (said in "".join(lines)) == bool(said) or not lines
    assert bool(lines) == bool(said)


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("a;b\n1;2\n3\n", "C010", "not as many"),
        ("a;b\tc\n1;2\t3\n", "C010", "could be separated by semicolons or by tabs"),
        ("a;b\n1,234;x\n", "C010", "The commas in numbers could be those of thousands"),
        ("a;b\nx;3.645\ny;847\nz;1.472\n", "C010", "The points in numbers could be those of"),
        ("a;b\n1,5;2.5\n", "C010", "Some columns have decimal commas, others decimal points"),
        ("sep=;\na;b\n1;2\n", "C010", "The first line says what separates cells"),
        ('"sep=,"\r\na,b\r\n', "C010", "The first line says what separates cells"),
        ("a\0,\0b\0\n\0", "C008", "seems to be UTF-16"),
    ],
)
def test_a_format_that_could_be_another_is_refused(tmp_path, text, code, what):
    with pytest.raises(DataError, match=what) as error:
        found(tmp_path, text)
    assert error.value.problems[0].code == code


def test_what_is_said_is_taken_in_silence(tmp_path):
    form = CsvFormat("|", "cp437", ",")
    assert found(tmp_path, "a|b\nö|1,234\n", "cp437", form) == (form, [])


@pytest.mark.parametrize("line", ["34,1999-12-31", "7.5,3", '1;"2,5"', "12"])
def test_a_first_line_of_data_is_refused(tmp_path, line):
    path = tmp_path / "data.csv"
    path.write_text(f"{line}\n{line}\n")
    with (
        telling(lambda _line: None),
        pytest.raises(DataError, match="looks like data, not like a header") as error,
    ):
        read_header(path)
    assert line not in error.value.problems[0].message


@pytest.mark.parametrize("line", ["2019,2020", "0,1,2", "1,2", "age,12", "a"])
def test_names_that_are_numbers_are_names(tmp_path, line):
    path = tmp_path / "data.csv"
    path.write_text(f"{line}\n")
    assert read_header(path)[1] == tuple(line.split(","))
