import hashlib
from pathlib import Path

import pytest
from applying import applied, rows_of

from policy_engine.certificate.publication.destinations import check_not_input
from policy_engine.data.atomic_file import write_file
from policy_engine.data.catalog import make_catalog
from policy_engine.data.csv_format import CsvFormat, csv_files_as
from policy_engine.data.places.patterns import files_at, matching_files, pattern_digest
from policy_engine.engines.engine import StoredData
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError, OutputError

IRI = "http://x.org/People"


@pytest.fixture
def parts(tmp_path):
    """A folder with parts of a table in folders by year, and files that are no part of it."""
    for name, text in {
        "year=2020/a.csv": "name,age\nAnn,20\n",
        "year=2021/b.csv": "name,age\nBen,30\n",
        "year=2021/_c.csv": "name,age\nEve,40\n",
        "year=2021/.d.csv": "name,age\nEve,40\n",
        "year=2021/notes.txt": "none",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_pattern_is_a_table_of_the_files_that_match_in_order(parts):
    pattern = parts / "year=*" / "*.csv"
    [dataset] = make_catalog({IRI: str(pattern)}).datasets
    assert (dataset.columns, dataset.format) == (("name", "age", "year"), "csv")
    rows = [
        {"name": "Ann", "age": "20", "year": "2020"},
        {"name": "Ben", "age": "30", "year": "2021"},
    ]
    assert read_table(pattern).to_pylist() == rows


@pytest.mark.parametrize("pattern", ["**/*.csv", "year=2021/?.csv", "year=2021/[ab].csv"])
def test_names_that_begin_with_a_dot_or_an_underscore_do_not_match(parts, pattern):
    assert parts / "year=2021" / "b.csv" in matching_files(parts / pattern)
    assert {one.name for one in matching_files(parts / pattern)} <= {"a.csv", "b.csv"}


def test_the_digest_is_that_of_what_sha256sum_prints_in_the_folder(parts):
    files = ["year=2020/a.csv", "year=2021/b.csv"]
    lines = "".join(
        f"{hashlib.sha256((parts / one).read_bytes()).hexdigest()}  {one}\n" for one in files
    )
    digest = hashlib.sha256(lines.encode()).hexdigest()
    pattern = parts / "*" / "*.csv"
    assert (pattern_digest(pattern), StoredData.from_file(pattern).digest) == (digest, digest)


def test_a_file_with_several_names_is_read_once(parts):
    (parts / "latest").symlink_to("year=2020", target_is_directory=True)
    (parts / "year=2021" / "a-link.csv").symlink_to("b.csv")
    (parts / "year=2020" / "loop").symlink_to("..", target_is_directory=True)
    (parts / "year=2021" / "loop").symlink_to("..", target_is_directory=True)
    files = (parts / "year=2020" / "a.csv", parts / "year=2021" / "b.csv")
    assert matching_files(parts / "**" / "*.csv") == files
    assert matching_files(parts / "*" / "*.csv") == files
    assert matching_files(parts / "lat*" / "*.csv") == (parts / "latest" / "a.csv",)


def test_two_stars_match_folders_of_any_depth_or_as_one_does(parts):
    deep = parts / "year=2020" / "month=1" / "c.csv"
    deep.parent.mkdir()
    deep.write_text("name\nAnn\n")
    near = (parts / "year=2020" / "a.csv",)
    assert matching_files(parts / "year=2020" / "**") == (*near, deep)
    assert matching_files(parts / "year=2020" / "**.csv") == near
    assert matching_files(parts / "**" / "month=*" / "*") == (deep,)


def test_a_pattern_in_the_current_folder_is_read(parts, monkeypatch):
    monkeypatch.chdir(parts / "year=2020")
    assert read_table(Path("*.csv")).to_pydict() == {"name": ["Ann"], "age": ["20"]}


def test_a_file_that_is_called_as_a_pattern_goes_before(tmp_path):
    (tmp_path / "a1.csv").write_text("name\nAnn\n")
    (tmp_path / "a[1].csv").write_text("name\nBen\n")
    assert read_table(tmp_path / "a[1].csv").to_pydict() == {"name": ["Ben"]}
    assert files_at(tmp_path / "a[1].csv") == (tmp_path / "a[1].csv",)


@pytest.mark.parametrize(
    ("pattern", "code"), [("*.parquet", "C002"), ("year=*", "C004"), ("none*/*.csv", "C002")]
)
def test_a_pattern_of_no_files_or_of_no_format_is_refused(parts, pattern, code):
    with pytest.raises(DataError, match=code):
        make_catalog({IRI: parts / pattern})


def test_files_that_differ_in_columns_are_refused(parts):
    (parts / "year=2021" / "e.csv").write_text("name\nEve\n")
    with pytest.raises(DataError, match="C014"):
        make_catalog({IRI: parts / "*" / "*.csv"})


def test_no_output_is_written_over_a_file_that_matches(parts):
    file, pattern = parts / "year=2020" / "a.csv", parts / "*" / "*.csv"
    with pytest.raises(OutputError, match=r"O001 .* is the input itself"):
        check_not_input(file, make_catalog({IRI: pattern}))
    with pytest.raises(OutputError, match=r"O001 .* is the input itself"):
        write_file(file, "rows", pattern)


def test_how_cells_are_written_is_said_of_all_files_that_match(parts):
    (parts / "year=2020" / "a.csv").write_text("name|age\nAnn|20\n")
    pattern = parts / "year=2020" / "*.csv"
    with csv_files_as(CsvFormat(delimiter="|"), pattern):
        assert read_table(pattern).column_names == ["name", "age"]


def test_a_release_is_made_of_files_that_match_and_certified_again(tmp_path):
    for name, age in (("a", 20), ("b", 60)):
        (tmp_path / f"{name}.csv").write_text(f"age\n{age}\n{age + 1}\n")
    pattern = str(tmp_path / "?.csv")
    release = applied(pattern, tmp_path / "out", method="k-anonymity", k=2, quasi=["age"])
    assert rows_of(release) == [("[20 - 21]",)] * 2 + [("[60 - 61]",)] * 2
    [given] = release.record.inputs
    assert (given.location, given.digest) == (pattern, pattern_digest(tmp_path / "?.csv"))
