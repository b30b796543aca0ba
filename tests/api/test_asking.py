"""Queries of statistics: decided, charged, answered with noise, and silent about the rest."""

import json
import re

import pyarrow.csv
import pytest
import typer
from asking_statistics import DAYS, MEDIAN, OUTPUT, ROWS, UNITS, VISITS, policy_text, visits
from typer.testing import CliRunner

from policy_engine import query_data
from policy_engine.cli.querying import query
from policy_engine.decision.log import read_log
from policy_engine.decision.query.query_limits import QueryStop, query_limits
from policy_engine.engines.local import LocalEngine
from policy_engine.errors import DataError, PlanError, QueryError, RequestError
from policy_engine.policy import Hierarchy
from policy_engine.release.budget import BudgetLedger

APP = typer.Typer()
APP.command()(query)
LAB = "http://e.org/lab"
PEOPLE = [(f"p{number}", "f" if number % 2 else "m", number % 15) for number in range(60)]
COUNT = "SELECT COUNT(*) AS n FROM Visits"
SPENT = {
    "leftOperand": "pe:spentEpsilon",
    "operator": "lteq",
    "rightOperand": {"@value": "1.2", "@type": "xsd:decimal"},
    "unit": "pe:perAssigneeAndPurpose",
}


def text_of(rule=(), **changes):
    """Return a policy that lets a laboratory ask for some figures."""
    figures = (UNITS, ROWS, DAYS, MEDIAN)
    return policy_text(*figures, rule={"assignee": LAB, **dict(rule)}, **changes)


def ask(tmp_path, sql, epsilon="0.5", *, rows=PEOPLE, who=LAB, policies=(), **options):
    """Return the answer to a query under policies, charged to a ledger."""
    changes = {one: options.pop(one) for one in ("rule", "policy", "by", "query") if one in options}
    given = {"epsilon": epsilon, "ledger": tmp_path / "ledger.sqlite", **options}
    texts = policies or [text_of(**changes)]
    return query_data(sql, texts, who, {VISITS: visits(*rows)}, **given)


def spent(tmp_path):
    """Return what each account of the ledger has spent, by its assignee."""
    some = BudgetLedger(tmp_path / "ledger.sqlite").balances()
    return {one.account.assignee: str(one.spent.epsilon) for one in some}


def test_a_query_is_answered_with_noise_and_charged(tmp_path):
    sql = "SELECT sex AS s, SUM(days) AS d, COUNT(*) FROM Visits GROUP BY sex ORDER BY s DESC"
    result = ask(tmp_path, sql)
    assert result.permitted
    assert result.table.column_names == ["s", "d", "rows"]
    assert result.table["s"].to_pylist() == ["m", "f"]
    assert (str(result.cost.epsilon), result.cost.is_charged) == ("0.5", True)
    assert [*result.cost.figures] == ["d", "rows"]
    assert spent(tmp_path) == {"": "0.5", LAB: "0.5"}


def test_figures_are_those_of_the_rows_that_satisfy_the_conditions(tmp_path):
    # Of 4,000 persons in each of 15 numbers of days, 3 numbers are above 11.
    many = [(f"p{number}", "f", number % 15) for number in range(60_000)]
    result = ask(tmp_path, f"{COUNT} WHERE days > 11", "1", rows=many)
    assert abs(result.table["n"][0].as_py() - 12_000) < 100


def test_the_same_question_in_other_words_is_answered_again_at_no_cost(tmp_path):
    first = ask(tmp_path, "SELECT SUM(days), COUNT(*) AS n FROM Visits")
    again = ask(tmp_path, "SELECT count(*) AS m, sum(DAYS) FROM visits AS v LIMIT 5", "0.50")
    assert first.table["n"].to_pylist() == again.table["m"].to_pylist()
    assert not again.cost.is_charged
    assert spent(tmp_path) == {"": "0.5", LAB: "0.5"}
    assert ask(tmp_path, f"{COUNT} WHERE days > 0", "0.1").cost.is_charged
    assert not ask(tmp_path, f"{COUNT} WHERE days > -0.0", "0.1").cost.is_charged


