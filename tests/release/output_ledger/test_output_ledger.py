from dataclasses import replace

import numpy as np
import pytest
from asking_cells import answer, counts, masks, one_of

from policy_engine.errors import LedgerError
from policy_engine.release.output_ledger import (
    OutputCell,
    OutputLedger,
    Populations,
    Protection,
    checking,
)

UNITS = 24
REGIONS = np.arange(UNITS) % 3


@pytest.fixture
def ledger(tmp_path):
    ledger = OutputLedger(tmp_path / "outputs.db")
    assert ledger.check_and_record(counts(Populations.of_labels(REGIONS))).state == "recorded"
    return ledger


def codes(ledger, asked, **options):
    outcome = ledger.check_and_record(asked, **options)
    return outcome.state, outcome.codes


def test_the_same_cells_are_free_however_their_populations_are_written(ledger):
    outcome = ledger.check_and_record(counts(Populations.of_masks(masks_of_regions())))
    assert (outcome.state, outcome.may_leave, outcome.number) == ("repeated", True, 3)
    assert [cell.state for cell in outcome.cells] == ["released"] * 3


def masks_of_regions():
    return np.array([one == REGIONS for one in range(3)])


def test_a_cell_of_fewer_units_than_the_threshold_is_refused(ledger):
    assert codes(ledger, counts(one_of(UNITS, [0, 1]))) == ("refused", ("K040",))
    assert codes(ledger, counts(one_of(UNITS, [0, 1, 4]))) == ("recorded", ())


def test_an_empty_cell_tells_of_nobody(ledger):
    assert codes(ledger, counts(one_of(UNITS, []))) == ("recorded", ())


def test_an_overlapping_condition_that_adds_two_units_is_refused(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1, 2}
    assert codes(ledger, counts(one_of(UNITS, members))) == ("refused", ("K041",))
    assert codes(ledger, counts(one_of(UNITS, members | {4}))) == ("recorded", ())


def test_two_cells_of_one_answer_are_compared(tmp_path):
    both = one_of(UNITS, range(10)).joined(one_of(UNITS, range(12)))
    assert codes(OutputLedger(tmp_path / "new.db"), counts(both)) == ("refused", ("K042",))


def test_the_complement_of_a_few_within_a_total_is_refused(ledger):
    """ACRO's difference of two tables, and the tracker `everyone but ...`."""
    assert codes(ledger, counts(one_of(UNITS, range(UNITS)))) == ("recorded", ())
    rest = counts(one_of(UNITS, range(2, UNITS)))
    assert codes(ledger, rest) == ("refused", ("K041",))


def test_a_tracker_of_two_unions_is_refused(ledger):
    """A or T and A or not T, less everyone, is A (Denning, Denning and Schwartz, 1979)."""
    few, tracker = {0, 1}, {*range(5, 15)}
    everyone = {*range(UNITS)}
    for members in (everyone, few | tracker):
        assert codes(ledger, counts(one_of(UNITS, members))) == ("recorded", ())
    last = counts(one_of(UNITS, few | (everyone - tracker)))
    assert codes(ledger, last) == ("refused", ("K043",))


def test_a_union_of_cells_is_compared(ledger):
    members = {*np.flatnonzero(REGIONS > 0), 0}
    assert codes(ledger, counts(one_of(UNITS, members))) == ("refused", ("K043",))


def test_a_suppressed_cell_is_not_derived_from_totals(ledger):
    halves = Populations.of_labels(REGIONS * 2 + (np.arange(UNITS) < 12))
    assert codes(ledger, counts(halves, hidden={0})) == ("refused", ("K044",))
    assert codes(ledger, counts(halves, hidden={0, 1})) == ("recorded", ())
    half = one_of(UNITS, np.flatnonzero((REGIONS == 0) & (np.arange(UNITS) < 12)))
    assert codes(ledger, counts(half)) == ("refused", ("K044",))
    assert codes(ledger, counts(half, measure="sum:income")) == ("recorded", ())


