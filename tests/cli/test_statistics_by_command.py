"""What the commands print of statistics: their cost, and nothing that only the data tell."""

import json
import re
from pathlib import Path

import pytest
from asking_statistics import DAYS, MEDIAN, OUTPUT, UNITS, VISITS, policy_text, visits
from places import ROOT
from pyarrow import csv
from typer.testing import CliRunner

from policy_engine.cli.commands import make_app

PEOPLE = [(f"p{number}", "f" if number % 2 else "m", number % 15) for number in range(60)]


def run(*arguments):
    result = CliRunner().invoke(make_app(arguments[0]), [*map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture
def policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rule = {"assignee": "http://e.org/lab"}
    (tmp_path / "policy.jsonld").write_text(policy_text(UNITS, DAYS, MEDIAN, rule=rule))
    return "policy.jsonld"


def printed(folder, policy, rows, style):
    """Return what commands print of visits, with digests and times in one form."""
    folder.mkdir()
    csv.write_csv(visits(*rows), "visits.csv")
    data = ("--data", f"{VISITS}=visits.csv")
    made = run(
        "apply", policy, *data, "--output", folder / "o.csv", "--ledger", folder / "l", *style
    )
    texts = [
        made,
        run("plan", policy, *data, *style),
        run("budget", "show", "--ledger", folder / "l", *style),
    ]
    whole = "".join(f"{code} {text}" for code, text in texts)
    return re.sub(r"[0-9a-f]{64}|\d\d:\d\d:\d\d|" + re.escape(str(folder)), "-", whole)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("style", [(), ("--format", "json")])
def test_neighbours_print_the_same(tmp_path, policy, style):
    first, *others = [
        printed(tmp_path / f"{number}", policy, rows, style)
        for number, rows in enumerate((PEOPLE, PEOPLE[1:], [("p", "x", None)]))
    ]
    assert [first, first] == others


def test_the_balance_is_told_per_account(tmp_path, policy):
    csv.write_csv(visits(*PEOPLE), "visits.csv")
    where = ("--data", f"{VISITS}=visits.csv", "--ledger", "l", "--output")
    for number in (1, 2):
        assert run("apply", policy, *where, f"{number}/o.csv")[0] == 0
    code, text = run("budget", "show", "--ledger", "l", "--format", "json")
    accounts = json.loads(text)["accounts"]
    assert code == 0
    spent = {one["assignee"]: one["spent"]["epsilon"] for one in accounts}
    assert spent == {None: 1, "http://e.org/lab": 1}
    header = (tmp_path / "1" / "o.csv").read_text().splitlines()[0]
    assert header == "sex,persons,days,median"
    assert (tmp_path / "1" / "o.csv").read_bytes() == (tmp_path / "2" / "o.csv").read_bytes()


def test_the_plan_says_how_exact_each_figure_is(policy):
    _, text = run("plan", policy)
    words = " ".join(re.sub("[│┃]", " ", text).split())
    assert OUTPUT in words
    for part in ("epsilon 1", "discrete-laplace", "scale", "+-", "with 95 %", "permute-and-flip"):
        assert part in words


def test_apply_says_what_was_charged_and_to_the_owner_what_remains(policy):
    text = json.loads(Path(policy).read_text())
    text["pe:budget"] = [{"pe:over": VISITS, "pe:epsilon": "1.5", "pe:scope": "allAssignees"}]
    Path(policy).write_text(json.dumps(text))
    csv.write_csv(visits(*PEOPLE), "visits.csv")
    where = (policy, "--data", f"{VISITS}=visits.csv", "--ledger", "l", "--output")
    _, first = run("apply", *where, "1.csv")
    assert "charged: epsilon 1\n" in first
    assert f"remaining of the budget of {VISITS}: epsilon 0.5\n" in first
    _, again = run("apply", *where, "2/o.csv")
    assert "charged: nothing, as it was answered before for epsilon 1\n" in again
    _, as_json = run("apply", *where, "3/o.csv", "--format", "json")
    left = {VISITS: {"epsilon": "0.5", "delta": "0"}}
    budget = {"epsilon": "1", "delta": "0", "charged": False, "drawn": False}
    assert json.loads(as_json)["budget"] == {**budget, "remaining": left}
    _, of_lab = run("apply", *where, "4/o.csv", "--as", "http://e.org/lab")
    assert "charged: " in of_lab
    assert "remaining" not in of_lab


def test_the_history_says_what_was_asked_and_how_many_entries_there_are(policy):
    csv.write_csv(visits(*PEOPLE), "visits.csv")
    where = ("--data", f"{VISITS}=visits.csv", "--ledger", "l", "--output", "o.csv")
    run("apply", policy, *where)
    _, text = run("budget", "history", "--ledger", "l", "--last", "3")
    assert "count-units, sum of days, quantile at 0.5 of days by sex" in text
    assert "These are the last 3 of 4 entries" in text
    assert "These are" not in run("budget", "history", "--ledger", "l")[1]


def test_a_dry_run_says_what_the_ledger_would_do(policy):
    csv.write_csv(visits(*PEOPLE), "visits.csv")
    sql = "SELECT COUNT(DISTINCT person) FROM Visits"
    asked = ("query", sql, "--policy", policy, "--data", f"{VISITS}=visits.csv", "--assignee")
    asked = (*asked, "http://e.org/lab", "--epsilon", "0.2", "--ledger", "l")
    assert "would be charged: epsilon 0.2; " in run(*asked, "--dry-run")[1]
    assert run(*asked)[0] == 0
    text = CliRunner().invoke(make_app("query"), [*asked, "--dry-run", "--format", "json"]).stdout
    cost = {"epsilon": "0.2", "delta": "0", "charged": False, "would_be_charged": False}
    assert json.loads(text)["cost"] == cost
    assert "would be charged: nothing" in run(*asked, "--dry-run")[1]


def test_a_scale_is_the_total_sensitivity_over_epsilon(policy):
    """Of one group and three figures: 1 / (1/3), 28 / (1/3), and 2 * 1 / (1/3)."""
    _, text = run("plan", policy)
    words = " ".join(re.sub("[│┃]", " ", text).split())
    found = re.findall(r"sensitivity (?:of all scores )?([0-9.]+) \(.*?scale ([0-9.]+);", words)
    assert found == [("1", "3"), ("28", "84"), ("2", "6")]
    assert "L1 sensitivity 28" in words
    assert "costs epsilon 0.333333 by itself" in words


def test_visits_are_made_up_for_the_example_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("sample", "visits", "--rows", "300", "--output", "visits.csv")[0] == 0
    example = ROOT / "policies" / "visits-statistics.jsonld"
    where = ("--data", "http://example.com/Visits=visits.csv", "--ledger", "l", "--output", "o.csv")
    code, text = run("apply", example, *where)
    assert (code, "charged: epsilon 1" in text) == (0, True)
