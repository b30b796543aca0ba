"""Codes of reasons, and what follows from several of them together."""

import pytest

from policy_engine.audits.outputs.reasons import (
    LEDGER_REASONS,
    SENTENCES,
    CheckOutcome,
    Reason,
    outcome_of,
    public_reason,
    reasons_in,
)
from policy_engine.errors import CODES


def test_every_reason_has_a_sentence_and_a_documented_code():
    assert set(SENTENCES) == set(Reason)
    assert {reason.value for reason in Reason} <= CODES.keys()


def test_mask_has_its_reasons_in_the_order_of_codes():
    mask = Reason.NO_THRESHOLD.bit | Reason.FEW_UNITS.bit
    assert reasons_in(mask) == (Reason.FEW_UNITS, Reason.NO_THRESHOLD)
    assert reasons_in(0) == ()


def test_worst_outcome_counts():
    assert outcome_of(0) is CheckOutcome.RELEASED
    assert outcome_of(Reason.NEGATIVE_VALUES.bit) is CheckOutcome.REVIEW
    assert outcome_of(Reason.NEGATIVE_VALUES.bit | Reason.FEW_UNITS.bit) is CheckOutcome.SUPPRESSED
    assert outcome_of(Reason.EXTREME.bit | Reason.FEW_UNITS.bit) is CheckOutcome.REFUSED


def test_all_suppressed_cells_have_one_reason():
    few, other = Reason.FEW_UNITS.bit, Reason.COMPLEMENTARY.bit
    assert {public_reason(mask) for mask in (few, other, few | other, 0)} == {Reason.WITHHELD}
    assert public_reason(Reason.REVEALS_SUPPRESSED.bit) is Reason.WITHHELD
    assert public_reason(few | Reason.NEGATIVE_VALUES.bit) is Reason.WITHHELD


def test_what_follows_from_the_query_or_is_for_a_person_is_told():
    few = Reason.FEW_UNITS.bit
    assert public_reason(few | Reason.EXTREME.bit) is Reason.EXTREME
    assert public_reason(few | Reason.BEYOND_LEDGER.bit) is Reason.BEYOND_LEDGER
    assert public_reason(Reason.NEGATIVE_VALUES.bit) is Reason.NEGATIVE_VALUES


@pytest.mark.parametrize("number", [*range(40, 49), 50])
def test_whatever_the_ledger_has_against_a_cell_has_a_reason(number):
    """What the ledger cannot decide is for a person."""
    mask = LEDGER_REASONS[f"K{number:03}"].bit
    is_for_review = number in (46, 47, 48)
    assert (outcome_of(mask) is CheckOutcome.REVIEW) == is_for_review
    assert (public_reason(mask) is Reason.WITHHELD) != is_for_review
