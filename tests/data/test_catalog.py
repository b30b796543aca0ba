import gzip
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from policy_engine.data.catalog import (
    Dataset,
    column_iri,
    column_name,
    find_taxonomies,
    format_of,
    make_catalog,
    missing_columns,
)
from policy_engine.data.taxonomy import Taxonomy, read_taxonomy
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError, PolicyEngineError

IRI = "http://x.org/People"


def dataset(*columns):
    return Dataset(iri=IRI, location="memory", format="memory", columns=columns)


def refused(source):
    with pytest.raises(DataError) as caught:
        make_catalog({IRI: source})
    [problem] = caught.value.problems
    return problem


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


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_frame_is_taken_as_it_is(frame):
    catalog = make_catalog({IRI: frame({"name": ["Ann"], "age": [20]})})
    assert catalog.dataset(IRI) == dataset("name", "age")
    assert catalog.tables[IRI].to_pydict() == {"name": ["Ann"], "age": [20]}


def test_a_pandas_frame_has_its_nan_missing():
    frame = pd.DataFrame({"age": [20.0, float("nan")]})
    assert make_catalog({IRI: frame}).tables[IRI].to_pydict() == {"age": [20.0, None]}


def test_an_asset_without_data_is_refused_with_what_to_give():
    catalog = make_catalog({IRI: pa.table({"a": [1]})})
    with pytest.raises(DataError, match=r"C001 No data is given for 'http://x.org/Poeple'") as e:
        catalog.dataset("http://x.org/Poeple")
    assert e.value.problems[0].hint == "Give http://x.org/Poeple=PATH."
    with pytest.raises(DataError, match=r"Give http://x\.org/A=PATH"):
        make_catalog({}).dataset("http://x.org/A")


def test_a_missing_file_is_refused_with_its_neighbour(tmp_path):
    (tmp_path / "people.csv").touch()
    problem = refused(tmp_path / "poeple.csv")
    assert (problem.code, problem.hint) == ("C002", "Did you mean 'people.csv'?")
    assert refused(tmp_path / "no" / "people.csv").code == "C002"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.xlsx", b"a,b\n", "C004"),
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
    assert refused(tmp_path / name).code == code


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
    assert refused(tmp_path / "a").code == "C002"
    assert refused(tmp_path / "b.csv").code == "C010"


@pytest.mark.parametrize("header", ["x,z", "y,x", "x"])
def test_files_of_one_folder_have_the_same_columns(tmp_path, header):
    folder = tmp_path / "a.csv"
    folder.mkdir()
    (folder / "part-1.csv").write_text("x,y\n1,2\n")
    (folder / "part-2.csv").write_text(f"{header}\n")
    assert refused(folder).code == "C014"


@pytest.mark.parametrize("source", [3, None, [1, 2], object()])
def test_what_is_no_table_is_refused(source):
    problem = refused(source)
    assert problem.code == "C010"
    assert problem.message.startswith(f"A {type(source).__name__} cannot be read as a table")


def test_columns_with_one_name_are_refused():
    twice = pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"])
    problem = refused(twice)
    assert problem.code == "C006"
    assert problem.message.endswith("They stand several times in columns 1, 3.")
    assert refused(pa.table({})).code == "C010"


@pytest.mark.parametrize("name", ["ZIP", "first name", "a/b", "100%", "é", "a%2Fb", "?#"])
def test_a_column_is_named_by_its_iri_and_back(name):
    iri = column_iri(IRI, name)
    assert iri.startswith(f"{IRI}/")
    assert " " not in iri
    assert column_name(IRI, iri) == name


@pytest.mark.parametrize("iri", [IRI, f"{IRI}/", f"{IRI}s/ZIP", "http://x.org/ZIP", "ZIP"])
def test_what_is_no_column_of_the_dataset_has_no_name(iri):
    assert column_name(IRI, iri) is None


def test_format_of_tells_the_endings_that_are_known():
    from pathlib import Path

    assert format_of(Path("a.b.CSV.gz")) == "csv.gz"
    with pytest.raises(DataError, match=r"C004 .* Known are '\.csv', '\.csv\.gz' and '\.parquet'"):
        format_of(Path("csv"))


def test_missing_columns_are_told_with_the_nearest():
    [problem] = missing_columns(("age", "nmae"), dataset("name", "age"))
    assert problem.code == "C005"
    assert problem.message == f"{IRI} has no column 'nmae'."
    assert problem.hint == "Did you mean 'name'?"


@pytest.mark.parametrize(
    ("name", "iri"), [("birth date", "birth%20date"), ("1/2 name", "1%2F2%20name")]
)
def test_missing_columns_are_told_as_iris_where_these_are_written_otherwise(name, iri):
    [problem] = missing_columns(("age", name.replace(" ", "")), dataset(name, "age"))
    assert problem.hint == f"Did you mean {name!r}? As an IRI: '{IRI}/{iri}'."


def test_missing_columns_tell_of_other_separators():
    [problem] = missing_columns(("age",), dataset("name;age;city"))
    assert "separated by commas" in problem.hint


def test_a_file_without_a_header_is_not_quoted():
    rows = Dataset(IRI, "people.csv", "csv", ("Ann", "ann@example.com"))
    [problem] = missing_columns(("name", "age"), rows)
    assert "Has the file a header?" in problem.hint
    assert "Ann" not in str(problem)


@pytest.mark.parametrize("data", ["people.csv", None, [1], {IRI: 3}], ids=str)
def test_data_that_is_no_data_by_iri_is_refused(data):
    with pytest.raises(DataError, match="C010"):
        make_catalog(data)


