"""An answer is judged in bounded time: cells are withheld for lack of it, and none passes."""

import math

import numpy as np
import pytest
from asking_cells import counts, one_of

from policy_engine.release.output_ledger import OutputLedger, Populations, checking
from policy_engine.release.output_ledger.differences import Fault
from policy_engine.release.output_ledger.judging_time import OutOfTimeError, TimeLimit

UNITS, CELLS = 240, 8
TABLE = counts(Populations.of_labels(np.arange(UNITS) % CELLS))


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def late_above(most):
    """Return a check that takes too long for more than so many new cells."""

    def check(trial, _):
        if len(trial.fresh) > most:
            raise OutOfTimeError
        yield from ()

    return check


@pytest.mark.parametrize(("most", "shown"), [(8, 8), (7, 4), (3, 2), (1, 1)])
def test_where_a_round_takes_too_long_half_of_the_cells_are_looked_at(
    ledger, monkeypatch, most, shown
):
    monkeypatch.setattr(checking, "_first_faults", late_above(most))
    outcome = ledger.check_and_record(TABLE, partly=True)
    assert outcome.may_leave
    assert sum(cell.state == "released" for cell in outcome.cells) == shown
    assert {cell.code for cell in outcome.cells} - {""} == ({"K043"} if shown < CELLS else set())


def test_where_no_cell_is_shown_to_be_safe_in_time_none_is_given(ledger, monkeypatch):
    monkeypatch.setattr(checking, "_first_faults", late_above(0))
    outcome = ledger.check_and_record(TABLE, partly=True)
    assert (outcome.state, outcome.codes) == ("review", ("K043", "K046"))
    assert {cell.state for cell in outcome.cells} == {"review"}
    assert [entry.state for entry in ledger.history()] == ["opened"]


def test_an_answer_that_is_all_or_nothing_is_not_given_in_part(ledger, monkeypatch):
    monkeypatch.setattr(checking, "_first_faults", late_above(7))
    outcome = ledger.check_and_record(TABLE)
    assert (outcome.state, outcome.codes) == ("review", ("K046",))


def test_no_time_at_all_gives_nothing(ledger, monkeypatch):
    ledger.check_and_record(counts(one_of(UNITS, range(0, UNITS, 2))))
    monkeypatch.setattr(checking, "SECONDS", 0.0)
    some = counts(Populations.of_labels(np.arange(UNITS) % CELLS), hidden=(0,))
    outcome = ledger.check_and_record(some, partly=True)
    assert (outcome.state, {*outcome.codes}) == ("review", {"K046"})


@pytest.mark.parametrize(("used", "most", "shown"), [(0.0, 6, 6), (0.25, 7, 6), (0.5, 7, 0)])
def test_the_less_time_is_left_the_more_cells_are_withheld_at_once(
    ledger, monkeypatch, used, most, shown
):
    def first_faults(trial, _):
        if len(trial.fresh) > most:
            trial.limit.start -= used * trial.limit.seconds
            yield Fault("K043", trial.fresh)

    monkeypatch.setattr(checking, "_first_faults", first_faults)
    outcome = ledger.check_and_record(TABLE, partly=True)
    assert sum(cell.state == "released" for cell in outcome.cells) == shown


def test_a_limit_is_of_rounds():
    limit = TimeLimit(1000.0)
    assert limit.used < 0.1
    assert 600 < limit.left <= 750
    limit.check()
    limit.start -= 900
    limit.begin_round()
    assert 0.9 <= limit.used < 1
    assert 60 < limit.left <= 75
    limit.start -= 100
    limit.begin_round()
    with pytest.raises(OutOfTimeError):
        limit.check()
    limit.check_found(is_found=True)
    with pytest.raises(OutOfTimeError):
        limit.check_found(is_found=False)


def test_no_limit_is_never_over():
    limit = TimeLimit(math.inf)
    limit.begin_round()
    limit.check()
    assert (limit.used, limit.is_over()) == (0, False)