def test_cells_at_fault_are_suppressed_where_the_rest_may_leave(ledger):
    pair = one_of(UNITS, range(10)).joined(one_of(UNITS, range(12)))
    outcome = ledger.check_and_record(counts(pair), partly=True)
    assert outcome.state == "recorded"
    assert [(cell.state, cell.code) for cell in outcome.cells] == [
        ("released", ""),
        ("suppressed", "K042"),
    ]
    assert codes(ledger, counts(one_of(UNITS, range(12)))) == ("refused", ("K041",))


def test_one_cell_is_suppressed_for_two_faults_rather_than_one_for_each(tmp_path):
    ledger = OutputLedger(tmp_path / "outputs.db")
    labels = np.repeat(np.arange(5), [4, 4, 6, 4, 4])
    totals = np.array([np.isin(labels, [0, 2, 3]), np.isin(labels, [1, 2, 4])])
    assert codes(ledger, counts(Populations.of_masks(totals))) == ("recorded", ())
    table = counts(Populations.of_labels(labels), hidden={0, 1})
    states = [one.state for one in ledger.check_and_record(table, partly=True).cells]
    assert states == ["suppressed"] * 3 + ["released"] * 2


def test_sums_are_not_subtracted_from_counts(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1}
    sums = counts(one_of(UNITS, members), measure="sum:income")
    assert codes(ledger, sums) == ("recorded", ())


def test_a_mean_is_a_sum_and_a_count(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1}
    means = counts(one_of(UNITS, members), measure="mean:income")
    assert codes(ledger, means) == ("refused", ("K041",))
    few = np.flatnonzero(REGIONS == 0)
    assert codes(ledger, counts(one_of(UNITS, few), measure="mean:income")) == ("recorded", ())
    sums = counts(one_of(UNITS, members), measure="sum:income")
    assert codes(ledger, sums) == ("refused", ("K041",))


def test_a_measure_of_which_nothing_is_known_is_compared_with_all(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1}
    medians = counts(one_of(UNITS, members), measure="median:income")
    assert codes(ledger, medians) == ("refused", ("K041",))


def test_answers_of_another_scope_or_dataset_do_not_count(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1}
    other = counts(one_of(UNITS, members), scopes=("organisation:y",))
    assert codes(ledger, other) == ("recorded", ())


def test_two_assignees_of_one_organisation_are_told_as_one(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1}
    shared = counts(one_of(UNITS, members), scopes=("assignee:a", "organisation:x"))
    assert codes(ledger, shared) == ("refused", ("K041",))


def test_other_data_of_the_same_dataset_is_for_review(ledger):
    newer = counts(Populations.of_labels(REGIONS), data="2")
    assert codes(ledger, newer) == ("review", ("K047",))


def test_the_same_data_has_the_same_units(ledger):
    with pytest.raises(LedgerError, match="K037 The same data had other units"):
        ledger.check_and_record(counts(one_of(UNITS + 1, range(9))))


def test_the_larger_threshold_counts(ledger):
    members = {*np.flatnonzero(REGIONS == 0), 1, 2}
    assert codes(ledger, counts(one_of(UNITS, members), threshold=2))[0] == "refused"
    assert codes(ledger, counts(one_of(UNITS, members | {4}), threshold=9))[0] == "refused"


def test_what_would_become_of_an_answer_is_told_without_a_trace(ledger, tmp_path):
    asked = counts(one_of(UNITS, range(10)))
    assert ledger.would_record(asked).state == "recorded"
    assert len(ledger.history()) == 2
    new = OutputLedger(tmp_path / "new.db")
    assert new.would_record(asked).state == "recorded"
    assert not new.store.exists()


def test_a_ledger_that_is_opened_again_knows_the_same(ledger):
    again = OutputLedger(ledger.store.path)
    members = {*np.flatnonzero(REGIONS == 0), 1}
    assert codes(again, counts(one_of(UNITS, members))) == ("refused", ("K041",))
    assert codes(again, counts(Populations.of_labels(REGIONS))) == ("repeated", ())


def test_blocks_that_are_kept_already_are_kept_once(ledger):
    size = len(ledger.store.path.read_bytes())
    sums = counts(Populations.of_labels(REGIONS), measure="sum:income")
    assert codes(ledger, sums) == ("recorded", ())
    assert codes(OutputLedger(ledger.store.path), sums) == ("repeated", ())
    assert len(ledger.store.path.read_bytes()) <= size + 8192


