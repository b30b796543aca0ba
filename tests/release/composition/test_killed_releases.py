"""Releases with a ledger that are killed at any moment: what can be read is in the ledger."""

import os
import random
import signal
import time
import warnings

import pyarrow as pa
import pytest
from everyday import examples
from repeated_releases import asking, released

from policy_engine.certificate.beside import load_certificates
from policy_engine.data import storage
from policy_engine.errors import CertificateError, OutputError
from policy_engine.release.budget import BudgetLedger
from policy_engine.release.staging import JOURNAL

TABLE = pa.table({"age": [1, 2, 3, 7, 8, 9], "zip": [1, 5, 9, 2, 6, 8]})
KILLS = examples(10, times=10)


def release(name, ledger, place):
    """Release the table once."""
    policy = asking(name, ["age"], k=3, sensitive=())
    return released(policy, TABLE, ledger, place / "a.csv")


def killed(seconds, kill, ledger, folder):
    """Have a process release again and again, and kill it after so many seconds of a
    processor, whatever else the machine does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of Arrow wait for work alone
        pid = os.fork()
    if pid == 0:
        # No handler of Python runs: the system ends the process wherever it is.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            for number in range(10_000):
                release(f"R{kill}x{number}", ledger, folder / f"R{kill}x{number}")
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGPROF


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by fork")
def test_every_release_that_can_be_read_is_in_the_ledger_whenever_runs_are_killed(tmp_path):
    ledger, chance = tmp_path / "releases.ledger", random.Random(KILLS)
    release("First", ledger, tmp_path / "First")
    began = time.process_time()
    release("Second", ledger, tmp_path / "Second")
    lasts = time.process_time() - began
    for kill in range(KILLS):
        killed(lasts * chance.uniform(0.3, 5.0), kill, ledger, tmp_path)
        for one in halved(ledger, tmp_path):
            # What readers are told to do: the next run into its folder completes it.
            with pytest.raises(OutputError, match="O001"):
                release(one, ledger, tmp_path / one)
        assert halved(ledger, tmp_path) == []
    release("Last", ledger, tmp_path / "Last")
    states = check(ledger, tmp_path)
    # What was announced and not published was seen not to be there; nothing is open any more.
    assert {"announced"}.isdisjoint(states.values()), states


def halved(ledger, folder):
    """Check what a reader sees; return the releases that were killed while they were moved into
    their place, which is told and not read."""
    states, told = check(ledger, folder), []
    for one in sorted(states):
        if storage.is_taken(folder / one / JOURNAL):
            assert states[one] == "announced"
            with pytest.raises(CertificateError, match="V010"):
                load_certificates(folder / one)
            told.append(one)
    return told


def check(ledger, folder):
    """Check what a reader sees against the ledger; return what became of each release by it."""
    stored = BudgetLedger(ledger)
    assert stored.verify().intact
    entries = stored.history()
    names = {
        one.number: one.announced.release.rpartition("/")[2]
        for one in entries
        if one.state == "announced"
    }
    states = dict.fromkeys(names.values(), "announced")
    states |= {names[one.of]: one.state for one in entries if one.of in names}
    visible = {one.parent.name for one in folder.glob("*/a.csv")}
    assert visible <= states.keys(), "read, and not in the ledger"
    assert not [one for one in visible if states[one] == "unpublished"]
    assert not [one for one in states if states[one] == "published" and one not in visible]
    for one in visible:
        if not storage.is_taken(folder / one / JOURNAL):
            [certificate] = load_certificates(folder / one)  # its digest is compared, too
            assert certificate.rows_out == TABLE.num_rows
    return states
