import gzip
import os
import re

import pyarrow as pa
import pytest
from people_data import IRI, catalog_problem
from pyarrow import parquet

from policy_engine.data.catalog import make_catalog
from policy_engine.data.table_files import file_format
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "CSV"])
def test_a_file_is_known_by_its_ending_and_header(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    header = b'\xef\xbb\xbfname,"home, town"\nAnn,Rome\n'
    if ending == "parquet":
        parquet.write_table(pa.table({"name": ["Ann"], "home, town": ["Rome"]}), path)
    else:
        path.write_bytes(gzip.compress(header) if ending == "csv.gz" else header)
    for source in (path, str(path)):
        found = make_catalog({IRI: source}).dataset(IRI)
        assert found.columns == ("name", "home, town")
        assert (found.location, found.format) == (str(path), ending.lower())


def test_a_missing_file_is_refused_with_its_neighbour(tmp_path):
    (tmp_path / "people.csv").touch()
    problem = catalog_problem(tmp_path / "poeple.csv")
    assert (problem.code, problem.hint) == ("C002", "Did you mean 'people.csv'?")
    assert catalog_problem(tmp_path / "no" / "people.csv").code == "C002"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.docx", b"a,b\n", "C004"),
        ("a", b"a,b\n", "C004"),
        ("a.gz", b"", "C004"),
        ("a.csv", b"", "C010"),
        ("a.csv", b"a,b,a\n", "C006"),
        ("a.csv", b"a,\xff\n", "C008"),
        ("a.csv", b'a,"b"c\n', "C010"),
        ("a.csv.gz", b"a,b\n", "C003"),
        ("a.csv.gz", gzip.compress(b"a,b\n", mtime=0)[:12], "C003"),
        ("a.parquet", b"PAR1", "C010"),
        ("a.parquet", b"not Parquet at all", "C010"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, name, content, code):
    (tmp_path / name).write_bytes(content)
    assert catalog_problem(tmp_path / name).code == code


def test_an_empty_file_is_told_as_one(tmp_path):
    (tmp_path / "a.csv").touch()
    problem = catalog_problem(tmp_path / "a.csv")
    assert problem.message == "The file is empty, or its first line is."


def test_a_folder_is_a_table_where_it_ends_like_one(tmp_path):
    folder = tmp_path / "a.csv"
    folder.mkdir()
    (folder / "part-1.csv").write_text("x,y\n1,2\n")
    (folder / "part-2.csv").write_text("x,y\n3,4\n")
    (folder / "_SUCCESS").write_text("")
    [dataset] = make_catalog({"http://x.org/a": folder}).datasets
    assert (dataset.format, dataset.columns) == ("csv", ("x", "y"))
    assert read_table(folder).to_pydict() == {"x": ["1", "3"], "y": ["2", "4"]}


def test_other_folders_are_no_tables(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b.csv").mkdir()
    assert catalog_problem(tmp_path / "a").code == "C002"
    assert catalog_problem(tmp_path / "b.csv").code == "C010"


@pytest.mark.parametrize("header", ["x,z", "y,x", "x"])
def test_files_of_one_folder_have_the_same_columns(tmp_path, header):
    folder = tmp_path / "a.csv"
    folder.mkdir()
    (folder / "part-1.csv").write_text("x,y\n1,2\n")
    (folder / "part-2.csv").write_text(f"{header}\n")
    assert catalog_problem(folder).code == "C014"


def test_format_of_tells_the_endings_that_are_known():
    from pathlib import Path

    assert file_format(Path("a.b.CSV.gz")) == "csv.gz"
    endings = (".csv", ".csv.gz", ".parquet", ".npy", ".npz", ".jsonl", ".ndjson", ".arrow")
    known = re.escape(f"{', '.join(map(repr, endings))} and '.feather'")
    with pytest.raises(DataError, match=rf"C004 .* Known are {known}"):
        file_format(Path("csv"))


def test_a_pattern_without_a_match_says_what_patterns_have(tmp_path):
    with pytest.raises(DataError, match=r"C002 .*No file matches.*\*\*") as caught:
        make_catalog({IRI: tmp_path / "a*.csv"})
    assert caught.value.problems[0].code == "C002"
    with pytest.raises(DataError, match=r"C002 .*A pattern has \*, \? or"):
        make_catalog({IRI: tmp_path / "{a,b}.csv"})


def test_a_name_that_is_not_utf_8_is_told_as_one(tmp_path):
    path = tmp_path / os.fsdecode(b"b\xff.csv")
    path.write_text("age\n1\n")
    with pytest.raises(DataError, match="C003 The file cannot be read: its name is not UTF-8"):
        read_table(path)
