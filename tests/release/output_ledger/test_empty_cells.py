"""Withheld cells of nobody in a ledger: four cells of ten units, and one without any."""

from dataclasses import replace

import numpy as np
import pytest
from asking_cells import answer

from policy_engine.release.output_ledger import EmptyParts, OutputCell, OutputLedger, Populations

CELLS = {"a x": 10, "a y": 10, "b x": 10, "b y": 0, "b z": 10}
LABELS = np.repeat(np.arange(5), [*CELLS.values()])


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def is_within(empty, condition):
    return {*condition.split()} <= {*empty.split()} or condition == "all"


def find_parts(empties, conditions):
    masks = [[is_within(one, condition) for one in empties] for condition in conditions]
    within, sums = np.array(masks, bool), tuple((place,) for place in range(len(masks)))
    return EmptyParts(
        sums, np.arange(len(masks)), within, np.zeros_like(within), np.zeros(len(empties), int)
    )


def asked(conditions, hidden=(), find=find_parts):
    """Return the counts of cells by their conditions: words that the names of cells have."""
    masks, cells = [], []
    for place, condition in enumerate(conditions):
        own = [number for number, one in enumerate(CELLS) if is_within(one, condition)]
        masks.append(np.isin(LABELS, own))
        count, is_shown = float(masks[-1].sum()), condition not in hidden
        cells.append(OutputCell(place, "count", count, 3, is_shown, condition=condition))
    return answer(Populations.of_masks(masks), *cells, empty_parts=find)


TABLE = asked([*CELLS], hidden=["b y"])


@pytest.mark.parametrize(
    ("condition", "codes"),
    [("b", ("K044",)), ("all", ("K044",)), ("a", ()), ("x", ())],
)
def test_no_total_tells_that_a_withheld_cell_is_of_nobody(ledger, condition, codes):
    assert ledger.check_and_record(TABLE).state == "recorded"
    assert ledger.check_and_record(asked([condition])).codes == codes


def test_a_table_after_totals_does_not_tell_it_either(ledger):
    assert ledger.check_and_record(asked(["a", "b"])).codes == ()
    outcome = ledger.check_and_record(TABLE, partly=True)
    states = [cell.state for cell in outcome.cells]
    assert states[:2] == ["released", "released"]
    assert states[2:].count("released") < 2


def test_a_total_is_given_where_another_cell_of_it_is_withheld(ledger):
    ledger.check_and_record(asked([*CELLS], hidden=["a x", "b x", "b y"]))
    assert ledger.check_and_record(asked(["all"])).codes == ()


def test_where_zeros_disclose_nothing_totals_are_given(ledger):
    ledger.check_and_record(asked([*CELLS], hidden=["b y"], find=None))
    assert ledger.check_and_record(asked(["b"], find=None)).codes == ()


def test_a_zero_that_a_person_accepted_is_told_by_totals_and_no_other_one_is(ledger):
    zeros = ["a z", "b y"]
    ledger.check_and_record(asked([*CELLS, "a z"], hidden=zeros))
    assert [ledger.would_record(asked([one])).codes for one in "ab"] == [("K044",)] * 2
    assert ledger.check_and_record(replace(asked(["b y"]), accepted="carl")).state == "recorded"
    assert ledger.check_and_record(asked(["b"])).codes == ()
    assert ledger.check_and_record(asked(["a"])).codes == ("K044",)
