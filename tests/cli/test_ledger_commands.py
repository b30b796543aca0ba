"""The commands of the output ledger."""

import json
import sqlite3

import pytest
from typer.testing import CliRunner

from policy_engine.cli.output_ledgers import output_ledgers
from policy_engine.errors import LedgerError
from policy_engine.release.output_ledger import OutputAnswer, OutputCell, OutputLedger, Populations

DATASET, SCOPE = "http://example.com/Visits", "organisation:http://example.com/lab"


@pytest.fixture
def path(tmp_path):
    """Return a ledger of one answer, a count of 40 persons and one of 4 that is suppressed."""
    populations = Populations.of_labels([0] * 40 + [1] * 4)
    cells = OutputCell(0, "count", 40, 10), OutputCell(1, "count", 4, 10, is_released=False)
    ledger = OutputLedger(tmp_path / "outputs.db")
    answer = OutputAnswer(DATASET, "1", (SCOPE,), populations, cells)
    assert ledger.check_and_record(answer).state == "recorded"
    assert ledger.check_and_record(answer).state == "repeated"
    return ledger.store.path


def run(command, path, *more):
    return CliRunner().invoke(output_ledgers, [command, str(path), *more])


def test_scopes_are_summed_up_in_json(path):
    summary = json.loads(run("show", path, "--format", "json").stdout)
    [scope] = summary["scopes"]
    assert (summary["entries"], summary["head"]["number"]) == (3, 3)
    assert (scope["dataset"], scope["scope"]) == (DATASET, SCOPE)
    counts = scope["answers"], scope["repeated"], scope["released"], scope["suppressed"]
    assert counts == (1, 1, 1, 1)


def test_scopes_are_lines_for_people(path):
    text = run("show", path).stdout
    assert "1 scope, head: 3:" in text
    assert f"{SCOPE}  1 answer, 1 repeated of {DATASET}: 1 cell released, 1 suppressed" in text


def test_last_entries_are_printed(path):
    lines = run("history", path, "--last", "2").stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["2", "3"]
    assert "answered" in lines[0]
    assert "repeated" in lines[1]
    assert lines[2].startswith("These are the last 2 of 3 entries")
    entries = json.loads(run("history", path, "--format", "json").stdout)
    assert [entry["state"] for entry in entries] == ["opened", "answered", "repeated"]


def test_intact_ledger_is_verified_with_its_head(path):
    result = run("verify", path)
    assert result.exit_code == 0
    head = result.stdout.splitlines()[1].removeprefix("head: ")
    assert run("verify", path, "--expect", head).exit_code == 0


def test_ledger_without_what_was_answered_is_broken(path):
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        [name] = [one for (one,) in tables if "answer" in one]
        connection.execute(f"DELETE FROM {name}")
    result = run("verify", path, "--format", "json")
    assert result.exit_code == 1
    verification = json.loads(result.stdout)
    assert verification["intact"] is False
    assert [problem["code"] for problem in verification["problems"]] == ["K033"]


def test_what_is_not_a_ledger_is_an_error(tmp_path):
    result = run("show", tmp_path / "none.db")
    assert isinstance(result.exception, LedgerError)
