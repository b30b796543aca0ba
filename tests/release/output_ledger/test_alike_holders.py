"""Counts of holders in a ledger: ten units, of whom the first seven are holders."""

import numpy as np
import pytest
from asking_cells import DATASET, one_of

from policy_engine.kernels.output_checks.sparse_span import SparseRows
from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    held_measure,
)
from policy_engine.release.output_ledger.alike_holders import EndEquations
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.linear_systems import AtomContents

UNITS = 10
HOLDERS = np.arange(UNITS) < 7
MEASURE = held_measure(HOLDERS)
EVERYBODY = range(UNITS)
SOME_HOLDERS, TWO_OF_FOUR, TWO_OF_THREE = range(3, UNITS), (*range(5), 7), (*range(5), 7, 8)
"""All but three holders, all but two holders and two others, and all but two and one other."""


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def held(*known, figures=None, holders=HOLDERS, one_sided=False, value=None):
    """Return an answer of how many of some known units are holders, beside who these are."""
    populations, cells = Populations(UNITS), []
    for place, members in enumerate(known):
        whole = one_of(UNITS, members)
        own = one_of(UNITS, [unit for unit in members if holders[unit]])
        populations = populations.joined(whole).joined(own)
        figure = place if figures is None else figures[place]
        cells.append(OutputCell(2 * place, held_measure(holders), value, 2, figure=figure))
        cells.append(OutputCell(2 * place + 1, "count", None, 2, figure=figure))
    more = {held_measure(holders): holders}
    sides = frozenset(more if one_sided else ())
    about = (DATASET, "1", ("organisation:x",))
    return OutputAnswer(*about, populations, tuple(cells), holders=more, one_sided=sides)


def test_two_counts_by_which_all_of_three_others_are_holders_are_not_both_given(ledger):
    assert ledger.check_and_record(held(EVERYBODY)).codes == ()
    outcome = ledger.check_and_record(held(SOME_HOLDERS))
    assert (outcome.state, outcome.codes) == ("refused", ("K045",))


def test_two_counts_by_which_two_of_four_others_are_holders_are_both_given(ledger):
    assert ledger.check_and_record(held(EVERYBODY)).codes == ()
    assert ledger.check_and_record(held(TWO_OF_FOUR)).codes == ()


def test_of_two_of_three_others_the_one_who_is_not_would_know(ledger):
    assert ledger.check_and_record(held(EVERYBODY)).codes == ()
    assert ledger.check_and_record(held(TWO_OF_THREE)).codes == ("K045",)


def test_who_knows_the_holders_knows_who_is_none(ledger):
    assert held_measure(~HOLDERS) == MEASURE
    ledger.check_and_record(held(EVERYBODY, holders=~HOLDERS))
    assert ledger.check_and_record(held(SOME_HOLDERS)).codes == ("K045",)


def test_of_two_counts_of_an_answer_the_smaller_one_is_suppressed_with_its_figure(ledger):
    outcome = ledger.check_and_record(held(EVERYBODY, SOME_HOLDERS), partly=True)
    assert [cell.state for cell in outcome.cells] == ["released"] * 2 + ["suppressed"] * 2
    assert [cell.code for cell in outcome.cells] == ["", "", "K045", "K045"]
    again = ledger.check_and_record(held(SOME_HOLDERS))
    assert set(again.codes) == {"K044", "K045"}


def test_three_counts_tell_that_others_are_alike_where_no_two_of_them_do(ledger):
    """Nine and two in each half of six are told apart by the halves alone."""
    halves = (0, 1, 2, 7, 8), (3, 4, 9)
    holders = np.isin(np.arange(UNITS), (0, 1, 3, 4, 5, 6))
    assert ledger.check_and_record(held(*halves, holders=holders)).codes == ()
    assert ledger.check_and_record(held(EVERYBODY, holders=holders)).codes == ("K045",)


def test_a_ledger_that_was_closed_knows_the_counts(ledger, tmp_path):
    ledger.check_and_record(held(EVERYBODY))
    later = OutputLedger(tmp_path / "outputs.db")
    assert later.check_and_record(held(SOME_HOLDERS)).codes == ("K045",)
    assert later.verify().intact


def test_a_count_that_was_given_is_given_again(ledger):
    ledger.check_and_record(held(EVERYBODY))
    assert ledger.check_and_record(held(EVERYBODY)).state == "repeated"


@pytest.mark.parametrize("is_one_sided", [False, True])
@pytest.mark.parametrize(("left", "are_all"), [(SOME_HOLDERS, True), (range(8), False)])
def test_of_what_has_many_values_it_may_be_known_that_some_units_have_not_one(
    ledger, left, are_all, is_one_sided
):
    """All of the three who are left out are holders, or none of the two."""
    ledger.check_and_record(held(EVERYBODY, one_sided=is_one_sided))
    codes = ledger.check_and_record(held(left, one_sided=is_one_sided)).codes
    assert codes == (("K045",) if are_all or not is_one_sided else ())


@pytest.mark.parametrize(("value", "codes"), [(None, ("K045",)), (3.0, ())])
def test_what_a_cell_tells_by_itself_is_not_held_against_it_or_later_ones(ledger, value, codes):
    assert ledger.check_and_record(held((0, 1, 2), value=value)).codes == codes
    assert ledger.check_and_record(held(EVERYBODY)).codes == ()
    assert ledger.check_and_record(held(SOME_HOLDERS)).codes == (() if value else ("K045",))


def test_what_earlier_answers_told_is_not_held_against_later_ones(ledger):
    holders = np.arange(UNITS) < 5
    for known in (EVERYBODY, range(8)):
        asked = held(known, holders=holders, one_sided=True)
        assert ledger.check_and_record(asked).codes == ()
    assert ledger.check_and_record(held((0, 1, 2, 5), holders=holders)).codes == ()


def test_other_holders_are_another_matter(ledger):
    ledger.check_and_record(held(EVERYBODY))
    others = np.isin(np.arange(UNITS), (0, 3, 4, 5, 6, 9))
    assert ledger.check_and_record(held(EVERYBODY, holders=others)).codes == ()


def test_an_answer_says_of_whom_its_measures_hold():
    asked = held(EVERYBODY)
    broken = OutputAnswer(DATASET, "1", ("x",), asked.populations, asked.cells)
    with pytest.raises(Exception, match="K037"):
        broken.check()


def test_what_is_told_in_parts_is_mended_in_parts():
    """Of two totals, one part of each has all that there is: the other part has nothing."""
    rows = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]])
    every, is_fresh = SparseRows.of_pairs(*np.nonzero(rows), *rows.shape), np.ones(4, bool)
    sums, are_least = np.array([4.0, 0, 4, 0]), np.array([False, True, False, True])
    contents = AtomContents(np.full(4, 9), sums, are_least, np.zeros(4, bool))
    free = np.zeros(4, bool)
    ends = EndEquations.of_rows(every, np.arange(4), is_fresh, contents, are_least, free)
    fixed = ends.fixed_anew(TimeLimit())
    parts = [*ends.parts_of(fixed)]
    assert fixed.atoms.sum() == 2
    assert sorted(np.flatnonzero(one.equations).tolist() for one in parts) == [[0, 1], [2, 3]]
    assert [one.atoms.sum() for one in parts] == [1, 1]
