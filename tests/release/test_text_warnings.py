"""Warnings about texts of the input that look like something else than they are read as."""

import pytest
from applying import applied
from building import column

from policy_engine.errors import DataError

COSTS, DAYS = ["1286,68", "99,00", "100,50"] * 4, ["21.01.2023", "3.12.2023"] * 6
TABLE = {"cost": COSTS, "day": DAYS, "ward": ["A", "B", "C"] * 4}
MASKED = {"method": "masking", "insensitive": ["ward"]}


def swapped(**settings):
    return column("cost", masking="rank-swapping", p=0.5, **settings)


@pytest.mark.parametrize(
    ("quasi", "told"),
    [
        (["cost"], ["'cost' look like numbers with a decimal comma"]),
        (["cost", "day"], ["'cost' look like numbers", "'day' look like dates"]),
        (["ward"], []),
        ([column("day", generalization="prefix")], []),
    ],
)
def test_quasi_identifiers_that_look_like_numbers_or_dates_are_told(quasi, told):
    doubts = applied(TABLE, method="k-anonymity", k=2, quasi=quasi).release.doubts
    assert len(doubts) == len(told)
    assert all(words in doubt for words, doubt in zip(told, doubts, strict=True))


def test_numbers_that_are_ranked_as_texts_are_told():
    made = applied(TABLE, **MASKED, masked=[swapped(order="lexicographic")])
    assert any("1000,00 comes before 99,00" in doubt for doubt in made.release.doubts)


def test_texts_without_an_order_may_be_numbers_of_another_notation():
    with pytest.raises(DataError, match=r"write 1286.68 and 2023-01-21. Otherwise add "):
        applied(TABLE, **MASKED, masked=[swapped()])


def test_noise_on_texts_tells_how_numbers_are_written():
    with pytest.raises(DataError, match=r"holds texts. .* numbers such as 1286,68"):
        applied(TABLE, **MASKED, masked=[column("cost", masking="noise", sdShare=0.2)])


def test_values_that_are_coded_as_texts_are_not_told():
    made = applied(TABLE, **MASKED, masked=[column("cost", masking="pram", keep=0.5)])
    assert not any("decimal comma" in doubt for doubt in made.release.doubts)