def test_figures_whose_names_differ_in_case_alone_are_told_apart(tmp_path):
    figures = ({**UNITS, "pe:name": "N"}, {**ROWS, "pe:name": "n"}, {**DAYS, "pe:name": "SEX"})
    text = policy_text(*figures, rule={"assignee": LAB})
    rows = [(f"p{number // 2}", "f", 2) for number in range(20_000)]
    sql = "SELECT COUNT(*), COUNT(DISTINCT person), SUM(days), sex FROM Visits GROUP BY sex"
    result = ask(tmp_path, f"{sql} ORDER BY sex", "1", rows=rows, policies=[text])
    [counted, persons, days, sex] = [one[0].as_py() for one in result.table.columns]
    assert sex == "f"
    assert abs(persons - 10_000) < 1000 < counted - persons
    assert abs(days - 2 * counted) < 2000


def test_whoever_asks_is_charged_with_those_they_belong_to(tmp_path):
    ann = "http://e.org/ann"
    members = Hierarchy(party=((ann, "http://e.org/team"), ("http://e.org/team", LAB)))
    assert ask(tmp_path, COUNT, who=ann, hierarchy=members).permitted
    assert spent(tmp_path) == {"": "0.5", ann: "0.5", "http://e.org/team": "0.5", LAB: "0.5"}
    # Others of the laboratory get the same answer, which only they have not paid for.
    assert ask(tmp_path, COUNT).table.num_rows == 1
    assert spent(tmp_path)[LAB] == "0.5"


def test_what_the_budget_does_not_allow_is_denied_without_a_number(tmp_path):
    log = tmp_path / "log.jsonl"
    ask(tmp_path, COUNT, "0.9", rule={"constraint": [SPENT]}, log=log)
    denied = ask(tmp_path, COUNT, "0.4", rule={"constraint": [SPENT]}, log=log)
    [reason] = denied.reasons
    assert (denied.permitted, denied.table, reason.code) == (False, None, "B009")
    assert "budget" in reason.message
    assert not re.search("[0-9]", reason.message.replace(VISITS, "") + reason.hint)
    assert not reason.values
    effects = [entry.decision.effect for entry in read_log(log)]
    assert effects == ["permit", "deny"]
    assert spent(tmp_path)[LAB] == "0.9"


def test_the_budget_of_the_dataset_bounds_queries_too(tmp_path):
    budget = {"pe:over": VISITS, "pe:epsilon": "0.6", "pe:delta": "0", "pe:scope": "allAssignees"}
    policy = {"pe:budget": [budget]}
    assert ask(tmp_path, COUNT, policy=policy).permitted
    assert not ask(tmp_path, "SELECT SUM(days) FROM Visits", policy=policy).permitted


@pytest.mark.parametrize("is_first", [True, False])
def test_the_budget_of_any_policy_in_force_holds_whichever_answers(tmp_path, is_first):
    budget = {"pe:over": VISITS, "pe:epsilon": "0.6", "pe:scope": "allAssignees"}
    other = json.loads(text_of(rule={"uid": "urn:release", "output": "urn:other"}))
    bounded, unbounded = (
        text_of(policy={"pe:budget": budget}),
        json.dumps({**other, "uid": "urn:o"}),
    )
    given = {"policies": [bounded, unbounded] if is_first else [unbounded, bounded]}
    assert ask(tmp_path, COUNT, **given).permitted
    assert not ask(tmp_path, "SELECT SUM(days) FROM Visits", **given).permitted


@pytest.mark.parametrize(
    "end",
    [
        f"LIMIT {2**63}",
        f"OFFSET {10**30}",
        "LIMIT '3'",
        f"ORDER BY {'9' * 5000}",
        "ORDER BY nothing",
        f"ORDER BY {'x' * 5000}",
    ],
)
def test_what_is_done_with_the_rows_is_checked_before_anything_is_charged(tmp_path, end):
    denied = ask(tmp_path, f"{COUNT} {end}")
    assert [one.code for one in denied.reasons] == ["Q010"]
    assert not (tmp_path / "ledger.sqlite").exists()


def test_names_of_columns_are_any_and_made_unique(tmp_path):
    long = "x" * 5000
    names = ('"select"', "a", "A", "a", long, '""""')
    sql = f"SELECT {', '.join(f'COUNT(*) AS {one}' for one in names)}"
    result = ask(tmp_path, f"{sql} FROM Visits LIMIT {2**63 - 1}")
    assert result.table.column_names == ["select", "a", "A", "a_2", long, '"']


