"""No kill leaves an answer without a charge, a negative balance, or two draws for one charge."""

import json
import os
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from charging import spent

from policy_engine.release.budget import BudgetLedger

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize("kills", [10, pytest.param(100, marks=pytest.mark.nightly)])
def test_spenders_that_are_killed_at_any_time_are_charged_for_what_they_drew(tmp_path, kills, seed):
    script = Path(__file__).with_name("spenders.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path, str(kills), str(seed)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["killed"]
    ledger = BudgetLedger(tmp_path / "budget.db")
    assert ledger.verify().intact
    entries = ledger.history()
    spendings = {one.of for one in entries if one.state == "spent"}
    plans = {one.number: one.charge.plan for one in entries if one.state == "reserved"}
    draws = Counter(number for _, number, _ in told["draws"])
    assert draws.keys() <= spendings
    assert max(draws.values(), default=1) == 1
    assert all(plans[number] == plan for plan, number, _ in told["draws"])
    assert spent(ledger) == Decimal("0.1") * len(spendings) <= 10
    assert ledger.balances()[0].remaining.epsilon >= 0
    kept = [plans[one.of] for one in entries if one.state == "kept"]
    assert len(kept) == len(set(kept))
    answers = {(plan, answer) for plan, answer in told["answers"]}
    assert len(answers) == len({plan for plan, _ in answers})
    assert answers <= {(plan, answer) for plan, _, answer in told["draws"]}
