import pyarrow as pa
import pytest
from people_data import IRI, catalog_problem, people_dataset

from policy_engine.data.catalog import Dataset, make_catalog
from policy_engine.data.column_names import (
    column_iri,
    column_name,
    missing_column,
    missing_columns,
)


def test_columns_with_one_name_are_refused():
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"])
    problem = catalog_problem(twice)
    assert problem.code == "C006"
    assert problem.message.endswith("Columns 1, 3 share theirs with others.")
    assert catalog_problem(pa.table({})).code == "C010"


@pytest.mark.parametrize("name", ["ZIP", "first name", "a/b", "100%", "é", "a%2Fb", "?#"])
def test_a_column_is_named_by_its_iri_and_back(name):
    iri = column_iri(IRI, name)
    assert iri.startswith(f"{IRI}/")
    assert " " not in iri
    assert column_name(IRI, iri) == name


@pytest.mark.parametrize("iri", [IRI, f"{IRI}/", f"{IRI}s/ZIP", "http://x.org/ZIP", "ZIP"])
def test_what_is_no_column_of_the_dataset_has_no_name(iri):
    assert column_name(IRI, iri) is None


def test_missing_columns_are_told_with_the_nearest():
    [problem] = missing_columns(("age", "nmae"), people_dataset("name", "age"))
    assert problem.code == "C005"
    assert problem.message == f"{IRI} has no column 'nmae'."
    assert problem.hint == "Did you mean 'name'?"


@pytest.mark.parametrize(
    ("name", "iri"), [("birth date", "birth%20date"), ("1/2 name", "1%2F2%20name")]
)
def test_missing_columns_are_told_as_iris_where_these_are_written_otherwise(name, iri):
    [problem] = missing_columns(("age", name.replace(" ", "")), people_dataset(name, "age"))
    assert problem.hint == f"Did you mean {name!r}? As an IRI: '{IRI}/{iri}'."


def test_columns_of_a_dataset_without_an_iri_have_none():
    for columns, name in ((("FEDTAX", "b"), "fedtax"), (("1/2 name", "b"), "12name")):
        [problem] = missing_columns(
            (name, "b"), Dataset("census.csv", "census.csv", "csv", columns)
        )
        assert problem.hint == f"Did you mean {columns[0]!r}?"


def test_missing_columns_tell_of_other_separators():
    [problem] = missing_columns(("age",), people_dataset("name;age;city"))
    assert "separated by commas" in problem.hint


def test_a_file_without_a_header_is_not_quoted():
    rows = Dataset(IRI, "people.csv", "csv", ("Ann", "ann@example.com"))
    [problem] = missing_columns(("name", "age"), rows)
    assert "Does the file have a header?" in problem.hint
    assert "Ann" not in str(problem)
    assert problem.message == f"{IRI} has none of the columns 'name' and 'age'."
    [problem] = missing_columns(("weight",), rows)
    assert problem.message == f"{IRI} has no column 'weight'."


@pytest.mark.parametrize(
    "names",
    [
        *(["Name", "name"], ["a", "Name", "NAME"], ["Name", " Name"], ["Name ", "name"]),
        *(
            ["\u00e9", "e\u0301"],
            ["\u00c9", "e\u0301"],
            ["Strasse", "Stra\u00dfe"],
            ["a", ".."],
            ["."],
        ),
    ],
)
def test_names_that_are_taken_for_one_another_are_refused_and_not_quoted(tmp_path, names):
    (tmp_path / "people.csv").write_text(",".join(names) + "\n")
    for source in (tmp_path / "people.csv", pa.table({name: [1] for name in names})):
        problem = catalog_problem(source)
        assert problem.code == "C015"
        assert not [name for name in names if f"'{name}'" in problem.message]


def test_names_that_are_like_others_stay_apart():
    names = ["Name", "Name2", "Na me", "N\u00e4me", "Name_", "...", ".a"]
    assert make_catalog({IRI: pa.table({name: [1] for name in names})}).dataset(IRI).columns


def test_a_column_is_found_as_sql_finds_it():
    data = people_dataset("Name", " age", "\u00c9")
    assert [data.find_column(name) for name in ("NAME", "name", "\u00e9")] == [
        "Name",
        "Name",
        "\u00c9",
    ]
    assert [data.find_column(name) for name in ("age", "Name ", "E", "")] == [None] * 4


@pytest.mark.parametrize("name", ["\u00c9", "\u00e9", "E\u0301", "e\u0301"])
def test_a_column_is_found_in_any_form_of_unicode(name):
    assert people_dataset("\u00e9").find_column(name) == "\u00e9"
    assert people_dataset("e\u0301").find_column(name) == "e\u0301"


@pytest.mark.parametrize("others", [(), ("age",)])
def test_a_column_in_another_form_of_unicode_is_said_to_be_one(others):
    [problem] = missing_columns(("\u00e9", *others), people_dataset("e\u0301", *others))
    assert "another form of Unicode" in problem.hint


def test_a_file_of_arrays_says_which_it_has():
    images = Dataset(iri=IRI, location="x.npy", format="npy", columns=("image",))
    assert missing_column("picture", images).hint == "It has 'image'."
    assert missing_column("imag", images).hint.startswith("Did you mean 'image'")