def test_what_cannot_be_shown_is_not_charged(tmp_path, monkeypatch):
    def fail(*_):
        raise QueryError.of("Q008", "The query fails.")

    monkeypatch.setattr("policy_engine.api.asking.shown_rows", fail)
    with pytest.raises(QueryError):
        ask(tmp_path, COUNT)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_a_file_of_keys_may_be_anywhere(tmp_path):
    (tmp_path / "sexes.csv").write_text("sex\nf\nm\nx\n")
    name = "http://e.org/keys.csv"
    given = {"by": [f"{VISITS}/sex"], "query": {"pe:keys": {"@id": name}}}
    sql = f"SELECT sex, {COUNT[7:]} GROUP BY sex"
    with pytest.raises(DataError, match="keys"):
        ask(tmp_path, sql, **given)
    result = ask(tmp_path, sql, **given, taxonomies={name: tmp_path / "sexes.csv"})
    assert result.table["sex"].to_pylist() == ["f", "m", "x"]


@pytest.mark.parametrize("sql", ["SELECT days FROM Visits", "SELECT AVG(days) FROM Visits"])
def test_anything_else_is_denied_with_what_would_be_allowed(tmp_path, sql):
    log = tmp_path / "log.jsonl"
    denied = ask(tmp_path, sql, log=log)
    [reason] = denied.reasons
    assert reason.code == "Q010"
    assert "SELECT any of COUNT(DISTINCT person), COUNT(*), SUM(days)" in reason.hint
    assert not (tmp_path / "ledger.sqlite").exists()
    [entry] = read_log(log)
    assert entry.decision.effect == "deny"


def test_who_has_no_permission_is_told_no_menu(tmp_path):
    denied = ask(tmp_path, COUNT, who="http://e.org/bob")
    [reason] = denied.reasons
    assert reason.code == "Q006"
    assert "COUNT" not in reason.message + reason.hint


def test_a_denied_query_of_rows_says_that_statistics_may_be_asked_for(tmp_path):
    unasked = {"epsilon": None, "ledger": None, "rule": {"constraint": [SPENT]}}
    assert "--epsilon" in ask(tmp_path, COUNT, **unasked).reasons[0].hint
    rows = ask(tmp_path, "SELECT person FROM Visits", **unasked).reasons[0]
    assert "statistics may be asked for: SELECT any of" in rows.hint
    other = ask(tmp_path, COUNT, who="http://e.org/bob", **unasked).reasons[0]
    assert "--epsilon" not in other.hint


ONCE = {
    "leftOperand": "count",
    "operator": "lteq",
    "rightOperand": {"@value": "1", "@type": "xsd:integer"},
}


def test_neither_a_trial_nor_what_the_budget_refuses_counts_as_an_execution(tmp_path):
    budget = {"pe:over": VISITS, "pe:epsilon": "0.6", "pe:scope": "allAssignees"}
    given = {"rule": {"constraint": [ONCE]}, "policy": {"pe:budget": budget}}
    given["log"] = tmp_path / "log.jsonl"
    assert ask(tmp_path, COUNT, run=False, ledger=None, **given).permitted
    assert not [*read_log(given["log"])]
    assert [one.code for one in ask(tmp_path, COUNT, "0.7", **given).reasons] == ["B009"]
    assert ask(tmp_path, COUNT, "0.3", **given).permitted
    assert [one.code for one in ask(tmp_path, COUNT, "0.3", **given).reasons] == ["Q006"]
    assert not ask(tmp_path, COUNT, run=False, **given).permitted
    effects = [entry.decision.effect for entry in read_log(given["log"])]
    assert effects == ["deny", "permit", "deny"]


def test_a_permit_is_logged_while_budget_is_reserved_and_before_rows_are_read(
    tmp_path, monkeypatch
):
    log, steps = tmp_path / "log.jsonl", []

    def read(*_, **__):
        entries = BudgetLedger(tmp_path / "ledger.sqlite").history()
        steps.extend(
            [*(one.state for one in entries), *(one.decision.effect for one in read_log(log))]
        )
        raise DataError.of("C001", "The file cannot be read.")

    monkeypatch.setattr(LocalEngine, "read", read)
    with pytest.raises(DataError):
        ask(tmp_path, COUNT, log=log)
    assert steps == ["opened", "reserved", "permit"]
    assert spent(tmp_path)[LAB] == "0"


