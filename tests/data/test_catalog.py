import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from people_data import IRI, catalog_problem, people_dataset

from policy_engine.data.catalog import find_taxonomies, make_catalog
from policy_engine.data.taxonomy import Taxonomy, read_taxonomy
from policy_engine.errors import DataError, PolicyEngineError


@pytest.mark.parametrize("frame", [pa.table, pd.DataFrame, pl.DataFrame])
def test_a_frame_is_taken_as_it_is(frame):
    catalog = make_catalog({IRI: frame({"name": ["Ann"], "age": [20]})})
    assert catalog.dataset(IRI) == people_dataset("name", "age")
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


@pytest.mark.parametrize("source", [3, None, [1, 2], object()])
def test_what_is_no_table_is_refused(source):
    problem = catalog_problem(source)
    assert problem.code == "C010"
    assert problem.message.startswith(f"A {type(source).__name__} cannot be read as a table")


@pytest.mark.parametrize("data", ["people.csv", None, [1], {IRI: 3}, {f"{IRI} ": {}}], ids=str)
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
    assert catalog.taxonomy_digests(()) == {}
    assert catalog.taxonomy_digests(("u",)) == {"u": other.digest}
    assert one.digest != other.digest


def test_digests_name_every_taxonomy_that_is_not_given():
    catalog = make_catalog({}, {"t": Taxonomy(("*", "a"), (-1, 0))})
    with pytest.raises(DataError) as caught:
        catalog.taxonomy_digests(("t", "u", "v"))
    found = [(problem.code, problem.message, problem.hint) for problem in caught.value.problems]
    assert found[0] == ("C012", "No taxonomy is given for 'u'.", "Give taxonomies={NAME: FILE}.")
    assert [code for code, _, _ in found] == ["C012", "C012"]
