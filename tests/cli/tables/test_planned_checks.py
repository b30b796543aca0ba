"""What a plan says of a policy that makes nothing and lets checked answers be read."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from policy_engine.cli.releasing import plan
from policy_engine.errors import PlanError
from policy_engine.plan.making import make_plan
from policy_engine.plan.products import only_checks
from policy_engine.policy import load_policy

POLICIES = Path(__file__).parents[3] / "policies"
CHECKED = POLICIES / "research-centre.jsonld"
APP = typer.Typer()
APP.command()(plan)


def run(*arguments):
    result = CliRunner().invoke(APP, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_plan_of_checked_reading_says_what_to_run():
    text = run(CHECKED)
    assert "sacro 1.0, units of http://example.com/Employees/person" in text
    assert "cells that do not pass: suppress; secondary: interval" in text
    assert "--ledger FILE" in text
    assert "--alternatives" in text


def test_plan_of_checked_reading_as_json():
    document = json.loads(run(CHECKED, "--format", "json"))
    assert document["outputs"] == []
    [check] = document["checks"]
    assert (check["profile"], check["mitigation"]) == ("sacro 1.0", "suppress")
    assert document["costs"].endswith("--alternatives")


def test_policy_that_makes_something_is_planned_as_ever():
    [other] = [one for one in POLICIES.glob("*.jsonld") if one.name == "visits-statistics.jsonld"]
    assert only_checks(load_policy(other)) == ()


def test_where_an_output_is_needed_it_is_said_what_there_is():
    with pytest.raises(PlanError, match="M007") as caught:
        make_plan(load_policy(CHECKED))
    assert "--alternatives" in caught.value.problems[0].hint
