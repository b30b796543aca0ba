"""Spenders that are killed: python spenders.py FOLDER KILLS SEED.

Each child makes releases under one ledger, draws only after it has committed, writes down each draw
before it keeps the answer, and is killed after a random time, often within a write. Printed is, in
JSON, what was drawn: the plan, the reservation and the answer, and what was returned.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from charging import TEN, charge

from policy_engine.errors import DeniedError
from policy_engine.release.budget import BudgetLedger

RELEASES = 4
"""So many releases are made by a child that lives longest."""

PLANS = 120


def note(file, *words):
    """Add a line to a file, in one step that a kill does not tear."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, (json.dumps(words) + "\n").encode())
    os.close(handle)


def make(ledger, plan, folder):
    """Make the release of a plan, or return its answer."""
    outcome = ledger.reserve(charge(plan, "0.1", caps=TEN), wait=5)
    if not hasattr(outcome, "answer"):
        ledger.commit(outcome)
        answer = os.urandom(8).hex()
        note(folder / "draws", plan, outcome.number, answer)
        ledger.keep(outcome, answer.encode())
        note(folder / "answers", plan, answer)
        return
    note(folder / "answers", plan, outcome.answer.decode())


def spend(folder, seed):
    """Make releases until the budget is spent, and then replay them."""
    ledger, dice = BudgetLedger(folder / "budget.db"), random.Random(seed)
    while True:
        try:
            make(ledger, str(dice.randrange(PLANS)), folder)
        except DeniedError:
            note(folder / "denials", seed)


def time_of_a_release(folder):
    """Return how long one takes on this disk; the first makes the ledger."""
    ledger = BudgetLedger(folder / "budget.db")
    make(ledger, "first", folder)
    start = time.monotonic()
    make(ledger, "second", folder)
    return time.monotonic() - start


def kill_one(folder, seed, delay):
    """Have a child spend, and kill it after a time."""
    child = os.fork()
    if child == 0:
        try:
            spend(folder, seed)
        finally:
            os._exit(1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def lines(file):
    """Return what was noted."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


if __name__ == "__main__":
    place, kills, dice = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    longest = RELEASES * time_of_a_release(place)
    were_killed = [kill_one(place, one, dice.uniform(0, longest)) for one in range(kills)]
    told = {"killed": all(were_killed)} | {
        name: lines(place / name) for name in ("draws", "answers", "denials")
    }
    sys.stdout.write(json.dumps(told))
