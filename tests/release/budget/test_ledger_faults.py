"""Ledgers that cannot be used: locked, read-only, cut off, changed, of another key or version."""

import os
import sqlite3
import sys
from contextlib import closing

import pytest
from charging import charge, release, spent

from policy_engine.errors import DataError, LedgerError, RequestError
from policy_engine.release import ledger_file
from policy_engine.release.budget import BudgetLedger, LedgerFile

KEY, OTHER = b"k" * 32, b"o" * 32


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "budget.db"
    for plan in "12":
        release(BudgetLedger(path), charge(plan))
    return path


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def refusal(ledger):
    """Return the error of every use of a ledger, which is the same."""
    texts = set()
    for use in (ledger.balances, lambda: ledger.reserve(charge("3"))):
        with pytest.raises(LedgerError) as caught:
            use()
        texts.add(str(caught.value))
    [text] = texts
    return text


def test_a_ledger_is_for_its_owner_alone_and_one_file(path):
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*path.parent.iterdir()] == [path]


def test_a_missing_ledger_is_made_by_a_charge_and_by_nothing_else(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db")
    for use in (ledger.balances, ledger.history, ledger.verify):
        with pytest.raises(LedgerError, match="B001 There is no budget ledger"):
            use()
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_not_there_is_made(tmp_path):
    ledger = BudgetLedger(tmp_path / "none" / "more" / "budget.db")
    release(ledger, charge())
    assert spent(ledger) == 1


def test_a_ledger_whose_folder_is_not_there_says_so(tmp_path):
    with pytest.raises(LedgerError, match="B001 There is no budget ledger: its folder '"):
        BudgetLedger(tmp_path / "none" / "budget.db").balances()


def test_a_folder_that_cannot_be_made_is_told_of(tmp_path):
    (tmp_path / "none").write_text("")
    with pytest.raises(LedgerError, match="B001 The folder of the budget ledger cannot be made"):
        BudgetLedger(tmp_path / "none" / "budget.db").reserve(charge())


def test_a_locked_ledger_is_told_of(path, monkeypatch):
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        told = refusal(BudgetLedger(path))
    assert "B002 The budget ledger is locked: another process held it for 0.01 s." in told
    assert spent(BudgetLedger(path)) == 2


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anything")
def test_a_ledger_that_may_only_be_read_has_balances_and_takes_no_charge(path):
    path.chmod(0o400)
    ledger = BudgetLedger(path)
    assert spent(ledger) == 2
    with pytest.raises(LedgerError, match="B003"):
        ledger.reserve(charge("3"))


def test_what_sqlite_says_of_a_ledger_that_may_only_be_read_is_told(path, monkeypatch):
    connected = ledger_file.ChainTable._connected
    monkeypatch.setattr(ledger_file.ChainTable, "_connected", lambda self, _: connected(self, "ro"))
    with pytest.raises(LedgerError, match="B003 The budget ledger, or its folder, cannot be wri"):
        BudgetLedger(path).reserve(charge("3"))


@pytest.mark.parametrize("content", [b"", b"epsilon,delta\n", b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_not_a_ledger_is_told_of_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "budget.db"
    path.write_bytes(content)
    assert "B006" in refusal(BudgetLedger(path))
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_told_of(tmp_path):
    path = tmp_path / "budget.db"
    change(path, "CREATE TABLE people(name TEXT)")
    assert "B006 It is not a budget ledger: the database contains more" in refusal(
        BudgetLedger(path)
    )


def test_a_ledger_of_a_newer_version_is_told_of(path):
    change(path, "PRAGMA user_version = 2")
    assert "B007 The budget ledger was made by a newer version" in refusal(BudgetLedger(path))


def test_a_file_that_was_cut_off_is_told_of(path):
    path.write_bytes(path.read_bytes()[:9000])
    assert "B004 The budget ledger is damaged" in refusal(BudgetLedger(path))


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE charges SET entry = replace(entry, '\"1\"', '\"0\"') WHERE number = 2", "changed"),
        ("UPDATE charges SET hash = '' WHERE number = 2", "the columns beside it differ"),
        ("DELETE FROM charges WHERE number = 3", "entry 4 does not follow entry 2"),
        ("DELETE FROM charges", "it has no entries, not even the first"),
        ("UPDATE charges SET number = 99 WHERE number = 7", "the columns beside it differ"),
        ("DELETE FROM charges WHERE number = 1", "entry 2 does not follow entry 0"),
        ("UPDATE charges SET entry = NULL WHERE number = 4", "its columns are not text"),
    ],
)
def test_a_ledger_that_was_changed_is_found_by_every_use_and_by_verify(path, statement, told):
    change(path, statement)
    text = refusal(BudgetLedger(path))
    assert "B004 The budget ledger does not show what was spent" in text
    assert told in text
    assert not BudgetLedger(path).verify().intact


def test_entries_that_were_cut_off_at_the_end_are_found_by_the_head_alone(path):
    head = BudgetLedger(path).verify().head
    assert str(head).startswith("7:")
    change(path, "DELETE FROM charges WHERE number > 4", "DELETE FROM answers WHERE number > 4")
    ledger = BudgetLedger(path)
    assert spent(ledger) == 1
    assert ledger.verify().intact
    assert ledger.verify(expect="4").intact
    [problem] = ledger.verify(expect=head).problems
    assert problem.code == "B004"
    assert "was truncated or replaced" in problem.message
    with pytest.raises(RequestError, match="`budget verify` prints it"):
        ledger.verify(expect="head")


def test_who_has_read_a_ledger_finds_that_it_was_cut_off_or_replaced_and_never_forgets(
    path, tmp_path
):
    ledger = BudgetLedger(path)
    assert spent(ledger) == 2
    (tmp_path / "copy.db").write_bytes(path.read_bytes())
    change(path, "DELETE FROM charges WHERE number > 4")
    for _ in range(2):
        assert "it no longer has entry 7: it was truncated or replaced" in refusal(ledger)
    path.unlink()
    release(BudgetLedger(path), charge("another"))
    assert "it no longer has entry 7" in refusal(ledger)
    path.write_bytes((tmp_path / "copy.db").read_bytes())
    assert spent(ledger) == 2


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM answers WHERE number = 2", "UPDATE answers SET answer = x'00' WHERE number = 2"],
)
def test_an_answer_that_is_missing_or_was_changed_is_neither_returned_nor_drawn_again(
    path, statement
):
    change(path, statement)
    with pytest.raises(LedgerError, match="B004 The answer that entry 2 paid for is missing, or w"):
        BudgetLedger(path).reserve(charge("1"))
    [problem] = BudgetLedger(path).verify().problems
    assert problem.message == "The answer that entry 2 paid for is missing, or was changed."


