"""Numbers of persons and of rows in a ledger: four persons have five rows each, and 19 have one."""

import numpy as np
import pytest
from asking_cells import DATASET

from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    UnitOwners,
    held_measure,
    persons_and_rows,
    persons_told_measure,
    rows_told_measure,
)

OWNERS = np.array([0, *np.repeat(np.arange(1, 5), 5), *range(5, 23)])
UNITS = len(OWNERS)
LEAST = 3
EVERYBODY = np.ones(UNITS, bool)
WITH_MOST = (OWNERS >= 1) & (OWNERS < 12)
"""The rows of eleven persons, of whom four have five; the first unit is none of them."""
FEWER = WITH_MOST & ((OWNERS > 4) | (np.arange(UNITS) % 5 < 3))
"""Of each of the four, three rows."""
AS_FEW = WITH_MOST & ((OWNERS > 4) | (np.arange(UNITS) % 5 < 2))
"""Of each of the four, two rows: 15 in all."""


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told(*asked, holders=WITH_MOST):
    """Return an answer of how many of some known units are holders, and how many of their owners
    have one (`persons`), or one that is none (`others`)."""
    populations, cells = Populations(UNITS), []
    rows = rows_told_measure(held_measure(holders))
    measures = {
        "rows": rows,
        "persons": persons_told_measure(rows, of_holders=True),
        "others": persons_told_measure(rows, of_holders=False),
    }
    for place, (kind, members) in enumerate(asked):
        populations = populations.joined(Populations.of_masks(members))
        least = UnitOwners(OWNERS).units_of(LEAST)
        cells.append(OutputCell(place, measures[kind], None, least, figure=place))
    about = (DATASET, "1", ("organisation:x",), populations, tuple(cells))
    return OutputAnswer(*about, holders={rows: holders}, owners=UnitOwners(OWNERS))


def codes(ledger, *answers):
    return [ledger.check_and_record(one, partly=True).codes for one in answers]


ROWS, PERSONS, OTHERS = ("rows", EVERYBODY), ("persons", EVERYBODY), ("others", EVERYBODY)


@pytest.mark.parametrize("asked", [[ROWS, PERSONS], [PERSONS, ROWS]])
def test_eleven_persons_with_all_rows_of_three_are_told_by_their_rows(ledger, asked):
    first, second = asked
    assert codes(ledger, told(first), told(second)) == [(), ("K045",)]


def test_one_of_two_figures_of_an_answer_is_withheld(ledger):
    outcome = ledger.check_and_record(told(PERSONS, ROWS), partly=True)
    assert sorted(cell.state for cell in outcome.cells) == ["released", "suppressed"]


def test_eleven_persons_in_fewer_rows_may_be_others(ledger):
    asked = [told(one, holders=FEWER) for one in (PERSONS, ROWS)]
    assert codes(ledger, *asked) == [(), ()]


def test_who_has_five_rows_has_another_one_if_others_need_all_but_four(ledger):
    """If eleven persons have 15 rows, nobody has more than five, and to one of the four who has
    five, nobody else has more than one."""
    asked = [told(one, holders=AS_FEW) for one in (PERSONS, ROWS)]
    assert codes(ledger, *asked) == [(), ("K045",)]


def test_what_two_numbers_of_persons_differ_by_is_judged_with_the_rows(ledger):
    """Ten of 19 persons have it, all four with five rows among them, and two of four others."""
    holders, first = np.isin(OWNERS, (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 21, 22)), OWNERS < 19
    asked = [told(("persons", one), holders=holders) for one in (EVERYBODY, ~first)]
    assert codes(ledger, *asked, told(("rows", first), holders=holders)) == [(), (), ("K045",)]


def test_rows_of_other_persons_tell_nothing_of_a_number_of_persons(ledger):
    first, second = ("persons", OWNERS < 12), ("rows", OWNERS >= 12)
    holders = (OWNERS % 2 == 1) & (np.arange(UNITS) % 3 > 0) & (OWNERS > 0)
    asked = [told(one, holders=holders) for one in (first, second)]
    assert codes(ledger, *asked) == [(), ()]


def test_persons_with_and_without_tell_of_all_who_have_several_rows(ledger):
    """All four have both: eleven persons have one, and 16 have none, or another row."""
    holders = np.isin(np.arange(UNITS), [1, 2, 6, 11, 16, *range(22, 29)])
    asked = [told(one, holders=holders) for one in (PERSONS, OTHERS)]
    assert codes(ledger, *asked) == [(), ("K045",)]


def test_persons_with_and_without_may_be_others_where_some_have_both(ledger):
    holders = np.isin(np.arange(UNITS), [6, 11, *range(22, 29)])
    asked = [told(one, holders=holders) for one in (PERSONS, OTHERS)]
    assert codes(ledger, *asked) == [(), ()]


def test_other_holders_are_another_secret(ledger):
    assert codes(ledger, told(PERSONS), told(ROWS, holders=FEWER)) == [(), ()]


def test_beyond_the_limits_persons_or_rows_are_withheld(ledger, monkeypatch):
    monkeypatch.setattr(persons_and_rows, "MOST_MEMBERS", 0)
    asked = [told(one, holders=FEWER) for one in (PERSONS, ROWS)]
    assert codes(ledger, *asked) == [(), ("K045",)]


def test_a_ledger_that_was_closed_knows_the_persons(ledger, tmp_path):
    ledger.check_and_record(told(PERSONS))
    assert codes(OutputLedger(tmp_path / "outputs.db"), told(ROWS)) == [("K045",)]


def test_what_was_given_is_given_again(ledger):
    assert codes(ledger, told(PERSONS), told(PERSONS), told(ROWS), told(PERSONS))[-1] == ()


def test_owners_see_of_whom_it_would_be_told(ledger):
    ledger.check_and_record(told(PERSONS))
    [cell] = ledger.check_and_record(told(ROWS), partly=True).cells
    assert (cell.told.kind, cell.told.units, cell.told.owners) == ("alike", UNITS, 23)
    assert len(cell.told.cells) == 1
