"""Dozens of tables of large cells are given; what tells of few in spite of these is found."""

from itertools import combinations, count

import numpy as np
import pytest
from asking_cells import answer, counts, one_of

from policy_engine.kernels.output_checks.released_span import LightVector
from policy_engine.release.output_ledger import (
    OutputCell,
    OutputLedger,
    Populations,
    small_combinations,
)

UNITS, KEYS, VALUES, LEAST = 3_000, 7, 4, 10


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def keys():
    """Return the values of keys, (keys, units): nearly each unit has others than all others."""
    draws = np.random.default_rng(3)
    values = draws.integers(0, VALUES, (KEYS, UNITS))
    assert len(np.unique(values, axis=1).T) > 2_000
    return values


def table(*some):
    """Return the counts of a table by some keys."""
    labels = np.zeros(UNITS, np.int64)
    for values in some:
        labels = labels * VALUES + values
    return counts(Populations.of_labels(labels, VALUES ** len(some)), LEAST)


@pytest.mark.nightly
def test_tables_by_each_key_and_by_two_are_given(ledger):
    own = keys()
    tables = [*combinations(range(KEYS), 1), (0, 1), (0, 2)]
    outcomes = [ledger.check_and_record(table(*own[[*some]])) for some in tables]
    assert {(one.state, one.codes) for one in outcomes} == {("recorded", ())}


@pytest.mark.nightly
def test_after_many_tables_a_tracker_of_one_unit_is_found(ledger):
    own = keys()
    for some in (*own, own[:2]):
        ledger.check_and_record(table(*np.atleast_2d(some)))
    is_first, is_second = own[0] == 0, own[1] == 1
    union = np.flatnonzero(is_first | is_second)[1:]
    asked = counts(one_of(UNITS, union), LEAST)
    assert ledger.check_and_record(asked).codes == ("K043",)


def test_after_many_tables_a_withheld_cell_is_not_told_by_the_rest(ledger):
    own = keys()
    hidden = own[:2].copy()
    first = np.flatnonzero((hidden[0] == 0) & (hidden[1] == 0))
    hidden[1, first[4:]] = 1
    for values in (*own[2:], hidden[0], hidden[1]):
        assert ledger.check_and_record(table(values)).codes == ()
    labels = Populations.of_labels(hidden[0] * VALUES + hidden[1], VALUES**2)
    asked = counts(labels, LEAST, hidden=(0,))
    outcome = ledger.check_and_record(asked, partly=True)
    assert outcome.state == "recorded"
    missing = [place for place, cell in enumerate(outcome.cells) if cell.state != "released"]
    assert 4 <= len(missing) < VALUES**2
    for lines in np.divmod(missing, VALUES):
        assert 1 not in np.bincount(lines)


def totals(populations, values, threshold=3):
    """Return totals of a column over populations."""
    [block] = populations.blocks
    members = np.unpackbits(block.bits, axis=1, count=populations.units).astype(bool)
    cells = [
        OutputCell(number, "sum:x", float(np.nansum(values[own])), threshold)
        for number, own in enumerate(members)
    ]
    return answer(populations, *cells, contributions=lambda column: values * (column == "x"))


@pytest.mark.parametrize(("alike", "codes"), [(0, ("K045",)), (9, ("K045",)), (5, ())])
def test_three_totals_may_not_tell_that_all_units_of_others_are_at_an_end(ledger, alike, codes):
    """What twelve have beyond the first and the last four is that of the four in between."""
    values = np.array([0.0, 4, 2, 9, *[alike] * 4, 3, 5, 0, 9])
    for some in (range(4), range(8, 12)):
        assert ledger.check_and_record(totals(one_of(12, some), values)).codes == ()
    assert ledger.check_and_record(totals(one_of(12, range(12)), values)).codes == codes


def test_units_without_a_value_are_at_no_end(ledger):
    values = np.array([0.0, 4, 2, 9, *[np.nan] * 4, 3, 5, 0, 9])
    for some in (range(4), range(8, 12)):
        ledger.check_and_record(totals(one_of(12, some), values))
    everybody = totals(one_of(12, range(12)), values)
    assert ledger.check_and_record(everybody).codes == ()


def test_where_it_is_not_decided_in_time_not_all_cells_are_withheld(tmp_path, monkeypatch):
    search, times = small_combinations.light_vector, count()

    def search_from_the_second_time(basis, *parts):
        if next(times):
            return search(basis, *parts)
        return LightVector("undecided", np.zeros(basis.shape[1]))

    ledger = OutputLedger(tmp_path / "outputs.db")
    units = np.arange(48)
    assert ledger.check_and_record(counts(Populations.of_labels(units % 4), 4)).codes == ()
    monkeypatch.setattr(small_combinations, "light_vector", search_from_the_second_time)
    asked = counts(Populations.of_labels(units // 4 % 4), 4)
    states = [cell.state for cell in ledger.check_and_record(asked, partly=True).cells]
    assert sorted(states) == ["released"] * 2 + ["suppressed"] * 2
