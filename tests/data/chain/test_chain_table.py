"""What a chain in an SQLite file holds of its file."""

import sqlite3
import subprocess
import sys

import pytest

from policy_engine.data.chain.connections import WatchedFile
from policy_engine.data.chain.table import ChainTable

TRIES_TO_WRITE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], 0, isolation_level=None)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.fixture
def table(tmp_path):
    table = ChainTable(tmp_path / "chain.db", "entries", "chain", 0.01)
    with table.appending():
        pass
    return table


def told_another(path):
    """Return what another process is told that wants to write."""
    command = [sys.executable, "-c", TRIES_TO_WRITE, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_reader_does_not_take_the_lock_from_a_writer_of_the_same_process(table):
    with table.appending():
        with table.reading() as opened:
            assert [*opened.rows()] == []
        with pytest.raises(sqlite3.OperationalError, match="locked"), table.appending():
            pass
        assert told_another(table.path) == "database is locked"
    assert told_another(table.path) == ""


def test_watching_a_file_takes_no_lock_from_a_writer_of_the_same_process(table):
    with table.appending():
        assert WatchedFile(table.path).is_at(table.path)
        assert told_another(table.path) == "database is locked"
    assert told_another(table.path) == ""


def test_rows_that_somebody_keeps_do_not_keep_the_file_locked(table):
    with table.appending() as opened:
        rows = opened.rows()
    with table.reading() as opened:
        more = opened.rows()
    assert told_another(table.path) == ""
    assert rows is not more


def test_a_table_that_is_not_to_be_made_is_not(tmp_path):
    table = ChainTable(tmp_path / "chain.db", "entries", "chain", 0.01)
    with pytest.raises(FileNotFoundError), table.appending(create=False):
        pass
    assert [*tmp_path.iterdir()] == []