def test_one_dataset_given_in_two_spellings_is_refused():
    table = pa.table({"a": [1]})
    with pytest.raises(DataError, match="given twice"):
        make_catalog({IRI: table, IRI.replace("http", "HTTP"): table})


CITIES = b"Rome;Italy;*\nPisa;Italy;*\nOslo;Norway;*\n"


@pytest.fixture
def folder(tmp_path):
    """A folder of a policy with a taxonomy in it, one below it and one beside it."""
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    for place in (home / "cities.csv", home / "deep" / "cities.csv", tmp_path / "cities.csv"):
        place.write_bytes(CITIES)
    return home


@pytest.mark.parametrize("name", ["cities.csv", "deep/cities.csv", "./cities.csv"])
def test_a_taxonomy_is_found_in_the_folder_of_its_policy_or_below(folder, name):
    found = find_taxonomies((name,), {}, folder)
    assert found == {name: read_taxonomy(CITIES, "cities.csv")}
    assert list(find_taxonomies((name,), {}, None)) == []


def test_a_taxonomy_that_leads_out_of_the_folder_is_never_opened(folder):
    out = folder.parent / "cities.csv"
    names = (
        "../cities.csv",
        "deep/../../cities.csv",
        str(out),
        f"file://{out}",
        "none.csv",
        "deep",
    )
    assert find_taxonomies(names, {}, folder) == {}


def test_a_taxonomy_that_is_given_goes_before_the_file_of_its_name(folder):
    tree = Taxonomy(("*", "a"), (-1, 0))
    assert find_taxonomies(("cities.csv",), {"cities.csv": tree}, folder) == {"cities.csv": tree}
    path = folder / "deep" / "cities.csv"
    for source in (path, str(path)):
        found = find_taxonomies(("http://x.org/t",), {"http://x.org/t": source}, None)
        assert found["http://x.org/t"].leaf_labels == ("Rome", "Pisa", "Oslo")


def test_only_the_taxonomies_asked_for_are_read(folder):
    assert find_taxonomies((), {"http://x.org/t": folder / "none.csv"}, folder) == {}


def test_a_taxonomy_that_is_given_and_missing_is_refused_with_its_neighbour(folder):
    with pytest.raises(DataError, match="C002") as caught:
        find_taxonomies(("t",), {"t": folder / "citys.csv"}, None)
    assert caught.value.problems[0].hint == "Did you mean 'cities.csv'?"


def test_a_taxonomy_that_is_none_is_refused(folder):
    (folder / "bad.csv").write_text("a;b\nc\n")
    with pytest.raises(PolicyEngineError, match="T004"):
        find_taxonomies(("bad.csv",), {}, folder)


def test_digests_are_those_of_the_taxonomies_asked_for():
    one, other = Taxonomy(("*", "a"), (-1, 0)), Taxonomy(("*", "b"), (-1, 0))
    catalog = make_catalog({}, {"t": one, "u": other})
    assert catalog.digests(()) == {}
    assert catalog.digests(("u",)) == {"u": other.digest}
    assert one.digest != other.digest


def test_digests_name_every_taxonomy_that_is_not_given():
    catalog = make_catalog({}, {"t": Taxonomy(("*", "a"), (-1, 0))})
    with pytest.raises(DataError) as caught:
        catalog.digests(("t", "u", "v"))
    found = [(problem.code, problem.message, problem.hint) for problem in caught.value.problems]
    assert found[0] == ("C012", "No taxonomy is given for 'u'.", "Give taxonomies={NAME: FILE}.")
    assert [code for code, _, _ in found] == ["C012", "C012"]


def test_a_pattern_is_no_file_and_several_files_are_a_folder(tmp_path):
    (tmp_path / "a1.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"C002 .* Several files are given as a folder") as caught:
        make_catalog({IRI: tmp_path / "a*.csv"})
    assert caught.value.problems[0].code == "C002"
    (tmp_path / "a[1].csv").write_text("b\n1\n")
    assert make_catalog({IRI: tmp_path / "a[1].csv"}).datasets[0].columns == ("b",)


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
        problem = refused(source)
        assert problem.code == "C015"
        assert not [name for name in names if f"'{name}'" in problem.message]


def test_names_that_are_like_others_stay_apart():
    names = ["Name", "Name2", "Na me", "N\u00e4me", "Name_", "...", ".a"]
    assert make_catalog({IRI: pa.table({name: [1] for name in names})}).dataset(IRI).columns


def test_a_column_is_found_as_sql_finds_it():
    data = dataset("Name", " age", "\u00c9")
    assert [data.spelled(name) for name in ("NAME", "name", "\u00e9")] == ["Name", "Name", "\u00c9"]
    assert [data.spelled(name) for name in ("age", "Name ", "E", "")] == [None] * 4


@pytest.mark.parametrize("name", ["\u00c9", "\u00e9", "E\u0301", "e\u0301"])
def test_a_column_is_found_in_any_form_of_unicode(name):
    assert dataset("\u00e9").spelled(name) == "\u00e9"
    assert dataset("e\u0301").spelled(name) == "e\u0301"


@pytest.mark.parametrize("others", [(), ("age",)])
def test_a_column_in_another_form_of_unicode_is_said_to_be_one(others):
    [problem] = missing_columns(("\u00e9", *others), dataset("e\u0301", *others))
    assert "another form of Unicode" in problem.hint


def test_a_name_that_is_not_utf_8_is_told_as_one(tmp_path):
    path = tmp_path / os.fsdecode(b"b\xff.csv")
    path.write_text("age\n1\n")
    with pytest.raises(DataError, match="C003 The file cannot be read: its name is not UTF-8"):
        read_table(path)
