import pytest
from generalizing import asked, cells, encoded, hold_laws, made, parted, price, prices, rungs
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.generalizations import covered_codes
from policy_engine.errors import CertificateError, DataError

CODES = ["A10", "A100", "A101", "B200", None]


def test_prefixes_are_what_the_codes_of_a_class_have_in_common():
    found = cells(CODES, [[0, 1], [1, 2], [2, 3], [3, 4]], "prefix")
    assert found == ["A10*", "A10*", "****", "B200 or missing"]


def test_one_code_stays_as_it_is():
    assert cells(CODES, [[0], [1], [4]], "prefix") == ["A10", "A100", None]


def test_prefixes_are_masked_as_asked():
    assert cells(["0213", "0214"], [[0, 1]], "prefix", mask="#") == ["021#"]


def test_zip_codes_read_as_numbers_have_prefixes():
    assert cells(["20121", "20138", "20900"], [[0, 1], [2]], "prefix") == ["201**", "20900"]


def test_dates_have_prefixes():
    assert cells(["2020-01-31", "2020-01-02"], [[0, 1]], "prefix") == ["2020-01-**"]


def test_a_code_that_ends_early_is_not_one_with_a_zero_character_more():
    assert cells(["a", "a\0"], [[0, 1], [0]], "prefix") == ["a*", "a"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["10*", "100"], r"R006 The column 'x' holds values with the character '\*'"),
        ([2139, 10115], "R006 The column 'x' holds numbers or times that are not of one length"),
        ([-1, -2], "R006 The column 'x' holds numbers or times that are not of one length"),
        (["a" * 101], "R006 The column 'x' holds a value of 101 characters"),
    ],
)
def test_prefixes_are_refused_where_they_mean_nothing(values, message):
    with pytest.raises(DataError, match=message):
        made(values, "prefix")


def test_the_ladder_masks_one_character_after_the_other():
    assert rungs(CODES, "prefix") == [
        ["A10", "A100", "A101", "B200", None],
        ["A10*", "A10*", "A10*", "B20*", None],
        ["A1**", "A1**", "A1**", "B2**", None],
        ["A***", "A***", "A***", "B***", None],
        ["**** or missing"] * 5,
    ]
    ladder = made(CODES, "prefix").ladder()
    assert [loss.max() for loss in ladder.loss] == [0, 0.25, 0.5, 0.75, 1]


def test_a_prefix_costs_the_share_of_characters_that_is_masked():
    texts = ["A10*", "A1**", "****", "A100", "A10", "B200 or missing", None, '""']
    assert prices(texts, "prefix") == [0.25, 0.5, 1, 0, 0, 1, 0, 0]
    assert prices(["A1** or missing"], "prefix", wildcard=True) == [0.5]


def test_ranges_and_sets_are_no_prefixes():
    for cell in ("[1 - 2]", "{a, b}"):
        with pytest.raises(CertificateError, match="V002 The column 'x' holds a range or set"):
            prices([cell], "prefix")


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("A10*", [1, 2, 3]),
        ("A10", [1]),
        ("B***", [4]),
        ("****", [1, 2, 3, 4]),
        ("C***", []),
        ("**** or missing", [0, 1, 2, 3, 4]),
    ],
)
def test_a_prefix_covers_what_begins_with_it(cell, codes):
    assert covered_codes(cell, asked("prefix"), encoded(CODES)).tolist() == codes


@settings(deadline=None)
@given(parted(st.text("ab\0Z ", max_size=4) | st.text(max_size=2).filter(lambda t: "*" not in t)))
def test_prefixes_obey_the_laws(drawn):
    rows, parts = drawn
    column = encoded(rows)
    if not column.is_ordered:
        hold_laws(rows, parts, "prefix")
        hold_prices(rows, parts)


@settings(deadline=None)
@given(parted(st.integers(100, 199)))
def test_prefixes_of_numbers_obey_the_laws(drawn):
    hold_laws(*drawn, "prefix")
    hold_prices(*drawn)


def hold_prices(rows, parts):
    one = made(rows, "prefix")
    full = [part for part in parts if all(rows[row] is not None for row in part)]
    if full:
        expected = [price(one.shape(), one.column.codes[part]) for part in full]
        assert prices(cells(rows, full, "prefix"), "prefix") == pytest.approx(expected)
