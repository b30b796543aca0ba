"""Texts that look like numbers or dates: in the notation of which countries, and which do not."""

import pytest

from policy_engine.data.notations import other_notation


@pytest.mark.parametrize(
    ("texts", "notation"),
    [
        (["1286,68", "100", "-0,5", ""], "numbers"),
        (["1.286,68", "99,00"], "numbers"),
        (["1,286.68", "99.00"], "numbers"),
        (["1'286.68", "1 286,68", "1\u202f286"], "numbers"),
        (["21.01.2023", " 3.4.23 "], "dates"),
        (["01/21/2023 13:30", "2023/01/21"], "dates"),
        ([*(f"{cents},00" for cents in range(9)), "unknown"], "numbers"),
        (["1,5", "unknown"], None),
        (["1.000", "1286.68", "100"], None),
        (["2023-01-21"], None),
        (["99.99.2023"], None),
        (["a, b", "10 - 20", "1.2.3.4", "I10"], None),
        (["", " "], None),
        ([], None),
    ],
)
def test_what_looks_like_numbers_or_dates(texts, notation):
    assert other_notation(texts) == notation