def test_a_query_that_is_ended_before_rows_are_read_is_not_charged(tmp_path, monkeypatch):
    stop, log = QueryStop(), tmp_path / "log.jsonl"
    reserve = BudgetLedger.reserve

    def while_who_asked_leaves(ledger, charge, wait=600):
        stop.stop()
        return reserve(ledger, charge, wait)

    monkeypatch.setattr(BudgetLedger, "reserve", while_who_asked_leaves)
    with query_limits(seconds=60, stop=stop), pytest.raises(QueryError, match="Q012"):
        ask(tmp_path, COUNT, log=log)
    assert spent(tmp_path)[LAB] == "0"
    assert [*read_log(log)] == []


def test_a_query_whose_rows_are_read_is_carried_out_whoever_left(tmp_path, monkeypatch):
    stop, read = QueryStop(), LocalEngine.read

    def while_who_asked_leaves(*given, **options):
        stop.stop()
        return read(*given, **options)

    monkeypatch.setattr(LocalEngine, "read", while_who_asked_leaves)
    with query_limits(seconds=60, stop=stop):
        assert ask(tmp_path, COUNT).table.num_rows == 1
    assert spent(tmp_path)[LAB] == "0.5"


def test_a_query_without_time_left_is_not_charged(tmp_path):
    with query_limits(seconds=1e-9), pytest.raises(QueryError, match="Q011"):
        ask(tmp_path, COUNT)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_who_takes_the_last_use_meanwhile_leaves_none_and_nothing_is_spent(tmp_path, monkeypatch):
    given = {"rule": {"constraint": [ONCE]}, "log": tmp_path / "log.jsonl"}
    reserve = BudgetLedger.reserve

    def after_another(ledger, charge, wait=600):
        monkeypatch.setattr(BudgetLedger, "reserve", reserve)
        assert ask(tmp_path, "SELECT SUM(days) FROM Visits", "0.1", **given).permitted
        return ledger.reserve(charge, wait)

    monkeypatch.setattr(BudgetLedger, "reserve", after_another)
    denied = ask(tmp_path, COUNT, "0.3", **given)
    assert (denied.permitted, denied.table, denied.reasons[0].code) == (False, None, "Q006")
    assert spent(tmp_path)[LAB] == "0.1"
    effects = [entry.decision.effect for entry in read_log(given["log"])]
    assert effects == ["permit", "deny"]


def test_without_running_nothing_is_charged(tmp_path):
    result = ask(tmp_path, COUNT, run=False, ledger=None)
    assert (result.permitted, result.table) == (True, None)
    assert [one.half_width for one in result.cost.figures["n"].noise] == [12.0]


def test_without_running_a_ledger_says_what_would_be_charged(tmp_path):
    log = tmp_path / "log.jsonl"
    assert ask(tmp_path, COUNT, run=False, log=log).cost.is_charged
    assert not (tmp_path / "ledger.sqlite").exists()
    assert not [*read_log(log)]
    ask(tmp_path, COUNT)
    again, other = ask(tmp_path, COUNT, run=False), ask(tmp_path, COUNT, "0.4", run=False)
    assert (again.permitted, again.table, again.cost.is_charged) == (True, None, False)
    assert other.cost.is_charged
    assert spent(tmp_path)[LAB] == "0.5"


def test_without_running_a_budget_that_is_exceeded_is_told(tmp_path):
    given = {"rule": {"constraint": [SPENT]}}
    assert ask(tmp_path, COUNT, "1", **given).permitted
    denied = ask(tmp_path, COUNT, "0.3", run=False, log=tmp_path / "log.jsonl", **given)
    assert (denied.permitted, denied.reasons[0].code) == (False, "B009")
    assert denied.reasons[0].values == ()
    assert not [*read_log(tmp_path / "log.jsonl")]


