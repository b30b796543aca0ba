import json
import os
import string
from pathlib import Path
from urllib.parse import unquote

import pytest
from building import people_policy
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from policy_engine.authoring.sarif import sarif_log
from policy_engine.errors import CODES, Fix, Place, PolicyError, Problem
from policy_engine.policy import read_policy

AT = Place("/permission/0/action", 12, 15)
UNKNOWN = Problem("P005", "'raed' is not an action.", "Did you mean 'read'?", AT)
MENDED = Problem(
    "P005",
    "'raed' is not an action.",
    fix=Fix(Place("", 12, 15), Place("", 12, 21), '"read"'),
    place=AT,
)

REQUIRED = {
    "log": {"version", "runs"},
    "runs": {"tool"},
    "driver": {"name"},
    "rules": {"id"},
    "results": {"message"},
    "artifactChanges": {"artifactLocation", "replacements"},
    "replacements": {"deletedRegion"},
    "fixes": {"artifactChanges"},
}
"""The properties that the schema of SARIF 2.1.0 requires, by where they stand."""

KNOWN = {
    "runs": {"tool", "columnKind", "artifacts", "results"},
    "driver": {"name", "version", "informationUri", "rules"},
    "rules": {"id", "shortDescription", "helpUri", "defaultConfiguration", "help"},
    "results": {"ruleId", "ruleIndex", "level", "message", "locations", "fixes"},
    "locations": {"physicalLocation", "logicalLocations"},
    "physicalLocation": {"artifactLocation", "region"},
    "artifactLocation": {"uri", "index"},
    "region": {"startLine", "startColumn"},
    "deletedRegion": {"startLine", "startColumn", "endLine", "endColumn"},
    "fixes": {"description", "artifactChanges"},
}
"""The properties that we use of those that the schema knows; it allows no others."""


def check(value, name="log"):
    """Check a log against the shape that its schema gives it."""
    if isinstance(value, list):
        for item in value:
            check(item, name)
    elif isinstance(value, dict):
        assert REQUIRED.get(name, set()) <= value.keys(), name
        assert value.keys() <= KNOWN.get(name, value.keys()), name
        assert all(number >= 1 for key, number in value.items() if key.endswith(("Line", "Column")))
        for key, inner in value.items():
            check(inner, key)


def results(log):
    return log["runs"][0]["results"]


def test_a_problem_has_its_rule_its_words_and_its_place():
    log = sarif_log({"policies/a.jsonld": [UNKNOWN]})
    check(log)
    [result] = results(log)
    assert (result["ruleId"], result["level"]) == ("P005", "error")
    assert result["message"]["text"] == "'raed' is not an action. Did you mean 'read'?"
    [location] = result["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "policies/a.jsonld", "index": 0}
    assert physical["region"] == {"startLine": 12, "startColumn": 15}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/permission/0/action"}]
    assert "fixes" not in result


def test_a_fix_replaces_a_region():
    log = sarif_log({"a.jsonld": [MENDED]})
    check(log)
    [fix] = results(log)[0]["fixes"]
    [change] = fix["artifactChanges"]
    region = {"startLine": 12, "startColumn": 15, "endLine": 12, "endColumn": 21}
    expected = {"deletedRegion": region, "insertedContent": {"text": '"read"'}}
    assert change["replacements"] == [expected]
    assert change["artifactLocation"]["uri"] == "a.jsonld"


@pytest.mark.parametrize(
    ("code", "level"), [("H001", "note"), ("W001", "warning"), ("J001", "error"), ("M003", "error")]
)
def test_the_level_goes_by_the_code(code, level):
    log = sarif_log({"a.jsonld": [Problem(code, "Wrong.")]})
    assert results(log)[0]["level"] == level
    [rule] = log["runs"][0]["tool"]["driver"]["rules"]
    assert rule["defaultConfiguration"] == {"level": level}
    assert rule["shortDescription"]["text"] == CODES[code]


def test_a_rule_stands_once_and_results_point_to_it():
    log = sarif_log({"a": [UNKNOWN, Problem("J001", "x"), UNKNOWN], "b": [Problem("J001", "y")]})
    check(log)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["J001", "P005"]
    assert [rules[one["ruleIndex"]]["id"] for one in results(log)] == ["P005", "J001"] * 2
    assert rules[1]["helpUri"].endswith("docs/errors.md#p005")
    files = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in results(log)]
    assert [file["index"] for file in files] == [0, 0, 0, 1]


