"""Cells of columns that follow from others that a ledger knows."""

from dataclasses import replace

import numpy as np
import pytest
from asking_cells import counts, one_of

from policy_engine.release.column_relations import ColumnRelations
from policy_engine.release.output_ledger import OutputCell, OutputLedger, Protection, shape_measure

UNITS, LEAST = 60, 3
RANDOM = np.random.default_rng(0)
PAY, COSTS = RANDOM.random(UNITS), RANDOM.random(UNITS)
COLUMNS = {
    "pay": PAY,
    "annual": 12 * PAY,
    "gross": PAY + 100,
    "costs": COSTS,
    "revenue": PAY + COSTS,
}
ALL, SOME = range(UNITS), range(UNITS - 2)


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def cell(measure, members, *, is_released=True):
    name = measure.partition(":")[2]
    value = float(COLUMNS[name][[*members]].sum()) if name in COLUMNS else None
    return OutputCell(0, measure, value, LEAST, is_released, Protection(share=0.1))


def asked(ledger, members, *cells, partly=True):
    """Return the outcome of cells about some units."""
    relations = ColumnRelations(COLUMNS.get)
    answer = replace(counts(one_of(UNITS, members)), cells=cells, measured=relations.measured)
    return ledger.check_and_record(answer, partly=partly)


def codes(ledger, members, *measures):
    cells = (cell(one, members) for one in measures)
    return [one.code for one in asked(ledger, members, *cells).cells]


@pytest.mark.parametrize(
    ("first", "last"),
    [("sum:pay", "sum:annual"), ("sum:annual", "sum:pay"), ("sum:gross", "mean:pay")],
)
def test_a_column_in_other_units_is_compared_with_what_is_known(ledger, first, last):
    assert codes(ledger, ALL, first) == [""]
    assert codes(ledger, SOME, last) == ["K041"]


def test_other_columns_are_not_compared(ledger):
    assert codes(ledger, ALL, "sum:pay") == [""]
    assert codes(ledger, SOME, "sum:costs") == [""]


def test_two_totals_that_differ_by_a_constant_tell_how_many_there_are(ledger):
    assert codes(ledger, ALL, "sum:pay") == codes(ledger, SOME, "count") == [""]
    assert codes(ledger, ALL, "sum:gross") == ["K041"]


def test_what_is_recorded_is_known_to_who_reads_the_ledger_again(ledger):
    codes(ledger, ALL, "sum:pay")
    assert codes(OutputLedger(ledger.store), ALL, "sum:annual") == [""]
    assert ledger.summary().scopes[0].repeated == 1


def test_a_column_that_follows_from_others_is_left_to_a_person_where_something_is_withheld(ledger):
    asked(ledger, SOME, cell("sum:pay", SOME, is_released=False), cell("count", SOME))
    assert codes(ledger, SOME, "sum:costs", "sum:revenue") == ["", "K046"]
    assert codes(ledger, SOME, "sum:revenue") == ["K046"]
    [found] = asked(ledger, SOME, cell("sum:revenue", SOME)).cells
    assert (found.told.kind, found.told.names) == ("related", ("costs", "pay", "revenue"))


def test_such_a_column_is_answered_where_nothing_is_withheld(ledger):
    assert codes(ledger, ALL, "sum:pay", "sum:costs", "sum:revenue") == [""] * 3


def test_nothing_is_recorded_where_all_is_left_to_a_person_or_only_all_may_be_given(ledger):
    asked(ledger, SOME, cell("sum:pay", SOME, is_released=False), cell("sum:costs", SOME))
    alone = asked(ledger, SOME, cell("sum:revenue", SOME))
    both = asked(ledger, SOME, cell("count", SOME), cell("sum:revenue", SOME), partly=False)
    assert alone.state == both.state == "review"
    assert len(ledger.history()) == 2


def test_what_a_person_accepted_is_released(ledger):
    asked(ledger, SOME, cell("sum:pay", SOME, is_released=False), cell("sum:costs", SOME))
    relations = ColumnRelations(COLUMNS.get)
    answer = replace(counts(one_of(UNITS, SOME)), cells=(cell("sum:revenue", SOME),))
    answer = replace(answer, measured=relations.measured, accepted="carl")
    assert ledger.check_and_record(answer).may_leave


def test_other_statistics_are_of_the_known_column_too(ledger):
    own = shape_measure(["pay"], "VAR"), shape_measure(["annual"], "SKEW")
    assert codes(ledger, range(2 * LEAST - 1), *own) == ["", "K043"]
