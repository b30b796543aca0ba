"""The releases in a ledger: announced before they are published, whatever happens meanwhile."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from repeated_releases import asking, released

from policy_engine import PolicyEngineError
from policy_engine.api import releasing
from policy_engine.errors import LedgerError
from policy_engine.kernels.intersections import PersonClasses
from policy_engine.release.budget import BudgetLedger, state
from policy_engine.release.composition.kept_classes import KeptClasses
from policy_engine.release.composition.release_ledger import DataOfRelease, ReleaseLedger

PEOPLE = pa.table({"age": [1, 2, 3, 7, 8, 9], "zip": [1, 5, 9, 2, 6, 8]})
PLAIN = {"k": 3, "sensitive": ()}
INTERSECTED = {**PLAIN, "composition": "intersected"}


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "releases.ledger"


def states(ledger):
    return [one.state for one in BudgetLedger(ledger).history()]


def earlier(ledger):
    data = DataOfRelease(("http://example.com/People",))
    return ReleaseLedger(BudgetLedger(ledger)).earlier(data)


def test_a_release_is_announced_and_published(ledger, tmp_path):
    made = released(asking("A", ["age"], **PLAIN), PEOPLE, ledger, tmp_path / "out" / "a.csv")
    assert states(ledger) == ["opened", "announced", "uncovered", "published"]
    [entry] = [one.announced for one in BudgetLedger(ledger).history() if one.announced]
    assert entry.commitment == made.certificate.commitment.value
    assert entry.output == made.certificate.output_digest
    assert (entry.rows, entry.assignees) == (6, ("http://example.com/Reader",))
    assert entry.place == str(made.path)
    assert BudgetLedger(ledger).verify().intact


def test_what_fails_to_be_published_is_said_to_be_unpublished(ledger, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(releasing, "publish", fail)
    with pytest.raises(OSError, match="full"):
        released(asking("A", ["age"], **PLAIN), PEOPLE, ledger, tmp_path / "out" / "a.csv")
    assert states(ledger)[-1] == "unpublished"
    assert earlier(ledger) == ()


def test_changed_classes_are_found(ledger):
    released(asking("A", ["age"], **PLAIN), PEOPLE, ledger)
    with sqlite3.connect(ledger) as file:
        file.execute("UPDATE answers SET answer = X'00'")
    file.close()
    [problem] = BudgetLedger(ledger).verify().problems
    assert "classes of the release of entry 2 are missing, or were changed" in problem.message
    with pytest.raises(PolicyEngineError, match="B004"):
        released(asking("B", ["zip"], **PLAIN), PEOPLE, ledger)


def test_a_changed_entry_is_found(ledger):
    released(asking("A", ["age"], **PLAIN), PEOPLE, ledger)
    with sqlite3.connect(ledger) as file:
        file.execute("UPDATE charges SET entry = replace(entry, 'Reader', 'Friend')")
    file.close()
    assert not BudgetLedger(ledger).verify().intact


def test_releases_of_other_data_are_not_looked_at(ledger):
    released(asking("A", ["age"], **PLAIN), PEOPLE, ledger)
    others = ReleaseLedger(BudgetLedger(ledger)).earlier(DataOfRelease(("http://example.com/X",)))
    assert others == ()
    assert [one.release for one in earlier(ledger)] == ["http://example.com/A"]


def test_of_two_releases_at_once_one_is_judged_with_the_other(ledger):
    def make(column):
        try:
            made = released(asking(column, [column], **INTERSECTED), PEOPLE, ledger)
        except PolicyEngineError as error:
            return {one.code for one in error.problems}
        return len(made.record.composition.earlier)

    with ThreadPoolExecutor(2) as pool:
        outcomes = [*pool.map(make, ["age", "zip"])]
    # The second is made jointly with the first, or is refused as it was made without it.
    assert sorted(map(str, outcomes)) in (["0", "1"], ["0", "{'B013'}"])
    assert BudgetLedger(ledger).verify().intact


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa
from repeated_releases import asking, released
from policy_engine.api import {module} as module
def kill(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
module.{name} = kill
table = pa.table({{"age": [1, 2, 3, 7, 8, 9], "zip": [1, 5, 9, 2, 6, 8]}})
released(asking("A", ["age"], k=3, sensitive=()), table, sys.argv[2], sys.argv[3])
"""


def killed_at(module, name, ledger, output):
    """Make a release in a process that ends when it calls something."""
    script = KILLED.format(module=module, name=name)
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(ledger), str(output)]
    done = subprocess.run(command, env=os.environ, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.nightly
def test_what_a_killed_run_did_not_publish_counts_until_that_is_seen(ledger, tmp_path):
    output = tmp_path / "out" / "a.csv"
    killed_at("releasing", "publish", ledger, output)
    assert states(ledger)[-2:] == ["announced", "uncovered"]
    assert [one.release for one in earlier(ledger)] == ["http://example.com/A"]
    released(asking("B", ["age"], **PLAIN), PEOPLE, ledger, tmp_path / "out" / "b.csv")
    assert states(ledger)[3] == "unpublished"
    assert [one.release for one in earlier(ledger)] == ["http://example.com/B"]
    assert not output.exists()


@pytest.mark.nightly
def test_what_a_killed_run_published_is_said_by_the_next(ledger, tmp_path):
    output = tmp_path / "out" / "a.csv"
    killed_at("announcing", "suppress", ledger, output)  # after it is published
    assert output.exists()
    assert states(ledger)[-1] == "uncovered"
    released(asking("B", ["age"], **PLAIN), PEOPLE, ledger, tmp_path / "out" / "b.csv")
    assert states(ledger)[3] == "published"
    assert len(earlier(ledger)) == 2


def test_a_release_in_memory_that_nobody_confirmed_stays_announced(ledger, monkeypatch):
    def fail(*_):
        raise LedgerError.of("B003", "the ledger is locked by another process")

    with monkeypatch.context() as patched:
        patched.setattr(ReleaseLedger, "confirm", fail)
        released(asking("A", ["age"], **PLAIN), PEOPLE, ledger)
    monkeypatch.setattr(state, "has_ended", lambda _: True)
    released(asking("B", ["age"], **PLAIN), PEOPLE, ledger)
    assert "unpublished" not in states(ledger)
    assert [one.release for one in earlier(ledger)] == [
        "http://example.com/A",
        "http://example.com/B",
    ]


def test_an_unknown_release_stays_unknown_when_its_name_is_announced(ledger):
    data, name = "http://example.com/People", "http://example.com/A"
    BudgetLedger(ledger).list_uncovered([data], name)
    released(asking("A", ["age"], **PLAIN), PEOPLE, ledger)
    assert sorted(one.entry > 0 for one in earlier(ledger)) == [False, True]
    with pytest.raises(PolicyEngineError, match="B013"):
        released(asking("B", ["zip"], **INTERSECTED), PEOPLE, ledger)


def test_a_ledger_of_classes_without_types_tells_no_persons():
    persons = PersonClasses.of(np.array([1, 2], np.uint64), np.array([0, 0]))
    text = KeptClasses(persons).packed()
    head, _, body = text.partition(b"\n")
    facts = json.loads(head)
    del facts["unit"], facts["types"]
    before = KeptClasses.unpacked(json.dumps(facts).encode() + b"\n" + body)
    assert (before.unit_type, before.types) == (None, None)
    typed = KeptClasses(persons, {}, "timestamp[us]", {"disease": "text"})
    again = KeptClasses.unpacked(typed.packed())
    assert (again.unit_type, again.types) == ("timestamp[us]", {"disease": "text"})
