import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import pytest
import typer
from building import ANALYST, DATASET, PEOPLE, people_policy, permission, policy
from typer.testing import CliRunner

from policy_engine import apply_policy
from policy_engine.authoring.diagram import has_dot
from policy_engine.cli import inspecting
from policy_engine.decision import Decider, World, read_request
from policy_engine.decision.log import DecisionLog
from policy_engine.errors import DataError, EngineError, PolicyEngineError, RequestError
from policy_engine.policy import read_policy

TESTS = f"""\
policies: [old.jsonld]
tests:
  - name: reads & <b>
    request: {{assignee: {ANALYST}, action: read, target: {DATASET}, purpose: marketing}}
    expect: permit
  - name: sells
    request: {{assignee: {ANALYST}, action: sell, target: {DATASET}, purpose: marketing}}
    expect: {{effect: permit}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two policies that differ, and tests of the first."""
    rules = [permission(uid="http://x.org/r", action="read")]
    other = permission(uid="http://x.org/q", action="print")
    (tmp_path / "old.jsonld").write_text(policy([*rules, other]))
    (tmp_path / "new.jsonld").write_text(
        policy([{**rules[0], "assignee": "http://x.org/b"}, other])
    )
    (tmp_path / "tests.yaml").write_text(TESTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


pytestmark = pytest.mark.usefixtures("folder")


def run(*arguments):
    app = typer.Typer()
    app.command("graph")(inspecting.graph)
    app.command("diff")(inspecting.diff)
    app.command("test")(inspecting.run_tests)
    return CliRunner().invoke(app, list(arguments))


def refused(*arguments):
    error = run(*arguments).exception
    assert isinstance(error, PolicyEngineError), error
    assert error.exit_code == 2
    return error


# -- graph ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not has_dot(), reason="Graphviz's dot is not installed")
def test_graph_writes_svg(folder):
    assert run("graph", "old.jsonld", "--output", "p.svg").exit_code == 0
    assert (folder / "p.svg").read_text().startswith("<svg ")
    assert run("graph", "old.jsonld").output == (folder / "p.svg").read_text()


@pytest.mark.parametrize(
    ("name", "start"), [("p.mmd", "%% "), ("p.dot", "digraph"), ("p.gv", "digraph")]
)
def test_graph_writes_what_the_ending_says(folder, name, start):
    assert run("graph", "old.jsonld", "--output", name).exit_code == 0
    assert (folder / name).read_text().startswith(start)


def test_graph_prints_mermaid_where_there_is_no_dot(monkeypatch):
    monkeypatch.setenv("PATH", "")
    result = run("graph", "old.jsonld")
    assert result.exit_code == 0
    assert "flowchart LR" in result.stdout
    assert result.stderr.count("\n") == 1
    assert "not on the path" in result.stderr


def test_graph_writes_no_other_format_than_the_file_is_called(folder, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert isinstance(refused("graph", "old.jsonld", "--output", "p.svg"), EngineError)
    assert not (folder / "p.svg").exists()


def test_graph_refuses_an_ending_that_says_nothing():
    assert "U001" in str(refused("graph", "old.jsonld", "--output", "p.png"))


def test_graph_writes_over_no_policy():
    assert "O001" in str(
        refused("graph", "old.jsonld", "--output", "old.jsonld", "--format", "dot")
    )


def test_graph_draws_several_policies(folder):
    (folder / "people.jsonld").write_text(people_policy(uid="http://x.org/people"))
    drawn = run("graph", "old.jsonld", "people.jsonld", "--format", "dot").output
    assert drawn.count("subgraph cluster_") == 2


def test_graph_draws_owners_and_what_was_made(folder):
    (folder / "owners.json").write_text(f'{{"{DATASET}": "http://x.org/hospital"}}')
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "people.jsonld").write_text(people_policy(uid="http://x.org/people"))
    apply_policy("people.jsonld", {DATASET: "people.csv"}, "made")
    arguments = ("--certificate", "made", "--format", "dot")
    drawn = run("graph", "people.jsonld", *arguments).output
    assert "wasDerivedFrom" in drawn
    assert "no longer valid" not in drawn
    assert "no longer valid" in run("graph", "old.jsonld", *arguments).output
    owned = run("graph", "old.jsonld", *arguments, "--owners", "owners.json").output
    assert "does not count: it names no assigner" in " ".join(re.sub("<.*?>", " ", owned).split())
    assert isinstance(refused("graph", "old.jsonld", "--certificate", "none"), PolicyEngineError)


# -- diff -----------------------------------------------------------------------------------------


def test_diff_says_what_changed():
    result = run("diff", "old.jsonld", "new.jsonld")
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "http://x.org/policy, http://x.org/r",
        f"  narrows  assignee removed: {ANALYST}",
        "  widens   assignee added: http://x.org/b",
        "2 changes. Together they can widen and narrow what is permitted.",
    ]


def test_diff_of_the_same_is_no_change():
    result = run("diff", "old.jsonld", "old.jsonld")
    assert (result.exit_code, result.output) == (0, "no change\n")