def test_files_without_problems_are_named_and_have_no_results():
    log = sarif_log({"a.jsonld": (), "b.jsonld": ()})
    check(log)
    uris = [one["location"]["uri"] for one in log["runs"][0]["artifacts"]]
    assert uris == ["a.jsonld", "b.jsonld"]
    assert results(log) == []


def test_a_problem_without_a_place_has_no_region():
    [result] = results(sarif_log({"a.jsonld": [Problem("P002", "No uid.")]}))
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "a.jsonld", "index": 0}}}
    ]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ä.jsonld", "a%20b/%C3%A4.jsonld"),
        ("c:d.jsonld", "c%3Ad.jsonld"),
        ("/x/y#z.jsonld", "file:///x/y%23z.jsonld"),
        ("a/../p.jsonld", "p.jsonld"),
        ("-", "-"),
    ],
)
def test_a_path_is_a_reference(path, uri):
    assert sarif_log({path: []})["runs"][0]["artifacts"] == [{"location": {"uri": uri}}]


def test_what_a_policy_holds_is_no_placeholder_and_no_link():
    [result] = results(
        sarif_log({"a": [Problem("J001", "Found '{0}', [a](http://evil.example).")]})
    )
    assert result["message"]["text"] == r"Found '{{0}}', [a\](http://evil.example)."


@given(st.text(), st.text(), st.text(alphabet=string.printable, min_size=1))
def test_any_words_and_any_path_make_a_log(message, hint, path):
    log = json.loads(json.dumps(sarif_log({path: [Problem("P007", message, hint, AT)]})))
    check(log)
    uri = log["runs"][0]["artifacts"][0]["location"]["uri"]
    whole = Path(os.path.abspath(path))  # noqa: PTH100 (links stay)
    is_inside = whole.is_relative_to(ROOT)
    expected = whole.relative_to(ROOT) if is_inside and path != "-" else whole
    assert path == "-" or unquote(uri.removeprefix("file://")) == expected.as_posix()


def test_paths_are_relative_to_the_repository_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "policies" / "inner").mkdir(parents=True)

    def uri(path):
        return sarif_log({str(path): []})["runs"][0]["artifacts"][0]["location"]["uri"]

    monkeypatch.chdir(tmp_path / "policies" / "inner")
    whole = tmp_path / "policies" / "a.jsonld"
    assert [uri("../a.jsonld"), uri(whole), uri("b.jsonld")] == [
        *("policies/a.jsonld", "policies/a.jsonld", "policies/inner/b.jsonld"),
    ]
    (tmp_path / ".git").rmdir()
    assert uri("b.jsonld") == "b.jsonld"
    assert uri("../a.jsonld") == whole.as_uri()


def test_a_file_name_that_is_no_text_is_named_byte_by_byte():
    log = sarif_log({os.fsdecode(b"caf\xe9.jsonld"): []})
    assert log["runs"][0]["artifacts"] == [{"location": {"uri": "caf%E9.jsonld"}}]


def test_a_fix_of_the_validator_put_in_place_mends_the_policy():
    text = people_policy().replace('"Set"', '"Sett"')
    with pytest.raises(PolicyError) as caught:
        read_policy(text)
    [result] = results(sarif_log({"policy.jsonld": caught.value.problems}))
    [replacement] = result["fixes"][0]["artifactChanges"][0]["replacements"]
    region, lines = replacement["deletedRegion"], text.splitlines(keepends=True)
    assert region["startLine"] == region["endLine"]
    line = lines[region["startLine"] - 1]
    start, end = region["startColumn"] - 1, region["endColumn"] - 1
    lines[region["startLine"] - 1] = (
        line[:start] + replacement["insertedContent"]["text"] + line[end:]
    )
    assert read_policy("".join(lines)) == read_policy(people_policy())