def test_an_epsilon_needs_a_ledger_and_a_ledger_an_epsilon(tmp_path):
    with pytest.raises(PlanError, match="no ledger is given"):
        ask(tmp_path, COUNT, ledger=None)
    with pytest.raises(RequestError, match="without an epsilon"):
        ask(tmp_path, COUNT, None)


def test_neighbours_are_told_the_same_but_for_the_noise(tmp_path):
    """With and without a person, and with nobody: the same denials, cost, decision and types."""
    told = []
    for number, rows in enumerate((PEOPLE, PEOPLE[1:], [])):
        folder = tmp_path / str(number)
        folder.mkdir()
        world = {"world": None}
        good = ask(folder, f"SELECT sex, {COUNT[7:]} WHERE days > 3 GROUP BY sex", rows=rows)
        bad = ask(folder, "SELECT days FROM Visits", rows=rows, **world)
        told.append(
            (
                good.cost,
                good.sql,
                str(good.table.schema),
                good.table["sex"].to_pylist(),
                good.decision.reason,
                bad.reasons,
            )
        )
    assert told[0] == told[1] == told[2]


def test_persons_of_a_csv_file_are_told_apart_by_their_letters(tmp_path):
    persons = ["0012", "12", "012", "13", "13.0"]
    (tmp_path / "visits.csv").write_text("person\n" + "\n".join(persons))
    text = policy_text(UNITS, by=(), epsilon="100", rule={"assignee": LAB})
    options = {"epsilon": "100", "ledger": tmp_path / "ledger.sqlite"}
    sql = "SELECT COUNT(DISTINCT person) FROM Visits"
    result = query_data(sql, [text], LAB, {VISITS: tmp_path / "visits.csv"}, **options)
    assert result.table["persons"].to_pylist() == [5]


def test_the_command_prints_rows_and_what_they_cost(tmp_path):
    pyarrow.csv.write_csv(visits(*PEOPLE), tmp_path / "visits.csv")
    (tmp_path / "policy.jsonld").write_text(policy_text(ROWS, rule={"assignee": LAB}))
    given = [COUNT, "--policy", f"{tmp_path}/policy.jsonld", "--assignee", LAB]
    given += ["--data", f"{VISITS}={tmp_path}/visits.csv", "--epsilon", "0.5"]
    given += ["--ledger", f"{tmp_path}/ledger.sqlite"]
    unwritable = CliRunner().invoke(APP, [*given, "--output", f"{tmp_path}/missing/rows.csv"])
    assert "O002" in str(unwritable.exception)
    assert not (tmp_path / "ledger.sqlite").exists()
    result = CliRunner().invoke(APP, given)
    assert (result.exit_code, "1 row" in result.stdout) == (0, True)
    assert "charged: epsilon 0.5; n: rows +- 12 with 95 %" in result.stdout
    again = CliRunner().invoke(APP, [*given, "--format", "json"])
    assert '"charged": false' in again.stdout
    assert '"half_width": 12.0' in again.stdout
    denied = CliRunner().invoke(APP, ["SELECT days FROM Visits", *given[1:]])
    assert (denied.exit_code, "Q010" in denied.output) == (1, True)
    assert OUTPUT not in denied.output


def test_noise_is_offered_beside_checked_answers_by_a_permission_of_its_own(tmp_path):
    """Checked answers are exact and have a ledger of their own, and neither is denied the other."""
    policy = json.loads(text_of())
    check = {"leftOperand": "pe:outputCheck", "operator": "eq", "rightOperand": "sacro"}
    action = {"rdf:value": {"@id": "odrl:read"}, "refinement": [check]}
    policy["permission"].append({"assignee": LAB, "target": VISITS, "action": [action]})
    sql, texts = "SELECT sex, COUNT(*) AS n FROM Visits GROUP BY sex", [json.dumps(policy)]
    noisy = ask(tmp_path, sql, policies=texts)
    assert (noisy.permitted, noisy.cost.is_charged, noisy.check) == (True, True, None)
    answers = {"ledger": None, "output_ledger": tmp_path / "answers"}
    checked = ask(tmp_path, sql, None, policies=texts, **answers)
    assert checked.checked.table.column("n").to_pylist() == [30, 30]
    assert spent(tmp_path) == {"": "0.5", LAB: "0.5"}
