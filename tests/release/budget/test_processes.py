"""Whether the process of a reservation has ended."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from policy_engine.release.budget.processes import LEASE, current_owner, has_ended, is_gone

NOW = datetime.now(UTC).isoformat()
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is read")


def test_this_process_is_alive_however_long_ago_it_reserved():
    assert not is_gone(current_owner(), "2020-01-01T00:00:00+00:00")


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be looked for")
def test_a_process_that_ended_is_gone_even_before_its_parent_knows():
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    owner = current_owner().model_copy(update={"process": child.pid, "started": ""})
    assert is_gone(owner, NOW)
    child.wait()
    assert is_gone(owner, NOW)


@LINUX
def test_another_process_of_the_same_number_is_another():
    assert is_gone(current_owner().model_copy(update={"started": "1"}), NOW)


def test_a_process_of_another_machine_is_given_up_after_its_lease():
    owner = current_owner().model_copy(update={"machine": "elsewhere"})
    assert not is_gone(owner, NOW)
    late = datetime.now(UTC) - LEASE - timedelta(seconds=1)
    assert is_gone(owner, late.isoformat())
    assert not has_ended(owner)