def test_a_ledger_with_a_key_is_read_with_that_key_alone(tmp_path):
    path = tmp_path / "budget.db"
    release(BudgetLedger(path, KEY), charge())
    assert spent(BudgetLedger(path, KEY)) == 1
    assert BudgetLedger(path, KEY).verify().intact
    assert "B005 The budget ledger was made with another key" in refusal(BudgetLedger(path, OTHER))
    assert not BudgetLedger(path, OTHER).verify().intact
    for use in (BudgetLedger(path).balances, BudgetLedger(path).verify):
        with pytest.raises(DataError, match=r"C013 The .*ledger is chained with a key"):
            use()


def test_a_ledger_without_a_key_is_not_one_of_that_key(path):
    assert "B005" in refusal(BudgetLedger(path, KEY))


def test_a_failed_write_leaves_nothing_and_what_was_known_is_read_again(path, monkeypatch):
    ledger = BudgetLedger(path)
    assert spent(ledger) == 2
    opened = LedgerFile.appending

    def full(self):
        context = opened(self)
        stored = context.__enter__()
        stored.table.connection.set_progress_handler(lambda: 1, 1)
        monkeypatch.setattr(LedgerFile, "appending", opened)
        return _Broken(context, stored)

    monkeypatch.setattr(LedgerFile, "appending", full)
    with pytest.raises(LedgerError, match="B001"):
        ledger.reserve(charge("3"))
    assert len(ledger.history()) == 7
    release(ledger, charge("3"))
    assert spent(ledger) == 3


class _Broken:
    def __init__(self, context, stored):
        self.context, self.stored = context, stored

    def __enter__(self):
        return self.stored

    def __exit__(self, *error):
        return self.context.__exit__(*error)
