"""What a connection that stays open between transactions changes for others: nothing."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from policy_engine.data.chain.connections import KeptConnection
from policy_engine.decision.log import DecisionLog, read_log, verify_log
from policy_engine.decision.model import Decision, Request
from policy_engine.errors import LogError

ASKED = Request(assignee="http://x.org/ann", action="read", targets=("http://x.org/data",))
DECIDED = Decision(effect="deny", request=ASKED, reason="Because.")
APPENDS = """
import sys
from test_kept_connection import DECIDED, DecisionLog
DecisionLog.open(sys.argv[1]).append(DECIDED)
"""


@pytest.fixture
def log(tmp_path):
    log = DecisionLog.open(tmp_path / "log.sqlite", stays_open=True)
    yield log
    log.close()


def appended(log):
    with log.transaction() as transaction:
        return transaction.append(DECIDED).number


def appended_by_another(path):
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, "-c", APPENDS, str(path)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, check=True)


def test_entries_of_others_are_seen_between_those_of_one_connection(log):
    assert appended(log) == 1
    DecisionLog.open(log.path).append(DECIDED)
    assert [appended(log), appended(log)] == [3, 4]
    assert (verify_log(log.path).intact, verify_log(log.path).entries) == (True, 4)


@pytest.mark.nightly
def test_entries_of_other_processes_are_seen_between_those_of_one_connection(log):
    appended(log)
    appended_by_another(log.path)
    assert appended(log) == 3
    assert verify_log(log.path).intact


def test_the_file_by_itself_has_every_entry_that_was_appended(log, tmp_path):
    appended(log)
    (tmp_path / "copy.sqlite").write_bytes(log.path.read_bytes())
    assert [one.number for one in read_log(tmp_path / "copy.sqlite")] == [1]


def test_no_file_is_left_beside_a_log_that_was_closed(log, tmp_path):
    appended(log)
    assert [one.name for one in tmp_path.iterdir() if "journal" in one.name]
    log.close()
    assert [*tmp_path.iterdir()] == [log.path]
    assert appended(log) == 2  # by a connection that is not kept
    assert [*tmp_path.iterdir()] == [log.path]


def test_a_log_that_was_renamed_is_closed_though_its_connection_is_kept(log, tmp_path):
    assert [appended(log), appended(log)] == [1, 2]
    log.path.rename(tmp_path / "closed.sqlite")
    assert [appended(log), appended(log)] == [1, 2]
    assert [verify_log(one).entries for one in (log.path, tmp_path / "closed.sqlite")] == [2, 2]


watched = pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="needs O_PATH of Linux")
FILES = ("log.sqlite", "log.jsonl")


def refused(log):
    with pytest.raises(LogError, match=r"G002 .*no longer contains entry 2"):
        appended(log)


@watched
@pytest.mark.parametrize("name", FILES)
def test_a_log_that_was_deleted_is_not_begun_anew_until_it_is_opened_again(tmp_path, name):
    log = DecisionLog.open(tmp_path / name, stays_open=True)
    assert [appended(log), appended(log)] == [1, 2]
    data = log.path.read_bytes()
    log.path.unlink()
    refused(log)
    refused(log)
    (tmp_path / "copy").write_bytes(data)
    (tmp_path / "copy").replace(log.path)
    assert appended(log) == 3
    log.path.unlink()
    log.close()
    with closing(DecisionLog.open(log.path)) as again:
        assert appended(again) == 1


@watched
@pytest.mark.parametrize("name", FILES)
def test_an_earlier_log_in_the_place_of_one_that_is_gone_by_that_is_refused(tmp_path, name):
    log = DecisionLog.open(tmp_path / name, stays_open=True)
    appended(log)
    (tmp_path / "copy").write_bytes(log.path.read_bytes())
    appended(log)
    (tmp_path / "copy").replace(log.path)
    refused(log)
    refused(log)
    log.close()


def test_a_log_that_was_cut_is_refused_until_it_is_opened_again(log):
    appended(log)
    data = log.path.read_bytes()
    appended(log)
    log.path.write_bytes(data)
    refused(log)
    refused(log)
    log.close()
    assert appended(log) == 2


def test_what_was_changed_on_the_disk_is_noticed_by_a_connection_that_is_kept(log):
    appended(log)
    data = log.path.read_bytes()
    with log.path.open("r+b") as file:  # behind SQLite's back
        file.write(data.replace(b"http://x.org/ann", b"http://x.org/eve"))
    with pytest.raises(LogError, match="G002"):
        appended(log)


def test_an_earlier_state_that_was_put_back_is_noticed_by_a_connection_that_is_kept(log):
    appended(log)
    data = log.path.read_bytes()
    appended(log)
    log.path.write_bytes(data)
    with pytest.raises(LogError, match="G002"):
        appended(log)


def failed(log):
    with log.transaction() as transaction:
        transaction.append(DECIDED)
        raise ZeroDivisionError


def test_an_entry_that_failed_is_not_in_the_log_and_the_next_one_is(log):
    appended(log)
    with pytest.raises(ZeroDivisionError):
        failed(log)
    assert appended(log) == 2
    assert verify_log(log.path).intact


def test_threads_append_one_after_another_by_a_connection_that_is_kept(log):
    threads = [Thread(target=appended, args=(log,)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (verify_log(log.path).intact, verify_log(log.path).entries) == (True, 4)


def test_one_connection_is_kept_of_several_that_are_given_back(log):
    appended(log)
    kept = log.store.kept
    first = kept.take()
    assert kept.take() is None
    kept.give_back(first)
    assert kept.take() is first
    kept.give_back(first)


def test_none_is_kept_once_it_was_closed():
    kept = KeptConnection()
    kept.close()
    assert kept.take() is None
