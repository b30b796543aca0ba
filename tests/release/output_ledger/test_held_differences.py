"""What two numbers of holders differ by: of 40 units, of whom 25 are known to be others."""

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
)

UNITS, LEAST = 40, 5
EVERYBODY, FIRST = np.ones(UNITS, bool), np.arange(UNITS) < 20
"""The first 20, and so the last 20."""


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told(members, holders, *, is_key=False, owners=None):
    """Return an answer of how many of some units are holders."""
    measure, populations = held_measure(holders), Populations.of_masks(members)
    cells = (OutputCell(0, measure, None, LEAST),)
    about = (DATASET, "1", ("organisation:x",), Populations(UNITS).joined(populations), cells)
    sided = frozenset({measure} if is_key else ())
    return OutputAnswer(*about, holders={measure: holders}, one_sided=sided, owners=owners)


def held(count):
    """Return ten holders of the first 20, and so many of the last 20."""
    return ((np.arange(UNITS) < 10) | (np.arange(UNITS) >= UNITS - count)) & EVERYBODY


def codes(ledger, *answers):
    return [ledger.check_and_record(one, partly=True).codes for one in answers]


@pytest.mark.parametrize(("count", "is_told"), [(15, False), (16, True), (19, True), (4, True)])
def test_of_the_rest_as_many_are_holders_as_are_enough_and_as_many_are_not(ledger, count, is_told):
    own = held(count)
    told_code = ("K045",) if is_told else ()
    assert codes(ledger, told(EVERYBODY, own), told(FIRST, own)) == [(), told_code]


@pytest.mark.parametrize(("count", "is_told"), [(18, False), (19, True), (4, False)])
def test_of_a_key_nearly_all_of_the_rest_are_told(ledger, count, is_told):
    """Of 20, 18 are nine in ten."""
    own = held(count)
    answers = [told(one, own, is_key=True) for one in (EVERYBODY, FIRST)]
    assert codes(ledger, *answers) == [(), ("K045",) if is_told else ()]


def test_few_units_may_be_of_enough_owners(ledger):
    """If somebody has all of the first 20 units, 24 are of five; four of four are not."""
    owners = UnitOwners(np.where(FIRST, 0, np.arange(UNITS)))
    answers = [told(one, held(15), owners=owners) for one in (EVERYBODY, FIRST)]
    assert codes(ledger, *answers)[0] == ()


def test_owners_see_of_how_many_two_numbers_differ(ledger):
    ledger.check_and_record(told(EVERYBODY, held(19)))
    [cell] = ledger.check_and_record(told(FIRST, held(19)), partly=True).cells
    assert (cell.told.kind, cell.told.units, cell.told.owners) == ("alike", 20, 20)
