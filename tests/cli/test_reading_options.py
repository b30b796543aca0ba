"""Every way to read a policy takes what policies are read with."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import typer
from building import ANALYST, DATASET, people_policy
from typer.testing import CliRunner

import policy_engine
from policy_engine.cli import app
from policy_engine.errors import PolicyEngineError

WITHOUT_PARENTS = {"agree", "convert", "evaluate", "test"}
READING = ("validate", "plan", "apply", "certify", "compare", "explore", "decide", "query")
READING += (
    "batch-decide",
    "bundle",
    "audit-trail",
    "sign",
    "evaluate",
    "graph",
    "diff",
    "agree",
    "convert",
    "test",
    "attest",
    "fulfil",
    "duties",
)
VERBS = ("apply_policy", "certify_output", "check_policy", "compare_release", "decide_request")
VERBS += (
    "decider",
    "estimate_policy",
    "estimate_search",
    "explore_policy",
    "load_policies",
    "load_policy",
)
VERBS += ("count_unique_rows", "plan_policy", "query_data", "run_policy_tests", "compliance_report")

COMMANDS = typer.main.get_command(app).commands
POLICY = str(Path("policies/customer.jsonld").resolve())


@pytest.mark.parametrize("name", READING)
def test_commands_that_read_policies_take_what_they_are_read_with(name):
    taken = {option for one in COMMANDS[name].params for option in one.opts}
    assert {"--context", "--limit", "--vocabulary"} <= taken
    assert ("--parent" in taken) == (name not in WITHOUT_PARENTS)


def test_no_other_command_reads_policies():
    named = {
        name
        for name, command in COMMANDS.items()
        if any("polic" in str(one.metavar or one.name).lower() for one in command.params)
    }
    assert named <= set(READING)


def options_of(verb):
    """Return the names of the arguments that a verb takes, of those in dictionaries too."""
    taken = inspect.signature(verb).parameters
    several = [one.annotation for one in taken.values() if one.kind is one.VAR_KEYWORD]
    return set(taken).union(*(get_args(one)[0].__annotations__ for one in several))


@pytest.mark.parametrize("name", VERBS)
def test_verbs_that_read_policies_take_what_they_are_read_with(name):
    taken = options_of(getattr(policy_engine, name))
    assert {"contexts", "limits", "vocabularies"} <= taken
    assert "parents" in taken or name in ("run_policy_tests", "compliance_report")


@pytest.fixture
def released(tmp_path):
    """A folder with a policy, tests of it, and a hierarchy."""
    (tmp_path / "p.jsonld").write_text(people_policy())
    (tmp_path / "t.yaml").write_text("policies: [p.jsonld]\ntests: []\n")
    return tmp_path


@pytest.mark.nightly
def test_a_limit_holds_in_every_command(released):
    path, few = str(released / "p.jsonld"), ["--limit", "bytes=10"]
    who = ["--assignee", ANALYST, "--policy", path]
    data = ["--data", f"{DATASET}={path}"]
    for given in (
        ["validate", path],
        ["plan", path],
        ["apply", path, *data, "--output", str(released / "out")],
        ["certify", path, "--policy", path],
        ["compare", path, path, "--policy", path],
        ["explore", path, *data],
        ["decide", *who, "--target", DATASET],
        ["query", "SELECT 1", *who, *data],
        ["evaluate", "--policy", path, "--request", path],
        ["graph", path],
        ["diff", path, path],
        ["agree", path, "--as", "http://x.org/a"],
        ["convert", path],
    ):
        found = CliRunner().invoke(app, [*given, *few])
        text = found.output + str(found.exception)
        assert "The text is too large" in text, (given, text)


def test_a_limit_holds_for_a_hierarchy(released):
    path = str(released / "p.jsonld")
    hierarchy = released / "h.jsonld"
    hierarchy.write_text(" " * 5_000 + "{}")
    given = ["decide", "--policy", path, "--assignee", ANALYST, "--target", DATASET]
    given += ["--hierarchy", str(hierarchy), "--limit", "bytes=5000"]
    assert "too large" in str(CliRunner().invoke(app, given).exception)


def test_a_limit_that_is_none_is_told():
    found = CliRunner().invoke(app, ["graph", POLICY, "--limit", "size=3"])
    assert isinstance(found.exception, PolicyEngineError)
    assert found.exception.exit_code == 2
    assert "one of bytes, depth" in str(found.exception)


def test_the_limits_of_a_verb_hold():
    with pytest.raises(PolicyEngineError, match="too large"):
        policy_engine.check_policy(POLICY, limits=policy_engine.Limits(bytes=10))


@pytest.fixture
def loans(tmp_path):
    """A policy with a prefix of its own, and data of its only dataset."""
    context = [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
        {"ex": "http://e.org/"},
    ]
    rule = {"assignee": "ex:Ann", "target": "ex:Loans", "action": "read"}
    policy = {"@context": context, "@type": "Set", "uid": "ex:p", "permission": rule}
    (tmp_path / "p.jsonld").write_text(json.dumps(policy))
    (tmp_path / "loans.csv").write_text("a,b\n1,2\n")
    return str(tmp_path / "p.jsonld"), str(tmp_path / "loans.csv")


@pytest.mark.nightly
def test_commands_know_the_prefixes_of_policies_and_their_only_dataset(loans):
    policy, data = loans
    who = ["--policy", policy, "--assignee", "ex:Ann"]
    found = CliRunner().invoke(app, ["decide", *who, "--target", "ex:Loans/a", "--data", data])
    assert found.exit_code == 0, found.output
    sql = ["query", "SELECT a FROM loans", *who, "--data", data, "--format", "csv"]
    assert CliRunner().invoke(app, sql).stdout == "a\n1\n"
    other = [*sql[:5], "ex:Bob", *sql[6:]]
    assert CliRunner().invoke(app, other).exit_code == 1
    assert CliRunner().invoke(app, ["validate", policy, "--data", data]).exit_code == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("command", "said"),
    [(["validate", "-"], "-: valid"), (["convert", "-", "--to", "turtle"], "odrl:permission")],
)
def test_a_policy_is_read_from_standard_input(loans, command, said):
    given = Path(loans[0]).read_bytes()
    run = [sys.executable, "-m", "policy_engine", *command]
    found = subprocess.run(run, input=given, capture_output=True, check=True)
    assert said in found.stdout.decode()


def test_each_call_in_one_process_reads_its_own_standard_input(loans):
    text = Path(loans[0]).read_text()
    for given, status in ((text, 0), ("{", 1), (text, 0)):
        assert CliRunner().invoke(app, ["validate", "-"], input=given).exit_code == status


def test_what_is_wrong_with_standard_input_is_told_with_its_place():
    run = [sys.executable, "-m", "policy_engine", "validate", "-"]
    found = subprocess.run(run, check=False, input=b'{\n"a": }', capture_output=True)
    assert found.returncode == 1
    assert found.stdout.decode().startswith("-:2:6: J001 ")


def test_rules_without_uid_are_told_apart_by_their_policy(loans, tmp_path):
    other = tmp_path / "q.jsonld"
    text = Path(loans[0]).read_text()
    other.write_text(text.replace('"ex:p"', '"ex:q"').replace("ex:Loans", "ex:Cars"))
    who = ["--policy", loans[0], "--policy", str(other), "--assignee", "ex:Ann"]
    found = CliRunner().invoke(app, ["decide", *who, "--target", "ex:Cars"])
    assert "permission read Cars 09c50abc2af9f6e0 of http://e.org/q permits" in found.output
    denied = CliRunner().invoke(app, ["decide", *who, "--target", "ex:Bikes", "--explain"])
    for name in ("http://e.org/p: it", "http://e.org/q: it"):
        assert re.search(rf"permission read \w+ \w+ of {name}", denied.output.replace("\n", " "))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", ["9" * 5000, "\u0663", "", "-1", "1_0", "\u00b2"])
def test_a_limit_that_is_no_plain_number_is_refused(number):
    done = CliRunner().invoke(app, ["validate", POLICY, "--limit", f"bytes={number}"])
    assert isinstance(done.exception, PolicyEngineError)
    assert [one.code for one in done.exception.problems] == ["U001"]
    assert len(str(done.exception)) < 1000
