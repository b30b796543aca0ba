"""How many units there are in all counts as known, before anybody asks."""

from dataclasses import replace

import numpy as np
import pytest
from asking_cells import counts, masks

from policy_engine.release.output_ledger import (
    COUNT,
    DISTINCT_PERSONS,
    PERSONS,
    OutputCell,
    OutputLedger,
    Populations,
    UnitOwners,
)
from policy_engine.release.output_ledger.known_counts import with_known_counts

UNITS, LEAST = 30, 5
EVERYBODY = np.ones(UNITS, bool)


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def asked(ledger, *parts, measure="count", others=(), owners=None, hidden=()):
    """Return which populations are released of some, and the codes against the others."""
    populations = Populations.of_masks([np.isin(np.arange(UNITS), part) for part in parts])
    answer = counts(populations, LEAST, hidden, measure, owners=owners)
    outcome = ledger.check_and_record(with_known_counts(answer, EVERYBODY, others), partly=True)
    return [cell.state == "released" for cell in outcome.cells], set(outcome.codes)


def test_all_but_a_few_are_not_counted(ledger):
    assert asked(ledger, range(3, UNITS)) == ([False], {"K041"})
    assert asked(ledger, range(UNITS)) == ([True], set())


def test_counts_of_two_answers_do_not_tell_of_a_few_with_the_number_of_all(ledger):
    assert asked(ledger, range(14)) == ([True], set())
    assert asked(ledger, range(14, 27)) == ([False], {"K043"})
    assert asked(ledger, range(14, 25)) == ([True], set())


def test_they_do_not_once_the_ledger_is_read_again(tmp_path):
    assert asked(OutputLedger(tmp_path / "l"), range(14)) == ([True], set())
    again = OutputLedger(tmp_path / "l")
    assert asked(again, range(14, 27)) == ([False], {"K043"})
    assert again.summary().scopes[0].released == 1
    assert not again.verify().problems


def test_a_withheld_count_is_protected_beside_all_others(ledger):
    parts = range(12), range(12, 20), range(20, UNITS)
    assert asked(ledger, *parts, hidden={1}) == ([True, False, False], {"K044"})


def test_totals_do_not_tell_how_many_units_there_are(ledger):
    assert asked(ledger, range(3, UNITS), measure="sum:pay") == ([True], set())


@pytest.mark.parametrize("is_known", [False, True])
def test_how_many_have_a_value_is_known_where_it_is_said_to_be(ledger, is_known):
    others = [np.arange(UNITS) >= 3] * is_known
    own = asked(ledger, range(3, UNITS), measure="mean:pay", others=others)
    assert own == ([is_known], set() if is_known else {"K041"})


def test_the_number_of_persons_with_several_rows_is_known():
    owners = UnitOwners(np.repeat(np.arange(10), 3))
    cells = tuple(OutputCell(0, name, None, LEAST) for name in (PERSONS, DISTINCT_PERSONS))
    of_rows = counts(Populations.of_masks([EVERYBODY]), LEAST, owners=owners)
    of_persons = with_known_counts(replace(of_rows, cells=cells), EVERYBODY)
    known = {one.measure: one.value for one in of_persons.known}
    assert known == {COUNT: 30.0, PERSONS: 10.0, DISTINCT_PERSONS: 10.0}
    assert [one.measure for one in with_known_counts(of_rows, EVERYBODY).known] == [COUNT]
    firsts = masks(of_persons.populations)[-1]
    assert np.flatnonzero(firsts).tolist() == list(range(0, 30, 3))
