"""What owners read of cells at fault: of whom they would tell, and together with which cells."""

from dataclasses import replace

import numpy as np
import pytest
from asking_cells import answer, counts, one_of

from policy_engine.release.output_ledger import (
    MetLimit,
    OutputCell,
    OutputLedger,
    Populations,
    Protection,
    UnitOwners,
    checking,
    linear_systems,
    met_limits,
)

UNITS = 24
THIRDS = counts(Populations.of_labels(np.arange(UNITS) % 3))


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told_of(ledger, *answers):
    """Return what the last of some answers would tell by its first cell at fault."""
    for one in answers:
        outcome = ledger.check_and_record(one)
    return next(cell.told for cell in outcome.cells if cell.code)


def test_a_difference_is_of_those_that_one_population_has_more(ledger):
    told = told_of(ledger, THIRDS, counts(one_of(UNITS, [*range(0, UNITS, 3), 1])))
    assert (told.kind, told.units, told.owners, told.low) == ("difference", 1, 1, 1)
    assert [(one.entry, one.units, one.measure) for one in told.cells] == [(2, 8, "count")]


def test_a_combination_is_of_those_whom_all_its_cells_leave(ledger):
    """Two thirds of all but two, and the third one: the two are what is left of all."""
    two_thirds = counts(one_of(UNITS, [one for one in range(UNITS) if one % 3 and one > 2]))
    both = counts(one_of(UNITS, [one for one in range(UNITS) if one % 3 != 2]))
    told = told_of(ledger, THIRDS, both, two_thirds)
    assert (told.kind, told.units, told.low, told.high) == ("combination", 2, 2, 2)
    assert {one.entry for one in told.cells} <= {0, 2, 3}
    assert sum(one.entry == 0 for one in told.cells) == 1


def test_a_population_that_is_too_small_is_told_by_itself(ledger):
    told = told_of(ledger, counts(one_of(UNITS, [1, 2])))
    assert (told.kind, told.units, told.cells) == ("population", 2, ())


def test_of_several_rows_of_somebody_owners_are_counted(ledger):
    owners = UnitOwners(np.arange(UNITS) // 2)
    first, second = (
        counts(one_of(UNITS, members), 5, owners=owners)
        for members in (range(20), [*range(20), 20, 21])
    )
    told = told_of(ledger, first, second)
    assert (told.kind, told.units, told.owners) == ("difference", 2, 1)


def test_a_withheld_total_is_told_with_its_value(ledger):
    halves = Populations.of_labels(np.arange(UNITS) % 2)
    cells = OutputCell(0, "sum:pay", 50.0, 3), OutputCell(1, "sum:pay", 7.5, 3, is_released=False)
    whole = answer(one_of(UNITS, range(UNITS)), OutputCell(0, "sum:pay", 57.5, 3))
    told = told_of(ledger, answer(halves, *cells), whole)
    assert (told.kind, told.units, told.low, told.high) == ("withheld", 12, 7.5, 7.5)
    assert [(one.entry, one.units) for one in told.cells] == [(2, 12), (0, 24)]


def test_an_interval_is_told_as_far_as_it_is_known(ledger):
    """Of six units whose parts are 0 to 12 and add up to 60, three have from 24 to 36."""
    populations = one_of(12, range(6)).joined(Populations.of_labels(np.arange(12) // 3))
    cells = (
        OutputCell(0, "sum:x", 60.0, 3),
        OutputCell(1, "sum:x", 30.0, 3, is_released=False, protection=Protection(share=0.5)),
        OutputCell(2, "sum:x", 30.0, 3, is_released=False),
    )
    told = told_of(ledger, answer(populations, *cells, bounds={"x": (0.0, 12.0)}))
    assert (told.kind, told.units) == ("withheld", 3)
    assert (told.low, told.high) == (pytest.approx(24), pytest.approx(36))
    assert [(one.entry, one.units) for one in told.cells] == [(0, 6)]


def test_statistics_are_told_with_those_that_are_released_of_the_same(ledger):
    first, second = (
        answer(one_of(UNITS, range(UNITS)), OutputCell(0, measure, 1.0, 3))
        for measure in ('pair:["a", "b"]:corr', 'pair:["a", "b"]:covar')
    )
    told = told_of(ledger, first, second)
    assert (told.kind, told.units) == ("statistics", UNITS)
    assert [(one.entry, one.measure) for one in told.cells] == [(2, 'pair:["a", "b"]:corr')]


def test_a_ledger_that_is_read_again_knows_the_entries(tmp_path):
    path = tmp_path / "outputs.db"
    for one in (counts(one_of(UNITS, range(12))), THIRDS):
        OutputLedger(path).check_and_record(one)
    told = told_of(OutputLedger(path), counts(one_of(UNITS, [*range(0, UNITS, 3), 1])))
    assert [one.entry for one in told.cells] == [3]


# -- what is not decided ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "most", "of"),
    [
        (checking, "MOST_ATOMS", 2, "atoms"),
        (linear_systems, "CELLS", 0, "populations"),
        (checking, "SECONDS", 0.0, "seconds"),
    ],
)
def test_of_what_is_not_decided_it_is_told_which_limit_is_met(
    ledger, monkeypatch, module, name, most, of
):
    """By thirds and by quarters, two are in a cell of both."""
    ledger.check_and_record(THIRDS)
    monkeypatch.setattr(module, name, most)
    told = told_of(ledger, counts(Populations.of_labels(np.arange(UNITS) // 6)))
    assert (told.kind, told.limit.of) == ("undecided", of)


def test_of_populations_that_belong_together_their_number_is_told(ledger, monkeypatch):
    ledger.check_and_record(THIRDS)
    monkeypatch.setattr(linear_systems, "CELLS", 6)
    told = told_of(ledger, counts(Populations.of_labels(np.arange(UNITS) // 6)))
    assert told.limit == MetLimit("populations", 7, met_limits.CELLS)


def test_of_bounds_that_rest_on_a_missing_value_that_is_told(ledger):
    populations = one_of(UNITS, range(6)).joined(Populations.of_labels(np.arange(UNITS) // 3))
    hidden = OutputCell(1, "sum:x", 3.0, 3, is_released=False, protection=Protection(share=0.1))
    asked = answer(populations, OutputCell(0, "sum:x", None, 3), hidden, bounds={"x": (0.0, 9.0)})
    assert told_of(ledger, asked).limit == MetLimit("value")


def test_of_data_that_changed_the_digests_of_the_earlier_ones_are_told(ledger):
    told = told_of(ledger, THIRDS, THIRDS, replace(THIRDS, data="b" * 64))
    assert (told.kind, told.names) == ("data", (THIRDS.data,))
