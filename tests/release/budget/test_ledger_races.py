"""Many who spend at once: exactly what the budget allows succeeds, and one alone draws."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from charging import cap, charge, release, spend, spent

from policy_engine.errors import DeniedError, LedgerError
from policy_engine.release.budget import BudgetLedger
from policy_engine.release.budget import ledger as module
from policy_engine.release.budget.entries import Owner

CLIENTS = 50
SPENDER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from charging import cap, charge, spend
from policy_engine.errors import DeniedError
from policy_engine.release.budget import BudgetLedger

def one(number):
    try:
        spend(BudgetLedger(Path(sys.argv[1])), charge(f"{sys.argv[2]} {number}", caps=(cap("7"),)))
    except DeniedError:
        return "denied"
    return "spent"

with ThreadPoolExecutor(10) as threads:
    print(" ".join(threads.map(one, range(10))))
"""


def outcome(ledger, number):
    try:
        spend(ledger, charge(str(number), caps=(cap("7"),)))
    except DeniedError:
        return "denied"
    return "spent"


@pytest.mark.parametrize("is_shared", [True, False])
def test_of_50_threads_that_race_for_the_last_of_the_budget_those_it_allows_succeed(
    tmp_path, is_shared
):
    ledgers = [BudgetLedger(tmp_path / "budget.db") for _ in range(1 if is_shared else CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as threads:
        jobs = [
            threads.submit(outcome, ledgers[number % len(ledgers)], number)
            for number in range(CLIENTS)
        ]
    assert Counter(job.result() for job in jobs) == {"spent": 7, "denied": CLIENTS - 7}
    assert spent(BudgetLedger(tmp_path / "budget.db")) == 7


@pytest.mark.nightly
def test_of_processes_that_race_for_the_last_of_the_budget_those_it_allows_succeed(tmp_path):
    path = os.pathsep.join(filter(None, [*sys.path, str(Path(__file__).parent)]))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, tmp_path / "budget.db", str(number)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(5)
    ]
    words = " ".join(one.communicate()[0] for one in processes).split()
    assert Counter(words) == {"spent": 7, "denied": CLIENTS - 7}
    ledger = BudgetLedger(tmp_path / "budget.db")
    assert spent(ledger) == 7
    assert ledger.verify().intact


@pytest.mark.nightly
def test_of_50_threads_that_ask_for_one_release_one_draws_and_all_get_its_answer(tmp_path):
    draws = []

    def ask(number):
        ledger = BudgetLedger(tmp_path / "budget.db")
        reservation = ledger.reserve(charge())
        if hasattr(reservation, "answer"):
            return reservation.answer
        ledger.commit(reservation)
        draws.append(number)
        time.sleep(0.05)
        answer = f"answer {number}".encode()
        ledger.keep(reservation, answer)
        return answer

    with ThreadPoolExecutor(CLIENTS) as threads:
        answers = {*threads.map(ask, range(CLIENTS))}
    assert len(draws) == len(answers) == 1
    ledger = BudgetLedger(tmp_path / "budget.db")
    assert spent(ledger) == 1
    states = Counter(one.state for one in ledger.history())
    assert states == {"opened": 1, "reserved": 1, "spent": 1, "kept": 1, "replayed": CLIENTS - 1}


@pytest.fixture
def process(monkeypatch):
    """The processes that the ledger takes for ended, and the one that runs."""
    process = {"gone": set(), "now": 1}
    monkeypatch.setattr(module, "is_gone", lambda owner, _: owner.process in process["gone"])
    owner = lambda: Owner(process=process["now"], started="", machine="")  # noqa: E731
    monkeypatch.setattr(module, "current_owner", owner)
    return process


def test_whoever_waited_for_a_run_that_died_after_it_was_charged_is_told(tmp_path, process):
    ledger = BudgetLedger(tmp_path / "budget.db")
    spend(ledger, charge())
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(BudgetLedger(tmp_path / "budget.db").reserve, charge())
        time.sleep(0.1)
        process["gone"].add(1)
        error = waiting.exception()
    assert isinstance(error, LedgerError)
    assert str(error).endswith(
        "B010 The run that was making the same release ended after it was charged, and left no "
        "answer. Run it again: it is charged again, since noise may have been drawn."
    )
    process["now"] = 2
    assert release(ledger, charge(), b"second") == b"second"
    assert spent(ledger) == 2
    states = [one.state for one in ledger.history()][3:]
    assert states == ["lost", "reserved", "spent", "kept"]


def test_whoever_waited_for_a_run_that_died_before_it_was_charged_makes_the_release(
    tmp_path, process
):
    ledger = BudgetLedger(tmp_path / "budget.db")
    ledger.reserve(charge())
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(release, BudgetLedger(tmp_path / "budget.db"), charge(), b"mine")
        time.sleep(0.1)
        process["now"] = 2
        process["gone"].add(1)
        assert waiting.result() == b"mine"
    assert spent(ledger) == 1


def test_what_a_dead_process_reserved_is_given_back_to_others_and_what_it_spent_is_not(
    tmp_path, process
):
    ledger = BudgetLedger(tmp_path / "budget.db")
    spend(ledger, charge("1", "4"))
    ledger.reserve(charge("2", "6"))
    process["gone"].add(1)
    process["now"] = 2
    with pytest.raises(DeniedError):
        ledger.reserve(charge("3", "6.1"))
    release(ledger, charge("3", "6"))
    assert spent(ledger) == 10
    assert json.dumps([one.state for one in ledger.history()][4:7]) == (
        '["lost", "cancelled", "reserved"]'
    )
