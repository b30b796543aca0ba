import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest
from asking_cells import counts, one_of

from policy_engine.errors import DataError, LedgerError
from policy_engine.release import ledger_file
from policy_engine.release.budget import BudgetLedger
from policy_engine.release.output_ledger import OutputLedger, Populations

UNITS = 24
REGIONS = counts(Populations.of_labels(np.arange(UNITS) % 3))
TWO_MORE = counts(one_of(UNITS, [*range(0, UNITS, 3), 1]))
KEY = b"k" * 32


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "outputs.db"
    OutputLedger(path).check_and_record(REGIONS)
    return path


def change(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_ledger_is_for_its_owner_alone(path):
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_ledger_is_made_by_an_answer_and_by_nothing_else(tmp_path):
    ledger = OutputLedger(tmp_path / "none.db")
    for use in (ledger.summary, ledger.history, ledger.verify):
        with pytest.raises(LedgerError, match="K030 There is no output ledger"):
            use()
    assert [*tmp_path.iterdir()] == []


def test_a_ledger_in_a_folder_that_is_not_there_is_refused_and_nothing_is_made(tmp_path):
    """A mistyped path would be a new ledger, in which no earlier answer counts."""
    with pytest.raises(LedgerError, match=r"K030 .* its folder .* is not there"):
        OutputLedger(tmp_path / "none" / "outputs.db").check_and_record(REGIONS)
    assert [*tmp_path.iterdir()] == []


def test_a_database_with_more_than_a_ledger_is_told_of(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes(text)")
    with pytest.raises(LedgerError, match=r"K035 .* more than one output ledger"):
        OutputLedger(path).check_and_record(TWO_MORE)


def test_a_locked_ledger_is_told_of(path, monkeypatch):
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match="K031 The output ledger is locked"):
            OutputLedger(path).check_and_record(TWO_MORE)


def test_a_file_that_is_not_a_ledger_is_told_of(tmp_path):
    path = tmp_path / "outputs.db"
    path.write_text("region,count\n")
    with pytest.raises(LedgerError, match="K035 The file is not an output ledger"):
        OutputLedger(path).check_and_record(REGIONS)
    assert path.read_text() == "region,count\n"


def test_a_budget_ledger_is_not_an_output_ledger_nor_the_other_way_round(tmp_path, path):
    BudgetLedger(tmp_path / "budget.db").list_uncovered(["urn:data"], "urn:release")
    with pytest.raises(LedgerError, match="K035 It is not an output ledger"):
        OutputLedger(tmp_path / "budget.db").check_and_record(REGIONS)
    with pytest.raises(LedgerError, match="B006 It is not a budget ledger"):
        BudgetLedger(path).balances()


def test_a_ledger_of_another_key_is_told_of(tmp_path, path):
    with pytest.raises(LedgerError, match="K034 The output ledger was made with another key"):
        OutputLedger(path, KEY).check_and_record(TWO_MORE)
    keyed = tmp_path / "keyed.db"
    OutputLedger(keyed, KEY).check_and_record(REGIONS)
    with pytest.raises(DataError, match="C013 The output ledger is chained with a key"):
        OutputLedger(keyed).check_and_record(TWO_MORE)
    assert OutputLedger(keyed, KEY).verify().intact


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE outputs SET entry = replace(entry, 'organisation:x', 'organisation:y')",
        "DELETE FROM outputs WHERE number = 1",
        "DELETE FROM answers",
        "UPDATE answers SET answer = x'00'",
        "UPDATE answers SET answer = substr(answer, 1, length(answer) - 1) || x'ff'",
    ],
)
def test_a_ledger_that_was_changed_answers_nothing(path, statement):
    change(path, statement)
    with pytest.raises(LedgerError, match="K033"):
        OutputLedger(path).check_and_record(TWO_MORE)
    verification = OutputLedger(path).verify()
    assert {problem.code for problem in verification.problems} == {"K033"}


def test_a_ledger_whose_end_was_cut_off_is_told_of(path):
    ledger = OutputLedger(path)
    head = ledger.summary().head
    change(path, "DELETE FROM outputs WHERE number = 2")
    assert not OutputLedger(path).verify(head).intact
    with pytest.raises(LedgerError, match="no longer has entry 2"):
        ledger.check_and_record(TWO_MORE)


def test_two_questions_at_once_do_not_both_pass(tmp_path):
    """Each is harmless alone; each pair differs by one or two units."""
    for turn in range(3):
        path = tmp_path / f"{turn}.db"
        asked = [counts(one_of(UNITS, [*range(10), 10 + number])) for number in range(6)]
        with ThreadPoolExecutor(6) as pool:
            outcomes = [*pool.map(lambda one, p=path: OutputLedger(p).check_and_record(one), asked)]
        states = sorted(outcome.state for outcome in outcomes)
        assert states == ["recorded", *["refused"] * 5]
        assert OutputLedger(path).verify().intact


def test_an_answer_that_was_not_written_does_not_count(path, monkeypatch):
    ledger = OutputLedger(path)
    with monkeypatch.context() as patch:
        patch.setattr(ledger_file.OpenTable, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ledger.check_and_record(counts(one_of(UNITS, range(10))))
    assert len(ledger.history()) == 2
    assert ledger.check_and_record(counts(one_of(UNITS, range(11)))).state == "recorded"
