"""Answers that a person decides about: `query --review`, then `check accept`."""

import json

import pytest
from output_checked import RESEARCHER, TABLE
from pyarrow import csv
from reviewed_answers import PEOPLE, TOTALS
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app
from policy_engine.release.output_ledger import OutputLedger

PARTS = [
    {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "bundesbank"},
    {
        "leftOperand": "pe:privacyUnit",
        "operator": "eq",
        "rightOperand": {"@id": f"{TABLE}/person"},
    },
]
POLICY = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "uid": "http://example.com/policy",
    "permission": [
        {
            "assignee": RESEARCHER,
            "target": TABLE,
            "action": [{"rdf:value": {"@id": "odrl:read"}, "refinement": PARTS}],
        }
    ],
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that calls a command in a folder with a policy and its data."""
    monkeypatch.chdir(tmp_path)
    csv.write_csv(PEOPLE, "t.csv")
    (tmp_path / "policy.jsonld").write_text(json.dumps(POLICY))

    def call(*words):
        own = "query" if words[0] == "query" else "check"
        return CliRunner().invoke(make_app(own), [str(one) for one in words])

    return call


INPUTS = ("--policy", "policy.jsonld", "--data", f"{TABLE}=t.csv", "--ledger", "answers")
DECIDED = ("--reason", "Losses are not secret.", "--by", "carl")


def ask(run, *more, sql=TOTALS):
    return run("query", sql, "--assignee", RESEARCHER, *INPUTS, *more)


@pytest.mark.nightly
def test_an_answer_is_sent_accepted_and_leaves(run, tmp_path):
    sent = ask(run, "--review", "sent", "--comment", "For the report.")
    assert (sent.exit_code, "sent for review: sent, head 1:" in sent.stderr) == (0, True)
    shown = run("check", "review", "sent")
    assert (shown.exit_code, "comment: For the report." in shown.stdout) == (1, True)
    done = run("check", "accept", "sent", "answer", *DECIDED, *INPUTS)
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "answer: accepted")
    assert run("check", "release", "sent", "--to", "out").exit_code == 0
    text = (tmp_path / "out" / "answer.csv").read_text()
    assert text.splitlines()[:2] == ["region,n,s", "a,,-10"]
    assert OutputLedger(tmp_path / "answers").history()[-1].output.accepted == "carl"


def test_an_answer_is_not_accepted_without_its_ledger(run):
    ask(run, "--review", "sent")
    refused = run("check", "accept", "sent", "answer", *DECIDED)
    assert refused.exception.code == "D003"
    assert run("check", "release", "sent", "--to", "out").exception.code == "K028"


@pytest.mark.nightly
def test_an_answer_is_accepted_with_the_ledger_that_it_was_judged_against(run, tmp_path):
    # All of it is for a person, so that nothing was entered in the ledger yet.
    sent = ask(run, "--review", "sent", sql=TOTALS.replace("COUNT(*) AS n, ", ""))
    assert "a new ledger was begun, so no earlier answer counted" in sent.stderr
    mistyped = [*INPUTS[:-1], "anwsers"]
    refused = run("check", "accept", "sent", "answer", *DECIDED, *mistyped)
    assert (refused.exception.code, (tmp_path / "anwsers").exists()) == ("K033", False)
    ask(run, sql="SELECT COUNT(*) AS n FROM T")
    done = run("check", "accept", "sent", "answer", *DECIDED, *INPUTS)
    assert done.exit_code == 0


def test_who_asked_may_decide_only_if_that_is_said(run):
    ask(run, "--review", "sent")
    own = ("--reason", "Fine.", "--by", RESEARCHER)
    assert run("check", "reject", "sent", "answer", *own).exception.code == "K028"
    assert run("check", "reject", "sent", "answer", *own, "--allow-own").exit_code == 0


def test_nothing_is_sent_that_leaves_nothing_to_a_person(run, tmp_path):
    sent = ask(run, "--review", "sent", sql="SELECT COUNT(*) AS n FROM T")
    assert "nothing is left to a person" in sent.stderr
    assert not (tmp_path / "sent").exists()


def test_words_for_a_checker_need_a_folder_that_is_free(run, tmp_path):
    assert ask(run, "--exception", "Please.").exception.code == "D003"
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "file").touch()
    assert ask(run, "--review", "sent").exception.code == "O001"
    assert not (tmp_path / "answers").exists()
