"""Vocabularies of one's own on the command line and in Python, from the policy to the decision."""

import json
import re

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from places import SHARED_DATA
from typer.testing import CliRunner

from policy_engine import apply_policy, certify_output, decide_request, query_data, read_request
from policy_engine.authoring.policy_tests import run_policy_tests
from policy_engine.cli import app
from policy_engine.errors import PolicyEngineError
from policy_engine.policy import Reading

PEOPLE = "name,age,city,disease\na,31,Rome,flu\nb,32,Rome,cold\nc,41,Bari,flu\nd,42,Bari,cold\n"
MC = "https://www.mosaicrown.eu/ns/mosaicrown/1/"
TERMS = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@graph": [
        {"uid": "mosaicrown:write", "@type": "Action"},
        {"uid": "mosaicrown:read", "@type": "Action", "includedIn": "mosaicrown:write"},
        {"uid": "http://x.org/ann", "belongsTo": ANALYST},
        {
            "uid": "http://x.org/Ads",
            "@type": "skos:Concept",
            "declinationOf": "mosaicrown:marketing",
        },
    ],
}
ORIGINAL = SHARED_DATA / "mosaicrown-policies"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "people.jsonld").write_text(people_policy())
    (tmp_path / "terms.jsonld").write_text(json.dumps(TERMS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def ask(who, purpose, *more):
    given = ["decide", "--policy", "people.jsonld", "--assignee", who, "--purpose", purpose]
    return run(*given, "--target", OUTPUT, "--certificate", "out", *more)


@pytest.mark.usefixtures("folder")
def test_a_release_is_made_certified_and_decided_on_with_a_vocabulary():
    own = ["--vocabulary", "terms.jsonld"]
    made = run("apply", "people.jsonld", "--data", f"{DATASET}=people.csv", "--output", "out", *own)
    assert made.exit_code == 0, made.output + str(made.exception)
    assert run("certify", "out", "--policy", "people.jsonld", *own).exit_code == 0
    assert ask(ANALYST, "marketing", *own).exit_code == 0
    assert ask("http://x.org/ann", "http://x.org/Ads", *own).exit_code == 0
    assert (
        ask("http://x.org/ann", "http://x.org/Ads", "--action", "mosaicrown:read", *own).exit_code
        == 0
    )


def test_who_may_read_the_inputs_by_a_vocabularys_name_may_read_the_output(folder):
    whole = json.loads(people_policy())
    reader = "http://x.org/steward"
    whole["permission"].append(
        {"uid": "http://x.org/p#write", "assignee": reader, "target": DATASET, "action": "write"}
    )
    (folder / "people.jsonld").write_text(json.dumps(whole))
    own = ["--vocabulary", "terms.jsonld"]
    run("apply", "people.jsonld", "--data", f"{DATASET}=people.csv", "--output", "out", *own)
    assert ask(reader, "marketing", *own).exit_code == 0
    assert ask(reader, "marketing", "--action", "write", *own).exit_code == 1


@pytest.mark.usefixtures("folder")
def test_a_certificate_is_valid_with_the_vocabularies_that_it_was_made_with_alone():
    run("apply", "people.jsonld", "--data", f"{DATASET}=people.csv", "--output", "out")
    assert ask(ANALYST, "marketing").exit_code == 0
    denied = ask(ANALYST, "marketing", "--vocabulary", "terms.jsonld")
    assert denied.exit_code == 1
    assert "no certificate that is valid" in denied.output


@pytest.mark.usefixtures("folder")
def test_python_takes_vocabularies_as_files_or_as_json():
    made = apply_policy(
        "people.jsonld", {DATASET: "people.csv"}, "out", vocabularies=["terms.jsonld"]
    )
    assert certify_output("out", "people.jsonld", vocabularies=[TERMS]).holds
    request = read_request("http://x.org/ann", "read", [OUTPUT], "http://x.org/Ads")
    found = decide_request(["people.jsonld"], ["out"], request, vocabularies=["terms.jsonld"])
    assert found.permitted
    assert made.plan.policy_digest != Reading().policy("people.jsonld").digest


def test_what_is_wrong_with_a_vocabulary_is_told_at_its_place(folder):
    (folder / "bad.jsonld").write_text(
        json.dumps(TERMS, indent=1).replace("includedIn", "includedin")
    )
    for command in (
        ["validate", "people.jsonld"],
        ["plan", "people.jsonld"],
        ["graph", "people.jsonld"],
    ):
        found = run(*command, "--vocabulary", "bad.jsonld")
        assert found.exception.exit_code == 2
        assert str(found.exception).startswith("bad.jsonld:14:4: L002 No context defines the key")
    checked = run("validate", "bad.jsonld")
    assert (checked.exit_code, checked.output[:24]) == (1, "bad.jsonld:14:4: L002 No")


def test_a_limit_holds_for_a_vocabulary(folder):
    (folder / "large.jsonld").write_text(" " * 5_000 + "{}")
    found = run("graph", "people.jsonld", "--vocabulary", "large.jsonld", "--limit", "bytes=5000")
    assert "large.jsonld" in str(found.exception)
    assert "too large" in str(found.exception)


@pytest.mark.nightly
@pytest.mark.usefixtures("folder")
def test_every_command_that_reads_a_policy_reads_a_vocabulary_as_well():
    more = ["--vocabulary", "missing.ttl"]
    for given in (
        ["validate", "people.jsonld"],
        ["plan", "people.jsonld"],
        ["apply", "people.jsonld", "--data", "a=b", "--output", "out"],
        ["certify", "people.csv", "--policy", "people.jsonld"],
        ["compare", "people.csv", "people.csv", "--policy", "people.jsonld"],
        ["explore", "people.jsonld", "--data", "a=b"],
        ["decide", "--policy", "people.jsonld", "--assignee", "a:b", "--target", "a:b"],
        ["query", "SELECT 1", "--policy", "people.jsonld", "--assignee", "a:b", "--data", "a=b"],
        ["evaluate", "--policy", "people.jsonld", "--request", "people.jsonld"],
        ["graph", "people.jsonld"],
        ["diff", "people.jsonld", "people.jsonld"],
        ["convert", "people.jsonld"],
        ["test", "people.jsonld"],
        ["schema"],
    ):
        found = run(*given, *more)
        assert isinstance(found.exception, PolicyEngineError), given
        assert "C002 There is no file 'missing.ttl'" in str(found.exception), given


def rule(action, target=DATASET):
    return {"uid": f"http://x.org/p#{action}", "target": target, "action": action}


def written(folder, **keys):
    whole = {**json.loads(people_policy()), "permission": None, "prohibition": None, **keys}
    text = json.dumps({key: value for key, value in whole.items() if value})
    (folder / "p.jsonld").write_text(text)


def test_a_query_asks_to_read_as_the_policies_do(folder):
    written(folder, permission=[rule("write")], prohibition=[rule("read", f"{DATASET}/name")])
    given = (["p.jsonld"], ANALYST, {DATASET: "people.csv"})
    rows = query_data("SELECT age FROM People", *given, vocabularies=[TERMS])
    assert rows.permitted
    assert rows.table.num_rows == 4
    assert not query_data("SELECT name FROM People", *given, vocabularies=[TERMS]).permitted


def test_policy_tests_name_their_vocabularies_and_use_the_names_of_the_policies(folder):
    written(folder, permission=[rule("write")])
    (folder / "t.yaml").write_text(
        "policies: p.jsonld\nvocabularies: terms.jsonld\ntests:\n"
        "  - name: reading\n    expect: permit\n    request:\n"
        f"      {{assignee: '{ANALYST}', action: read, target: '{DATASET}'}}\n"
    )
    assert run_policy_tests("t.yaml").passed
    assert run("test", "t.yaml").exit_code == 0


def test_a_context_that_the_caller_gives_names_actions_on_the_command_line(folder):
    own = {"@context": {"look": "http://www.w3.org/ns/odrl/2/read"}}
    (folder / "own.jsonld").write_text(json.dumps(own))
    context = ["http://www.w3.org/ns/odrl.jsonld", "http://x.org/own.jsonld"]
    written(folder, **{"@context": context}, permission=[rule("look")], profile=None)
    given = ["decide", "--policy", "p.jsonld", "--assignee", ANALYST, "--target", DATASET]
    given += ["--action", "look", "--context", "http://x.org/own.jsonld=own.jsonld"]
    assert run(*given).exit_code == 0


def test_a_report_of_compliance_is_made_with_a_vocabulary(folder):
    request = {
        "@context": TERMS["@context"],
        "@type": "Request",
        "uid": "http://x.org/request",
        "permission": {**rule("mosaicrown:read"), "uid": "http://x.org/asked", "assignee": ANALYST},
    }
    written(folder, permission=[{**rule("mosaicrown:write"), "assignee": ANALYST}])
    (folder / "request.jsonld").write_text(json.dumps(request))
    given = ["evaluate", "--policy", "p.jsonld", "--request", "request.jsonld", "--format", "json"]
    outputs = [run(*given, *more).output for more in ([], ["--vocabulary", "terms.jsonld"])]
    states = [re.findall('"activationState": "(.*)"', one) for one in outputs]
    assert states == [["Inactive"], ["Active"]]


@pytest.mark.skipif(not ORIGINAL.is_dir(), reason="the original policies are not here")
@pytest.mark.parametrize("name", ["demo", "constraints", "tests-files"])
def test_the_original_policies_are_read_with_their_own_vocabularies(name):
    own = ORIGINAL / name / "ns" / "mosaicrown" / "vocabulary.json"
    reading = Reading(vocabularies=[own])
    for path in sorted(ORIGINAL.glob("**/*.jsonld")):
        if path.name != "namespace.jsonld":
            for policy in reading.policies(path):
                assert policy.rules
    assert f"{MC}sellreport" in reading.vocabulary.actions
