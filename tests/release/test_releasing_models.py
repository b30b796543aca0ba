"""The commands of a release, where what is released is a model."""

import json

import pytest
from building import ANALYST, DATASET
from modelled import LEAKING, MODEL, of_raw, of_release, people_table
from typer.testing import CliRunner

from policy_engine.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    people_table(folder / "people.csv")
    (folder / "policy.jsonld").write_text(of_release())
    (folder / "strict.jsonld").write_text(of_raw(LEAKING, bounds={"auc": 0.65}))
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def given(folder):
    return "--data", f"{DATASET}={folder / 'people.csv'}"


def test_the_plan_shows_the_audit_with_its_cost(folder):
    result = run("plan", folder / "policy.jsonld", *given(folder))
    assert result.exit_code == 0, result.output
    for shown in (
        "train",
        "GaussianNB",
        "auc at most 0.75",
        "loss, 4 shadow models",
        "lira-offline, rmia",
    ):
        assert shown in result.output
    assert "The audit trains 5 models of 119 records: about" in result.output


def test_the_plan_as_json_has_the_estimate(folder):
    result = run("plan", folder / "policy.jsonld", *given(folder), "--format", "json")
    plan = json.loads(result.output)
    assert plan["estimate"]["models"] == 5
    assert [step["step"] for step in plan["steps"]][3:] == ["train", "audit", "publish"]


def test_without_data_the_plan_has_no_estimate(folder):
    result = run("plan", folder / "policy.jsonld", "--format", "json")
    assert "estimate" not in json.loads(result.output)


@pytest.mark.nightly
def test_a_model_is_applied_reported_and_decided_on(folder):
    out, report = folder / "out", folder / "report"
    options = ("--output", out, "--report", report, "--seed", 1)
    result = run("apply", folder / "policy.jsonld", *given(folder), *options)
    assert result.exit_code == 0, result.output
    assert "warning: 119 records are not members" in result.output
    assert "auc of loss" in result.output
    assert "361 kept for the audit" in result.output
    assert sorted(path.name for path in report.iterdir()) == ["audit.html", "audit.json"]
    asked = ("--assignee", ANALYST, "--action", "read", "--target", MODEL, "--purpose", "marketing")
    decided = run("decide", "--policy", folder / "policy.jsonld", "--certificate", out, *asked)
    assert decided.exit_code == 0, decided.output


@pytest.mark.nightly
def test_a_model_that_gives_too_much_away_ends_with_1_and_says_by_how_much(folder):
    options = ("--output", folder / "refused", "--seed", 1)
    result = run("apply", folder / "strict.jsonld", *given(folder), *options)
    assert result.exit_code == 1
    assert [path.name for path in (folder / "refused").iterdir()] == ["certificate.jsonld"]
