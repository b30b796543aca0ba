"""Codes of reasons, and what follows from several of them together."""

from policy_engine.audits.outputs.reasons import (
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


def test_one_reason_is_told_and_never_that_a_small_cell_is_empty_or_a_whole_group():
    few, group = Reason.FEW_UNITS.bit, Reason.GROUP_DISCLOSURE.bit
    assert public_reason(few) is public_reason(few | group) is Reason.FEW_UNITS
    assert public_reason(few | Reason.EXTREME.bit) is Reason.EXTREME
    assert public_reason(0) is Reason.DENIED_WITH_OTHERS
