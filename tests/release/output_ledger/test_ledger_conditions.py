"""Populations that are the same by chance, in a ledger that knows under which conditions."""

import numpy as np
import pytest

from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
)

MASK = np.arange(60) < 30


def answer(*cells, masks=(MASK,), is_same=lambda one, other: one.lower() == other.lower()):
    """Return an answer of cells: a population, a measure, a condition, and what is released."""
    outputs = tuple(
        OutputCell(number, measure, 30.0, 10, is_released, condition=condition)
        for number, measure, condition, is_released in cells
    )
    populations = Populations.of_masks(np.array(masks))
    return OutputAnswer("d", "v", ("s",), populations, outputs, is_same_condition=is_same)


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "ledger")


def codes_of(ledger, *cells, **more):
    outcome = ledger.check_and_record(answer(*cells, **more), partly=True)
    return [(cell.state, cell.code) for cell in outcome.cells]


GIVEN = [("released", "")]


def test_same_rows_under_another_condition_are_refused_as_if_few_were_between(ledger, tmp_path):
    assert codes_of(ledger, (0, "count", "a", True)) == GIVEN
    assert codes_of(ledger, (0, "count", "b", True)) == [("suppressed", "K041")]
    later = OutputLedger(tmp_path / "ledger")
    assert codes_of(later, (0, "mean:pay", "b", True)) == [("suppressed", "K041")]
    assert codes_of(later, (0, "count", "a", True)) == GIVEN
    assert later.verify().intact


def test_other_words_for_a_condition_are_the_same(ledger):
    assert codes_of(ledger, (0, "count", "a", True)) == GIVEN
    outcome = ledger.check_and_record(answer((0, "count", "A", True)))
    assert outcome.state == "repeated"


def test_measures_that_cannot_be_subtracted_are_not_compared(ledger):
    assert codes_of(ledger, (0, "sum:pay", "a", True)) == GIVEN
    assert codes_of(ledger, (0, "sum:debt", "b", True)) == GIVEN


def test_one_of_two_conditions_of_an_answer_is_suppressed_and_the_other_one_is_not(ledger):
    cells = (0, "count", "a", True), (0, "count", "b", True)
    assert codes_of(ledger, *cells) == [*GIVEN, ("suppressed", "K042")]


def test_total_is_given_beside_a_suppressed_condition_that_holds_of_all(ledger):
    cells = (0, "count", "a", True), (0, "count", "a and b", False)
    assert codes_of(ledger, *cells) == [*GIVEN, ("suppressed", "")]


def test_answers_without_conditions_are_compared_by_their_rows_alone(ledger):
    assert codes_of(ledger, (0, "count", "", True)) == GIVEN
    assert codes_of(ledger, (0, "count", "a", True)) == GIVEN
    assert codes_of(ledger, (0, "count", "b", True), is_same=None) == GIVEN


@pytest.mark.parametrize("measure", ["count", "sum:pay", "mean:pay", "deviation"])
@pytest.mark.parametrize("other", ["count", "sum:pay", "mean:pay"])
def test_what_is_suppressed_under_another_condition_keeps_no_measure_of_the_same_units(
    ledger, measure, other
):
    assert codes_of(ledger, (0, measure, "a", False)) == [("suppressed", "")]
    cells = (0, "count", "b", True), (0, other, "b", True)
    assert codes_of(ledger, *cells) == GIVEN * 2


def test_what_is_suppressed_under_the_same_condition_stays_unknown(ledger):
    assert codes_of(ledger, (0, "sum:pay", "a", False)) == [("suppressed", "")]
    assert codes_of(ledger, (0, "count", "a", True), (0, "mean:pay", "a", True)) == [
        ("released", ""),
        ("suppressed", "K044"),
    ]
