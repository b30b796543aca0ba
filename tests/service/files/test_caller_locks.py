import subprocess
import sys

import pytest

from policy_engine.service.files.caller_locks import CallerLocks

OTHER = (
    "import sys; from pathlib import Path; "
    "from policy_engine.service.files.caller_locks import CallerLocks; "
    "locks = CallerLocks(Path(sys.argv[1])); "
    "print(*(locks.take(one) for one in sys.argv[2:]))"
)


@pytest.fixture
def locks(tmp_path):
    locks = CallerLocks(tmp_path / "turns")
    yield locks
    locks.close()


def taken_elsewhere(locks, *callers):
    command = [sys.executable, "-c", OTHER, str(locks.path), *callers]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_a_caller_has_one_turn_in_all_processes_and_keeps_no_other_out(locks):
    assert locks.take("ada")
    assert taken_elsewhere(locks, "ada", "bob") == ["False", "True"]
    assert locks.take("bob")  # who had it has ended
    locks.give_back("ada")
    assert taken_elsewhere(locks, "ada", "bob") == ["True", "False"]


def test_what_is_closed_keeps_nobody_out(locks):
    locks.take("ada")
    locks.close()
    assert taken_elsewhere(locks, "ada") == ["True"]
    locks.give_back("ada")  # of nothing that is held
