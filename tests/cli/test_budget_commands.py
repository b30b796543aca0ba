"""The commands of the budget ledger."""

import json
from decimal import Decimal

import pytest
from typer.testing import CliRunner

from policy_engine.cli.budgets import budgets
from policy_engine.errors import LedgerError
from policy_engine.release.budget import Account, BudgetLedger, Cap, Charge, Reservation

VISITS = Account("http://example.com/Visits", "http://example.com/Visits/patient_nbr")
OF_ANN = Account(VISITS.dataset, VISITS.unit, "http://example.com/ann", "urn:research")
CAPS = (
    Cap(VISITS, Decimal(10), Decimal("1e-5")),
    Cap(OF_ANN, Decimal(2), Decimal("1e-6"), "P1Y", Decimal(3), Decimal("2e-6")),
)


@pytest.fixture
def path(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db")
    for plan, epsilon in (("1", "0.1"), ("2", "0.2")):
        charge = Charge(
            (VISITS, OF_ANN), CAPS, Decimal(epsilon), Decimal("1e-7"), "p", plan, "d", "urn:out"
        )
        reservation = ledger.reserve(charge)
        assert isinstance(reservation, Reservation)
        ledger.commit(reservation)
        ledger.keep(reservation, b"42")
    return ledger.store.path


def run(command, path, *more):
    return CliRunner().invoke(budgets, [command, "--ledger", str(path), *more])


def test_balances_are_numbers_in_json(path):
    of_all, of_ann = json.loads(run("show", path, "--format", "json").stdout)["accounts"]
    assert (of_all["dataset"], of_all["unit"]) == (VISITS.dataset, VISITS.unit)
    assert (of_all["assignee"], of_all["purpose"]) == (None, None)
    assert of_all["spent"] == {"epsilon": 0.3, "delta": 2e-07}
    assert of_all["reserved"] == {"epsilon": 0, "delta": 0}
    assert of_all["cap"] == {"epsilon": 10, "delta": 1e-05}
    assert of_all["remaining"] == {"epsilon": 9.7, "delta": 9.8e-06}
    assert (of_ann["assignee"], of_ann["purpose"]) == (OF_ANN.assignee, "urn:research")
    assert of_ann["caps"] == [
        {
            "epsilon": 2,
            "delta": 1e-06,
            "renewal": "P1Y",
            "lifetime": {"epsilon": 3, "delta": 2e-06},
        }
    ]
    assert of_ann["remaining"] == {"epsilon": 1.7, "delta": 8e-07}


def test_balances_are_a_table_for_people(path):
    text = " ".join(run("show", path).stdout.split())
    assert text.startswith("2 accounts")
    assert "spent 0.3, delta 2e-7, cap 10, delta 1e-5, remaining 9.7, delta 9.8e-6" in text
    assert "cap 2, delta 1e-6 in P1Y, 3, delta 2e-6 ever" in text


@pytest.mark.parametrize(
    ("cap", "bound", "left", "words"),
    [
        (
            Cap(VISITS, Decimal(1)),
            {"epsilon": 1, "delta": None},
            {"epsilon": 0.5, "delta": None},
            "│ 1 │ 0.5 │",
        ),
        (
            Cap(VISITS, delta=Decimal("1e-6")),
            {"epsilon": None, "delta": 1e-6},
            {"epsilon": None, "delta": 9e-7},
            "│ delta 1e-6 │ delta 9e-7 │",
        ),
    ],
)
def test_what_a_cap_leaves_unbounded_is_not_told(tmp_path, cap, bound, left, words):
    ledger = BudgetLedger(tmp_path / "budget.db")
    parts = "p", "1", "d", "urn:out"
    ledger.spend(Charge((VISITS,), (cap,), Decimal("0.5"), Decimal("1e-7"), *parts))
    outcome = run("show", tmp_path / "budget.db", "--format", "json")
    [account] = json.loads(outcome.stdout)["accounts"]
    assert (account["cap"], account["caps"], account["remaining"]) == (bound, [bound], left)
    assert words in " ".join(run("show", tmp_path / "budget.db").stdout.split())


def test_releases_without_epsilon_are_shown_by_their_datasets(path):
    assert json.loads(run("show", path, "--format", "json").stdout)["uncovered"] == {}
    assert "no epsilon" not in run("show", path).stdout
    for release in ("urn:rows", "urn:model"):
        BudgetLedger(path).list_uncovered([VISITS.dataset], release)
    shown = json.loads(run("show", path, "--format", "json").stdout)
    assert shown["uncovered"] == {VISITS.dataset: ["urn:model", "urn:rows"]}
    lines = run("show", path).stdout.splitlines()
    assert lines[-2:] == [
        "Releases that no epsilon covers:",
        f"  of {VISITS.dataset}: urn:model, urn:rows",
    ]


def test_the_history_is_that_of_the_last_entries(path):
    *lines, note = run("history", path, "--last", "3").stdout.splitlines()
    assert note.startswith("These are the last 3 of 7 entries")
    assert [line.split()[0] for line in lines] == ["5", "6", "7"]
    assert lines[0].endswith(
        "reserved    urn:out  epsilon 0.2 delta 0.0000001 for http://example.com/ann"
    )
    assert [line.split("  ")[2].strip() for line in lines] == ["reserved", "spent", "kept"]
    entries = json.loads(run("history", path, "--format", "json").stdout)
    assert [one["state"] for one in entries[:2]] == ["opened", "reserved"]
    assert entries[1]["charge"]["epsilon"] == "0.1"


def test_a_ledger_is_intact_up_to_the_head_that_was_kept(path):
    verified = run("verify", path, "--format", "json")
    head = json.loads(verified.stdout)["head"]
    assert verified.exit_code == 0
    assert run("verify", path, "--expect", f"7:{head['hash']}").exit_code == 0
    missed = run("verify", path, "--expect", "8")
    assert missed.exit_code == 1
    assert "B004 The ledger does not contain the head 8; it ends at 7:" in missed.stdout


def test_the_key_of_a_ledger_is_called_as_it_is_by_apply(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    BudgetLedger(tmp_path / "keyed.db", key).list_uncovered(["urn:d"], "urn:rows")
    for command in ("show", "history", "verify"):
        arguments = (tmp_path / "keyed.db", "--ledger-key", str(key))
        assert run(command, *arguments).exit_code == 0


def test_a_ledger_that_is_not_there_is_told_of(tmp_path):
    outcome = run("show", tmp_path / "none.db")
    assert isinstance(outcome.exception, LedgerError)
    assert "B001 There is no budget ledger." in str(outcome.exception)
    assert [*tmp_path.iterdir()] == []