def test_diff_as_json():
    found = json.loads(run("diff", "old.jsonld", "new.jsonld", "--format", "json").output)
    assert found["tendency"] == "either"
    assert [change["what"] for change in found["changes"]] == ["assignee removed", "assignee added"]


def test_diff_lists_who_would_be_answered_otherwise(folder):
    decider = Decider([read_policy((folder / "old.jsonld").read_text())])
    log, world = (
        DecisionLog.open(folder / "log.jsonl"),
        World(time=datetime(2026, 1, 1, tzinfo=UTC)),
    )
    for action in ("read", "print"):
        log.append(decider.decide(read_request(ANALYST, action, [DATASET], "marketing"), world))
    result = run("diff", "old.jsonld", "new.jsonld", "--log", "log.jsonl")
    assert "1 of 2 distinct requests of the log would be answered otherwise" in result.output
    assert f"permit -> deny  {ANALYST} read {DATASET}" in result.output
    assert "after:  No rule permits it" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("none.jsonld", "new.jsonld"),
        ("tests.yaml", "new.jsonld"),
        ("old.jsonld", "new.jsonld", "--log", "none.jsonl"),
    ],
)
def test_diff_that_cannot_run_ends_with_2(arguments):
    refused("diff", *arguments)


def test_diff_reads_hierarchies_in_turtle(folder):
    (folder / "groups.ttl").write_text(
        f"<{ANALYST}> <https://www.mosaicrown.eu/ns/mosaicrown/1/belongsTo> <http://x.org/b> ."
    )
    decider = Decider([read_policy((folder / "old.jsonld").read_text())])
    log = DecisionLog.open(folder / "log.jsonl")
    log.append(decider.decide(read_request(ANALYST, "read", [DATASET], "marketing")))
    arguments = "diff", "old.jsonld", "new.jsonld", "--log", "log.jsonl"
    assert "1 of 1 distinct request " in run(*arguments).output
    assert "0 of 1 distinct request " in run(*arguments, "--hierarchy", "groups.ttl").output


# -- test -----------------------------------------------------------------------------------------


def test_test_prints_a_line_a_test_and_the_coverage():
    result = run("test", "tests.yaml")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "pass  reads & <b>"
    assert lines[1] == "FAIL  sells (line 6)"
    assert lines[2].startswith("      expected permit, got deny: No rule permits it")
    assert lines[3:6] == [
        "2 tests: 1 passed, 1 failed",
        "note: decided by the clock, for want of a time in the world: 2 tests (reads & <b>, sells)",
        "tested: 1 of 2 rules, 50 %",
    ]
    assert lines[6].startswith("  never: permission http://x.org/q (old.jsonld:")


def test_test_and_diff_take_owners(folder):
    (folder / "owners.json").write_text(f'{{"{DATASET}": "http://x.org/hospital"}}')
    assert "pass  reads" in run("test", "tests.yaml").output
    told = run("test", "tests.yaml", "--owners", "owners.json").output
    assert "FAIL  reads" in told
    assert "and http://x.org/hospital owns" in told
    issued = permission(uid="http://x.org/r", action="read", assigner="http://x.org/stranger")
    (folder / "new.jsonld").write_text(policy([issued]))
    told = run("diff", "old.jsonld", "new.jsonld", "--owners", "owners.json").output
    assert "either   assigner changed" in told
    assert "note: http://x.org/r does not count: http://x.org/stranger does not own" in told
    refused("diff", "old.jsonld", "new.jsonld", "--owners", "none.json")


@pytest.mark.parametrize(("least", "status"), [("50", 0), ("50.1", 1), ("100", 1)])
def test_test_fails_below_the_coverage_asked_for(folder, least, status):
    (folder / "tests.yaml").write_text(TESTS.replace("{effect: permit}", "deny"))
    result = run("test", "tests.yaml", "--min-coverage", least)
    assert result.exit_code == status
    assert ("less than" in result.output) == bool(status)


def test_test_as_json():
    found = json.loads(run("test", "tests.yaml", "--format", "json").output)
    assert (found["passed"], found["coverage"], len(found["tests"])) == (False, 0.5, 2)


def test_test_as_json_has_not_passed_below_the_coverage_asked_for(folder):
    (folder / "tests.yaml").write_text(TESTS.replace("{effect: permit}", "deny"))
    found = {
        least: json.loads(
            run("test", "tests.yaml", "--format", "json", "--min-coverage", least).output
        )
        for least in ("50", "51")
    }
    assert (found["50"]["passed"], found["51"]["passed"]) == (True, False)


def test_test_as_junit():
    text = run("test", "tests.yaml", "--format", "junit", "--min-coverage", "80").output
    suite = ET.fromstring(text)
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [case.get("name") for case in suite] == ["reads & <b>", "sells", "coverage of rules"]


def test_test_that_cannot_run_ends_with_2(folder):
    (folder / "bad.yaml").write_text("tests: 1\n")
    assert isinstance(refused("test", "bad.yaml"), RequestError)
    assert isinstance(refused("test", "none.yaml"), DataError)


def test_the_commands_load_nothing_heavy_until_they_run():
    code = (
        "import sys, policy_engine.cli.inspecting;"
        "print(*{'yaml', 'pydantic', 'pyarrow', 'numpy', 'rdflib'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
