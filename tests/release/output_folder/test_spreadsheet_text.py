"""Texts that spreadsheets would compute."""

import pytest

from policy_engine.release.output_folder.spreadsheet_text import without_formula


@pytest.mark.parametrize(
    "text",
    [
        *("=cmd|' /C calc'!A0", '=HYPERLINK("http://x")', "@SUM(1)", "+A1", "-A1", "\t=A1", " =A1"),
        *("\uff1dA1", "-1+cmd", "\r=A1", "-1_0"),
    ],
)
def test_a_formula_is_a_text(text):
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["north", "-5", "+5", "-1.5e3", "18-24", "", 5, -5.5, None, "a=b"])
def test_numbers_and_plain_texts_stay(cell):
    assert without_formula(cell) == cell
