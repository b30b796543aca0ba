import pytest
from places import ROOT, TESTS
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app
from policy_engine.plan.making import make_plan
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import check_plannable
from policy_engine.policy import load_policy

POLICIES = sorted((ROOT / "policies").glob("*.jsonld"))

HINTS = {"census-masked": ["W005"], "diabetes-buckets": ["W007"]}
"""Masking alone bounds nothing, and buckets do not hide who is there, as their owners are told."""


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_a_shipped_policy_gives_the_plan_written_beside_the_tests(path):
    policy = load_policy(path)
    check_plannable(policy)
    assert [one.code for one in policy.hints] == HINTS.get(path.stem, [])
    expected = (TESTS / "plans" / f"{path.stem}.json").read_text()
    assert make_plan(policy).model_dump_json(indent=2) + "\n" == expected
    assert Plan.model_validate_json(expected) == make_plan(policy)


def test_there_is_a_plan_for_each_policy_and_no_other():
    plans = {path.stem for path in (TESTS / "plans").glob("*.json")}
    assert plans == {path.stem for path in POLICIES}
    assert {"customer", "adult", "diabetes"} <= plans


def test_shipped_policies_are_valid_together():
    told = CliRunner().invoke(make_app("validate"), ["validate", *map(str, POLICIES)])
    assert told.exit_code == 0, told.output
