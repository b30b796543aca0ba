import json
from pathlib import Path

import pytest

from policy_engine.data.csv_format import CsvFormat
from policy_engine.errors import DataError
from policy_engine.policy.data_catalogs import DescribedData, read_data_catalog

PATH = Path("/data/catalog.yaml")
YAML = """\
dataset:
- id: http://x.org/People
  title: who came
  distribution:
    downloadURL: people.csv
    mediaType: text/csv
    dialect: {delimiter: ";", encoding: windows-1252}
    tableSchema:
      column:
      - {name: ZIP, datatype: string}
      - {name: born, datatype: date}
- id: http://x.org/Visits
  distribution: {accessURL: "duckdb:clinic.db#visits"}
"""
PEOPLE = DescribedData(
    "http://x.org/People",
    "/data/people.csv",
    "text/csv",
    CsvFormat(";", "windows-1252"),
    {"ZIP": "string", "born": "date"},
)
VISITS = DescribedData("http://x.org/Visits", "duckdb:/data/clinic.db#visits")
CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "w": "http://www.w3.org/ns/csvw#",
    "dcterms": "http://purl.org/dc/terms/",
}


def json_ld(**distribution):
    dataset = {
        "@id": "http://x.org/People",
        "@type": "dcat:Dataset",
        "dcterms:title": {"@value": "who came", "@language": "en"},
        "dcat:distribution": {"@type": "dcat:Distribution", **distribution},
    }
    return json.dumps({"@context": CONTEXT, "@type": "dcat:Catalog", "dcat:dataset": dataset})


def test_yaml_has_the_words_of_dcat_and_csvw_without_prefixes():
    assert read_data_catalog(YAML, PATH) == (PEOPLE, VISITS)


def test_json_ld_has_them_with_the_prefixes_of_its_context():
    text = json_ld(
        **{
            "dcat:downloadURL": {"@id": "people.csv"},
            "dcat:mediaType": "https://www.iana.org/assignments/media-types/text/csv",
            "w:dialect": {"@type": "w:Dialect", "w:delimiter": ";", "w:encoding": "cp1252"},
            "w:tableSchema": {
                "w:column": [
                    {"w:name": "ZIP", "w:datatype": "string"},
                    {"w:name": "born", "w:datatype": "date"},
                ]
            },
        }
    )
    assert read_data_catalog(text, PATH) == (PEOPLE,)


def test_places_of_other_machines_stay_as_they_are_and_paths_are_from_the_folder():
    for place, expected in {
        "postgresql://h/d#t": "postgresql://h/d#t",
        "/all/people.csv": "/all/people.csv",
        "file:///all/people.csv": "/all/people.csv",
        "sqlite:/all/a.db#t": "sqlite:/all/a.db#t",
        "parts/*.csv": "/data/parts/*.csv",
    }.items():
        text = json.dumps({"dataset": {"id": "P", "distribution": {"accessURL": place}}})
        assert read_data_catalog(text, PATH) == (DescribedData("P", expected),)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("title:", "titel:", 3, "'titel' is not a key of a dataset"),
        ("downloadURL:", "downloadUrl:", 5, "'downloadUrl' is not a key of a distribution"),
        ("text/csv", "text/cvs", 6, "The media type 'text/cvs' is not known"),
        ('";"', '"ab"', 7, "The delimiter is not allowed to be 'ab'"),
        ("delimiter", "quoteChar", 7, "'quoteChar' is not a key of a dialect"),
        ("datatype: date", "datatype: dates", 11, "The datatype 'dates' is not known"),
        ("name: born", "name: ZIP", 11, "The column 'ZIP' is described twice"),
        ("{name: ZIP, datatype: string}", "ZIP", 10, "A column is a mapping"),
        ("http://x.org/Visits", "http://x.org/People", 12, "is described twice"),
        ("accessURL:", "title:", 13, "has one 'downloadURL', or one 'accessURL'"),
        ("- id: http://x.org/Visits\n ", "-", 12, "A dataset lacks the key 'id'"),
        ("title: who came", "title: a\n  title: b", 4, "appears twice"),
        ("dataset:", "dataset: [", 2, "not YAML"),
        ("dataset:", "datasets:", 1, "'datasets' is not a key of a catalog"),
        ("title:", "jdbc:postgresql://ann:pw@h/d:", 3, "'jdbc:postgresql://ann:***@h/d' is not"),
    ],
)
def test_what_is_not_known_is_an_error_with_its_place(old, new, line, message):
    with pytest.raises(DataError) as caught:
        read_data_catalog(YAML.replace(old, new, 1), PATH)
    problems = [one.message for one in caught.value.problems if one.place.line == line]
    assert any(message in one for one in problems)
    assert {one.code for one in caught.value.problems} == {"C020"}
    assert caught.value.source == str(PATH)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("dcat:accessUrl", "'dcat:accessUrl' is not a term"),
        ("csvw:delimiter", "'csvw:delimiter' is not a term"),
        ("downloadURL", "'downloadURL' is not a term"),
        ("w:downloadURL", "'w:downloadURL' is not a term"),
        ("@reverse", "'@reverse' is not a key"),
    ],
)
def test_a_key_of_json_ld_that_is_not_a_term_is_an_error(key, message):
    text = json_ld(**{"dcat:downloadURL": "people.csv", key: "x"})
    with pytest.raises(DataError, match=f"C020 {message}"):
        read_data_catalog(text, PATH)


@pytest.mark.parametrize("context", ["http://www.w3.org/ns/csvw", {"dcat": "http://x.org/"}, {}])
def test_a_context_is_of_prefixes_that_are_known(context):
    text = json.dumps({"@context": context, "dcat:dataset": []})
    with pytest.raises(DataError, match="C020"):
        read_data_catalog(text, PATH)


def test_a_text_has_one_type_and_one_language_at_most():
    for wrong in ({"@value": "x", "more": 1}, ["a", "b"], 3, ""):
        text = json.dumps({"dataset": {"id": wrong, "distribution": {"downloadURL": "a.csv"}}})
        with pytest.raises(DataError, match="C020 A text is expected"):
            read_data_catalog(text, PATH)
