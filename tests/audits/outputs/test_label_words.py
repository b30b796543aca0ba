"""Words in labels that are hints."""

import pytest

from policy_engine.audits.outputs.label_words import TOTALS, has_number, is_total_word, plain_label


@pytest.mark.parametrize(
    "text", ["Total général", "TOTAL ", "(all)", "Sub-total", "Ogółem", "Σύνολο"]
)
def test_words_for_totals_are_found_in_any_writing(text):
    assert is_total_word(text)


@pytest.mark.parametrize("text", ["north", "mixed", "civil", "farm and shop", ""])
def test_other_words_are_neither_totals_nor_numbers(text):
    assert not is_total_word(text)
    assert not has_number(text)


@pytest.mark.parametrize("text", ["two or more", "XIV", "no", "Drei", "1st", "\u2167"])
def test_numbers_are_found_in_words_and_signs(text):
    assert has_number(text)


def test_every_word_is_as_it_is_looked_up():
    assert {plain_label(one) for one in TOTALS} == TOTALS