def test_an_answer_counts_under_other_scopes_that_are_asked_for_later(ledger):
    members = [*range(12)]
    under_one = {"scopes": ("dataset:d",), "also": ("assignee:a",)}
    assert ledger.check_and_record(counts(one_of(UNITS, members), **under_one)).may_leave
    near = one_of(UNITS, members[:-1])
    assert not ledger.check_and_record(counts(near, scopes=("assignee:a",))).may_leave
    assert ledger.check_and_record(counts(near, scopes=("assignee:b",))).may_leave


def test_what_is_given_again_is_new_to_another_scope(ledger):
    """What a was told is told b by the dataset's scope, and then counts under that of b."""
    members = [*range(12)]
    first = {"scopes": ("dataset:d",), "also": ("assignee:a",)}
    again = {"scopes": ("dataset:d",), "also": ("assignee:b",)}
    for about in (first, again):
        assert ledger.check_and_record(counts(one_of(UNITS, members), **about)).may_leave
    near = one_of(UNITS, members[:-1])
    assert not ledger.check_and_record(counts(near, scopes=("assignee:b",))).may_leave


def test_an_answer_without_a_scope_is_refused(ledger):
    with pytest.raises(LedgerError, match="K037 An answer names its dataset"):
        ledger.check_and_record(counts(one_of(UNITS, range(9)), scopes=()))


def test_a_cell_of_no_population_is_refused(ledger):
    with pytest.raises(LedgerError, match="K037 A cell has one of 1 populations"):
        ledger.check_and_record(answer(one_of(UNITS, range(9)), OutputCell(1, "count", 9.0, 3)))


def test_the_summary_counts_answers_and_cells(ledger):
    ledger.check_and_record(counts(Populations.of_labels(REGIONS)))
    [scope] = ledger.summary().scopes
    assert (scope.scope, scope.answers, scope.repeated) == ("organisation:x", 1, 1)
    assert (scope.released, scope.suppressed, ledger.summary().entries) == (3, 0, 3)
    assert masks(Populations.of_labels(REGIONS)).sum() == UNITS


def test_units_in_several_groups_are_bits_of_each():
    units, groups = [0, 0, 9, 3], [0, 1, 1, 1]
    [block] = Populations.of_pairs(units, groups, 10, 2).blocks
    members = [np.flatnonzero(row).tolist() for row in np.unpackbits(block.bits, axis=1, count=10)]
    assert members == [[0], [0, 3, 9]]


def withheld(cells):
    """Return an answer of which the first cell is suppressed."""
    own = counts(Populations.of_labels(REGIONS))
    first = replace(own.cells[0], is_released=False, protection=Protection(below=1, above=1))
    return replace(own, cells=(first, *own.cells[1:])) if cells else own


def test_what_a_person_accepts_may_be_known_though_it_was_suppressed(tmp_path):
    ledger = OutputLedger(tmp_path / "new.db")
    assert codes(ledger, withheld(cells=True)) == ("recorded", ())
    whole = withheld(cells=False)
    assert codes(ledger, whole) == ("refused", ("K044",))
    assert codes(ledger, replace(whole, accepted="carl")) == ("recorded", ())
    for again in (ledger, OutputLedger(tmp_path / "new.db")):
        assert codes(again, whole) == ("repeated", ())
    assert [one.output.accepted for one in ledger.history()[1:3]] == [None, "carl"]
    assert ledger.verify().intact


def test_what_a_person_accepts_tells_of_no_few_all_the_same(ledger):
    few = replace(counts(one_of(UNITS, [0, 1])), accepted="carl")
    assert codes(ledger, few) == ("refused", ("K040",))
    assert codes(ledger, few, partly=True) == ("recorded", ("K040",))


def test_other_data_and_what_is_too_much_to_compute_are_a_persons_decision(ledger, monkeypatch):
    whole = counts(one_of(UNITS, range(UNITS)))
    other = replace(whole, data="other data")
    assert codes(ledger, other) == ("review", ("K047",))
    assert codes(ledger, replace(other, accepted="carl")) == ("recorded", ())
    assert codes(ledger, whole) == ("review", ("K047",))
    monkeypatch.setattr(checking, "MOST_ATOMS", 1)
    assert codes(ledger, replace(whole, accepted="carl")) == ("recorded", ())
