import subprocess
import sys
import time
from itertools import groupby

import pytest

from policy_engine.service.files.turn_lock import TurnLock

_TAKES = """
import sys, time
from pathlib import Path
from policy_engine.service.files.turn_lock import TurnLock
path, letter = Path(sys.argv[1]), sys.argv[2]
path.with_suffix(f".{letter}").touch()
while len([*path.parent.glob("turns.[ab]")]) < 2:
    time.sleep(0.01)
for _ in range(20):
    with TurnLock(path).held():
        time.sleep(0.01)
        with path.open("a") as file:
            file.write(letter)
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "turns").touch()
    return tmp_path / "turns"


def test_two_processes_that_want_a_lock_again_and_again_have_it_in_turn(path):
    command = [sys.executable, "-c", _TAKES, str(path)]
    processes = [subprocess.Popen([*command, letter]) for letter in "ab"]
    assert [one.wait() for one in processes] == [0, 0]
    turns = path.read_text()
    assert sorted(turns) == ["a"] * 20 + ["b"] * 20
    lengths = [len([*group]) for _, group in groupby(turns)]
    assert max(lengths[1:-1]) <= 2  # while both want it; at its ends, one may be alone


def test_a_lock_is_given_back_when_its_process_is_killed(path):
    hold = (
        f"{_TAKES.partition('path.with')[0]}\nwith TurnLock(path).held():\n    print(flush=True)\n"
    )
    command = [sys.executable, "-c", f"{hold}    time.sleep(60)", str(path), "a"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    process.kill()
    process.communicate()
    began = time.monotonic()
    with TurnLock(path).held():
        assert time.monotonic() - began < 10


def test_a_file_that_cannot_be_opened_is_told(tmp_path):
    with pytest.raises(OSError, match="No such file"), TurnLock(tmp_path / "no/turn").held():
        pass
