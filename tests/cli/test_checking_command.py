"""`check`: finished tables, and what a checker does with a folder."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app

TWO_WAY = "region,agr,ind\nA,30,40\nB,25,33\nC,6,78\nD,1,33\n"
SUPPRESSED = "region,agr,ind\nA,30,40\nB,25,33\nC,,78\nD,,33\n"
ONE_WAY = "region,n\nA,70\nB,58\nC,84\nD,34\n"
BY_DWB = ("--profile", "dwb-2015", "--kind", "counts")


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Return a function that runs `check` where some tables are."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("two", TWO_WAY), ("blank", SUPPRESSED), ("one", ONE_WAY)):
        (tmp_path / f"{name}.csv").write_text(text)
    return lambda *args: CliRunner().invoke(make_app("check"), ["check", *map(str, args)])


def answered(result):
    return json.loads(result.stdout)


def test_a_safe_table_passes_and_one_of_few_does_not(check):
    assert check("one.csv", *BY_DWB).exit_code == 0
    result = check("two.csv", *BY_DWB, "--format", "json")
    answer = answered(result)
    assert (result.exit_code, answer["released"]) == (1, False)
    withheld = [one["keys"] for one in answer["outputs"][0]["suppressed"]]
    few = [{"region": "C", "column": "agr"}, {"region": "D", "column": "agr"}]
    assert all(cell in withheld for cell in few)
    assert {*answer["outputs"][0]["reasons"]} == {"K049"}


def test_two_tables_that_give_away_6_and_1_do_not_both_pass(check):
    assert check("blank.csv", *BY_DWB).exit_code == 0
    result = check("blank.csv", "one.csv", *BY_DWB, "--format", "json")
    two, one = answered(result)["outputs"]
    assert (result.exit_code, two["whole"], one["whole"]) == (1, True, False)
    assert {cell["keys"]["region"] for cell in one["suppressed"]} == {"C", "D"}
    assert set(one["reasons"]) == {"K049"}


def test_blanks_that_follow_from_totals_are_found(check, tmp_path):
    (tmp_path / "t.csv").write_text("region,a,b,All\nA,30,40,70\nB,,33,40\nAll,,73,110\n")
    result = check("t.csv", *BY_DWB, "--format", "json")
    assert result.exit_code == 1
    assert "K049" in answered(result)["outputs"][0]["reasons"]


def test_figures_of_which_nothing_is_known_are_for_a_person(check):
    result = check("one.csv", "--profile", "sacro", "--format", "json")
    assert (result.exit_code, answered(result)["outputs"][0]["status"]) == (1, "review")
    result = check("one.csv", "--profile", "sacro", "--counts", "one.csv", "--format", "json")
    assert answered(result)["outputs"][0]["status"] == "review"


def test_evidence_is_computed_of_microdata(check, tmp_path):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"person": range(300), "region": random.choice(["A", "B"], 300)})
    frame["income"] = random.lognormal(3, 0.5, 300).round(2)
    frame.to_csv(tmp_path / "micro.csv", index=False)
    frame.groupby("region")["income"].agg(["sum", "max"]).to_csv(tmp_path / "t.csv")
    data = ("--data", "micro.csv", "--by", "region", "--profile", "sacro", "--unit", "person")
    measures = ("--measure", "sum:income", "--measure", "max:income")
    result = check("t.csv", *data, *measures, "--format", "json")
    reasons = answered(result)["outputs"][0]["reasons"]
    assert (result.exit_code, set(reasons)) == (1, {"K008"})
    frame.groupby("region")["income"].agg(["sum"]).round(1).to_csv(tmp_path / "s.csv")
    assert check("s.csv", *data, "--measure", "sum:income").exit_code == 0
    wrong = check("s.csv", *data, "--measure", "mean:income")
    assert (wrong.exit_code, "K029" in str(wrong.exception)) == (1, True)


def test_a_checker_decides_and_releases(check, tmp_path):
    assert check("one.csv", "--profile", "sacro", "--out", "folder").exit_code == 1
    assert check("review", "folder").exit_code == 1
    assert check("release", "folder", "--to", "out").exit_code != 0
    assert not (tmp_path / "out").exists()
    assert check("accept", "folder", "one", "--reason", "Published.", "--by", "carl").exit_code == 0
    result = check("review", "folder", "--format", "json")
    assert answered(result)[0]["decided"] == {"by": "carl", "reason": "Published."}
    assert check("release", "folder", "--to", "out").exit_code == 0
    assert (tmp_path / "out" / "one.csv").read_text() == ONE_WAY.replace(",n", ",totals").replace(
        "0\n", "0.0\n"
    ).replace("4\n", "4.0\n").replace("8\n", "8.0\n")


@pytest.mark.nightly
def test_each_step_prints_the_head_that_the_next_may_expect(check, tmp_path):
    check("one.csv", "--profile", "sacro", "--out", "folder")
    result = check("accept", "folder", "one", "--reason", "Published.", "--by", "carl")
    head = result.stdout.splitlines()[-1].removeprefix("head ")
    assert head.startswith("2:")
    assert check("review", "folder", "--expect", head).exit_code == 0
    assert check("--triage", "folder", "--expect", head).exit_code == 0
    assert "K027" in str(check("--triage", "folder", "--expect", "3").exception)
    refused = check("release", "folder", "--to", "out", "--expect", "3:" + "0" * 64)
    assert (refused.exit_code, "K027" in str(refused.exception)) == (1, True)
    assert not (tmp_path / "out").exists()
    assert check("release", "folder", "--to", "out", "--expect", head).exit_code == 0


@pytest.mark.nightly
def test_a_queue_is_ordered_and_nothing_is_decided(check):
    assert check("one.csv", "blank.csv", "--profile", "sacro", "--out", "folder").exit_code == 1
    result = check("--triage", "folder", "--format", "json")
    assert sorted(one["name"] for one in answered(result)["outputs"]) == ["blank", "one"]
    assert check("review", "folder", "--format", "json").exit_code == 1


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("one.csv",), "K025"),
        (("one.csv", "--profile", "sakro"), "M001"),
        (("none.csv", "--profile", "sacro"), "C002"),
        (("one.csv", "--profile", "sacro", "--by", "region"), "K025"),
        (("review", "."), "K027"),
    ],
)
def test_a_mistake_is_a_coded_line(check, args, code):
    result = check(*args)
    assert result.exit_code != 0
    assert code in str(result.exception)
