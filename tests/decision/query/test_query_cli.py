import json
import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
import typer
from building import ANALYST, MOSAICROWN, ODRL
from query_samples import PEOPLE
from typer.testing import CliRunner

from policy_engine.cli.querying import query
from policy_engine.decision.log import read_log
from policy_engine.errors import PolicyEngineError

APP = typer.Typer()
APP.command()(query)


@pytest.fixture
def files(tmp_path):
    """A table and a policy that permits the ids and names of people above thirty."""
    (tmp_path / "people.csv").write_text("id,name,age\n1,Ann,20\n2,Bob,31\n3,,40\n")
    over = {"leftOperand": f"{PEOPLE}/age", "operator": "gt", "rightOperand": "30"}
    rule = {
        "uid": "http://x.org/r",
        "assignee": ANALYST,
        "target": [f"{PEOPLE}/id", f"{PEOPLE}/name"],
        "action": "read",
        "constraint": [over],
    }
    profile = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
    whole = {"@context": [ODRL, MOSAICROWN], "@type": "Set", "uid": "http://x.org/p"}
    text = json.dumps({**whole, "profile": profile, "permission": [rule]})
    (tmp_path / "policy.jsonld").write_text(text)
    return tmp_path


def run(files, sql, *options):
    given = ["--policy", str(files / "policy.jsonld"), "--assignee", ANALYST]
    given += ["--data", f"{PEOPLE}={files / 'people.csv'}", *options]
    return CliRunner().invoke(APP, [sql, *given])


def test_rows_are_printed(files):
    result = run(files, "SELECT id, name FROM People")
    assert result.exit_code == 0
    assert "2 rows" in result.stdout
    assert "Bob" in result.stdout
    assert "Ann" not in result.output


def test_rows_as_csv_and_json(files):
    csv = run(files, "SELECT id, name FROM People ORDER BY id", "--format", "csv")
    assert csv.stdout == "id,name\n2,Bob\n3,\n"
    found = run(files, "SELECT id, name FROM People ORDER BY id", "--format", "json")
    assert json.loads(found.stdout) == [{"id": 2, "name": "Bob"}, {"id": 3, "name": None}]


def test_rows_are_written_by_the_ending_of_the_file(files):
    run(files, "SELECT id FROM People", "--output", str(files / "out.parquet"))
    assert sorted(pq.read_table(files / "out.parquet")["id"].to_pylist()) == [2, 3]
    run(files, "SELECT list(id ORDER BY id) AS ids FROM People", "--output", f"{files}/out.csv")
    assert (files / "out.csv").read_text() == 'ids\n"[2, 3]"\n'


def test_no_output_overwrites_an_input(files):
    before = (files / "people.csv").read_text()
    result = run(files, "SELECT id FROM People", "--output", str(files / "people.csv"))
    assert isinstance(result.exception, PolicyEngineError)
    assert (files / "people.csv").read_text() == before


def test_no_output_replaces_a_file_unless_that_is_asked_for(files):
    output = files / "out.csv"
    asked = ("SELECT id FROM People ORDER BY id", "--output", str(output))
    assert run(files, *asked).exit_code == 0
    for _ in range(2):
        result = run(files, *asked)
        assert isinstance(result.exception, PolicyEngineError)
        assert (result.exception.exit_code, result.exception.problems[0].code) == (2, "O001")
        output.write_text("mine")
    assert output.read_text() == "mine"
    assert run(files, *asked, "--overwrite").exit_code == 0
    assert output.read_text() == "id\n2\n3\n"


def test_an_output_that_is_taken_is_refused_before_anything_is_logged(files):
    (files / "out.csv").symlink_to(files / "nothing.csv")
    result = run(files, "SELECT 1", "--output", f"{files}/out.csv", "--log", f"{files}/log.jsonl")
    assert "O001" in str(result.exception)
    assert not (files / "log.jsonl").exists()
    assert not (files / "nothing.csv").exists()


def test_a_dry_run_prints_the_query_as_it_may_run(files):
    result = run(files, "SELECT id FROM People", "--dry-run", "--dialect", "spark")
    assert result.stdout == (
        "SELECT `id` FROM (SELECT `People`.`id` FROM `People` "
        "WHERE COALESCE(`People`.`age` > 30, FALSE)) AS `People`\n"
    )


def test_a_dry_run_says_how_it_reads_what_is_not_a_number(files):
    (files / "people.csv").write_text("id,name,age\n1.5,Ann,40\n")
    result = run(files, "SELECT id FROM People", "--dry-run")
    assert 'CASE WHEN "People"."id" <= 0 OR' in result.stdout
    assert "reads NaN as a missing value" in result.stderr


def test_a_denial_ends_with_one_and_says_what_may_be_asked(files):
    result = run(files, "SELECT id, age FROM People")
    assert result.exit_code == 1
    assert 'this may be asked: SELECT "id" FROM "People"' in result.stderr
    assert f"this may be read: 'id' of {PEOPLE}\n" in result.stderr
    assert result.stdout == ""
    denial = json.loads(run(files, "SELECT id, age FROM People", "--format", "json").stdout)
    assert denial["allowed"] == [{PEOPLE: ["id"]}]


@pytest.mark.parametrize("sql", ["SELECT", "DROP TABLE People", "SELECT x FROM People"])
def test_what_cannot_run_ends_with_two(files, sql):
    result = run(files, sql)
    assert isinstance(result.exception, PolicyEngineError)
    assert result.exception.exit_code == 2


def test_an_output_of_an_unknown_kind_is_refused_before_anything_runs(files):
    result = run(files, "SELECT id FROM People", "--output", str(files / "out.xlsx"))
    assert "C004" in str(result.exception)


def test_odd_values_have_a_form_everywhere(files):
    sql = (
        "SELECT DATE '2020-01-02' AS d, TIMESTAMP '2020-01-02 03:04:05' AS t, INTERVAL 1 DAY AS i, "
        "CAST('nan' AS DOUBLE) AS n, CAST(1.50 AS DECIMAL(5,2)) AS e, sum(id) AS s, "
        "TIMESTAMPTZ '2020-01-02 03:04:05+01' AS z, NULL AS x, list(id) AS l FROM People"
    )
    for style in ("text", "csv", "json"):
        assert run(files, sql, "--format", style).exit_code == 0
    [row] = json.loads(run(files, sql, "--format", "json").stdout)
    assert row["d"] == "2020-01-02"
    assert row["s"] == 5
    assert row["e"] == "1.50"
    assert row["z"] == "2020-01-02T02:04:05+00:00"


def test_what_was_decided_of_each_table_is_kept_in_a_log(files):
    log = files / "log.jsonl"
    assert run(files, "SELECT name FROM People", "--log", str(log)).exit_code == 0
    assert run(files, "SELECT age FROM People", "--log", str(log)).exit_code == 1
    kept = [entry.decision for entry in read_log(log)]
    assert [(one.effect, one.request.targets) for one in kept] == [
        ("permit", (f"{PEOPLE}/name",)),
        ("deny", (f"{PEOPLE}/age",)),
    ]
    assert "Bob" not in log.read_text()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("encoding", "form"),
    [
        ("ascii", "text"),
        ("latin-1", "csv"),
        pytest.param("latin-1", "text", marks=pytest.mark.nightly),
    ],
)
def test_rows_are_printed_whatever_letters_the_terminal_has(files, encoding, form):
    (files / "people.csv").write_text("id,name,age\n1,Zoë,31\n2,Łuk,40\n", encoding="utf-8")
    given = ["--policy", str(files / "policy.jsonld"), "--assignee", ANALYST, "--format", form]
    given += ["--data", f"{PEOPLE}={files / 'people.csv'}"]
    command = [sys.executable, "-m", "policy_engine", "query", "SELECT name FROM People", *given]
    known = {**os.environ, "PYTHONIOENCODING": encoding}
    found = subprocess.run(command, capture_output=True, env=known, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
    is_latin = encoding == "latin-1" and form == "text"
    names = ["Zoë", "\\u0141uk"] if is_latin else ["Zoë", "Łuk"]
    assert all(name in found.stdout.decode(encoding if is_latin else "utf-8") for name in names)


def test_of_many_rows_the_first_are_printed_as_text_and_all_as_csv(files, monkeypatch):
    monkeypatch.setattr("policy_engine.cli.querying._MOST_ROWS", 1)
    text = run(files, "SELECT id FROM People").stdout
    assert text.startswith("2 rows")
    assert text.endswith("and 1 more row; --format csv or --output FILE gives all\n")
    assert len(run(files, "SELECT id FROM People", "--format", "csv").stdout.splitlines()) == 3
